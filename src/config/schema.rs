//! Every key there is: its kind, and what holds when nobody sets it.

use std::time::Duration;

use slipgate_cluster::bounds::SCENE_NUMBERS_MADE;
use slipgate_proto::lanes;

use super::kind::Kind;

/// One key.
#[derive(Debug)]
pub(super) struct Key {
    /// `section.key`.
    pub(super) path: &'static str,
    /// What its value must be.
    pub(super) kind: Kind,
    /// What holds when nobody sets it.
    pub(super) preset: Preset,
}

/// What holds when nobody sets a key.
#[derive(Clone, Copy, Debug)]
pub(super) enum Preset {
    /// Nothing: it must be set, for example to this.
    Required(&'static str),
    /// The key stays away.
    Unset,
    /// This text.
    Text(&'static str),
    /// This number.
    Whole(i64),
    /// The machines' own default, `slipgate_cluster::Limits`.
    Limit,
}

impl Key {
    const fn new(path: &'static str, kind: Kind, preset: Preset) -> Self {
        Self { path, kind, preset }
    }

    /// The variable that sets it: `SLIPGATE__NODE__NAME`.
    pub(super) fn variable(&self) -> String {
        format!("{PREFIX}{}", self.path.replace('.', "__").to_uppercase())
    }

    /// The part before the dot.
    pub(super) fn section(&self) -> &'static str {
        self.path.split_once('.').map_or(self.path, |(section, _)| section)
    }

    /// The part behind the dot.
    pub(super) fn name(&self) -> &'static str {
        self.path.split_once('.').map_or(self.path, |(_, name)| name)
    }
}

/// Finds a key by its path.
pub(super) fn key(path: &str) -> Option<&'static Key> {
    KEYS.iter().find(|key| key.path == path)
}

/// The keys of one section.
pub(super) fn of_section(section: &str) -> impl Iterator<Item = &'static Key> {
    KEYS.iter().filter(move |key| key.section() == section)
}

/// What the names of variables start with.
pub(super) const PREFIX: &str = "SLIPGATE__";

/// The sections that are tables, and the list.
pub(super) const SECTIONS: [&str; 9] =
    ["node", "cluster", "manager", "scenes", "entities", "admin", "drain", "log", "limits"];

/// The section that is a list of tables.
pub(super) const SCENES: &str = "scenes";

const MIB: u64 = 1 << 20;
const STEP: Kind = Kind::Duration { min: Duration::from_millis(1), max: Duration::from_secs(3600) };
const LEASE: Kind = Kind::Duration { min: Duration::from_secs(1), max: Duration::from_secs(600) };
const MARGIN: Kind = Kind::Duration { min: Duration::from_millis(100), max: Duration::from_secs(60) };
const DRAIN: Kind = Kind::Duration { min: Duration::from_millis(100), max: Duration::from_secs(600) };
/// Looks at a quiet link come five times as often.
const SILENCE: Kind = Kind::Duration { min: Duration::from_millis(250), max: Duration::from_secs(600) };
const COUNT: Kind = Kind::Count { min: 1, max: 1 << 24 };
const BUFFER: Kind = Kind::Size { min: 1, max: 1 << 30 };
/// A part of it holds what two links or scenes have for themselves, and as much again.
const NODE: Kind = Kind::Size { min: 4 * MIB, max: 1 << 40 };
/// What fits into a frame between nodes, with a batch before it.
const MESSAGE: Kind = Kind::Size { min: 1, max: lanes::MESSAGE_BYTES_MAX as u64 };
const STATE: Kind = Kind::Size { min: 1, max: 8 * MIB };
const FORMATS: Kind = Kind::Word(&["auto", "pretty", "json"]);
const COLOURS: Kind = Kind::Word(&["auto", "always", "never"]);

/// All keys, in the order in which they are shown.
pub(super) static KEYS: [Key; 43] = [
    Key::new("node.name", Kind::Name, Preset::Required("n1")),
    Key::new("node.listen", Kind::Listen, Preset::Text("127.0.0.1:7700")),
    Key::new("node.advertise", Kind::Dial, Preset::Unset),
    Key::new("node.arbiters", Kind::Count { min: 0, max: 256 }, Preset::Whole(0)),
    Key::new("node.data", Kind::Path, Preset::Text("data")),
    Key::new("cluster.name", Kind::Name, Preset::Required("demo")),
    Key::new("manager.node", Kind::Name, Preset::Required("n1")),
    Key::new("manager.address", Kind::Dial, Preset::Unset),
    Key::new("manager.lease", LEASE, Preset::Text("10s")),
    Key::new("manager.margin", MARGIN, Preset::Text("2s")),
    Key::new("entities.types", Kind::Types, Preset::Text("")),
    Key::new("entities.on_panic", Kind::Word(&["park", "despawn"]), Preset::Text("park")),
    Key::new("admin.listen", Kind::Listen, Preset::Text("127.0.0.1:7780")),
    Key::new("admin.advertise", Kind::Dial, Preset::Unset),
    Key::new("admin.token", Kind::Secret, Preset::Unset),
    Key::new("admin.token_file", Kind::Path, Preset::Unset),
    Key::new("drain.timeout", DRAIN, Preset::Text("25s")),
    Key::new("log.format", FORMATS, Preset::Text("auto")),
    Key::new("log.level", Kind::Filter, Preset::Text("info,actix_server=warn")),
    Key::new("log.entities", Kind::Voices, Preset::Text("info")),
    Key::new("log.colour", COLOURS, Preset::Text("auto")),
    Key::new("limits.stream_window", COUNT, Preset::Limit),
    Key::new("limits.stream_queue", COUNT, Preset::Limit),
    Key::new("limits.stream_bytes", BUFFER, Preset::Limit),
    Key::new("limits.router_queue", COUNT, Preset::Limit),
    Key::new("limits.router_bytes", BUFFER, Preset::Limit),
    Key::new("limits.node_bytes", NODE, Preset::Limit),
    Key::new("limits.held_messages", COUNT, Preset::Limit),
    Key::new("limits.held_bytes", BUFFER, Preset::Limit),
    Key::new("limits.message_bytes", MESSAGE, Preset::Limit),
    Key::new("limits.state_bytes", STATE, Preset::Limit),
    Key::new("limits.moves_per_scene", COUNT, Preset::Limit),
    Key::new("limits.hops", Kind::Count { min: 1, max: 64 }, Preset::Limit),
    Key::new("limits.reserve", STEP, Preset::Limit),
    Key::new("limits.transfer", STEP, Preset::Limit),
    Key::new("limits.decide", STEP, Preset::Limit),
    Key::new("limits.settle", STEP, Preset::Limit),
    Key::new("limits.reservation", STEP, Preset::Limit),
    Key::new("limits.stream_idle", STEP, Preset::Limit),
    Key::new("limits.resend_first", STEP, Preset::Limit),
    Key::new("limits.resend_max", STEP, Preset::Limit),
    Key::new("limits.tombstone", STEP, Preset::Limit),
    Key::new("limits.silence", SILENCE, Preset::Limit),
];

/// The keys of one scene.
pub(super) static SCENE_KEYS: [Key; 4] = [
    Key::new("id", Kind::Count { min: 0, max: SCENE_NUMBERS_MADE as i64 - 1 }, Preset::Required("1")),
    Key::new("name", Kind::SceneName, Preset::Required("\"forest\"")),
    Key::new("node", Kind::Name, Preset::Required("\"n1\"")),
    Key::new("capacity", Kind::Count { min: 1, max: u32::MAX as i64 }, Preset::Whole(100_000)),
];
