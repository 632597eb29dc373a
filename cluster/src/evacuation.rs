//! Moves everybody out of one scene: who goes where, and when.
//!
//! ```text
//!   Seen, Targets, Tick --> the next one, to the emptiest target --> Move
//!                                ^                                    |
//!                                | again, later or elsewhere          v
//!                                +------------------------------- MoveEnded --> moved, or kept
//! ```
//!
//! **Policy.** Entities go in the order of their ids, each to the target with the highest share of free room as far
//! as is known; where that is not known, after those that are known to have some. What was planned for a target is
//! taken off its room at once, so targets of one size fill evenly. At most
//! [`under_way_max`](Settings::under_way_max) moves are under way.
//!
//! | how a move ends | what follows |
//! |---|---|
//! | refused as full, draining, closing, no such scene, already there | the target is struck for everybody; the next one |
//! | refused for its type or its version | the target is struck for that type; the next one |
//! | refused for a component or its version | the target is struck for that entity; the next one |
//! | too large, or the target cannot read it; it does not move, or will not | the entity is kept, with that reason |
//! | somebody who was to come along does not move, or will not | the entity is kept, with that reason |
//! | somebody who was to come along is refused otherwise, or cannot come now | again later |
//! | timeout, node lost, undecided, cancelled, source busy, another move under way | again later, the waits double; after a timeout or a lost node the target rests as long |
//! | not here any more | gone: somebody else despawned or moved it |
//!
//! Where it takes the place of another, it is told who is under way by that one's orders ([`Input::Leaving`]).
//!
//! Told to despawn ([`Input::Despawn`]), it moves nobody any more, and despawns whoever is left once their moves have
//! ended; as many at a time.
//!
//! An entity for which no target is left is kept, unless a target comes that was not there before. At the deadline
//! all that is left is kept. Whoever drives this says when nobody can come any more ([`Input::Settled`]).
//!
//! Keeps: an entity has at most one move under way; every entity that was seen is one of moved, gone, or kept with a
//! reason, and counted once; [`Output::Done`] comes once, at the deadline at the latest.
//! Leaves out: which scenes are targets; refusing newcomers; how a move is made (`scene`).

mod kept;
mod port;
mod room;
mod targets;

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use slipgate_entity::{OnlineId, TypeName};

pub use self::kept::Kept;
pub use self::port::{Done, Input, NotDespawned, Output, Progress, Settings, UNDER_WAY_MAX};
pub use self::room::{Offer, targets};
pub use self::targets::Target;
use self::targets::{Choice, Kind, Targets};
use crate::moves::{MoveError, Outcome, Refusal};
use crate::time::Wait;
use crate::{Now, Own};

/// Moves everybody out of one scene.
#[derive(Debug)]
pub struct Evacuation {
    settings: Settings,
    targets: Targets,
    kinds: BTreeMap<TypeName, Kind>,
    leavers: BTreeMap<OnlineId, Leaver>,
    /// Whose turn it is, by id.
    ready: BTreeSet<OnlineId>,
    /// Whose turn comes again, and when.
    resting: BTreeSet<(Now, OnlineId)>,
    /// Where to; nowhere for those that are being despawned.
    under_way: BTreeMap<OnlineId, Option<Own>>,
    kept: BTreeMap<OnlineId, Kept>,
    moved: u64,
    gone: u64,
    settled: bool,
    cancelled: bool,
    despawns: bool,
    over: bool,
}

/// An entity that is to leave.
#[derive(Debug)]
struct Leaver {
    kind: Kind,
    /// Targets that cannot read a component of it.
    refused_by: BTreeSet<Own>,
    wait: Wait,
    last: Option<Outcome>,
    /// When its turn comes again, if it rests.
    rests_until: Option<Now>,
}

impl Evacuation {
    /// One that knows of nobody yet.
    #[must_use]
    pub fn new(settings: Settings) -> Self {
        Self {
            settings,
            targets: Targets::default(),
            kinds: BTreeMap::new(),
            leavers: BTreeMap::new(),
            ready: BTreeSet::new(),
            resting: BTreeSet::new(),
            under_way: BTreeMap::new(),
            kept: BTreeMap::new(),
            moved: 0,
            gone: 0,
            settled: false,
            cancelled: false,
            despawns: false,
            over: false,
        }
    }

    /// Takes one input and appends what should follow.
    pub fn handle(&mut self, input: Input, now: Now, out: &mut Vec<Output>) {
        if self.over {
            return;
        }
        match input {
            Input::Targets(targets) => self.take_targets(targets),
            Input::Seen { entity, type_name } => {
                if self.meet(entity, type_name) {
                    self.wait_for_turn(entity);
                }
            }
            Input::Leaving { entity, type_name, to } => {
                if self.meet(entity, type_name) {
                    self.under_way.insert(entity, to);
                }
            }
            Input::Settled => self.settled = true,
            // Of a move of ours its end tells more.
            Input::Gone(entity) if self.under_way.contains_key(&entity) => {}
            Input::Gone(entity) => {
                if self.forget(entity) {
                    self.gone += 1;
                }
            }
            Input::MoveEnded { entity, ended } => self.move_ended(entity, ended, now),
            Input::DespawnEnded { entity, ended } => self.despawn_ended(entity, ended, now),
            Input::Tick => {}
            Input::Cancel => self.cancel(now),
            Input::Despawn => {
                self.despawns = true;
                self.ready.extend(std::mem::take(&mut self.kept).into_keys());
            }
        }
        self.go_on(now, out);
    }

