//! actix shells around the machines of `slipgate_cluster`. They move messages; they decide nothing.
//!
//! | module | holds |
//! |---|---|
//! | [`desk`] | the admin desk: answers questions of tools for the whole cluster |

pub mod desk;
