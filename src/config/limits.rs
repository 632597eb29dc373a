//! `[limits]`: bounds and deadlines as users write them, and the machines' limits made of them.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use slipgate_cluster::Limits;
use slipgate_cluster::budget::{self, Budget};

/// Bounds and deadlines. Defaults and their origins stand with [`Limits`]; relations are checked on loading.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LimitSettings {
    /// Messages of one stream on the way at once; at most `stream_queue`.
    pub stream_window: u32,
    /// Messages of one stream that wait behind the window; at most `router_queue`.
    pub stream_queue: u32,
    /// Bytes of one stream; at least `message_bytes`, at most `router_bytes`.
    #[serde(with = "size")]
    pub stream_bytes: u64,
    /// Messages a router keeps over all its streams.
    pub router_queue: u32,
    /// Bytes a router keeps over all its streams.
    #[serde(with = "size")]
    pub router_bytes: u64,
    /// Bytes of messages that wait on the node, over all its routers, scenes and links, each message with 192 bytes
    /// beside its payload; at least `router_bytes`. Default 256 MiB, its origin is with [`Budget`].
    #[serde(with = "size")]
    pub node_bytes: u64,
    /// Messages held for one entity while it is frozen or staged.
    pub held_messages: u32,
    /// Bytes held for one entity while it is frozen or staged; at least `message_bytes`.
    #[serde(with = "size")]
    pub held_bytes: u64,
    /// Largest payload of one message.
    #[serde(with = "size")]
    pub message_bytes: u64,
    /// Largest encoded state of one entity; at most 8 MiB, which the wire carries.
    #[serde(with = "size")]
    pub state_bytes: u64,
    /// Moves under way at one scene.
    pub moves_per_scene: u32,
    /// Times a message is handed on before its sender is told; 1 to 64.
    pub hops: u8,
    /// From the request to the target's answer; above `resend_first`.
    #[serde(with = "humantime_serde")]
    pub reserve: Duration,
    /// From the freeze to the decision.
    #[serde(with = "humantime_serde")]
    pub transfer: Duration,
    /// From giving up to the home's answer.
    #[serde(with = "humantime_serde")]
    pub decide: Duration,
    /// Wait for the target's report about what was held.
    #[serde(with = "humantime_serde")]
    pub settle: Duration,
    /// Life of an unused reservation; above `reserve` + `transfer`.
    #[serde(with = "humantime_serde")]
    pub reservation: Duration,
    /// How long a stream may be at rest before it is closed.
    #[serde(with = "humantime_serde")]
    pub stream_idle: Duration,
    /// First wait before something unanswered is repeated; at most `resend_max`.
    #[serde(with = "humantime_serde")]
    pub resend_first: Duration,
    /// Longest wait between repeats.
    #[serde(with = "humantime_serde")]
    pub resend_max: Duration,
    /// How long a scene remembers where an entity went; at least `transfer` + `decide`.
    #[serde(with = "humantime_serde")]
    pub tombstone: Duration,
    /// How long a peer may say nothing at all, not even an answer to a ping, before its link is built anew.
    /// Default 5 s: half the default lease.
    #[serde(with = "humantime_serde")]
    pub silence: Duration,
}

impl From<&LimitSettings> for Limits {
    fn from(settings: &LimitSettings) -> Self {
        Self {
            stream_window: count(settings.stream_window),
            stream_queue: count(settings.stream_queue),
            stream_bytes: bytes(settings.stream_bytes),
            router_queue: count(settings.router_queue),
            router_bytes: bytes(settings.router_bytes),
            held_messages: count(settings.held_messages),
            held_bytes: bytes(settings.held_bytes),
            message_bytes: bytes(settings.message_bytes),
            state_bytes: settings.state_bytes,
            moves_per_scene: settings.moves_per_scene,
            hops: settings.hops,
            reserve: settings.reserve,
            transfer: settings.transfer,
            decide: settings.decide,
            settle: settings.settle,
            reservation: settings.reservation,
            stream_idle: settings.stream_idle,
            resend_first: settings.resend_first,
            resend_max: settings.resend_max,
            tombstone: settings.tombstone,
        }
    }
}

impl From<&LimitSettings> for Budget {
    fn from(settings: &LimitSettings) -> Self {
        // More than there are addresses is no bound.
        Self::new(usize::try_from(settings.node_bytes).unwrap_or(usize::MAX))
    }
}

impl Default for LimitSettings {
    fn default() -> Self {
        let limits = Limits::default();
        Self {
            stream_window: whole(limits.stream_window),
            stream_queue: whole(limits.stream_queue),
            stream_bytes: limits.stream_bytes as u64,
            router_queue: whole(limits.router_queue),
            router_bytes: limits.router_bytes as u64,
            node_bytes: budget::BYTES as u64,
            held_messages: whole(limits.held_messages),
            held_bytes: limits.held_bytes as u64,
            message_bytes: limits.message_bytes as u64,
            state_bytes: limits.state_bytes,
            moves_per_scene: limits.moves_per_scene,
            hops: limits.hops,
            reserve: limits.reserve,
            transfer: limits.transfer,
            decide: limits.decide,
            settle: limits.settle,
            reservation: limits.reservation,
            stream_idle: limits.stream_idle,
            resend_first: limits.resend_first,
            resend_max: limits.resend_max,
            tombstone: limits.tombstone,
            silence: SILENCE,
        }
    }
}

/// Half the default lease: a lost link is found and built anew before the lease of whoever is behind it ends.
const SILENCE: Duration = Duration::from_secs(5);

fn count(number: u32) -> usize {
    usize::try_from(number).expect("the program runs where a pointer has 32 bits or more")
}

fn bytes(number: u64) -> usize {
    usize::try_from(number).expect("sizes are checked to stay below 2 GiB")
}

fn whole(number: usize) -> u32 {
    u32::try_from(number).expect("built-in counts fit into 32 bits")
}

/// A size as text with a unit, exact in both directions.
pub(super) mod size {
    use bytesize::ByteSize;
    use serde::{Deserialize, Deserializer, Serializer};

    /// The largest binary unit that leaves no rest.
    pub(in crate::config) fn text(bytes: u64) -> String {
        let units = [(1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
        units
            .into_iter()
            .find(|(unit, _)| bytes != 0 && bytes.is_multiple_of(*unit))
            .map_or_else(|| format!("{bytes}B"), |(unit, name)| format!("{}{name}", bytes / unit))
    }

    pub(in crate::config) fn serialize<S: Serializer>(bytes: &u64, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&text(*bytes))
    }

    pub(in crate::config) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
        ByteSize::deserialize(deserializer).map(|size| size.as_u64())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_settings_left_alone_are_the_limits_of_the_machines() {
        assert_eq!(Limits::from(&LimitSettings::default()), Limits::default());
        assert_eq!(Budget::from(&LimitSettings::default()), Budget::default());
    }

    #[test]
    fn a_size_is_told_in_the_largest_unit_that_leaves_no_rest() {
        let told = |bytes| size::text(bytes);
        assert_eq!([told(0), told(1500), told(16 << 10), told(1 << 20), told((1 << 20) + 1)].join(" "), {
            "0B 1500B 16KiB 1MiB 1048577B"
        });
    }
}
