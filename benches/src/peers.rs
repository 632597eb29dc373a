//! Others that do a like job.
//!
//! | peer | does |
//! |---|---|
//! | ractor, kameo | a router actor casts to one of 64 counting actors, on a runtime of one thread, as ours does, without logs and metrics |
//! | NATS | a server between two clients, each message to one of 64 subjects |
//! | Erlang | a node casts to 64 servers of another |
//! | slotmap, hecs, bevy_ecs | keep entities of 16 bytes, as a scene's runtime does |
//!
//! Between processes a batch of 64 is acknowledged as one. Programs that are not installed are left out.

mod with_bevy;
mod with_erlang;
mod with_hecs;
mod with_kameo;
mod with_nats;
mod with_ractor;
mod with_slotmap;

use std::process::{Command, Stdio};

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::Result;
use tokio::runtime::{Builder, Runtime};

pub(crate) use self::with_bevy::WithBevy;
pub(crate) use self::with_erlang::WithErlang;
pub(crate) use self::with_hecs::WithHecs;
pub(crate) use self::with_kameo::WithKameo;
pub(crate) use self::with_nats::WithNats;
pub(crate) use self::with_ractor::WithRactor;
pub(crate) use self::with_slotmap::WithSlotmap;
use crate::block::MESSAGE;

/// A message and the number of the actor that it is for.
#[derive(Debug)]
pub(crate) struct Cast {
    to: usize,
    message: [u8; MESSAGE],
}

impl Cast {
    fn nth(number: usize) -> Self {
        Self { to: number % ACTORS, message: [1; MESSAGE] }
    }
}

/// Messages applied by all actors of a peer.
type Applied = Arc<AtomicUsize>;

fn count(applied: &Applied, message: &[u8; MESSAGE]) {
    applied.fetch_add(usize::from(message[0]), Ordering::Relaxed);
}

/// Waits until so many are applied.
async fn reached(applied: &Applied, goal: usize) {
    while applied.load(Ordering::Relaxed) < goal {
        tokio::task::yield_now().await;
    }
}

/// Whether a program can be run here.
fn is_installed(program: &str, argument: &str) -> bool {
    let mut command = Command::new(program);
    command.arg(argument).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok()
}

fn runtime() -> Result<Runtime> {
    Ok(Builder::new_current_thread().enable_all().build()?)
}

/// Actors behind the router.
const ACTORS: usize = 64;
/// Messages that are on the way at once, as with ours.
const FLIGHT: usize = 1024;
