//! The home: records of the entities whose id range this session holds.
//!
//! The directory answers "who owns this entity?" and decides every change of owner by compare-and-set.
//! It never guesses: an id of one of its ranges either has a record, or is dead; an id of another
//! range is none of its business, and it says so.
//!
//! ```text
//!   range -> [ record of counter 0 | 1 | 2 | ... ]      counters index an array, not a hash
//!   owner -> [ entity, entity, ... ]                    (ownership)
//! ```
//!
//! Keeps: a record changes only if `(owner, epoch)` is as expected, and then its epoch rises by one;
//! nobody but the home itself resets an entity's streams;
//! a dead entity stays dead; every request is answered with the record as it now stands; an owner
//! that loses an entity by somebody else's request is told.
//! Leaves out: who is declared dead (`manager`); rebuilding a home that died.

use std::collections::BTreeMap;

use slipgate_entity::{FixedMap, OnlineId, RangeId};

use crate::message::{Control, Nonce};
use crate::ownership::Ownership;
use crate::{Epoch, Incarnation, NodeId, Own, Place, Record, Session};

/// What a directory is told or asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Input {
    /// The manager made this session the home of a range.
    Opened {
        /// The range.
        range: RangeId,
    },
    /// A scene of this session spawned an entity under a fresh id of an opened range.
    Registered {
        /// The id.
        entity: OnlineId,
        /// The scene.
        owner: Own,
        /// The entity's label, to name it by should it be lost.
        label: Option<String>,
    },
    /// The manager's verdicts: every life of a node up to the one named is over.
    Sentenced(BTreeMap<NodeId, Incarnation>),
    /// Somebody asks for a record, or to change it.
    Heard {
        /// Who; gets the answer.
        from: Place,
        /// The question; anything but a question to a directory is ignored.
        control: Control,
    },
}

/// What a directory wants done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Output {
    /// A message to a place.
    Tell {
        /// To whom.
        to: Place,
        /// What.
        control: Control,
    },
    /// An entity was lost with the session that owned it.
    Lost(Lost),
}

/// An entity that was lost with the session that owned it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lost {
    /// The entity.
    pub entity: OnlineId,
    /// Its label.
    pub label: Option<String>,
    /// Where it was.
    pub owner: Own,
}

/// The records of this session's ranges.
#[derive(Clone, Debug, Default)]
pub struct Directory {
    ranges: FixedMap<RangeId, Vec<Option<Record>>>,
    ownership: Ownership,
    labels: FixedMap<OnlineId, String>,
    dead: BTreeMap<NodeId, Incarnation>,
}

impl Directory {
    /// The record of `entity`, if this is the home of its range. An id that was never given out, or is
    /// dead, has a record without owner.
    #[must_use]
    pub fn record(&self, entity: OnlineId) -> Option<Record> {
        let records = self.ranges.get(&entity.range())?;
        Some(records.get(index(entity)).copied().flatten().unwrap_or_else(Record::never))
    }

    /// Who owns what, as the records say.
    #[must_use]
    pub fn ownership(&self) -> &Ownership {
        &self.ownership
    }

    /// Takes one input and appends what should follow.
    ///
    /// # Panics
    ///
    /// If an id is registered twice, or one of a range that this is not the home of: ids come from
    /// this node's own stock.
    pub fn handle(&mut self, input: Input, out: &mut Vec<Output>) {
        match input {
            Input::Opened { range } => {
                self.ranges.or_insert_with(range, Vec::new);
            }
            Input::Registered { entity, owner, label } => self.register(entity, owner, label),
            Input::Sentenced(dead) => {
                self.dead = dead;
                self.bury(out);
            }
            Input::Heard { from, control: Control::Query { entity, nonce } } => self.answer(from, entity, nonce, out),
            Input::Heard { from, control: Control::Cas { entity, owner, epoch, new, nonce } } => {
                let hit = may_ask(from, owner, &new) && self.swap(entity, (owner, epoch), new);
                self.answer(from, entity, nonce, out);
                if hit && Place::from(owner) != from {
                    let control = Control::RecordIs { entity, record: new, nonce: None };
                    out.push(Output::Tell { to: owner.into(), control });
                }
            }
            Input::Heard { from, control: Control::Reclaim { entity, me, nonce } } => {
                self.reclaim(from, entity, me);
                self.answer(from, entity, nonce, out);
            }
            Input::Heard { .. } => {}
        }
    }

