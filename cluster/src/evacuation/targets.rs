//! Where the entities of an evacuation may go: the emptiest first, without those that have said no.
//!
//! Keeps: a choice looks at targets in the order of their free shares, and at none that was struck for all.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use crate::{Now, Own};

/// A scene that may take somebody.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Target {
    /// The scene.
    pub own: Own,
    /// Entities it may hold.
    pub capacity: u32,
    /// Room that it has left, where that is known.
    pub room: Option<u32>,
}

/// A type of entity, as the evacuation numbers them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Kind(pub(super) usize);

/// The answer to "where to?".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Choice {
    /// There; its room is taken off.
    Target(Own),
    /// Somewhere, but not before then.
    Later(Now),
    /// Nowhere.
    Nobody,
}

#[derive(Debug, Default)]
pub(super) struct Targets {
    targets: BTreeMap<Own, Standing>,
    /// Those not struck, the emptiest first.
    order: BTreeSet<(Reverse<u64>, Own)>,
    struck: BTreeSet<Own>,
    struck_for: BTreeSet<(Own, Kind)>,
}

#[derive(Clone, Copy, Debug)]
struct Standing {
    capacity: u32,
    room: Option<u32>,
    rests_until: Now,
}

impl Standing {
    /// Its place in the order: the share of free room in units of 2^-32. Unknown is above none, and below any.
    fn share(&self) -> u64 {
        match self.room {
            Some(0) => 0,
            None => 1,
            Some(room) => 2 + (u64::from(room) << 32) / u64::from(self.capacity.max(1)),
        }
    }
}

impl Targets {
    /// Takes all targets anew. Returns whether there is one that was not there before.
    pub(super) fn replace(&mut self, targets: Vec<Target>) -> bool {
        let before = std::mem::take(&mut self.targets);
        for Target { own, capacity, room } in targets {
            let rests_until = before.get(&own).map_or(Now::default(), |standing| standing.rests_until);
            self.targets.insert(own, Standing { capacity, room, rests_until });
        }
        let open = self.targets.iter().filter(|(own, _)| !self.struck.contains(own));
        self.order = open.map(|(own, standing)| (Reverse(standing.share()), *own)).collect();
        self.targets.keys().any(|own| !before.contains_key(own))
    }

    /// Where an entity of a type goes that some have refused.
    pub(super) fn choose(&mut self, kind: Kind, refused_by: &BTreeSet<Own>, now: Now) -> Choice {
        let mut later: Option<Now> = None;
        let mut found = None;
        for &(_, own) in &self.order {
            if self.struck_for.contains(&(own, kind)) || refused_by.contains(&own) {
                continue;
            }
            let until = self.targets[&own].rests_until;
            if until <= now {
                found = Some(own);
                break;
            }
            later = Some(later.map_or(until, |later| later.min(until)));
        }
        match (found, later) {
            (Some(own), _) => {
                self.change(own, |standing| standing.room = standing.room.map(|room| room.saturating_sub(1)));
                Choice::Target(own)
            }
            (None, Some(until)) => Choice::Later(until),
            (None, None) => Choice::Nobody,
        }
    }

    /// The room that was taken off for a move is free again.
    pub(super) fn give_back(&mut self, own: Own) {
        self.change(own, |standing| {
            standing.room = standing.room.map(|room| room.saturating_add(1).min(standing.capacity));
        });
    }

    /// It takes nobody.
    pub(super) fn strike(&mut self, own: Own) {
        self.struck.insert(own);
        if let Some(standing) = self.targets.get(&own) {
            self.order.remove(&(Reverse(standing.share()), own));
        }
    }

    /// It takes nobody of this type.
    pub(super) fn strike_for(&mut self, own: Own, kind: Kind) {
        self.struck_for.insert((own, kind));
    }

    /// It is left alone for a while.
    pub(super) fn rest(&mut self, own: Own, until: Now) {
        if let Some(standing) = self.targets.get_mut(&own) {
            standing.rests_until = standing.rests_until.max(until);
        }
    }

    fn change(&mut self, own: Own, change: impl FnOnce(&mut Standing)) {
        let Some(standing) = self.targets.get_mut(&own) else { return };
        let was_open = self.order.remove(&(Reverse(standing.share()), own));
        change(standing);
        if was_open {
            self.order.insert((Reverse(standing.share()), own));
        }
    }
}
