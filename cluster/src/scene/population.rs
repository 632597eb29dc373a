//! The entities that live in a scene, by id.
//!
//! ```text
//!   id -> word: slot, and whether it takes turns -> the entity, in its slot
//! ```
//!
//! Every message looks its receiver up here, and what is asked most (is it here, does it take turns?) is in the
//! word: nobody touches the entity for it. An ordered walk is for people and tools, and has a list of its own.
//!
//! Keeps: index, list and slots know the same ids; a word tells what the phase of its entity says.

use std::collections::BTreeSet;
use std::fmt;
use std::ops::{Bound, Index};

use slipgate_entity::{OnlineId, OnlineIndex, RangeId};

use super::phase::{Live, Phase};

#[derive(Clone, Default)]
pub(super) struct Population {
    words: OnlineIndex,
    slots: Slots,
    order: BTreeSet<OnlineId>,
}

impl Population {
    /// Whether an entity that lives here takes turns.
    #[inline]
    pub(super) fn is_active(&self, id: OnlineId) -> Option<bool> {
        self.words.get(id).map(|word| Word(word).is_active())
    }

    #[inline]
    pub(super) fn get(&self, id: &OnlineId) -> Option<&Live> {
        let word = Word(self.words.get(*id)?);
        Some(self.slots.get(word.slot()))
    }

    #[inline]
    pub(super) fn get_mut(&mut self, id: &OnlineId) -> Option<&mut Live> {
        let word = Word(self.words.get(*id)?);
        Some(self.slots.get_mut(word.slot()))
    }

    pub(super) fn contains_key(&self, id: &OnlineId) -> bool {
        self.words.get(*id).is_some()
    }

    pub(super) fn insert(&mut self, id: OnlineId, live: Live) -> Option<Live> {
        let before = self.remove(&id);
        let is_active = live.is_active();
        let word = Word::new(self.slots.put(live), is_active);
        self.words.insert(id, word.0);
        self.order.insert(id);
        before
    }

    pub(super) fn remove(&mut self, id: &OnlineId) -> Option<Live> {
        let word = Word(self.words.remove(*id)?);
        self.order.remove(id);
        Some(self.slots.take(word.slot()))
    }

    /// Changes how an entity stands.
    pub(super) fn set_phase(&mut self, id: OnlineId, phase: Phase) {
        let word = Word(self.words.get(id).expect("the caller holds a live entity"));
        let live = self.slots.get_mut(word.slot());
        live.phase = phase;
        let is_active = live.is_active();
        self.words.insert(id, Word::new(word.slot(), is_active).0);
    }

    /// In the order of their ids.
    pub(super) fn values(&self) -> impl Iterator<Item = &Live> + '_ {
        self.order.iter().map(|id| &self[id])
    }

    /// By id.
    pub(super) fn ids(&self) -> impl Iterator<Item = OnlineId> + '_ {
        self.order.iter().copied()
    }

    /// Those of a range of ids, above `after`, by id.
    pub(super) fn ids_of(&self, range: RangeId, after: Option<OnlineId>) -> impl Iterator<Item = OnlineId> + '_ {
        self.order.range(ids_of(range, after)).copied()
    }

    pub(super) fn len(&self) -> usize {
        self.words.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.words.is_empty()
    }
}

/// The ids of a range, above `after`.
pub(super) fn ids_of(range: RangeId, after: Option<OnlineId>) -> (Bound<OnlineId>, Bound<OnlineId>) {
    let first = Bound::Included(OnlineId::new(range, 0));
    (after.map_or(first, Bound::Excluded), Bound::Included(OnlineId::new(range, u32::MAX)))
}

/// Who lives here, by id: in which slots is the same to everybody.
impl fmt::Debug for Population {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.ids().map(|id| (id, &self[&id]))).finish()
    }
}

impl Index<&OnlineId> for Population {
    type Output = Live;

    fn index(&self, id: &OnlineId) -> &Live {
        self.get(id).expect("the caller holds a live entity")
    }
}

/// A slot, and whether the entity in it takes turns.
#[derive(Clone, Copy)]
struct Word(u32);

impl Word {
    fn new(slot: usize, is_active: bool) -> Self {
        let slot = u32::try_from(slot).ok().filter(|&slot| slot < OnlineIndex::NUMBER_MAX / 2);
        Self(slot.expect("fewer than 2^31 entities live in a scene") << 1 | u32::from(is_active))
    }

    #[inline]
    fn slot(self) -> usize {
        (self.0 >> 1) as usize
    }

    #[inline]
    fn is_active(self) -> bool {
        self.0 & 1 == 1
    }
}

/// Entities in slots. An entity stays where it is while it lives, however many come after it.
#[derive(Clone, Default)]
struct Slots {
    blocks: Vec<Vec<Option<Live>>>,
    free: Vec<u32>,
}

impl Slots {
    #[inline]
    fn get(&self, slot: usize) -> &Live {
        self.blocks[slot / BLOCK][slot % BLOCK].as_ref().expect("a word names a slot with an entity in it")
    }

    #[inline]
    fn get_mut(&mut self, slot: usize) -> &mut Live {
        self.blocks[slot / BLOCK][slot % BLOCK].as_mut().expect("a word names a slot with an entity in it")
    }

    fn put(&mut self, live: Live) -> usize {
        if let Some(slot) = self.free.pop() {
            let slot = slot as usize;
            self.blocks[slot / BLOCK][slot % BLOCK] = Some(live);
            return slot;
        }
        if self.blocks.last().is_none_or(|block| block.len() == BLOCK) {
            self.blocks.push(Vec::with_capacity(BLOCK));
        }
        let block = self.blocks.len() - 1;
        self.blocks[block].push(Some(live));
        block * BLOCK + self.blocks[block].len() - 1
    }

    fn take(&mut self, slot: usize) -> Live {
        let live = self.blocks[slot / BLOCK][slot % BLOCK].take().expect("a word names a slot with an entity in it");
        self.free.push(u32::try_from(slot).expect("a slot fits into a word"));
        if self.free.len() == (self.blocks.len() - 1) * BLOCK + self.blocks[self.blocks.len() - 1].len() {
            *self = Self::default();
        }
        live
    }
}

/// Slots of a block: some KiB, so that a scene of few entities is small.
const BLOCK: usize = 16;
