//! What an observer sees of a scene: snapshots, deltas and baselines. Pure: no clock, no I/O.
//!
//! An observer (a client session, a bot, a tool) first gets a full snapshot, and from then on the
//! difference from the last snapshot that it acknowledged. Whenever there is doubt about that
//! baseline, it gets a full one again; so a lost or late frame costs bytes, never truth.
//!
//! ```text
//! scene --- snapshot of this tick ---+--> full                   no baseline, or doubt
//!                                    +--> delta from baseline    acknowledged, still in the ring
//! ```
//!
//! Nothing is here yet. What will be, each in a module of its own:
//!
//! | module | will hold |
//! |---|---|
//! | `snapshot` | what one observer may see at one tick, complete |
//! | `delta` | the difference of two snapshots, and applying it; removals are part of it |
//! | `baseline` | the snapshots that an observer may have acknowledged: a ring with a limit |
//! | `observer` | what an observer gets next |
//! | `receiver` | the client's half: apply, acknowledge, ask for a full one |
//!
//! Will keep: snapshots compare as the bytes on the wire do, so a NaN is not dirty for ever and a change
//! from +0 to -0 is not missed; counts are never truncated.
//! Leaves out: who owns an entity (`slipgate_cluster`; the two crates do not know each other), frames
//! (`slipgate_proto`), sockets (`slipgate`).
