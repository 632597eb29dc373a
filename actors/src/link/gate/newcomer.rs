//! Whether what a node says of itself when it joins can be: every member is told of it.
//!
//! Keeps: addresses are short and printable, so that a view fits into a handshake and a log line.
//! Leaves out: whether anybody answers there; names, which their type checks; who has what (the manager).

use slipgate_cluster::manager::JoinRequest;

/// What is wrong with a request to join, if so.
pub(super) fn fault(request: &JoinRequest) -> Option<&'static str> {
    let JoinRequest { address, admin, .. } = request;
    if !is_address(address) {
        return Some("the node that joins gives no address that could be dialled");
    }
    if !is_address(admin) {
        return Some("the node that joins gives no address where its admin interface could listen");
    }
    None
}

fn is_address(text: &str) -> bool {
    let is_port = |port: &str| port.parse::<u16>().is_ok_and(|port| port > 0);
    text.len() <= ADDRESS_BYTES_MAX
        && text.bytes().all(|byte| byte.is_ascii_graphic())
        && text.rsplit_once(':').is_some_and(|(host, port)| !host.is_empty() && is_port(port))
}

/// The longest name of a host, a colon, a port.
const ADDRESS_BYTES_MAX: usize = 253 + 1 + 5;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_a_host_and_a_port_of_bounded_length() {
        let long = format!("{}:1", "a".repeat(300));
        for text in ["n1:7700", "127.0.0.1:1", "[::1]:65535"] {
            assert!(is_address(text), "{text}");
        }
        for text in ["", "n1", ":1", "n1:", "n1:0", "n1:65536", "n 1:1", "\u{1b}[2J:1", long.as_str()] {
            assert!(!is_address(text), "{text}");
        }
    }
}
