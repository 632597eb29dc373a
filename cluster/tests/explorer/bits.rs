//! A set of small numbers: which lines were said, which of them an actor has nothing to say to.

/// Numbers as bits.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Bits {
    words: Vec<u64>,
}

impl Bits {
    pub(crate) const fn nothing() -> Self {
        Self { words: Vec::new() }
    }

    /// Adds a number. Returns whether it is new.
    pub(crate) fn insert(&mut self, number: u32) -> bool {
        let (word, bit) = split(number);
        if self.words.len() <= word {
            self.words.resize(word + 1, 0);
        }
        let is_new = self.words[word] & bit == 0;
        self.words[word] |= bit;
        is_new
    }

    pub(crate) fn contains(&self, number: u32) -> bool {
        let (word, bit) = split(number);
        self.words.get(word).is_some_and(|found| found & bit != 0)
    }

    /// Takes out whatever is in `other`, too.
    pub(crate) fn subtract(&mut self, other: &Self) {
        for (word, gone) in self.words.iter_mut().zip(&other.words) {
            *word &= !gone;
        }
    }

    /// Numbers in this and in `also`, and not in `without`; in rising order.
    pub(crate) fn select<'a>(&'a self, also: &'a Self, without: &'a Self) -> impl Iterator<Item = u32> + 'a {
        self.words.iter().zip(&also.words).enumerate().flat_map(move |(at, (word, also))| {
            let without = without.words.get(at).copied().unwrap_or(0);
            Ones { word: word & also & !without, base: u32::try_from(at * 64).expect("few numbers") }
        })
    }

    /// All numbers, in rising order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        self.words
            .iter()
            .enumerate()
            .flat_map(|(at, &word)| Ones { word, base: u32::try_from(at * 64).expect("few numbers") })
    }
}

struct Ones {
    word: u64,
    base: u32,
}

impl Iterator for Ones {
    type Item = u32;

    fn next(&mut self) -> Option<u32> {
        let bit = (self.word != 0).then(|| self.word.trailing_zeros())?;
        self.word &= self.word - 1;
        Some(self.base + bit)
    }
}

fn split(number: u32) -> (usize, u64) {
    (number as usize / 64, 1 << (number % 64))
}

#[test]
fn a_selection_is_what_is_in_both_sets_and_not_in_the_third() {
    let set = |numbers: &[u32]| {
        let mut bits = Bits::default();
        numbers.iter().for_each(|&number| assert!(bits.insert(number)));
        bits
    };
    let mut all = set(&[1, 63, 64, 200]);
    assert!(!all.insert(64) && all.contains(200) && !all.contains(201));
    assert_eq!(all.select(&set(&[1, 64, 200, 500]), &set(&[1])).collect::<Vec<_>>(), [64, 200]);
    all.subtract(&set(&[63, 200]));
    assert_eq!(all.iter().collect::<Vec<_>>(), [1, 64]);
}
