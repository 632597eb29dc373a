//! Values that must fit each other.

use std::net::SocketAddr;
use std::time::Duration;

use super::fault::{Excerpt, Place};
use super::layer::{Layer, Site};
use super::limits::size;
use super::{Check, Config, DialAddress, Fault, FileText, LimitSettings, Node};

/// What does not fit, the keys involved, and what to write. The fault is shown at the first of the
/// keys that somebody set.
struct Clash {
    keys: &'static [&'static str],
    text: String,
    hint: String,
}

/// Complains about values that contradict each other, unless one of them is wrong by itself.
pub(super) fn check(config: &Config, file: Option<FileText<'_>>, layers: &[Layer], check: &mut Check) {
    let clashes = addresses(config).into_iter().chain(sizes(&config.limits)).chain(times(&config.limits));
    for clash in clashes {
        if clash.keys.iter().any(|key| check.touched.contains(*key)) {
            continue;
        }
        let key = clash.keys.iter().copied().find(|key| site(layers, key).is_some_and(|site| *site != Site::Preset));
        let key = key.unwrap_or(clash.keys[0]);
        let place = place(file, site(layers, key));
        check.faults.push(Fault::new(place, format!("{}: {}", clash.keys[0], clash.text)).hint(Some(clash.hint)));
    }
}

fn site<'a>(layers: &'a [Layer], key: &str) -> Option<&'a Site> {
    layers.iter().rev().find_map(|layer| layer.get(key)).map(|entry| &entry.site)
}

fn place(file: Option<FileText<'_>>, site: Option<&Site>) -> Place {
    match (site, file) {
        (Some(Site::File { span, .. }), Some(file)) => Place::Line(Excerpt::of(file, span)),
        (Some(Site::Variable(name)), _) => Place::Variable(name.clone()),
        (Some(Site::Override(key)), _) => Place::Override(key.clone()),
        (Some(Site::Preset) | None, Some(file)) => Place::File(file.name.to_owned()),
        (Some(Site::Preset | Site::File { .. }) | None, None) => Place::Nowhere,
    }
}

fn addresses(config: &Config) -> Vec<Clash> {
    let mut clashes = Vec::new();
    if config.node.advertise.is_none() && config.node.listen.ip().is_unspecified() {
        clashes.push(unreachable(&["node.advertise", "node.listen"], config.node.listen, "peers"));
    }
    if config.admin.advertise.is_none() && config.admin.listen.ip().is_unspecified() {
        clashes.push(unreachable(&["admin.advertise", "admin.listen"], config.admin.listen, "people"));
    }
    if config.admin.token.is_some() && config.admin.token_file.is_some() {
        clashes.push(Clash {
            keys: &["admin.token", "admin.token_file"],
            text: "token and token_file are both set".to_owned(),
            hint: "keep one of the two".to_owned(),
        });
    }
    if config.manager.address.is_none() && config.manager.node != config.node.name {
        clashes.push(Clash {
            keys: &["manager.address", "manager.node", "node.name"],
            text: format!("missing: {} joins the manager on {}", config.node.name, config.manager.node),
            hint: "write [manager] address = \"host:port\", or set SLIPGATE__MANAGER__ADDRESS".to_owned(),
        });
    }
    clashes.extend(second_manager(config));
    clashes
}

/// A node that takes itself for the manager's, while the others join elsewhere: it would be a second manager, and
/// issue ids anew.
fn second_manager(config: &Config) -> Option<Clash> {
    let Config { node, manager, .. } = config;
    let address = manager.address.as_ref().filter(|_| manager.node == node.name)?;
    let own = node.dial(node.listen);
    if is_own(node, address) {
        return None;
    }
    let name = &node.name;
    Some(Clash {
        keys: &["manager.address", "manager.node", "node.name", "node.advertise", "node.listen"],
        text: format!("{address} is not this node's own address, {own}, but [manager] node is {name}, this node"),
        hint: format!(
            "if the manager runs at {address}, give this node a name of its own: [node] name, or \
             SLIPGATE__NODE__NAME; if it is to run here, leave [manager] address out, or write what others dial"
        ),
    })
}

