//! Addresses at which nothing answers, or something else does.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::thread;

use crate::dev_cluster::{Done, program, run};

/// An address at which nobody listens.
fn nobody() -> SocketAddr {
    TcpListener::bind("127.0.0.1:0").and_then(|bound| bound.local_addr()).expect("a free port")
}

/// Runs a command against something that answers every connection with the same bytes.
fn against(answer: &'static [u8], line: &[&str]) -> Done {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let at = listener.local_addr().expect("an address").to_string();
    thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            answer_one(stream, answer);
        }
    });
    let done = run(program().args(line).env("SLIPGATE_AT", &at));
    Done { err: done.err.replace(&at, "AT"), ..done }
}

fn answer_one(mut stream: impl Read + Write, answer: &[u8]) {
    // Whoever asked may be gone by now.
    let _ = stream.read(&mut [0; 4096]).and_then(|_| stream.write_all(answer));
}

const COMMANDS: [&[&str]; 10] = [
    &["status"],
    &["nodes"],
    &["scenes"],
    &["entities"],
    &["show", "ann"],
    &["spawn", "walker", "--scene", "forest"],
    &["send", "ann", "hit", r#"{"hp":1}"#],
    &["migrate", "ann", "--to", "keep"],
    &["moves"],
    &["watch"],
];

#[test]
fn where_nothing_answers_every_command_says_so_and_what_to_start() {
    let at = nobody();
    for line in COMMANDS {
        run(program().args(line).args(["--at", &at.to_string()])).fails(
            6,
            &format!(
                "error: nothing answers at {at} (connection refused)\n  is a node running there?\n  \
                 try:  slipgate dev   or   docker-compose up\n"
            ),
        );
    }
    let done = run(program().args(["status", "-o", "json", "--at", &at.to_string()])).ends(6);
    assert!(done.err.contains("\"kind\":\"nothing_answers\"") && done.err.ends_with("\"exit\":6}\n"), "{done:?}");
}

#[test]
fn a_tour_needs_somebody_too() {
    let done = run(program().args(["tour", "--moves", "5", "--at", &nobody().to_string()])).ends(6);
    assert!(done.err.contains("nothing answers at "), "{done:?}");
}

#[test]
fn a_health_check_of_nobody_is_unhealthy() {
    let at = nobody();
    run(program().args(["health", "--at", &at.to_string()])).fails(
        10,
        &format!(
            "error: nothing answers at {at} (connection refused)\n  try:  is the node running?  slipgate status\n"
        ),
    );
}

#[test]
fn a_name_without_an_address_is_told() {
    let done = run(program().args(["status", "--at", "no-such-host.invalid:7780"])).ends(6);
    let start = "error: nothing answers at no-such-host.invalid:7780 (unknown host)\n  is a node running there?\n";
    assert!(done.err.starts_with(start), "{done:?}");
}

#[test]
fn what_answers_without_http_is_told() {
    for line in COMMANDS {
        let done = against(b"220 mail.example ESMTP\r\n", line).ends(1);
        let start = "error: AT answers, but not as Slipgate's admin interface does (";
        assert!(done.err.starts_with(start) && done.out.is_empty(), "{line:?}: {done:?}");
        assert!(done.err.ends_with("try:  --at must name a node's admin address, by default port 7780\n"), "{done:?}");
    }
}

#[test]
fn what_answers_with_another_page_is_told() {
    let page = b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\nConnection: close\r\n\r\n<html>";
    let done = against(page, &["status"]).ends(1);
    assert!(
        done.err.starts_with("error: AT answers, but not as Slipgate's admin interface does (expected value"),
        "{done:?}"
    );
    let lost = b"HTTP/1.1 404 Not Found\r\nContent-Length: 4\r\nConnection: close\r\n\r\nlost";
    let done = against(lost, &["nodes"]).ends(1);
    assert!(done.err.contains("(status 404)"), "{done:?}");
    against(lost, &["health", "-o", "json"]).fails(
        10,
        "{\"error\":{\"hint\":\"--at must name a node's admin address, by default port 7780\",\"kind\":\"unhealthy\",\
         \"reason\":\"garbled\",\"state\":null,\"text\":\"AT answers, but not as Slipgate's admin interface does (status \
         404)\"},\"exit\":10}\n",
    );
}

#[test]
fn what_hangs_up_is_told() {
    let done = against(b"", &["migrate", "ann", "--to", "keep"]).ends(1);
    assert!(done.err.starts_with("error: the connection to AT broke ("), "{done:?}");
    assert!(done.err.contains("\n  whether it was done is not known\n  try:  slipgate status\n"), "{done:?}");
}

#[test]
fn what_never_answers_is_given_up_in_time() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let at = listener.local_addr().expect("an address").to_string();
    let done = run(program().args(["despawn", "ann", "--timeout", "100ms", "--at", &at]));
    done.fails(
        5,
        &format!(
            "error: {at} did not answer within 100ms\n  it may still happen\n  \
             try:  look first, or wait longer with --timeout 60s\n"
        ),
    );
    drop(listener);
}
