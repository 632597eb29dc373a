//! Who may ask what: the host a request names, the page it comes from, the token it carries.
//!
//! ```text
//!                          listener on loopback           listener beyond loopback
//! Host                     must be loopback               any
//! Origin, on writes        none, or the same host         none, or the same host
//! token, on writes         not needed                     needed; without a configured one: refused
//! ```
//!
//! A page in a browser can reach a listener on loopback. It is kept out twice: a name that was made to
//! point at 127.0.0.1 is not a loopback `Host`, and a page from elsewhere names itself in `Origin`.

use std::net::{IpAddr, SocketAddr};

use actix_web::Error;
use actix_web::body::MessageBody;
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::http::header::{AUTHORIZATION, HOST, HeaderName, ORIGIN};
use actix_web::http::{Method, StatusCode};
use actix_web::middleware::Next;
use actix_web::web::Data;
use slipgate_proto::admin::{Problem, ProblemKind};

use super::reply::Rejection;

/// What the guard goes by.
#[derive(Clone, Debug)]
pub(super) struct Rules {
    pub(super) listener: SocketAddr,
    pub(super) token: Option<String>,
}

/// What of a request the guard looks at. A header that is given twice counts as given wrongly.
#[derive(Debug)]
struct Caller<'a> {
    peer: Option<IpAddr>,
    writes: bool,
    host: Option<&'a str>,
    origin: Option<&'a str>,
    authorization: Option<&'a str>,
}

/// Lets a request pass, or answers in its place.
pub(super) async fn check(
    request: ServiceRequest,
    next: Next<impl MessageBody>,
) -> Result<ServiceResponse<impl MessageBody>, Error> {
    let rules = request.app_data::<Data<Rules>>().expect("the rules are mounted with the routes");
    let caller = Caller {
        peer: request.peer_addr().map(|peer| peer.ip()),
        writes: !matches!(*request.method(), Method::GET | Method::HEAD),
        host: header(&request, &HOST),
        origin: header(&request, &ORIGIN),
        authorization: header(&request, &AUTHORIZATION),
    };
    judge(rules, &caller)?;
    next.call(request).await
}

fn header<'a>(request: &'a ServiceRequest, name: &HeaderName) -> Option<&'a str> {
    let mut values = request.headers().get_all(name);
    let first = values.next()?;
    if values.next().is_some() {
        return Some("");
    }
    Some(first.to_str().unwrap_or_default())
}

fn judge(rules: &Rules, caller: &Caller<'_>) -> Result<(), Rejection> {
    let local = rules.listener.ip().is_loopback();
    if local && !caller.host.is_some_and(is_loopback_host) {
        let text = format!("this interface listens on loopback and does not answer to the host {}", told(caller.host));
        return Err(forbidden("host", text, "ask for it as 127.0.0.1 or localhost"));
    }
    if !caller.writes {
        return Ok(());
    }
    if let Some(origin) = caller.origin
        && !is_same_origin(origin, caller.host)
    {
        let text = format!("a page from {} may not change the cluster", told(Some(origin)));
        return Err(forbidden("origin", text, "use the command line, or a page of this interface"));
    }
    if local && caller.peer.is_some_and(|peer| peer.is_loopback()) {
        return Ok(());
    }
    let Some(token) = &rules.token else {
        return Err(unauthorized(
            "no_token_configured",
            "this interface is reachable beyond loopback and has no token, so it takes no writes",
            "set [admin] token_file or SLIPGATE__ADMIN__TOKEN on the node",
        ));
    };
    let given = caller.authorization.and_then(|value| value.strip_prefix("Bearer "));
    match given {
        Some(given) if is_equal(given.trim().as_bytes(), token.as_bytes()) => Ok(()),
        Some(_) => Err(unauthorized("wrong_token", "the token is wrong", HOW_TO_SIGN)),
        None => Err(unauthorized("no_token", "writes need a token here, and none was given", HOW_TO_SIGN)),
    }
}

/// Whether a `Host` header names this machine by its loopback addresses or names.
fn is_loopback_host(host: &str) -> bool {
    if let Ok(address) = host.parse::<SocketAddr>() {
        return address.ip().is_loopback();
    }
    let bare = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(host);
    if let Ok(address) = bare.parse::<IpAddr>() {
        return address.is_loopback();
    }
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.parse::<u16>().is_ok() => name,
        Some(_) => return false,
        None => host,
    };
    name.trim_end_matches('.').eq_ignore_ascii_case("localhost")
}

fn is_same_origin(origin: &str, host: Option<&str>) -> bool {
    let bare = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
    bare.is_some_and(|bare| host.is_some_and(|host| bare.eq_ignore_ascii_case(host)))
}

/// Compares in a time that depends on the lengths alone.
fn is_equal(given: &[u8], right: &[u8]) -> bool {
    let differences = given.iter().zip(right).fold(0, |seen, (a, b)| seen | (a ^ b));
    given.len() == right.len() && std::hint::black_box(differences) == 0
}