    fn register(&mut self, entity: OnlineId, owner: Own, label: Option<String>) {
        let records = self.ranges.get_mut(&entity.range()).expect("an id is registered at the home of its range");
        let slot = index(entity);
        if records.len() <= slot {
            records.resize(slot + 1, None);
        }
        let record = &mut records[slot];
        assert!(record.is_none(), "expected {entity} to be fresh, found {record:?}");
        *record = Some(Record::registered(owner));
        self.ownership.assign(entity, owner);
        if let Some(label) = label {
            self.labels.insert(entity, label);
        }
    }

    /// Whatever dead sessions own is lost. The epoch rises, or those who wait for it would never be told.
    fn bury(&mut self, out: &mut Vec<Output>) {
        let buried: Vec<_> = self.ownership.owners().filter(|owner| self.is_dead(*owner)).collect();
        for owner in buried {
            for entity in self.ownership.list(owner).to_vec() {
                let record = self.record(entity).expect("an entity with an owner has a record");
                let hit = self.swap(entity, (owner, record.epoch), record.buried());
                assert!(hit, "expected the record of {entity} to name {owner:?}, found {record:?}");
                let label = self.labels.remove(&entity);
                out.push(Output::Lost(Lost { entity, label, owner }));
            }
        }
    }

    fn is_dead(&self, owner: Own) -> bool {
        let Session { node, incarnation } = owner.session;
        self.dead.get(&node).is_some_and(|upto| incarnation <= *upto)
    }

    fn swap(&mut self, entity: OnlineId, expected: (Own, Epoch), new: Record) -> bool {
        // Nobody is buried twice: what a dead session would own would never be looked for again.
        let for_the_dead = new.owner.is_some_and(|owner| self.is_dead(owner));
        let Some(records) = self.ranges.get_mut(&entity.range()) else { return false };
        let Some(Some(record)) = records.get_mut(index(entity)) else { return false };
        let as_expected = record.owner == Some(expected.0) && record.epoch == expected.1;
        let is_next = new.epoch.previous() == Some(record.epoch) && !new.epoch.is_last();
        let same_streams = new.base == record.base;
        let well_formed = is_next && same_streams && (new.data == record.data || new.data == new.epoch);
        if !as_expected || !well_formed || for_the_dead {
            return false;
        }
        *record = new;
        match new.owner {
            Some(owner) => self.ownership.assign(entity, owner),
            None => {
                if !new.lost {
                    self.labels.remove(&entity);
                }
                self.ownership.retire(entity)
            }
        };
        true
    }

    fn reclaim(&mut self, from: Place, entity: OnlineId, me: Own) {
        let Some(record) = self.record(entity) else { return };
        let Some(owner) = record.owner else { return };
        let same_node = owner.session.node == me.session.node && from.session == me.session;
        if same_node && owner.session.incarnation < me.session.incarnation {
            let new = record.changed_to(Some(me));
            self.swap(entity, (owner, record.epoch), new);
        }
    }

    fn answer(&self, to: Place, entity: OnlineId, nonce: Nonce, out: &mut Vec<Output>) {
        let control = match self.record(entity) {
            Some(record) => Control::RecordIs { entity, record, nonce: Some(nonce) },
            None => Control::NotHome { entity, nonce },
        };
        out.push(Output::Tell { to, control });
    }
}

/// Only the old or the new owner's node may ask for a change.
fn may_ask(from: Place, owner: Own, new: &Record) -> bool {
    let node = from.session.node;
    node == owner.session.node || new.owner.is_some_and(|new| new.session.node == node)
}

fn index(entity: OnlineId) -> usize {
    usize::try_from(entity.counter()).expect("32 bits fit into an index")
}

#[cfg(test)]
mod tests {
    use slipgate_entity::SceneId;

    use super::*;
    use crate::Session;

    const RANGE: RangeId = RangeId(3);

