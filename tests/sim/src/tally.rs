//! How often the rare things happened: a simulation that never meets them proves nothing about them.

use std::collections::BTreeMap;
use std::fmt;

/// Counts by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    counts: BTreeMap<&'static str, u64>,
}

impl Tally {
    pub(crate) fn count(&mut self, what: &'static str) {
        *self.counts.entry(what).or_default() += 1;
    }

    /// Adds what another has counted.
    pub fn add(&mut self, other: &Self) {
        for (what, count) in &other.counts {
            *self.counts.entry(what).or_default() += count;
        }
    }

    /// Those of the rare things that never happened.
    #[must_use]
    pub fn missing(&self) -> Vec<&'static str> {
        RARE.iter().copied().filter(|what| !self.counts.contains_key(what)).collect()
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.counts.iter().try_for_each(|(what, count)| writeln!(f, "{count:>12}  {what}"))
    }
}

/// What a run over enough seeds must have met.
const RARE: &[&str] = &[
    "a name went over to another",
    "absent is lost",
    "adopted streams",
    "applied",
    "bequeathed",
    "bounced",
    "busy",
    "came back before the verdict",
    "cancelled",
    "clock jumped",
    "closed",
    "crashed",
    "dead answers",
    "despawn undecided",
    "despawned",
    "died while a home was rebuilt",
    "duplicates dropped",
    "folder put back old",
    "found by name",
    "give-ups lost",
    "give-ups won",
    "hand-over cut short",
    "handed over",
    "home unreachable",
    "lost by name",
    "manager crashed",
    "messages handed on",
    "messages renumbered",
    "moved",
    "moved on before the source knew",
    "moved together",
    "named by a witness",
    "no company",
    "node lost",
    "not complete when passed on",
    "parted",
    "rebuilt",
    "redirects",
    "refused: already there",
    "refused: busy",
    "refused: by itself",
    "refused: companion",
    "refused: full",
    "refused: no scene",
    "refused: schema",
    "refused: too large",
    "refused: unreadable",
    "rejoined",
    "said directly",
    "said directly, then numbered",
    "spawn refused",
    "stayed together",
    "stopped",
    "straight back",
    "streams closed",
    "streams reset",
    "superseded",
    "timed out",
    "told lost",
    "undecided",
    "undecided, then decided",
    "undecided, then moved",
    "unknown",
    "verdict on one that is there",
];
