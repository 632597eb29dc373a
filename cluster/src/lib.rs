//! Who owns which entity, how it changes hands, and how messages find it: pure state machines.
//!
//! Every machine here takes an input and the time, and appends outputs. None of them reads a clock,
//! opens a file, draws a random number or waits; the actors above do that. So one seed replays a
//! whole cluster, and a checker may walk the very code that ships. The machines are `Clone` for that
//! checker: from each of their states it tries whatever may come next.
//!
//! ```text
//!            Register, Cas, Query                       Data
//!   scene ----------------------> directory     router ------> scene
//!     |  <----------------------                  ^              |
//!     |          RecordIs                         +--- Ack, Redirect, NotOwner
//!     +---- Reserve, Prepare, HandedOn ----> scene (of another node, or the same)
//! ```
//!
//! | module | holds |
//! |---|---|
//! | [`node`] | node ids, incarnations, sessions, names |
//! | [`record`] | epochs, owners, and the record that says who owns an entity |
//! | [`place`] | where a message goes: a port of a session |
//! | [`message`] | what actors of the cluster say to each other |
//! | [`moves`] | ids and outcomes of attempted moves |
//! | [`ownership`] | which owner has which entities, O(1) per entity |
//! | [`directory`] | the home: records, compare-and-set, registration of new ids; how it is rebuilt and handed over |
//! | [`claim`] | what a scene says of an entity while its home is rebuilt |
//! | [`legacy`] | what a home hands over to the next one |
//! | [`roster`] | what a home tells its witness of births and deaths |
//! | [`globals`] | which entities are found from everywhere, by name |
//! | [`drain`] | the planned stop of a node: its steps, and how long each may take |
//! | [`evacuation`] | moving everybody out of a scene: who goes where, and when |
//! | [`hosting`] | a node's scenes that are made at run time: opened, cleared, ended |
//! | [`scene`] | the life of an entity in a scene: apply, freeze, transfer, stage, take over |
//! | [`schema`] | the parts of an entity, and what a scene can read of them |
//! | [`stream`] | one sender's numbered messages to one entity; what an entity has applied |
//! | [`router`] | the streams of tools, and of senders that are gone |
//! | [`range`] | the node's stock of id ranges |
//! | [`member`] | a node's side of its membership: lease and view |
//! | [`manager`] | members, incarnations, leases, scenes, homes, counters |
//! | [`view`] | what the manager tells every node of the cluster |
//! | [`limits`] | bounds and deadlines |
//! | [`bounds`] | bounds that no configuration sets |
//! | [`rule`] | the rules of the protocol by name, for those who switch them off |
//! | [`budget`] | what a node lets wait, over all its routers, scenes and links together |
//! | [`time`] | moments, as arguments |

pub mod bounds;
pub mod budget;
mod bytes;
pub mod claim;
pub mod directory;
pub mod drain;
pub mod evacuation;
pub mod globals;
pub mod hosting;
pub mod legacy;
pub mod limits;
pub mod manager;
pub mod member;
pub mod message;
pub mod moves;
pub mod node;
pub mod ownership;
mod pace;
pub mod place;
pub mod range;
pub mod record;
pub mod roster;
pub mod router;
pub mod rule;
pub mod scene;
pub mod schema;
pub mod stream;
pub mod time;
pub mod view;

pub use limits::Limits;
pub use node::{Incarnation, NodeId, NodeName, Session};
pub use place::{Envelope, Place, Port};
pub use record::{Epoch, Own, Record};
pub use rule::{Rule, Rules};
pub use time::Now;
pub use view::View;