    fn own(node: u16, incarnation: u32) -> Own {
        Own::new(Session::new(node, incarnation), SceneId::from(node))
    }

    fn entity() -> OnlineId {
        OnlineId::new(RANGE, 4)
    }

    fn directory() -> Directory {
        let mut directory = Directory::default();
        let mut out = Vec::new();
        directory.handle(Input::Opened { range: RANGE }, &mut out);
        let label = Some("ann".to_owned());
        directory.handle(Input::Registered { entity: entity(), owner: own(1, 1), label }, &mut out);
        assert!(out.is_empty());
        directory
    }

    fn ask(directory: &mut Directory, from: Own, control: Control) -> Vec<(Place, Record)> {
        let mut out = Vec::new();
        directory.handle(Input::Heard { from: from.into(), control }, &mut out);
        let told = out.into_iter().map(|output| {
            let Output::Tell { to, control: Control::RecordIs { record, .. } } = output else {
                panic!("expected a record, got {output:?}");
            };
            (to, record)
        });
        told.collect()
    }

    fn cas(owner: Own, epoch: Epoch, new: Record) -> Control {
        Control::Cas { entity: entity(), owner, epoch, new, nonce: Nonce(9) }
    }

    #[test]
    fn a_cas_that_names_owner_and_epoch_hits_and_the_old_owner_is_told() {
        let mut directory = directory();
        let new = Record::handed_to(own(2, 1), Epoch::FIRST.next(), Epoch::ZERO);
        let told = ask(&mut directory, own(2, 1), cas(own(1, 1), Epoch::FIRST, new));
        assert_eq!(told, [(own(2, 1).into(), new), (own(1, 1).into(), new)]);
        assert_eq!(directory.ownership().list(own(2, 1)), [entity()]);
        assert_eq!(directory.ownership().count(own(1, 1)), 0);
    }

    #[test]
    fn a_cas_with_another_session_or_epoch_misses_and_is_answered_with_the_record() {
        let mut directory = directory();
        let stands = Record::registered(own(1, 1));
        for (owner, epoch) in [(own(1, 2), Epoch::FIRST), (own(1, 1), Epoch::ZERO), (own(1, 1), Epoch::new(0, 2))] {
            let new = Record::handed_to(own(2, 1), epoch.next(), Epoch::ZERO);
            assert_eq!(ask(&mut directory, own(2, 1), cas(owner, epoch, new)), [(own(2, 1).into(), stands)]);
        }
    }

    #[test]
    fn a_repeated_cas_does_not_hit_twice() {
        let mut directory = directory();
        let new = Record::handed_to(own(2, 1), Epoch::FIRST.next(), Epoch::ZERO);
        ask(&mut directory, own(2, 1), cas(own(1, 1), Epoch::FIRST, new));
        assert_eq!(ask(&mut directory, own(2, 1), cas(own(1, 1), Epoch::FIRST, new)), [(own(2, 1).into(), new)]);
    }

    #[test]
    fn a_cas_is_accepted_only_from_the_old_or_the_new_owners_node() {
        let mut directory = directory();
        let new = Record::handed_to(own(2, 1), Epoch::FIRST.next(), Epoch::ZERO);
        let told = ask(&mut directory, own(3, 1), cas(own(1, 1), Epoch::FIRST, new));
        assert_eq!(told, [(own(3, 1).into(), Record::registered(own(1, 1)))]);
    }

    #[test]
    fn a_cas_that_does_not_raise_the_epoch_by_one_or_invents_a_copy_or_a_reset_misses() {
        let mut directory = directory();
        let stands = Record::registered(own(1, 1));
        let skips = Record::handed_to(own(2, 1), Epoch::new(0, 7), Epoch::ZERO);
        let invents =
            Record { data: Epoch::new(0, 9), ..Record::handed_to(own(2, 1), Epoch::FIRST.next(), Epoch::ZERO) };
        let resets = Record { base: Epoch::FIRST, ..Record::handed_to(own(2, 1), Epoch::FIRST.next(), Epoch::ZERO) };
        for new in [skips, invents, resets] {
            let told = ask(&mut directory, own(2, 1), cas(own(1, 1), Epoch::FIRST, new));
            assert_eq!(told, [(own(2, 1).into(), stands)]);
        }
    }