fn forbidden(reason: &str, text: String, hint: &str) -> Rejection {
    let problem =
        Problem { kind: ProblemKind::Refused, reason: reason.into(), text, state: None, hint: Some(hint.into()) };
    Rejection::from(problem).with_status(StatusCode::FORBIDDEN)
}

fn unauthorized(reason: &str, text: &str, hint: &str) -> Rejection {
    Problem {
        kind: ProblemKind::Unauthorized,
        reason: reason.into(),
        text: text.into(),
        state: Some("nothing was changed".into()),
        hint: Some(hint.into()),
    }
    .into()
}

fn told(value: Option<&str>) -> String {
    match value {
        Some(value) => format!("`{}`", value.chars().take(80).collect::<String>().escape_default()),
        None => "it was not given".into(),
    }
}

const HOW_TO_SIGN: &str = "pass --token or set SLIPGATE_ADMIN_TOKEN; over HTTP send `Authorization: Bearer TOKEN`";

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(listener: &str, token: Option<&str>) -> Rules {
        Rules { listener: listener.parse().expect("an address"), token: token.map(Into::into) }
    }

    fn local() -> Rules {
        rules("127.0.0.1:7780", None)
    }

    fn wide() -> Rules {
        rules("0.0.0.0:7780", Some("secret"))
    }

    fn write() -> Caller<'static> {
        Caller {
            peer: Some(IpAddr::from([127, 0, 0, 1])),
            writes: true,
            host: Some("127.0.0.1:7780"),
            origin: None,
            authorization: None,
        }
    }

    fn check(rules: &Rules, caller: Caller<'_>, expected: Result<(), &str>) {
        let verdict = judge(rules, &caller).map_err(|rejection| rejection.problem.reason);
        assert_eq!(verdict, expected.map_err(String::from), "{caller:?}");
    }

    #[test]
    fn on_loopback_a_write_needs_no_token() {
        check(&local(), write(), Ok(()));
        check(&local(), Caller { host: Some("localhost:7780"), ..write() }, Ok(()));
        check(&local(), Caller { host: Some("[::1]:7780"), ..write() }, Ok(()));
        check(&local(), Caller { host: Some("[::1]"), ..write() }, Ok(()));
        check(&local(), Caller { host: Some("LOCALHOST."), ..write() }, Ok(()));
    }

    #[test]
    fn a_name_that_was_made_to_point_at_loopback_is_refused_even_for_reads() {
        for host in ["evil.example", "evil.example:7780", "127.0.0.1.evil.example", "localhost:x", "10.0.0.1", ""] {
            check(&local(), Caller { host: Some(host), ..write() }, Err("host"));
            check(&local(), Caller { host: Some(host), writes: false, ..write() }, Err("host"));
        }
        check(&local(), Caller { host: None, ..write() }, Err("host"));
    }

    #[test]
    fn a_page_from_elsewhere_may_read_but_not_write() {
        let page = || Caller { origin: Some("https://evil.example"), ..write() };
        check(&local(), page(), Err("origin"));
        check(&wide(), Caller { authorization: Some("Bearer secret"), ..page() }, Err("origin"));
        check(&local(), Caller { origin: Some("null"), ..write() }, Err("origin"));
        check(&local(), Caller { writes: false, ..page() }, Ok(()));
    }

    #[test]
    fn a_page_of_this_interface_may_write() {
        check(&local(), Caller { origin: Some("http://127.0.0.1:7780"), ..write() }, Ok(()));
    }

    #[test]
    fn beyond_loopback_a_write_needs_the_right_token() {
        check(&wide(), write(), Err("no_token"));
        for wrong in ["Bearer wrong", "Bearer secre", "Bearer secret2", "Bearer "] {
            check(&wide(), Caller { authorization: Some(wrong), ..write() }, Err("wrong_token"));
        }
        check(&wide(), Caller { authorization: Some("Basic secret"), ..write() }, Err("no_token"));
        check(&wide(), Caller { authorization: Some("Bearer secret"), ..write() }, Ok(()));
    }

    #[test]
    fn beyond_loopback_reads_need_nothing_and_any_host_will_do() {
        check(&wide(), Caller { writes: false, host: Some("n1:7780"), ..write() }, Ok(()));
    }

    #[test]
    fn beyond_loopback_without_a_token_every_write_is_refused_and_the_key_is_named() {
        let rules = rules("0.0.0.0:7780", None);
        check(&rules, Caller { authorization: Some("Bearer "), ..write() }, Err("no_token_configured"));
        let rejection = judge(&rules, &write()).expect_err("refused");
        assert!(rejection.problem.hint.expect("a hint").contains("SLIPGATE__ADMIN__TOKEN"));
        assert_eq!(rejection.status, StatusCode::UNAUTHORIZED);
    }

    #[test]
    fn a_peer_from_outside_needs_a_token_even_where_the_listener_is_on_loopback() {
        let rules = rules("127.0.0.1:7780", Some("secret"));
        check(&rules, Caller { peer: Some(IpAddr::from([10, 0, 0, 7])), ..write() }, Err("no_token"));
        check(&rules, Caller { peer: None, ..write() }, Err("no_token"));
    }
}
