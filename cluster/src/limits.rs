//! Bounds and deadlines of the machines, with the origin of each default.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// Bounds and deadlines. Every field has a sane default; `cluster.toml` sets them under `[limits]`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// Unacknowledged messages of one stream on the way at once. Default 64: one batch.
    pub stream_window: usize,
    /// Messages of one stream that wait behind the window before the sender hears `Busy`. Default 1024.
    pub stream_queue: usize,
    /// Bytes of one stream, on the way and waiting. Default 1 MiB.
    pub stream_bytes: usize,
    /// Messages a router keeps over all its streams, for one owner at most half of them. Default 262,144.
    pub router_queue: usize,
    /// Bytes a router keeps over all its streams, for one owner at most half of them. Default 64 MiB.
    pub router_bytes: usize,
    /// Messages held for one entity while it is frozen or staged; more are left to be resent. Default 4096.
    pub held_messages: usize,
    /// Bytes held for one entity while it is frozen or staged. Default 1 MiB.
    pub held_bytes: usize,
    /// Largest payload of one message, in bytes; at most 64 KiB, or it fits into no frame. Default 16 KiB.
    pub message_bytes: usize,
    /// Largest encoded state of one entity, in bytes. Default 1 MiB.
    pub state_bytes: u64,
    /// Moves under way at one scene. Default 4096.
    pub moves_per_scene: u32,
    /// Times a message is handed on before its sender is told. Default 8.
    pub hops: u8,
    /// From the request to the target's answer. Default 2 s.
    pub reserve: Duration,
    /// From the freeze to the decision; then the source gives up. Default 3 s.
    pub transfer: Duration,
    /// From giving up to the home's answer; then the requester hears `Undecided`. Default 3 s.
    pub decide: Duration,
    /// How long the source waits for the target to report that what was held is applied. Default 1 s.
    pub settle: Duration,
    /// How long an unused reservation holds room. Default 10 s: above `reserve` + `transfer`.
    pub reservation: Duration,
    /// How long a stream may be at rest before it is closed; a later message begins another. Default 5 s: a pair that
    /// talks every few seconds keeps its stream, one that has parted costs nothing soon.
    pub stream_idle: Duration,
    /// First wait before something unanswered is repeated. Default 100 ms: well above a round trip.
    pub resend_first: Duration,
    /// Longest wait between repeats. Default 2 s.
    pub resend_max: Duration,
    /// How long a scene remembers where an entity went. Default 30 s: longer than any frame travels.
    pub tombstone: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            stream_window: 64,
            stream_queue: 1024,
            stream_bytes: 1 << 20,
            router_queue: 1 << 18,
            router_bytes: 64 << 20,
            held_messages: 4096,
            held_bytes: 1 << 20,
            message_bytes: 16 << 10,
            state_bytes: 1 << 20,
            moves_per_scene: 4096,
            hops: 8,
            reserve: Duration::from_secs(2),
            transfer: Duration::from_secs(3),
            decide: Duration::from_secs(3),
            settle: Duration::from_secs(1),
            reservation: Duration::from_secs(10),
            stream_idle: Duration::from_secs(5),
            resend_first: Duration::from_millis(100),
            resend_max: Duration::from_secs(2),
            tombstone: Duration::from_secs(30),
        }
    }
}
