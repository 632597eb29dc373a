//! What is on the wire: frames, codec, message families, limits. Bytes only: no sockets, no clock.
//!
//! | module | holds |
//! |---|---|
//! | [`admin`] | questions of tools and their answers, as JSON and between nodes |
//! | [`codec`] | bytes from values and back, with a limit |

pub mod admin;
pub mod codec;
