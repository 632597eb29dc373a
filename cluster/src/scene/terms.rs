//! The terms of homes, and entities whose record is of an earlier one.
//!
//! A view that names another home for a range begins its next term. From then on the scene takes nobody's older
//! word: not a former home's record, nor a copy under an older label. An active entity goes on, but begins
//! nothing that changes its record before the new home has told the record in its own term. It tells everybody
//! whom it concerns; what was lost on the way is asked for.
//!
//! Keeps: a term is never taken back.

use std::collections::BTreeSet;
use std::ops::Bound;
use std::sync::Arc;

use slipgate_entity::OnlineId;

use super::alarm::Alarm;
use super::phase::Repeat;
use super::talk::send;
use super::{Destination, Output, Scene};
use crate::message::Control;
use crate::{Now, Rule, View};

/// Entities whose record is of an earlier term than their home's; some have heard by now.
#[derive(Clone, Debug, Default)]
pub(super) struct Outdated {
    entities: BTreeSet<OnlineId>,
    /// The last one that was asked about.
    asked: Option<OnlineId>,
    repeat: Option<Repeat>,
}

impl Scene {
    pub(super) fn see(&mut self, view: Arc<View>, now: Now) {
        if view.version <= self.view.version {
            return;
        }
        let before = std::mem::replace(&mut self.view, view.clone());
        for home in view.homes.values().filter(|home| home.term > before.term_of(home.range)) {
            for entity in self.live.ids_of(home.range, None) {
                if self.live[&entity].epoch.term() < home.term {
                    self.outdated.entities.insert(entity);
                }
            }
        }
        self.await_news(now);
    }

    /// Whether the home of an entity that lives here has a record of a later term.
    pub(super) fn is_outdated(&self, entity: OnlineId) -> bool {
        self.live.get(&entity).is_some_and(|live| live.epoch.term() < self.view.term_of(entity.range()))
    }

    /// Whether an entity begins nothing that changes its record, before it has heard that of its home's present term.
    pub(super) fn must_hear_first(&self, entity: OnlineId) -> bool {
        self.is_outdated(entity) && self.rules.keep(Rule::NewsComesFirst)
    }

    /// An entity begins to live here: its range may have been passed on while it was spawned.
    pub(super) fn note_outdated(&mut self, entity: OnlineId, now: Now) {
        if self.is_outdated(entity) {
            self.outdated.entities.insert(entity);
            self.await_news(now);
        }
    }

    /// The home speaks first; whoever has not heard by the first wait is asked for.
    fn await_news(&mut self, now: Now) {
        if self.outdated.entities.is_empty() {
            return;
        }
        let repeat = Repeat::first(now, &self.limits);
        self.outdated.repeat = Some(repeat);
        self.alarms.insert((repeat.due, Alarm::Outdated));
    }

    pub(super) fn outdated_tick(&mut self, now: Now, out: &mut Vec<Output>) {
        let Some(mut repeat) = self.outdated.repeat.filter(|repeat| repeat.due <= now) else { return };
        let after = self.outdated.asked.map_or(Bound::Unbounded, Bound::Excluded);
        let next: Vec<_> = self.outdated.entities.range((after, Bound::Unbounded)).copied().take(AT_ONCE).collect();
        let is_round_over = next.len() < AT_ONCE;
        self.outdated.asked = next.last().copied().filter(|_| !is_round_over);
        for entity in next {
            if self.is_outdated(entity) {
                let nonce = self.nonce();
                out.push(send(Destination::Home(entity), Control::Query { entity, nonce }));
            } else {
                self.outdated.entities.remove(&entity);
            }
        }
        if self.outdated.entities.is_empty() {
            self.outdated.repeat = None;
            return;
        }
        if is_round_over {
            repeat.again(now, &self.limits);
        } else {
            repeat.due = now + self.limits.resend_first;
        }
        self.outdated.repeat = Some(repeat);
        self.alarms.insert((repeat.due, Alarm::Outdated));
    }
}

/// Questions at once: a thousand entities are a burst that a control lane does not notice (a guess).
const AT_ONCE: usize = 1_024;
