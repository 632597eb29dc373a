//! Clusters that are directed: nothing is left to chance, and what happens is told as a play.
//!
//! ```text
//! script ──> director ──> cluster: a step at a time          who heard what,
//!              ^            │                                what changed with him,
//!              └── cues ────┴──> play ──> transcript         what he said, and whom he told
//! ```
//!
//! A script is written in sentences (`script` has them all), and is the head of the file that its transcript stands in.
//! Bounds and deadlines are those of a node that is not told others; a message takes a millisecond from node to node, and
//! none within its node; time is told to everybody every ten milliseconds. Links are those of the simulation: silent
//! after 100 ms, lost after 300 ms.
//!
//! | module | holds |
//! |---|---|
//! | `script` | the sentences of a script |
//! | `director` | does what they say |
//! | `drain` | the planned stop of a node |
//! | `names` | who is called what |
//! | `words` | messages, answers and events, in words |
//! | `play` | what happens, line by line |
//! | `prompter` | where the shells say that something happens; cues |
//!
//! Keeps: the invariants of the simulation are looked at all the while, and rest is demanded in the end; one script is one
//! transcript.
//! Leaves out: chance, which is for seeds; everything that could happen, which is for the explorer.

mod director;
mod drain;
mod names;
mod play;
mod prompter;
mod script;
mod words;

pub use director::{Fault, perform};
pub(crate) use play::Play;
pub(crate) use script::Direction;
