//! What becomes of an entity whose home is rebuilt, from what everybody says of it.
//!
//! R is what is known latest of the record: the highest epoch among those where the entity lives, and those that
//! it has left (`Stake::Gone`).
//!
//! | R | and | the record names |
//! |---|---|---|
//! | the entity is dead | | nobody: dead it stays |
//! | it lives at X | it takes turns there, or is to be despawned | X |
//! | | it is frozen; its target was heard | X |
//! | | its target is dead and was not heard | X, streams reset: the target may have taken over |
//! | | it has been frozen for long | X, streams reset: the target may have taken over, handed on and forgotten |
//! | | somebody has a copy of what came after X | the rule for copies |
//! | | X has died since | the rule for copies |
//! | it went to X | X has it: lives there, or has the very copy | X |
//! | | X has not, or is dead | the rule for copies |
//! | nothing is known | | the rule for copies |
//!
//! **The rule for copies.** Of the copies above R whose source is dead the latest is taken, with its streams reset:
//! its source may have gone on without it. Without any the entity is lost.
//!
//! An owner that is dead never wins. The record begins the new term at count 0, with `data` kept: no
//! compare-and-set of the old term can match it, and whoever has the copy knows it by `data`.
//!
//! Each rule was forced by a shortest run in which a simpler one gives two owners, a gap in a stream, or an
//! entity that nobody owns: the tests tell them ([ADR 10](../../../docs/adr/0010-homes-have-terms.md)).

#[cfg(test)]
mod tests;

use crate::claim::{Stake, Title};
use crate::{Epoch, Own, Record, Rule, Rules, Session};

/// Everything that is known when an entity's record is decided anew.
#[derive(Clone, Copy, Debug)]
pub(super) struct Inquiry<'a, D, H> {
    /// The home's term.
    pub(super) term: u32,
    /// Which of the rules above are kept.
    pub(super) rules: Rules,
    /// Who says what of the entity; all of one scene's words, or none.
    pub(super) claims: &'a [(Own, Stake)],
    /// Whether there is a verdict on a session.
    pub(super) is_dead: D,
    /// Whether a scene has said everything that it knows of the entity.
    pub(super) is_heard: H,
}

/// What becomes of an entity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Decision {
    /// Its record.
    pub(super) record: Record,
    /// How sure that is.
    pub(super) certainty: Certainty,
    /// Where it was, if it is lost and that is known.
    pub(super) was_at: Option<Own>,
}

/// How sure a decision is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Certainty {
    /// The record is what it was.
    Exact,
    /// The copy that is named may have missed what another one has applied: its streams begin anew.
    Reset,
    /// It was despawned, or lost before.
    Dead,
    /// Nobody has a copy that could be named.
    Lost,
}

impl<D: Fn(Session) -> bool, H: Fn(Own) -> bool> Inquiry<'_, D, H> {
    /// Decides.
    #[must_use]
    pub(super) fn decide(&self) -> Decision {
        let titled = self.claims.iter().filter_map(|(own, stake)| Some((stake.title()?, *own, stake)));
        // Of two that know the same epoch, whoever has the entity knows more than whoever heard of it.
        let latest = titled.max_by_key(|(title, own, stake)| (title.epoch, stake.is_live(), *own));
        match latest {
            None => self.by_copies(Title::NONE, None),
            Some((_, _, Stake::Gone(record))) => self.went(record),
            Some((title, own, _)) if (self.is_dead)(own.session) && self.rules.keep(Rule::DeadOwnersDoNotWin) => {
                self.by_copies(title, Some(own))
            }
            Some((_, own, Stake::Leaving { title, target, is_late })) => self.leaves(own, *title, *target, *is_late),
            Some((title, own, _)) => self.exact(own, title),
        }
    }

    /// The latest that is known is from somebody who has heard of the record.
    fn went(&self, record: &Record) -> Decision {
        let Some(owner) = record.owner else {
            if !self.rules.keep(Rule::TheDeadStayDead) {
                return self.by_copies(Title::NONE, None);
            }
            return Decision { record: record.in_term(self.term), certainty: Certainty::Dead, was_at: None };
        };
        let Record { epoch, data, base, .. } = *record;
        let title = Title { epoch, data, base };
        let has_it = |(own, stake): &(Own, Stake)| {
            *own == owner
                && match stake {
                    Stake::Staged { label, .. } => *label == data,
                    Stake::Active(title) | Stake::Despawning(title) | Stake::Leaving { title, .. } => {
                        title.data == data
                    }
                    Stake::Gone(_) => false,
                }
        };
        let has_it = self.claims.iter().any(has_it) && self.rules.keep(Rule::WhoWasHandedItWins);
        if !(self.is_dead)(owner.session) && has_it {
            return self.exact(owner, title);
        }
        self.by_copies(title, Some(owner))
    }

    /// The latest that is known is from a source that waits for its target.
    fn leaves(&self, own: Own, title: Title, target: Own, is_late: bool) -> Decision {
        let after = title.epoch.next();
        let is_refuted = self.copies().any(|(_, label, _)| label > after);
        if is_refuted && self.rules.keep(Rule::LaterCopiesRefute) {
            // Somebody has owned it after the target took over: what lives here is out of date.
            return self.by_copies(Title { data: after, ..title }, Some(own));
        }
        let is_unheard = (self.is_dead)(target.session) && !(self.is_heard)(target);
        let is_in_doubt = is_late && self.rules.keep(Rule::LateClaimsCastDoubt)
            || is_unheard && self.rules.keep(Rule::UnheardTargetsCastDoubt);
        if is_in_doubt {
            return self.reset(own, title.data);
        }
        self.exact(own, title)
    }

    fn by_copies(&self, latest: Title, was_at: Option<Own>) -> Decision {
        let is_left = |(own, label, source): &(Own, Epoch, Own)| {
            let is_orphaned = (self.is_dead)(source.session) || !self.rules.keep(Rule::OnlyOrphanedCopiesAreTaken);
            *label > latest.epoch && is_orphaned && !(self.is_dead)(own.session)
        };
        if let Some((own, label, _)) = self.copies().filter(is_left).max_by_key(|(own, label, _)| (*label, *own)) {
            if !self.rules.keep(Rule::TakenCopiesBeginAnew) {
                return self.exact(own, Title { epoch: label, data: label, base: latest.base });
            }
            return self.reset(own, label);
        }
        let source = || self.copies().max_by_key(|(_, label, _)| *label).map(|(_, _, source)| source);
        let record = Record { data: latest.data, ..Record::absent(self.term, true) };
        Decision { record, certainty: Certainty::Lost, was_at: was_at.or_else(source) }
    }

    fn copies(&self) -> impl Iterator<Item = (Own, Epoch, Own)> + '_ {
        self.claims.iter().filter_map(|(own, stake)| {
            let Stake::Staged { label, source, .. } = stake else { return None };
            Some((*own, *label, *source))
        })
    }

    fn exact(&self, owner: Own, Title { epoch, data, base }: Title) -> Decision {
        let epoch = if self.rules.keep(Rule::RecordsBeginTheTerm) { self.first() } else { epoch };
        let record = Record { owner: Some(owner), epoch, data, lost: false, base };
        Decision { record, certainty: Certainty::Exact, was_at: None }
    }

    fn reset(&self, owner: Own, data: Epoch) -> Decision {
        let base = self.first();
        let record = Record { owner: Some(owner), epoch: base, data, lost: false, base };
        Decision { record, certainty: Certainty::Reset, was_at: None }
    }

    fn first(&self) -> Epoch {
        Epoch::new(self.term, 0)
    }
}
