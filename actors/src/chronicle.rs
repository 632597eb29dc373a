//! What has happened on this node: the latest events, and the latest moves that began here.
//!
//! Keeps: a bounded number of each, and of spawns and the like apart, so that many of those do not push out what is rarer;
//! events are numbered, so a reader that comes late sees a gap; nothing is put into words before somebody reads it.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use actix::{Actor, AsyncContext, Context, Handler, Message};
use slipgate_cluster::moves::MoveId;
use slipgate_proto::admin::{Event, MoveReport};
use tokio::sync::oneshot;

use crate::clock::NodeClock;
use crate::mailbox::{Counted, Mailbox};
use crate::scene::{Episode, Story};

/// Something that happened on this node.
#[derive(Clone, Debug)]
pub enum Happening {
    /// A scene tells of a move.
    Move(Story),
    /// A scene tells of an entity's life.
    Life(Episode),
    /// Whatever else, without node and number.
    Else(Event),
}

impl Happening {
    /// An event in the words of the log, that happens now.
    #[must_use]
    pub fn now(event: &str, fields: &serde_json::Value, clock: NodeClock) -> Self {
        let (event, fields) = (event.to_owned(), fields.to_string());
        Self::Else(Event { node: String::new(), number: 0, ts: clock.rfc3339(), event, fields })
    }
}

/// Something that happened; see [`take_down`].
#[derive(Debug, Message)]
#[rtype(result = "()")]
pub struct Happened {
    happening: Happening,
    /// Its room in the mailbox.
    _counted: Counted,
}

/// Takes an event down; with too many on their way it is dropped, and counted as such.
pub fn take_down(chronicle: &Mailbox<Chronicle>, happening: Happening) {
    match chronicle.claim() {
        Some(counted) => chronicle.tell(Happened { happening, _counted: counted }),
        None => metrics::counter!("slipgate_messages_dropped_total", "at" => "chronicle").increment(1),
    }
}

/// Asks for events.
#[derive(Debug, Message)]
#[rtype(result = "()")]
pub struct Since {
    /// Only those after this number; none: the newest alone, so that the reader learns where it stands.
    pub after: Option<u64>,
    /// At most so many.
    pub limit: u32,
    /// Takes the events.
    pub reply: oneshot::Sender<Vec<Event>>,
}

/// Asks whether anybody has read events lately, and so may want to read what comes next.
#[derive(Debug, Message)]
#[rtype(result = "()")]
pub struct IsRead {
    /// Takes the answer.
    pub reply: oneshot::Sender<bool>,
}

/// Asks for moves, newest first.
#[derive(Debug, Message)]
#[rtype(result = "()")]
pub struct Latest {
    /// At most so many.
    pub limit: u32,
    /// Takes the moves.
    pub reply: oneshot::Sender<Vec<MoveReport>>,
}

/// Asks how many moves ended how.
#[derive(Debug, Message)]
#[rtype(result = "()")]
pub struct Tally {
    /// Takes the counts.
    pub reply: oneshot::Sender<MoveCounts>,
}

/// Moves that began here, by how they ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MoveCounts {
    /// At the target.
    pub ok: u64,
    /// Not taken in.
    pub refused: u64,
    /// Given up.
    pub failed: u64,
}

/// The chronicle's actor.
#[derive(Debug)]
pub struct Chronicle {
    node: String,
    /// With their numbers, which rise.
    events: VecDeque<(u64, Happening)>,
    /// Of lives, likewise.
    lives: VecDeque<(u64, Episode)>,
    /// Number of the latest event.
    last: u64,
    open: BTreeMap<MoveId, Story>,
    ended: VecDeque<Ended>,
    counts: MoveCounts,
    /// Seconds for which whoever has read last counts as a reader.
    read_for: u8,
}

/// A move that has ended.
#[derive(Debug)]
struct Ended {
    story: Story,
    began_ms: u64,
}

impl Chronicle {
    /// An empty chronicle of the node named `node`.
    #[must_use]
    pub fn new(node: String) -> Self {
        Self {
            node,
            events: VecDeque::new(),
            lives: VecDeque::new(),
            last: 0,
            open: BTreeMap::new(),
            ended: VecDeque::new(),
            counts: MoveCounts::default(),
            read_for: 0,
        }
    }

