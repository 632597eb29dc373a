//! actix shells around the machines of `slipgate_cluster`. They move messages; they decide nothing.
//!
//! ```text
//!   tools --> desk --> router, scenes            per node; every arrow is a bounded mailbox
//!                        |   ^
//!                        v   |
//!                       post ----> links (one per peer) ----> other nodes
//!                        |
//!                        +----> directory, member, manager (on its node)
//!
//!   member -- view --> scene keeper -- makes and ends --> scenes
//! ```
//!
//! | module | holds |
//! |---|---|
//! | [`budget`] | what may wait on this node, shared by all threads |
//! | [`chronicle`] | the latest events and moves of this node |
//! | [`clock`] | the node's clock |
//! | [`desk`] | the admin desk: answers questions of tools for the whole cluster |
//! | [`directory`] | records of this node's ranges, and its stock of ids |
//! | [`drain`] | between the desk and whoever drains the node |
//! | `fail_point` | with the feature `fail-points`: holds a node at a step of a move |
//! | [`labels`] | the labels of a spawn |
//! | [`lease`] | what allows a session to act |
//! | [`link`] | the link to one peer, dialling, and whoever dials |
//! | [`mailbox`] | bounded ways into actors |
//! | [`manager`] | the manager on its own thread, with its store |
//! | [`manager_seat`] | keeps a manager running on its node |
//! | [`member`] | the lease, the view, a link to every member |
//! | [`mod@panic`] | panics of game code, caught |
//! | [`post`] | where envelopes go |
//! | [`restraint`] | one line per cause, and how many were left out |
//! | [`router`] | the streams of this node's tools |
//! | `rows` | rows of this node's tables, as gauges |
//! | [`scene`] | a scene: its entities' bodies and their machine |
//! | [`scenes`] | the scenes of this node; opening and ending those made at run time |
//! | [`transport`] | the seam to the network |
//! | [`voices`] | what entities write into the log |
//! | [`words`] | numbers with their nouns |

pub mod budget;
pub mod chronicle;
pub mod clock;
pub mod desk;
pub mod directory;
pub mod drain;
#[cfg(feature = "fail-points")]
pub mod fail_point;
pub mod labels;
pub mod lease;
pub mod link;
pub mod mailbox;
pub mod manager;
pub mod manager_seat;
pub mod member;
pub mod panic;
pub mod post;
pub mod restraint;
pub mod router;
mod rows;
pub mod scene;
pub mod scenes;
pub mod transport;
pub mod voices;
pub mod words;