    /// How far it is.
    #[must_use]
    pub fn progress(&self) -> Progress {
        Progress {
            moved: self.moved,
            gone: self.gone,
            under_way: self.under_way.len() as u64,
            waiting: (self.ready.len() + self.resting.len()) as u64,
            kept: self.kept.len() as u64,
        }
    }

    fn take_targets(&mut self, targets: Vec<Target>) {
        if self.targets.replace(targets) && !self.cancelled {
            let stuck = self.kept.extract_if(.., |_, kept| matches!(kept, Kept::NoPlace(_)));
            self.ready.extend(stuck.map(|(entity, _)| entity));
        }
    }

    /// Returns whether it was not known.
    fn meet(&mut self, entity: OnlineId, type_name: TypeName) -> bool {
        if self.leavers.contains_key(&entity) {
            return false;
        }
        let next = Kind(self.kinds.len());
        let kind = *self.kinds.entry(type_name).or_insert(next);
        let (refused_by, wait) = (BTreeSet::new(), Wait::default());
        self.leavers.insert(entity, Leaver { kind, refused_by, wait, last: None, rests_until: None });
        true
    }

    /// Returns whether it was known.
    fn forget(&mut self, entity: OnlineId) -> bool {
        let Some(leaver) = self.leavers.remove(&entity) else { return false };
        self.ready.remove(&entity);
        self.kept.remove(&entity);
        if let Some(until) = leaver.rests_until {
            self.resting.remove(&(until, entity));
        }
        true
    }

    fn move_ended(&mut self, entity: OnlineId, ended: Result<Outcome, MoveError>, now: Now) {
        let Some(Some(to)) = self.under_way.get(&entity).copied() else { return };
        self.under_way.remove(&entity);
        let leaver = self.leavers.get_mut(&entity).expect("whoever is under way is known");
        let kind = leaver.kind;
        if !matches!(ended, Ok(Outcome::Moved { .. })) {
            self.targets.give_back(to);
        }
        let outcome = match ended {
            Ok(Outcome::Moved { .. }) => {
                self.moved += 1;
                self.forget(entity);
                return;
            }
            Ok(Outcome::Lost) | Err(MoveError::NotOwner { .. }) => {
                self.gone += 1;
                self.forget(entity);
                return;
            }
            Err(
                MoveError::Migrating { .. }
                | MoveError::NoMigration { .. }
                | MoveError::NoCompany { .. }
                | MoveError::TooManyCompanions { .. },
            ) => return self.rest(entity, None, now),
            Ok(outcome) => outcome,
        };
        leaver.last = Some(outcome.clone());
        match outcome {
            Outcome::Moved { .. } | Outcome::Lost => unreachable!("that was taken out above"),
            Outcome::Refused(refusal) => match refusal {
                Refusal::Full { .. }
                | Refusal::Draining
                | Refusal::Closing
                | Refusal::NoScene { .. }
                | Refusal::AlreadyThere => {
                    self.targets.strike(to);
                    self.wait_for_turn(entity);
                }
                Refusal::NoType { .. } => {
                    self.targets.strike_for(to, kind);
                    self.wait_for_turn(entity);
                }
                Refusal::SchemaDiffers { part, .. } if self.kinds.get(&part) == Some(&kind) => {
                    self.targets.strike_for(to, kind);
                    self.wait_for_turn(entity);
                }
                Refusal::SchemaDiffers { .. } | Refusal::NoComponent { .. } => {
                    // Others of its type may not have that component.
                    leaver.refused_by.insert(to);
                    self.wait_for_turn(entity);
                }
                Refusal::Companion { ref why, .. } if will_not_move(why) => self.keep(entity, Kept::Refused(refusal)),
                Refusal::Busy { .. } | Refusal::Companion { .. } => self.rest(entity, None, now),
                Refusal::TooLarge { .. }
                | Refusal::Unreadable { .. }
                | Refusal::NotMovable
                | Refusal::Vetoed { .. } => self.keep(entity, Kept::Refused(refusal)),
            },
            Outcome::Timeout { .. } | Outcome::NodeLost => self.rest(entity, Some(to), now),
            Outcome::Cancelled | Outcome::Undecided | Outcome::HomeUnreachable => self.rest(entity, None, now),
            Outcome::SceneStopped => self.keep(entity, Kept::SceneStopped),
        }
    }

