//! A client against a real admin interface with a canned oracle, and against what is none.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::thread;

use slipgate_proto::admin::{ClusterReport, EntityRow, MoveReport};

use super::*;
use crate::admin::canned::{self, Canned};
use crate::admin::live::Live;

fn client(at: SocketAddr) -> Client {
    Client::new(&at.to_string(), None, Duration::from_secs(5))
}

/// Something that takes one connection and answers with these bytes.
fn answering(bytes: &'static [u8]) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let at = listener.local_addr().expect("an address");
    thread::spawn(move || {
        let (mut socket, _) = listener.accept().expect("a connection");
        let mut request = [0; 1024];
        assert!(socket.read(&mut request).expect("a request") > 0);
        socket.write_all(bytes).expect("an answer");
    });
    at
}

#[test]
fn answers_come_as_values() {
    let live = Live::start(Canned::friendly());
    let client = client(live.at);
    let report: ClusterReport = client.get("/api/v1/status").expect("a report");
    assert_eq!(report, canned::cluster());
    let body = crate::admin::body::MoveBody { to: "harbor".into(), timeout_ms: 10 };
    let moved: MoveReport = client.post("/api/v1/entities/ann/moves", &body).expect("a report");
    assert_eq!(moved, canned::moved());
    let row: EntityRow = client.delete("/api/v1/entities/ann").expect("a row");
    assert_eq!(row, canned::row());
}

#[test]
fn a_problem_comes_back_whole() {
    let live = Live::start(Canned::by(|_| Err(canned::refused())));
    let error = client(live.at).get::<ClusterReport>("/api/v1/status").expect_err("a problem");
    assert!(error.is_certain());
    let CallError::Problem(problem) = error else { panic!("{error:?}") };
    assert_eq!(problem, canned::refused());
}

#[test]
fn events_stream_until_the_node_stops() {
    let live = Live::start(Canned::friendly());
    let mut events = client(live.at).events("/api/v1/events").expect("a stream");
    let numbers: Vec<_> = events.by_ref().take(3).map(|event| event.expect("an event").number).collect();
    assert_eq!(numbers, [2, 3, 4]);
    drop(live);
    assert!(events.all(|event| matches!(event, Ok(_) | Err(CallError::Broken { .. }))));
}

#[test]
fn where_nothing_listens_the_request_surely_was_not_carried_out() {
    let gone = TcpListener::bind("127.0.0.1:0").expect("a free port").local_addr().expect("an address");
    let error = client(gone).get::<ClusterReport>("/api/v1/status").expect_err("nobody is there");
    assert_eq!(error.to_string(), format!("nothing answers at {gone} (connection refused)"));
    assert!(error.is_certain());
}

#[test]
fn a_connection_that_breaks_leaves_the_outcome_open() {
    let error = client(answering(b"")).get::<ClusterReport>("/api/v1/status").expect_err("it hung up");
    assert!(!error.is_certain(), "{error:?}");
}

#[test]
fn another_server_is_told_from_ours() {
    let at = answering(b"HTTP/1.1 404 Not Found\r\nContent-Length: 5\r\n\r\nhello");
    let error = client(at).get::<ClusterReport>("/api/v1/status").expect_err("another server");
    assert!(matches!(error, CallError::Garbled { .. }), "{error:?}");
    let at = answering(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello");
    let error = client(at).get::<ClusterReport>("/api/v1/status").expect_err("another server");
    assert!(matches!(error, CallError::Garbled { .. }), "{error:?}");
}

#[test]
fn what_is_no_address_is_not_asked() {
    let client = Client::new("not an address", None, Duration::from_secs(1));
    let error = client.get::<ClusterReport>("/api/v1/status").expect_err("no address");
    assert!(matches!(error, CallError::Unreachable { .. }), "{error:?}");
}

#[test]
fn a_check_waits_for_as_long_as_it_was_told_to_and_no_longer() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let at = listener.local_addr().expect("an address");
    let asked = client(at).within(Duration::from_millis(100));
    assert_eq!((asked.patience(), asked.without_slack().patience()), (asked.timeout() + SLACK, asked.timeout()));
    let error = asked.without_slack().get_raw("/health/live").expect_err("nobody answers");
    assert!(matches!(error, CallError::Late { within, .. } if within == asked.timeout()), "{error:?}");
}
