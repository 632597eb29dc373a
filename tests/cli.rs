//! The program as its users see it: every command against real nodes, what it prints, how it ends.
//!
//! | module | holds |
//! |---|---|
//! | `contract` | `-o json`: one object a line, exactly the fields of `docs/json.md` |
//! | `reads` | lists, `show`, `watch`, `health` for people |
//! | `writes` | `spawn`, `send`, `despawn`, and what is wrong with them |
//! | `moves` | `migrate`, and every way in which it does not move |
//! | `limits` | a full scene, tokens, a unique prefix: one node of a configuration of its own |
//! | `trouble` | a node that hangs, a node that is killed |
//! | `addresses` | nothing answers, something else answers |
//! | `offline` | usage, `config`, completions, closed pipes |
//! | `stopping` | `dev --tour`, signals, and what is left behind |
//!
//! One cluster of three nodes serves most of it; every test spawns walkers of its own.

#[expect(dead_code, reason = "how a command ends is what is tested here")]
#[path = "support/command.rs"]
mod command;
#[path = "support/dev_cluster.rs"]
mod dev_cluster;
#[path = "support/patience.rs"]
mod patience;
#[path = "support/process.rs"]
mod process;

#[path = "cli/addresses.rs"]
mod addresses;
#[path = "cli/contract.rs"]
mod contract;
#[path = "cli/limits.rs"]
mod limits;
#[path = "cli/moves.rs"]
mod moves;
#[path = "cli/offline.rs"]
mod offline;
#[path = "cli/reads.rs"]
mod reads;
#[path = "cli/stopping.rs"]
mod stopping;
#[path = "cli/trouble.rs"]
mod trouble;
#[path = "cli/writes.rs"]
mod writes;