    fn despawn_ended(&mut self, entity: OnlineId, ended: Result<(), NotDespawned>, now: Now) {
        if self.under_way.get(&entity) != Some(&None) {
            return;
        }
        self.under_way.remove(&entity);
        match ended {
            Ok(()) | Err(NotDespawned::Rejected(MoveError::NotOwner { .. })) => {
                self.gone += 1;
                self.forget(entity);
            }
            Err(
                NotDespawned::Undecided
                | NotDespawned::Rejected(
                    MoveError::Migrating { .. }
                    | MoveError::NoMigration { .. }
                    | MoveError::NoCompany { .. }
                    | MoveError::TooManyCompanions { .. },
                ),
            ) => self.rest(entity, None, now),
        }
    }

    /// It stays, unless everybody is to be despawned.
    fn keep(&mut self, entity: OnlineId, why: Kept) {
        if self.despawns {
            self.ready.insert(entity);
        } else {
            self.kept.insert(entity, why);
        }
    }

    fn wait_for_turn(&mut self, entity: OnlineId) {
        if self.cancelled && !self.despawns {
            self.keep(entity, Kept::Cancelled);
        } else {
            self.ready.insert(entity);
        }
    }

    /// Its turn comes again after a wait that doubles; the target that was no good rests as long.
    fn rest(&mut self, entity: OnlineId, target: Option<Own>, now: Now) {
        if self.cancelled && !self.despawns {
            return self.keep(entity, Kept::Cancelled);
        }
        let leaver = self.leavers.get_mut(&entity).expect("the caller holds a leaver");
        let until = now + leaver.wait.next(self.settings.wait_first, self.settings.wait_max);
        self.rest_until(entity, until);
        if let Some(target) = target {
            self.targets.rest(target, until);
        }
    }

    fn rest_until(&mut self, entity: OnlineId, until: Now) {
        let leaver = self.leavers.get_mut(&entity).expect("the caller holds a leaver");
        leaver.rests_until = Some(until);
        self.resting.insert((until, entity));
    }

    fn cancel(&mut self, now: Now) {
        // Whoever is left at the deadline is late, even if the order to stop comes first.
        if self.despawns || now >= self.settings.deadline {
            return;
        }
        self.cancelled = true;
        let ready = std::mem::take(&mut self.ready).into_iter();
        let resting = std::mem::take(&mut self.resting).into_iter().map(|(_, entity)| entity);
        self.kept.extend(ready.chain(resting).map(|entity| (entity, Kept::Cancelled)));
    }

    fn go_on(&mut self, now: Now, out: &mut Vec<Output>) {
        if now >= self.settings.deadline {
            return self.end(out);
        }
        self.wake(now);
        while self.under_way.len() < self.settings.under_way_max {
            let Some(entity) = self.ready.pop_first() else { break };
            if self.despawns {
                self.under_way.insert(entity, None);
                out.push(Output::Despawn(entity));
                continue;
            }
            let leaver = &self.leavers[&entity];
            match self.targets.choose(leaver.kind, &leaver.refused_by, now) {
                Choice::Target(to) => {
                    self.under_way.insert(entity, Some(to));
                    out.push(Output::Move { entity, to });
                }
                Choice::Later(until) => self.rest_until(entity, until),
                Choice::Nobody => {
                    let last = match &leaver.last {
                        Some(Outcome::Refused(refusal)) => Some(refusal.clone()),
                        Some(_) | None => None,
                    };
                    self.kept.insert(entity, Kept::NoPlace(last));
                }
            }
        }
        if self.settled && self.ready.is_empty() && self.resting.is_empty() && self.under_way.is_empty() {
            self.end(out);
        }
    }

    fn wake(&mut self, now: Now) {
        while let Some(&(until, entity)) = self.resting.first() {
            if until > now {
                return;
            }
            self.resting.pop_first();
            if let Some(leaver) = self.leavers.get_mut(&entity) {
                leaver.rests_until = None;
            }
            self.ready.insert(entity);
        }
    }

    fn end(&mut self, out: &mut Vec<Output>) {
        self.over = true;
        let late = |(entity, leaver): (OnlineId, Leaver), kept: &mut BTreeMap<OnlineId, Kept>| {
            let why = kept.remove(&entity).unwrap_or(Kept::Late(leaver.last));
            (entity, why)
        };
        let mut kept = std::mem::take(&mut self.kept);
        let left = std::mem::take(&mut self.leavers).into_iter().map(|leaver| late(leaver, &mut kept)).collect();
        out.push(Output::Done(Done { moved: self.moved, gone: self.gone, kept: left }));
    }
}

/// Whether an entity that ended so stays where it is, wherever it is to go.
fn will_not_move(outcome: &Outcome) -> bool {
    let Outcome::Refused(refusal) = outcome else { return false };
    matches!(
        refusal,
        Refusal::TooLarge { .. } | Refusal::Unreadable { .. } | Refusal::NotMovable | Refusal::Vetoed { .. }
    )
}
