//! actix shells around the machines of `slipgate_cluster`. They move messages; they decide nothing.
//!
//! | module | holds |
//! |---|---|
//! | [`desk`] | the admin desk: answers questions of tools for the whole cluster |
//! | [`manager`] | the manager on its own thread, with its store |

pub mod desk;
pub mod manager;
