//! How much a scene remembers: what is there beyond its entities is for something that has not ended.

use super::Scene;

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
    /// Messages of theirs that are not acknowledged.
    pub unacknowledged: usize,
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
    /// Parties that set out together, or wanted to, and of whom some attempt has not ended.
    pub parties: usize,
    /// Entities of which it is known where they went.
    pub tombstones: usize,
    /// Alarms that are set.
    pub alarms: usize,
    /// Senders that may be gone, and tables to be looked through for such.
    pub searches: usize,
}

impl Scene {
    /// Moves out of here that have not ended.
    #[must_use]
    pub fn moves_under_way(&self) -> usize {
        self.busy.len() + self.settling.len()
    }

    /// What a scene that stops should wait for: moves out of here, and copies whose fate is with their home.
    #[must_use]
    pub fn unsettled(&self) -> usize {
        self.moves_under_way() + self.staged.len()
    }

    /// Entities that may yet come although nobody is taken in any more: copies staged, and spawns under way.
    #[must_use]
    pub fn coming(&self) -> usize {
        self.staged.len() + self.spawning.len()
    }

    /// Entities staged here, or with room reserved.
    #[must_use]
    pub fn arriving(&self) -> usize {
        self.staged.len() + self.reserved.len()
    }

    /// Rows of the tables. Walks over all entities.
    #[must_use]
    pub fn tables(&self) -> Tables {
        let held: usize = self.staged.values().map(|staged| staged.held.load().messages).sum();
        let mut tables = Tables {
            entities: self.live.len(),
            receivers: self.receivers.len(),
            arriving: self.staged.len() + self.reserved.len(),
            spawning: self.spawning.len(),
            leaving: self.busy.len() + self.settling.len(),
            parties: self.parties.len(),
            tombstones: self.gone.len().max(self.graves.len()),
            alarms: self.alarms.len(),
            searches: self.search.len(),
            waiting: self.direct.len() + held,
            ..Tables::default()
        };
        for live in self.live.values() {
            let received = live.inbox.received();
            tables.open += received.streams();
            tables.floors += received.floors();
            tables.outboxes += live.outbox.len();
            tables.waiting += live.waiting().messages;
            tables.unacknowledged += live.outbox.values().map(|stream| stream.load().messages).sum::<usize>();
        }
        tables
    }
}
