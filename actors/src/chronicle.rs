//! What has happened on this node: the latest events, and the latest moves that began here.
//!
//! Keeps: a bounded number of each; events are numbered, so a reader that comes late sees a gap.

use std::collections::{BTreeMap, VecDeque};

use actix::{Actor, Context, Handler, Message};
use slipgate_proto::admin::{Event, MoveReport};
use tokio::sync::oneshot;

use crate::mailbox::{Counted, Mailbox};

/// Something that happened; see [`take_down`].
#[derive(Debug, Message)]
#[rtype(result = "()")]
pub struct Happened {
    /// The event, without node and number.
    pub event: Event,
    /// The move as it now stands, if the event is about one that began here.
    pub about: Option<MoveReport>,
    /// Its room in the mailbox.
    counted: Counted,
}

/// Takes an event down; with too many on their way it is dropped, and counted as such.
pub fn take_down(chronicle: &Mailbox<Chronicle>, event: Event, about: Option<MoveReport>) {
    match chronicle.claim() {
        Some(counted) => chronicle.tell(Happened { event, about, counted }),
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
    events: VecDeque<Event>,
    last: u64,
    open: BTreeMap<String, MoveReport>,
    ended: VecDeque<MoveReport>,
    counts: MoveCounts,
}

impl Chronicle {
    /// An empty chronicle of the node named `node`.
    #[must_use]
    pub fn new(node: String) -> Self {
        Self {
            node,
            events: VecDeque::new(),
            last: 0,
            open: BTreeMap::new(),
            ended: VecDeque::new(),
            counts: MoveCounts::default(),
        }
    }

    fn note_move(&mut self, report: MoveReport) {
        match report.result.as_str() {
            "open" => {
                self.open.insert(report.id.clone(), report);
                if self.open.len() > OPEN_MAX {
                    self.open.pop_first();
                }
                return;
            }
            "ok" => self.counts.ok += 1,
            "refused" => self.counts.refused += 1,
            _ => self.counts.failed += 1,
        }
        let began_ms = self.open.remove(&report.id).map_or(report.began_ms, |begun| begun.began_ms);
        self.ended.push_front(MoveReport { began_ms, ..report });
        self.ended.truncate(ENDED_MAX);
    }
}

impl Actor for Chronicle {
    type Context = Context<Self>;
}

impl Handler<Happened> for Chronicle {
    type Result = ();

    fn handle(&mut self, Happened { event, about, counted }: Happened, _: &mut Context<Self>) {
        drop(counted);
        self.last += 1;
        self.events.push_back(Event { node: self.node.clone(), number: self.last, ..event });
        if self.events.len() > EVENTS_MAX {
            self.events.pop_front();
        }
        if let Some(report) = about {
            self.note_move(report);
        }
    }
}

impl Handler<Since> for Chronicle {
    type Result = ();

    fn handle(&mut self, Since { after, limit, reply }: Since, _: &mut Context<Self>) {
        let events = match after {
            Some(after) => {
                self.events.iter().filter(|event| event.number > after).take(limit as usize).cloned().collect()
            }
            None => self.events.back().cloned().into_iter().collect(),
        };
        let _ = reply.send(events);
    }
}

impl Handler<Latest> for Chronicle {
    type Result = ();

    fn handle(&mut self, Latest { limit, reply }: Latest, _: &mut Context<Self>) {
        let moves = self.open.values().chain(&self.ended).take(limit as usize).cloned().collect();
        let _ = reply.send(moves);
    }
}

impl Handler<Tally> for Chronicle {
    type Result = ();

    fn handle(&mut self, Tally { reply }: Tally, _: &mut Context<Self>) {
        let _ = reply.send(self.counts);
    }
}

/// Events kept: some seconds of a busy node, a few hundred bytes each.
const EVENTS_MAX: usize = 8192;
/// Ended moves kept.
const ENDED_MAX: usize = 4096;
/// Open moves kept; the limit of moves per scene keeps a node below it.
const OPEN_MAX: usize = 65_536;