/// Names are not looked up: only one that is written alike, or `localhost`, is the same.
fn is_own(node: &Node, address: &DialAddress) -> bool {
    let address = address.as_str();
    let advertised = node.advertise.as_ref().is_some_and(|own| own.as_str().eq_ignore_ascii_case(address));
    let host = if node.listen.is_ipv6() { "[::1]" } else { "127.0.0.1" };
    let plain = address.strip_prefix("localhost:").map_or_else(|| address.to_owned(), |port| format!("{host}:{port}"));
    advertised || plain.parse() == Ok(node.listen)
}

fn unreachable(keys: &'static [&'static str], listen: SocketAddr, who: &str) -> Clash {
    let section = keys[0].split_once('.').map_or(keys[0], |(section, _)| section);
    let port = if listen.port() == 0 { "PORT".to_owned() } else { listen.port().to_string() };
    Clash {
        keys,
        text: format!("missing: {listen}, where it listens, is nothing that {who} can dial"),
        hint: format!(
            "write [{section}] advertise = \"n1:{port}\", or set SLIPGATE__{}__ADVERTISE",
            section.to_uppercase()
        ),
    }
}

fn sizes(limits: &LimitSettings) -> Vec<Clash> {
    let count = |number: u32| (u64::from(number), number.to_string());
    let bytes = |number: u64| (number, size::text(number));
    [
        at_most(
            &["limits.stream_window", "limits.stream_queue"],
            count(limits.stream_window),
            count(limits.stream_queue),
        ),
        at_most(
            &["limits.stream_queue", "limits.router_queue"],
            count(limits.stream_queue),
            count(limits.router_queue),
        ),
        at_most(
            &["limits.message_bytes", "limits.stream_bytes"],
            bytes(limits.message_bytes),
            bytes(limits.stream_bytes),
        ),
        at_most(&["limits.message_bytes", "limits.held_bytes"], bytes(limits.message_bytes), bytes(limits.held_bytes)),
        at_most(
            &["limits.stream_bytes", "limits.router_bytes"],
            bytes(limits.stream_bytes),
            bytes(limits.router_bytes),
        ),
        at_most(&["limits.router_bytes", "limits.node_bytes"], bytes(limits.router_bytes), bytes(limits.node_bytes)),
        at_most(&["limits.held_bytes", "limits.node_bytes"], bytes(limits.held_bytes), bytes(limits.node_bytes)),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn at_most(
    keys: &'static [&'static str; 2],
    (small, shown): (u64, String),
    (large, most): (u64, String),
) -> Option<Clash> {
    let other = name(keys[1]);
    (small > large).then(|| Clash {
        keys,
        text: format!("{shown} is above {other} ({most})"),
        hint: format!("lower it to {most}, or raise {other}"),
    })
}

fn times(limits: &LimitSettings) -> Vec<Clash> {
    let told = |duration: Duration| humantime::format_duration(duration).to_string();
    let mut clashes = Vec::new();
    let step = limits.reserve + limits.transfer;
    if limits.reservation <= step {
        clashes.push(Clash {
            keys: &["limits.reservation", "limits.reserve", "limits.transfer"],
            text: format!("{} is not above reserve + transfer ({})", told(limits.reservation), told(step)),
            hint: "raise it: the room would be given away before the state arrives".to_owned(),
        });
    }
    let end = limits.transfer + limits.decide;
    if limits.tombstone < end {
        clashes.push(Clash {
            keys: &["limits.tombstone", "limits.transfer", "limits.decide"],
            text: format!("{} is below transfer + decide ({})", told(limits.tombstone), told(end)),
            hint: "raise it: late messages would find nobody who knows the way".to_owned(),
        });
    }
    if limits.resend_first > limits.resend_max {
        clashes.push(Clash {
            keys: &["limits.resend_first", "limits.resend_max"],
            text: format!("{} is above resend_max ({})", told(limits.resend_first), told(limits.resend_max)),
            hint: format!("lower it to {}, or raise resend_max", told(limits.resend_max)),
        });
    }
    if limits.resend_first >= limits.reserve {
        clashes.push(Clash {
            keys: &["limits.resend_first", "limits.reserve"],
            text: format!("{} is not below reserve ({})", told(limits.resend_first), told(limits.reserve)),
            hint: "lower it: a lost request would never be repeated".to_owned(),
        });
    }
    clashes
}

fn name(key: &str) -> &str {
    key.split_once('.').map_or(key, |(_, name)| name)
}
