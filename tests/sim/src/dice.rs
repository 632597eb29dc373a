//! Chance from one seed: splitmix64, so that a seed means the same on every machine.

use std::ops::Range;

/// A source of chance; a child's draws do not disturb its parent's.
#[derive(Clone, Debug)]
pub(crate) struct Dice {
    state: u64,
}

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    pub(crate) fn child(&mut self) -> Self {
        Self::new(self.roll())
    }

    pub(crate) fn roll(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.state ^ (self.state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub(crate) fn within(&mut self, range: Range<u64>) -> u64 {
        range.start + self.roll() % (range.end - range.start)
    }

    pub(crate) fn chance(&mut self, per_mille: u64) -> bool {
        self.within(0..1000) < per_mille
    }

    pub(crate) fn pick<'a, T>(&mut self, items: &'a [T]) -> Option<&'a T> {
        let count = items.len() as u64;
        (count > 0).then(|| &items[usize::try_from(self.within(0..count)).expect("an index fits")])
    }
}

#[test]
fn one_seed_is_one_sequence() {
    let rolls = |seed| {
        let mut dice = Dice::new(seed);
        [dice.roll(), dice.child().roll(), dice.roll()]
    };
    assert_eq!(rolls(7), rolls(7));
    assert_ne!(rolls(7), rolls(8));
}
