//! What is on the wire: frames, codec, message families, limits. Bytes only: no sockets, no clock.
//!
//! A connection between two nodes starts with a [`handshake`], then carries length-delimited
//! [`frame`]s in three lanes. `docs/wire.md` has the byte tables of all of it.
//!
//! | module | holds |
//! |---|---|
//! | [`admin`] | questions of tools and their answers, as JSON and between nodes |
//! | [`assembly`] | transfers of the bulk lane, put together again |
//! | [`codec`] | bytes from values and back, with a limit; it stands in `slipgate_entity` |
//! | [`frame`] | what follows a handshake: batches, chunks, credits |
//! | [`handshake`] | who is there, and why a connection is refused |
//! | [`lanes`] | what a link sends next: control before messages before state |
//! | [`weight`](mod@weight) | what a message weighs, without encoding it |

pub mod admin;
pub mod assembly;
pub mod frame;
pub mod handshake;
pub mod lanes;
pub mod weight;

pub use slipgate_entity::codec;

#[cfg(test)]
mod golden;
