//! The parts of a body: the own one, and the components by number and in the order in which they were added.
//!
//! ```text
//! own    Player
//! slots  [ -, Health, -, Bag ]     by part number: one array access
//! order  [ Bag, Health ]           first to last
//! ```
//!
//! Keeps: the own part and what `order` names is there, but for the one that runs. Parts are dropped last to first.

use crate::game::erased::AnyPart;
use crate::game::number::PartNumber;

/// Place of a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum At {
    Own,
    Component(PartNumber),
}

#[derive(Debug)]
pub(crate) struct Parts {
    own: Option<Box<dyn AnyPart>>,
    slots: Vec<Option<Box<dyn AnyPart>>>,
    order: Vec<PartNumber>,
    /// Those that were taken away, perhaps while a panic was on its way: their destructors wait for a moment of their own.
    buried: Vec<Box<dyn AnyPart>>,
}

impl Parts {
    pub(super) fn new(own: Box<dyn AnyPart>) -> Self {
        Self { own: Some(own), slots: Vec::new(), order: Vec::new(), buried: Vec::new() }
    }

    #[inline]
    pub(super) fn get(&self, at: At) -> Option<&dyn AnyPart> {
        match at {
            At::Own => self.own.as_deref(),
            At::Component(number) => self.slots.get(number.index())?.as_deref(),
        }
    }

    #[inline]
    pub(super) fn get_mut(&mut self, at: At) -> Option<&mut dyn AnyPart> {
        self.slot(at)?.as_deref_mut()
    }

    pub(super) fn take(&mut self, at: At) -> Option<Box<dyn AnyPart>> {
        self.slot(at)?.take()
    }

    /// Puts a part where it was taken from.
    pub(super) fn put_back(&mut self, at: At, part: Box<dyn AnyPart>) {
        let slot = self.slot(at).expect("a place that was there before a part was taken from it");
        assert!(slot.is_none(), "expected no part at {at:?}, found one");
        *slot = Some(part);
    }

    /// Makes a place for one more component, which is behind all others.
    pub(super) fn open(&mut self, number: PartNumber) {
        debug_assert!(!self.has(number), "a component of each type");
        if self.slots.len() <= number.index() {
            self.slots.resize_with(number.index() + 1, || None);
        }
        self.order.push(number);
    }

    /// Takes the components away again that were added since there were `len` parts, last to first.
    pub(super) fn truncate(&mut self, len: usize) {
        while self.len() > len
            && let Some(number) = self.order.pop()
        {
            self.buried.extend(self.slots[number.index()].take());
        }
    }

    /// One of those that were taken away, the last first.
    pub(super) fn exhume(&mut self) -> Option<Box<dyn AnyPart>> {
        self.buried.pop()
    }

    /// Adds a component behind all others.
    pub(super) fn push(&mut self, part: Box<dyn AnyPart>) {
        let number = part.number();
        self.open(number);
        self.put_back(At::Component(number), part);
    }

    pub(super) fn has(&self, number: PartNumber) -> bool {
        self.order.contains(&number)
    }

    /// How many parts there are.
    pub(super) fn len(&self) -> usize {
        1 + self.order.len()
    }

    /// Part number `place`: the own one, then the components in order.
    pub(super) fn at(&self, place: usize) -> Option<At> {
        match place {
            0 => Some(At::Own),
            place => self.order.get(place - 1).map(|&number| At::Component(number)),
        }
    }

    /// The name of a part that does not run.
    pub(super) fn name(&self, at: At) -> &'static str {
        self.get(at).map_or("?", AnyPart::name)
    }

    /// Numbers of the components in order.
    pub(super) fn numbers(&self) -> &[PartNumber] {
        &self.order
    }

    /// Components in order.
    pub(super) fn components(&self) -> impl Iterator<Item = &dyn AnyPart> {
        self.order.iter().filter_map(|&number| self.get(At::Component(number)))
    }

    /// Takes the last part out for good: components first, the own one at the end.
    pub(super) fn pop(&mut self) -> Option<Box<dyn AnyPart>> {
        match self.order.pop() {
            Some(number) => self.take(At::Component(number)).or_else(|| self.pop()),
            None => self.own.take(),
        }
    }

    fn slot(&mut self, at: At) -> Option<&mut Option<Box<dyn AnyPart>>> {
        match at {
            At::Own => Some(&mut self.own),
            At::Component(number) => self.slots.get_mut(number.index()),
        }
    }
}

impl Drop for Parts {
    fn drop(&mut self) {
        while let Some(part) = self.pop() {
            drop(part);
        }
    }
}
