//! Bounds that no configuration sets, each with its reason.
//!
//! Inside a cluster a peer is believed: what it says of owners and acknowledgements is taken for true, within
//! what it may speak of at all. It must not be able to end a process or to fill its memory, though, so whatever a
//! peer can make grow ends here. `Limits` bounds what is measured in the traffic of a game; these lie far
//! above it.
//!
//! Keeps: at a bound the newest is left out and counted, and its sender repeats it; what is there already goes on.

/// Streams of which one entity remembers what it has applied. The table moves with the entity: 40 bytes a stream,
/// so that with [`RECEIVERS_PER_ENTITY`] it stays below the default `state_bytes` and the entity can move. The
/// message that would begin a further stream is left out.
pub const STREAMS_PER_ENTITY: usize = 16_384;

/// Entities that one entity writes to. A message to a further one comes back as busy.
pub const RECEIVERS_PER_ENTITY: usize = 8_192;

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

/// Highest number in a stream that arrives with a copy: at a million messages a second it takes 146,000 years.
pub const NUMBER_MAX: u64 = 1 << 62;

/// Longest label that a copy may bring, in bytes: twice what may be given, as spawning several appends a number.
pub const LABEL_BYTES: usize = 128;

/// Ranges that one session may ask for. Each is 2^32 ids; an honest node asks for the next when three quarters of
/// one are used.
pub const RANGES_PER_SESSION: u64 = 1_024;

/// Nodes that a cluster may ever know. Numbers are not used again and every member is told of every other, so the
/// view must fit into a handshake.
pub const NODES: usize = 1_024;

/// Scenes that a cluster may have, for the same reason.
pub const SCENES: usize = 8_192;

/// Claims of one scene on the entities of one range, while its home is rebuilt: as many as a scene remembers to have
/// left, and as many again that live there. What a scene says beyond is left out.
pub const CLAIMS_PER_SCENE: usize = 1 << 20;

/// Questions about entities that wait at a home until it is complete. Whoever asks beyond repeats it.
pub const QUESTIONS_WAITING: usize = 1 << 16;
/// Lowest number of a scene that is made at run time, up to 65,535. Lower ones are for declared scenes, so that no
/// node finds the number of one taken when it joins.
pub const SCENE_NUMBERS_MADE: u16 = 1 << 15;

const _: () = assert!((STREAMS_PER_ENTITY + RECEIVERS_PER_ENTITY) * 40 < 1 << 20);
