//! Bounds that no configuration sets, each with its reason.
//!
//! Inside a cluster a peer is believed: what it says of owners and acknowledgements is taken for true, within
//! what it may speak of at all. It must not be able to end a process or to fill its memory, though, so whatever a
//! peer can make grow ends here. `Limits` bounds what is measured in the traffic of a game; these lie far
//! above it.
//!
//! Keeps: at a bound the newest is left out and counted, and its sender repeats it; what is there already goes on.

/// Rows of an entity's table of what it has applied: streams that are open to it, and scenes and routers of which it
/// knows up to where the streams opened there are over. The table moves with the entity, so that with
/// [`RECEIVERS_PER_ENTITY`] it stays below the default `state_bytes`. The message that would begin a further stream is
/// left out until others are closed.
pub const STREAMS_PER_ENTITY: usize = 16_384;

/// Scenes and routers of one session of which an entity remembers apart up to where their streams are over. Beyond it one
/// number is for all of them, and whoever opens streams below it is told to begin above: a round trip.
pub const FLOORS_PER_SESSION: usize = 64;

/// An open stream, encoded, in a cluster of a thousand nodes after months: sender 10, id 19, number 5, place 10, epoch
/// 4 bytes.
pub const RECEIVED_BYTES: usize = 48;

/// Streams that one router closes at a time. Beyond that one is forgotten: its receiver keeps its row until the sender
/// begins another stream to it, or, once it is gone, until the next verdict on any session. Some 150 bytes each.
pub const CLOSING_STREAMS: usize = 1 << 18;

/// Entities that one entity writes to at a time. A message to a further one comes back as busy until another stream
/// was at rest for long enough.
pub const RECEIVERS_PER_ENTITY: usize = 4_096;

/// The sender's end of a stream, encoded, without its window: id 19, receiver 9, number 5, owner with epoch and base 18
/// bytes, and counts.
pub const SENDING_BYTES: usize = 56;

/// Bytes of copies that one scene keeps before the record has decided: what a link's bulk lane holds. A further
/// copy is left out; the source sends it again for as long as the move has time.
pub const STAGED_BYTES: usize = 64 << 20;

/// Bytes that wait in one scene, over all its entities, for a gap to close, a move to be decided or a copy to be
/// taken over; a message counts with [`WAITING_FIXED_BYTES`] beside its payload. As much as a router keeps.
pub const WAITING_BYTES: usize = 64 << 20;

/// What a message that waits costs beside its payload.
pub const WAITING_FIXED_BYTES: usize = 192;

/// Entities of which a scene remembers where they went: half a minute of 17,000 moves a second. Beyond that the
/// oldest is forgotten early, and its senders ask the home.
pub const TOMBSTONES: usize = 1 << 19;

/// Highest number in a stream that arrives with a copy, and highest generation of a stream that is heard of: at a
/// million messages, or streams, a second it takes 146,000 years.
pub const NUMBER_MAX: u64 = 1 << 62;

/// Highest generation that whoever opens streams is moved on to by a receiver's word: so far below [`NUMBER_MAX`] that
/// those it opens from there on are heard.
pub const FLOOR_MAX: u64 = 1 << 61;

/// Longest label that a copy may bring, in bytes: twice what may be given, as spawning several appends a number.
pub const LABEL_BYTES: usize = 128;

/// Longest text of why an entity is parked, in bytes. A longer one is cut.
pub const PARKED_BYTES: usize = 512;

/// What game code says, as far as it is kept: at most [`PARKED_BYTES`], whole characters.
///
/// ```
/// # use slipgate_cluster::bounds::clipped;
/// assert_eq!(clipped("ow".to_owned()), "ow");
/// assert_eq!(clipped("\u{e4}".repeat(400)).len(), 512);
/// ```
#[must_use]
pub fn clipped(mut text: String) -> String {
    text.truncate(text.floor_char_boundary(PARKED_BYTES));
    text
}

/// Parts of one entity that may move: its type and its components. Beyond it a move is refused.
pub const PARTS: usize = 64;

/// Entities that may accompany another on a move: a group of players, or a rider's goods. A larger party is refused,
/// for all must find room before any goes.
pub const COMPANIONS: usize = 16;

/// Longest text of why an entity will not leave, in bytes: a sentence. A longer one is cut.
pub const VETO_BYTES: usize = 200;

/// Ranges that one session may ask for. Each is 2^32 ids; an honest node asks for the next when three quarters of
/// one are used.
pub const RANGES_PER_SESSION: u64 = 1_024;

/// Nodes that a cluster may ever know. Numbers are not used again and every member is told of every other, so the
/// view must fit into a handshake.
pub const NODES: usize = 1_024;

/// Scenes that a cluster may have at a time, those that are over included: each is a row of the view, which must fit
/// into a handshake.
pub const SCENES: usize = 8_192;

/// Ranges that a cluster may ever have given out. Each start of a process takes one, each is a row of the view, of
/// some 14 bytes and at most 30, and none is removed: the view must fit into a handshake beside [`NODES`] and [`SCENES`].
/// A process that starts beyond it joins, and spawns nothing.
pub const HOMES: usize = 1 << 15;

/// Claims of one scene on the entities of one range, while its home is rebuilt: as many as a scene remembers to have
/// left, and as many again that live there. What a scene says beyond is left out.
pub const CLAIMS_PER_SCENE: usize = 1 << 20;

/// Records of one range that a former home may hand over: as many as four scenes may claim, some 300 MB. Of a home that
/// hands over more nothing is taken, and every scene is asked instead.
pub const HEIRLOOMS: usize = 4 * CLAIMS_PER_SCENE;

/// Entities of other homes that a witness keeps the names of: some 30 bytes each, and the label. As many as a scene may claim,
/// and half of them for one home; of those beyond it keeps nothing, and they would be lost without a name.
pub const ROSTER_ROWS: usize = 1 << 20;

/// Global entities that a node tells the others of, in one message: some 20 bytes each, and the name.
pub const GLOBALS: usize = 256;

/// Deaths that wait to be told to the witness. Beyond it the whole roster is told anew: those that live, and nobody else.
pub const DEATHS_UNTOLD: usize = 1 << 16;

/// Questions about entities that wait at a home until it is complete. Whoever asks beyond repeats it.
pub const QUESTIONS_WAITING: usize = 1 << 16;

/// Lowest number of a scene that is made at run time, up to 65,535. Lower ones are for declared scenes, so that no
/// node finds the number of one taken when it joins.
pub const SCENE_NUMBERS_MADE: u16 = 1 << 15;

const _: () = assert!(STREAMS_PER_ENTITY * RECEIVED_BYTES + RECEIVERS_PER_ENTITY * SENDING_BYTES < 1 << 20);
