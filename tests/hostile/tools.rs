//! Whoever reaches the admin port and is no tool.

use std::io::{Read, Write};
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use crate::{RESIDENT_MORE, clean, connect, crowd, resident, stop, tour, two_nodes};

#[test]
fn crowds_and_slow_and_oversized_requests_end_by_themselves_and_tools_are_answered() {
    let (_cluster, nodes) = two_nodes();
    let address: SocketAddr = nodes[0].admin().parse().expect("an address");
    let before = resident(&nodes[0]);
    // Asked through the other node, as this one's port is under fire; it moves entities on both.
    let touring = tour(&nodes[1], 60);

    let post = "POST /api/v1/messages HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n";
    let began = Instant::now();
    let mut slow = connect(address);
    write!(slow, "{post}Content-Length: 1000\r\n\r\n{{").expect("a head is taken");
    let mut headless = connect(address);
    write!(headless, "{post}").expect("half a head is taken");

    let told = ask(address, &format!("{post}Content-Length: 1073741824\r\n\r\n"));
    assert!(told.starts_with("HTTP/1.1 413"), "{told}");
    let piece = "x".repeat(1 << 16);
    let chunks = format!("10000\r\n{piece}\r\n").repeat(8);
    let told = ask(address, &format!("{post}Transfer-Encoding: chunked\r\n\r\n{chunks}"));
    assert!(told.is_empty() || told.starts_with("HTTP/1.1 413"), "{told}");
    let flood = (0..20_000).fold(String::new(), |flood, number| flood + &format!("X-{number}: {number}\r\n"));
    let told = ask(address, &format!("GET /health/live HTTP/1.1\r\nHost: localhost\r\n{flood}\r\n"));
    assert!(!told.starts_with("HTTP/1.1 200"), "{told}");
    let told = ask(address, &format!("GET /{} HTTP/1.1\r\nHost: localhost\r\n\r\n", "x".repeat(1 << 20)));
    assert!(!told.starts_with("HTTP/1.1 200"), "{told}");
    for _ in 0..100 {
        ask(address, "\u{0}\u{1}\u{2} junk\r\n\r\n");
    }

    let mut answer = String::new();
    slow.read_to_string(&mut answer).expect("an answer and an end");
    assert!(answer.starts_with("HTTP/1.1 408") && answer.contains("body_too_slow"), "{answer}");
    let _ = headless.read_to_string(&mut answer);
    assert!(began.elapsed() < Duration::from_secs(15), "nobody is waited for: {:?}", began.elapsed());

    crowd(address, 10_000);
    assert_eq!(nodes[0].client().get_raw("/health/live").expect("an answer").status, 200);
    let more = resident(&nodes[0]).saturating_sub(before);
    assert!(more < RESIDENT_MORE, "{more} KiB more");
    clean(touring);
    stop(nodes);
}

/// Sends bytes and reads what comes, to the end of the connection or of the answer's head.
fn ask(address: SocketAddr, request: &str) -> String {
    let mut connection = connect(address);
    // It may be closed before all is taken, and then what it said may be lost.
    let _ = connection.write_all(request.as_bytes());
    let mut answer = Vec::new();
    let mut buffer = [0; 4096];
    while !answer.windows(4).any(|part| part == b"\r\n\r\n") {
        match connection.read(&mut buffer) {
            Ok(0) | Err(_) => break,
            Ok(read) => answer.extend_from_slice(&buffer[..read]),
        }
    }
    String::from_utf8_lossy(&answer).into_owned()
}
