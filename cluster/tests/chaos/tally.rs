//! How often the rare things happened: a simulation that never meets them proves nothing about them.

use std::collections::BTreeMap;

/// Counts by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    counts: BTreeMap<&'static str, u64>,
}

impl Tally {
    pub(crate) fn count(&mut self, what: &'static str) {
        *self.counts.entry(what).or_default() += 1;
    }

    pub(crate) fn add(&mut self, other: &Self) {
        for (what, count) in &other.counts {
            *self.counts.entry(what).or_default() += count;
        }
    }

    /// Those of `RARE` that never happened.
    pub(crate) fn missing(&self) -> Vec<&'static str> {
        RARE.iter().copied().filter(|what| !self.counts.contains_key(what)).collect()
    }
}

/// What a run over enough seeds must have met.
const RARE: [&str; 34] = [
    "adopted streams",
    "cancelled",
    "closed",
    "dead answers",
    "despawned",
    "duplicates dropped",
    "give-ups lost",
    "give-ups won",
    "messages applied",
    "messages handed on",
    "messages renumbered",
    "moved",
    "moved on before the source knew",
    "moved together",
    "no company",
    "node lost",
    "redirects",
    "refused: busy",
    "refused: by itself",
    "refused: companion",
    "refused: full",
    "refused: no scene",
    "refused: schema",
    "refused: too large",
    "refused: unreadable",
    "said directly",
    "said directly, then numbered",
    "spawn refused",
    "stayed together",
    "straight back",
    "streams closed",
    "timed out",
    "undecided",
    "undecided, then moved",
];
