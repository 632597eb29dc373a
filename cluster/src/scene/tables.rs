//! How much a scene remembers: what is there beyond its entities is for something that has not ended.

use super::Scene;
use super::phase::Phase;

/// Rows of a scene's tables.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tables {
    /// Entities that live here.
    pub entities: usize,
    /// Streams to them that are open.
    pub open: usize,
    /// Scenes and routers of which they know up to where the streams opened there are over, summed over all of them.
    pub floors: usize,
    /// Messages that wait: for the turn to end, a gap to close, a move to be decided, a copy to be taken over.
    pub waiting: usize,
    /// Streams of theirs to others.
    pub outboxes: usize,
    /// Entities that they write to.
    pub receivers: usize,
    /// Copies that are not active yet, and room kept for some.
    pub arriving: usize,
    /// Spawns that are not registered yet.
    pub spawning: usize,
    /// Moves and despawns under way, and moves that are not reported yet.
    pub leaving: usize,
    /// Entities of which it is known where they went.
    pub tombstones: usize,
    /// Alarms that are set.
    pub alarms: usize,
    /// Senders that may be gone, and tables to be looked through for such.
    pub searches: usize,
}

impl Scene {
    /// Rows of the tables. Walks over all entities.
    #[must_use]
    pub fn tables(&self) -> Tables {
        let mut tables = Tables {
            entities: self.live.len(),
            receivers: self.receivers.len(),
            arriving: self.staged.len() + self.reserved.len(),
            spawning: self.spawning.len(),
            leaving: self.busy.len() + self.settling.len(),
            tombstones: self.gone.len().max(self.graves.len()),
            alarms: self.alarms.len(),
            searches: self.search.len(),
            waiting: self.direct.len() + self.staged.values().map(|staged| staged.held.size().1).sum::<usize>(),
            ..Tables::default()
        };
        for live in self.live.values() {
            let received = live.inbox.received();
            let held = match &live.phase {
                Phase::Active | Phase::Reserving(_) => 0,
                Phase::Frozen(frozen) => frozen.held.size().1,
                Phase::Deciding(deciding) => deciding.held.size().1,
            };
            tables.open += received.streams();
            tables.floors += received.floors();
            tables.waiting += live.inbox.waiting().1 + held;
            tables.outboxes += live.outbox.len();
        }
        tables
    }
}