    #[test]
    fn dead_is_final_and_an_id_that_was_never_given_out_is_dead() {
        let mut directory = directory();
        let dead = Record::registered(own(1, 1)).changed_to(None);
        ask(&mut directory, own(1, 1), cas(own(1, 1), Epoch::FIRST, dead));
        let revived = Record::handed_to(own(1, 1), dead.epoch.next(), Epoch::ZERO);
        assert_eq!(ask(&mut directory, own(1, 1), cas(own(1, 1), dead.epoch, revived)), [(own(1, 1).into(), dead)]);
        assert_eq!(directory.ownership().len(), 0);
        let never = OnlineId::new(RANGE, 1 << 31);
        assert_eq!(directory.record(never), Some(Record::never()));
    }

    #[test]
    fn an_id_of_another_range_is_answered_not_home() {
        let mut directory = directory();
        let mut out = Vec::new();
        let entity = OnlineId::new(RangeId(99), 1);
        let from = Place::from(own(2, 1));
        directory.handle(Input::Heard { from, control: Control::Query { entity, nonce: Nonce(1) } }, &mut out);
        let control = Control::NotHome { entity, nonce: Nonce(1) };
        assert_eq!(out, [Output::Tell { to: from, control }]);
    }

    #[test]
    fn a_reclaim_needs_the_same_node_and_a_later_life_and_keeps_the_copy() {
        let mut directory = directory();
        let reclaim = |me| Control::Reclaim { entity: entity(), me, nonce: Nonce(1) };
        let stands = Record::registered(own(1, 1));
        assert_eq!(ask(&mut directory, own(2, 9), reclaim(own(2, 9)))[0].1, stands);
        assert_eq!(ask(&mut directory, own(1, 1), reclaim(own(1, 1)))[0].1, stands);
        let reclaimed = Record::registered(own(1, 1)).changed_to(Some(own(1, 2)));
        assert_eq!(ask(&mut directory, own(1, 2), reclaim(own(1, 2)))[0].1, reclaimed);
    }

    fn sentence(directory: &mut Directory, node: u16, upto: u32) -> Vec<Output> {
        let mut out = Vec::new();
        directory.handle(Input::Sentenced([(NodeId(node), Incarnation(upto))].into()), &mut out);
        out
    }

    #[test]
    fn a_verdict_makes_what_the_session_owned_lost_by_name_and_raises_the_epoch() {
        let mut directory = directory();
        assert_eq!(sentence(&mut directory, 1, 0), []);
        let lost = Lost { entity: entity(), label: Some("ann".to_owned()), owner: own(1, 1) };
        assert_eq!(sentence(&mut directory, 1, 1), [Output::Lost(lost)]);
        assert_eq!(directory.record(entity()), Some(Record::registered(own(1, 1)).buried()));
        assert_eq!(directory.ownership().len(), 0);
        assert_eq!(sentence(&mut directory, 1, 1), []);
    }

    #[test]
    fn a_cas_in_favour_of_a_dead_session_misses_before_and_after_the_burial() {
        let mut directory = directory();
        sentence(&mut directory, 2, 3);
        let new = Record::handed_to(own(2, 3), Epoch::FIRST.next(), Epoch::ZERO);
        let told = ask(&mut directory, own(2, 3), cas(own(1, 1), Epoch::FIRST, new));
        assert_eq!(told[0].1, Record::registered(own(1, 1)));
        let new = Record::handed_to(own(2, 4), Epoch::FIRST.next(), Epoch::ZERO);
        assert_eq!(ask(&mut directory, own(2, 4), cas(own(1, 1), Epoch::FIRST, new))[0].1, new);
    }

    #[test]
    fn a_staged_copy_whose_cas_comes_before_the_burial_lives_on() {
        let mut directory = directory();
        let new = Record::handed_to(own(2, 1), Epoch::FIRST.next(), Epoch::ZERO);
        ask(&mut directory, own(2, 1), cas(own(1, 1), Epoch::FIRST, new));
        assert_eq!(sentence(&mut directory, 1, 1), []);
        assert_eq!(directory.record(entity()), Some(new));
    }
}
