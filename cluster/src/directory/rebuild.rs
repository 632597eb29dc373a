//! Rebuilding the records of a range whose home has died: asking every scene, and laying their answers side by side.
//!
//! ```text
//!   scene A   1.3  1.7  1.8 | 1.12 ...        each answers in pages, in the order of ids
//!   scene B   1.3  1.9      | more            up to 1.8 everybody has spoken: 1.3, 1.7 and 1.8
//!   scene C   (nothing more)                  can be decided
//! ```
//!
//! A scene takes up the term before its first page, so nothing of what it said changes any more. An entity is
//! decided once everybody who may know of it has spoken of all ids up to its own. The next page is asked for
//! when the one before is used up: what is kept at once is a page for each scene.
//!
//! Keeps: nothing is decided before every scene of a living session has taken up the term, and every life
//! that was replaced has its verdict: until then it may be running somewhere, cut off.
//! Leaves out: what is decided (`decide`).

use std::collections::{BTreeMap, BTreeSet};

use slipgate_entity::{OnlineId, RangeId};

use super::Output;
use super::port::Tally;
use crate::bounds::CLAIMS_PER_SCENE;
use crate::claim::{Claim, Stake};
use crate::message::Control;
use crate::pace::Pace;
use crate::view::Home;
use crate::{Incarnation, Now, Own, Rule, Rules, Session, View};

#[derive(Clone, Debug)]
pub(super) struct Rebuild {
    range: RangeId,
    term: u32,
    began: Now,
    sources: BTreeMap<Own, Source>,
    /// Lives that were replaced and have no verdict yet.
    running: BTreeSet<Session>,
    pending: BTreeMap<OnlineId, Vec<(Own, Claim)>>,
    pub(super) tally: Tally,
    /// Those that are lost by what was said.
    pub(super) lost: BTreeSet<OnlineId>,
}

#[derive(Clone, Debug)]
struct Source {
    upto: Upto,
    is_dead: bool,
    /// Claims that are not decided yet.
    open: usize,
    claimed: usize,
    pace: Pace,
}

/// How far a scene has spoken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Upto {
    Nothing,
    Entity(OnlineId),
    All,
}

impl Rebuild {
    /// Asks all that `view` knows of. Whoever opens a scene later has taken up the term by then, with nothing in
    /// it that is older.
    pub(super) fn begin(home: &Home, view: &View, rules: Rules, now: Now) -> Self {
        let mut running = BTreeSet::new();
        for Session { node, incarnation } in view.members.values().map(|member| member.session) {
            let before = Session { node, incarnation: Incarnation(incarnation.0.saturating_sub(1)) };
            let may_run = before.incarnation.0 > 0 && !view.is_dead(before);
            if may_run && rules.keep(Rule::FormerLivesAreOver) {
                running.insert(before);
            }
        }
        let source = || Source { upto: Upto::Nothing, is_dead: false, open: 0, claimed: 0, pace: Pace::fresh() };
        // Whether anybody may still move there does not matter: what is there counts.
        let scenes = view.scenes.values().filter_map(|scene| {
            let session = view.members.get(&scene.node)?.session;
            (!view.is_dead(session)).then(|| Own::new(session, scene.id))
        });
        Self {
            range: home.range,
            term: home.term,
            began: now,
            sources: scenes.map(|own| (own, source())).collect(),
            running,
            pending: BTreeMap::new(),
            tally: Tally::default(),
            lost: BTreeSet::new(),
        }
    }

    pub(super) fn scenes(&self) -> usize {
        self.sources.len()
    }

    pub(super) fn took_us(&self, now: Now) -> u64 {
        now.since(self.began)
    }

    /// Whoever is dead by now is not waited for; what it has said stays.
    pub(super) fn see(&mut self, view: &View) {
        for (own, source) in &mut self.sources {
            source.is_dead |= view.is_dead(own.session);
        }
        self.running.retain(|session| !view.is_dead(*session));
    }

    /// Asks for the pages that are wanted next, or asks again.
    pub(super) fn ask(&mut self, now: Now, out: &mut Vec<Output>) {
        for (own, source) in &mut self.sources {
            let after = match source.upto {
                Upto::Nothing => None,
                Upto::Entity(entity) => Some(entity),
                Upto::All => continue,
            };
            if source.is_dead || source.open > 0 || !source.pace.is_due(now) {
                continue;
            }
            let control = Control::AskClaims { range: self.range, term: self.term, after };
            out.push(Output::Tell { to: (*own).into(), control });
        }
    }

    /// A scene's page. One that was not asked for is ignored; of one that is out of order, the rest.
    pub(super) fn hear(&mut self, from: Own, after: Option<OnlineId>, claims: Vec<Claim>, more: bool) {
        let Some(source) = self.sources.get_mut(&from).filter(|source| !source.is_dead && source.open == 0) else {
            return;
        };
        let asked = match source.upto {
            Upto::Nothing => None,
            Upto::Entity(entity) => Some(entity),
            Upto::All => return,
        };
        if asked != after {
            return;
        }
        let mut last = after;
        for claim in claims {
            let entity = claim.entity;
            let is_next = last.is_none_or(|last| entity >= last) && after.is_none_or(|after| entity > after);
            // No honest home comes to the last epoch of a term, and nothing could follow it.
            let is_honest = claim.stake.title().is_none_or(|title| !title.epoch.is_last());
            if !is_next || !is_honest || entity.range() != self.range || source.claimed >= CLAIMS_PER_SCENE {
                last = None;
                break;
            }
            last = Some(entity);
            source.claimed += 1;
            source.open += 1;
            self.pending.entry(entity).or_default().push((from, claim));
        }
        let goes_on = more && last != after;
        source.upto = last.filter(|_| goes_on).map_or(Upto::All, Upto::Entity);
        source.pace = Pace::fresh();
    }

    /// The next entity of which everybody has spoken, with all that was said.
    pub(super) fn next(&mut self, rules: Rules) -> Option<(OnlineId, Vec<(Own, Claim)>)> {
        let first = self.pending.first_entry().map(|first| *first.key())?;
        let is_early = Upto::Entity(first) > self.frontier() && rules.keep(Rule::EverybodyIsHeard);
        if !self.running.is_empty() || is_early {
            return None;
        }
        let (entity, claims) = self.pending.pop_first()?;
        for (own, _) in &claims {
            if let Some(source) = self.sources.get_mut(own) {
                source.open -= 1;
            }
        }
        Some((entity, claims))
    }

    /// How far everybody has spoken.
    fn frontier(&self) -> Upto {
        self.sources.values().filter(|source| !source.is_dead).map(|source| source.upto).min().unwrap_or(Upto::All)
    }

    pub(super) fn is_heard(&self, own: Own, entity: OnlineId) -> bool {
        self.sources.get(&own).is_some_and(|source| source.upto >= Upto::Entity(entity))
    }

    pub(super) fn is_done(&self) -> bool {
        self.running.is_empty() && self.pending.is_empty() && self.frontier() == Upto::All
    }
}

/// What was said of one entity, without its name.
pub(super) fn stakes(claims: Vec<(Own, Claim)>) -> (Vec<(Own, Stake)>, Option<String>) {
    let mut label = None;
    let stake = |(own, claim): (Own, Claim)| {
        label = label.take().or(claim.label);
        (own, claim.stake)
    };
    let stakes = claims.into_iter().map(stake).collect();
    (stakes, label)
}