    fn note(&mut self, happening: Happening) {
        if let Happening::Move(story) = &happening {
            self.note_move(story.clone());
        }
        self.last += 1;
        if let Happening::Life(episode) = happening {
            self.lives.push_back((self.last, episode));
            if self.lives.len() > LIVES_MAX {
                self.lives.pop_front();
            }
            return;
        }
        self.events.push_back((self.last, happening));
        if self.events.len() > EVENTS_MAX {
            self.events.pop_front();
        }
    }

    fn note_move(&mut self, story: Story) {
        let id = story.id();
        match story.result() {
            None => return,
            Some("open") => {
                self.open.insert(id, story);
                if self.open.len() > OPEN_MAX {
                    self.open.pop_first();
                }
                return;
            }
            Some("ok") => self.counts.ok += 1,
            Some("refused") => self.counts.refused += 1,
            Some(_) => self.counts.failed += 1,
        }
        let began_ms = self.open.remove(&id).map_or(story.unix_ms(), |begun| begun.unix_ms());
        self.ended.push_front(Ended { story, began_ms });
        self.ended.truncate(ENDED_MAX);
    }

    /// The first `limit` kept events after number `after`, put into words as they are taken.
    fn events_after(&self, after: u64, limit: usize) -> Vec<Event> {
        let first_event = self.events.partition_point(|(number, _)| *number <= after);
        let first_life = self.lives.partition_point(|(number, _)| *number <= after);
        let mut events = self.events.range(first_event..).peekable();
        let mut lives = self.lives.range(first_life..).peekable();
        let next = || {
            let is_life = match (events.peek(), lives.peek()) {
                (Some((event, _)), Some((life, _))) => life < event,
                (event, _) => event.is_none(),
            };
            let (number, event) = if is_life {
                let (number, episode) = lives.next()?;
                (*number, episode.event())
            } else {
                let (number, happening) = events.next()?;
                (*number, in_words(happening))
            };
            Some(Event { node: self.node.clone(), number, ..event })
        };
        std::iter::from_fn(next).take(limit).collect()
    }

    /// Open moves, then those that have ended, the latest first.
    fn moves(&self) -> impl Iterator<Item = MoveReport> + '_ {
        let ended = self
            .ended
            .iter()
            .filter_map(|Ended { story, began_ms }| Some(MoveReport { began_ms: *began_ms, ..story.report()? }));
        self.open.values().filter_map(Story::report).chain(ended)
    }
}

impl Actor for Chronicle {
    type Context = Context<Self>;

    fn started(&mut self, ctx: &mut Context<Self>) {
        ctx.run_interval(Duration::from_secs(1), |chronicle, _| {
            chronicle.read_for = chronicle.read_for.saturating_sub(1);
        });
    }
}

impl Handler<Happened> for Chronicle {
    type Result = ();

    fn handle(&mut self, Happened { happening, .. }: Happened, _: &mut Context<Self>) {
        self.note(happening);
    }
}

impl Handler<Since> for Chronicle {
    type Result = ();

    fn handle(&mut self, Since { after, limit, reply }: Since, _: &mut Context<Self>) {
        self.read_for = READ_FOR;
        let after = after.unwrap_or(self.last.saturating_sub(1));
        let _ = reply.send(self.events_after(after, limit as usize));
    }
}

impl Handler<IsRead> for Chronicle {
    type Result = ();

    fn handle(&mut self, IsRead { reply }: IsRead, _: &mut Context<Self>) {
        let _ = reply.send(self.read_for > 0);
    }
}

impl Handler<Latest> for Chronicle {
    type Result = ();

    fn handle(&mut self, Latest { limit, reply }: Latest, _: &mut Context<Self>) {
        let _ = reply.send(self.moves().take(limit as usize).collect());
    }
}

impl Handler<Tally> for Chronicle {
    type Result = ();

    fn handle(&mut self, Tally { reply }: Tally, _: &mut Context<Self>) {
        let _ = reply.send(self.counts);
    }
}

fn in_words(happening: &Happening) -> Event {
    match happening {
        Happening::Move(story) => story.event(),
        Happening::Life(episode) => episode.event(),
        Happening::Else(event) => event.clone(),
    }
}

/// A reader comes back several times a second.
const READ_FOR: u8 = 2;
/// Spawns, despawns, panics kept: a fraction of a second of a busy node, so that who reads everything is not kept by them from
/// the rest.
const LIVES_MAX: usize = 2048;
/// Other events kept: some seconds of a busy node, a few hundred bytes each.
const EVENTS_MAX: usize = 8192;
/// Ended moves kept.
const ENDED_MAX: usize = 4096;
/// Open moves kept; the limit of moves per scene keeps a node below it.
const OPEN_MAX: usize = 65_536;
