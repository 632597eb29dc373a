//! What other homes have told this session: who lives by their records, in case they die with whoever lives there.
//!
//! ```text
//!   home of 3, term 0 ---- Roster -------> 3, term 0: [3.1 ann, 3.4]
//!   next home, term 1 ---- AskRoster ----> what is there of terms before 1, after the id that it has heard last
//! ```
//!
//! The question for a page says that everything up to its beginning is heard, so that is forgotten. The
//! last question is for the page behind the last one: it finds nothing, and nothing is left.
//!
//! Keeps: a batch counts once; only the home of a range, as the view says, adds to a roster, and only a later home of
//! the range takes from it. A roster outlives its home, and whoever is the witness by then.
//! Leaves out: what is told and when (`roster`); who is lost (`naming`).

use std::collections::BTreeMap;

use slipgate_entity::{OnlineId, RangeId};

use super::succession::PageId;
use crate::bounds::{LABEL_BYTES, ROSTER_ROWS};
use crate::roster::{Bereft, Born, RosterNews};
use crate::{Session, View};

/// The rosters of other homes.
#[derive(Clone, Debug, Default)]
pub(super) struct Witness {
    /// The last batch of each home that is noted.
    noted: BTreeMap<Session, u64>,
    rosters: BTreeMap<(RangeId, u32), Known>,
}

/// Who lives by the records of one range.
#[derive(Clone, Debug)]
struct Known {
    home: Session,
    living: BTreeMap<OnlineId, Option<Box<str>>>,
}

/// A batch, as it was told.
#[derive(Clone, Debug)]
pub(super) struct Told {
    pub(super) number: u64,
    pub(super) anew: bool,
    pub(super) news: Vec<RosterNews>,
}

impl Witness {
    /// Entities on all rosters.
    pub(super) fn len(&self) -> usize {
        self.rosters.values().map(|known| known.living.len()).sum()
    }

    /// Whether an entity is on the roster of the home in that term.
    pub(super) fn knows(&self, entity: OnlineId, term: u32) -> bool {
        self.rosters.get(&(entity.range(), term)).is_some_and(|known| known.living.contains_key(&entity))
    }

    /// Whoever is dead tells nothing any more; what it has told stays.
    pub(super) fn see(&mut self, view: &View) {
        self.noted.retain(|session, _| !view.is_dead(*session));
    }

    /// Takes a batch. Returns whether it is noted: not while this session's view is behind that of the home.
    #[must_use]
    pub(super) fn take(&mut self, from: Session, told: Told, view: &View) -> bool {
        let Told { number, anew, news } = told;
        let is_ahead = |news: &RosterNews| view.homes.get(&news.range).map_or(0, |home| home.term) < news.term;
        if view.is_dead(from) || news.iter().any(is_ahead) {
            return false;
        }
        let noted = self.noted.entry(from).or_default();
        if number <= *noted {
            return true;
        }
        *noted = number;
        if anew {
            // What it has passed on is for the next home to hear.
            let is_passed = |range: &RangeId| view.homes.get(range).is_some_and(|home| home.session != from);
            self.rosters.retain(|(range, _), known| known.home != from || is_passed(range));
        }
        let is_of_home = |news: &RosterNews| {
            let home = view.homes.get(&news.range);
            // The view that tells of a range may be behind the grant of it.
            home.is_none_or(|home| home.session == from && home.term == news.term)
        };
        // Once for a batch, whose ranges are as many as a peer likes.
        let mut room = self.room_for(from);
        for news in news.into_iter().filter(is_of_home) {
            let is_named = view.homes.contains_key(&news.range);
            self.note(from, news, is_named, &mut room);
        }
        self.rosters.retain(|_, known| !known.living.is_empty());
        true
    }

    /// Rows that a home may still fill: one alone has at most half of them.
    fn room_for(&self, home: Session) -> usize {
        let own = self.rosters.values().filter(|known| known.home == home).map(|known| known.living.len());
        ROSTER_ROWS.saturating_sub(self.len()).min((ROSTER_ROWS / 2).saturating_sub(own.sum()))
    }

    /// `is_named` says whether the view names the home. Whoever spoke before it did, in its place, is not believed any more.
    fn note(&mut self, home: Session, news: RosterNews, is_named: bool, room: &mut usize) {
        let RosterNews { range, term, born, dead } = news;
        let fresh = || Known { home, living: BTreeMap::new() };
        let known = self.rosters.entry((range, term)).or_insert_with(fresh);
        if known.home != home && is_named {
            *known = fresh();
        }
        if known.home != home {
            return;
        }
        for entity in dead {
            *room += usize::from(known.living.remove(&entity).is_some());
        }
        for Born { entity, label } in born.into_iter().filter(|born| born.entity.range() == range) {
            if *room == 0 {
                break;
            }
            let label = label.filter(|label| label.len() <= LABEL_BYTES).map(String::into_boxed_str);
            *room -= usize::from(known.living.insert(entity, label).is_none());
        }
    }

    /// The next `page` entities by id, of earlier homes of the range. Those up to the id that is asked for are forgotten.
    pub(super) fn give(&mut self, (range, term, after): PageId, page: usize) -> Vec<Bereft> {
        let mut rows: BTreeMap<OnlineId, Bereft> = BTreeMap::new();
        for (_, known) in self.rosters.range_mut((range, 0)..(range, term)) {
            if let Some(after) = after {
                let heard = known.living.range(..=after).map(|(entity, _)| *entity).collect::<Vec<_>>();
                heard.iter().for_each(|entity| drop(known.living.remove(entity)));
            }
            for (&entity, label) in known.living.iter().take(page) {
                let label = label.as_deref().map(str::to_owned);
                rows.insert(entity, Bereft { entity, label, home: known.home });
            }
        }
        self.rosters.retain(|_, known| !known.living.is_empty());
        rows.into_values().take(page).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::Home;

    fn session(node: u16) -> Session {
        Session::new(node, 1)
    }

    /// A view in which node n is the home of range n.
    fn view(nodes: u16) -> View {
        let home = |node: u16| (RangeId(node.into()), Home::first(RangeId(node.into()), session(node)));
        View { homes: (1..=nodes).map(home).collect(), ..View::default() }
    }

    fn births(range: u32, count: usize) -> Told {
        let counters = 0..u32::try_from(count).expect("few entities");
        let born = counters.map(|counter| Born { entity: OnlineId::new(RangeId(range), counter), label: None });
        let news = RosterNews { range: RangeId(range), term: 0, born: born.collect(), dead: Vec::new() };
        Told { number: 1, anew: false, news: vec![news] }
    }

    #[test]
    fn one_home_alone_has_at_most_half_of_the_rows_and_the_next_one_still_finds_room() {
        let (mut witness, view) = (Witness::default(), view(2));
        assert!(witness.take(session(1), births(1, ROSTER_ROWS / 2 + 10), &view));
        assert_eq!(witness.len(), ROSTER_ROWS / 2);
        assert!(witness.take(session(2), births(2, 10), &view));
        assert_eq!(witness.len(), ROSTER_ROWS / 2 + 10);
    }

    #[test]
    fn whoever_told_of_a_range_before_the_view_did_does_not_keep_its_home_from_telling() {
        let (mut witness, nobody) = (Witness::default(), View::default());
        assert!(witness.take(session(1), births(2, 1), &nobody));
        assert!(witness.take(session(2), births(2, 10), &view(2)));
        assert_eq!(witness.len(), 10);
        assert!(witness.rosters.values().all(|known| known.home == session(2)));
    }

    #[test]
    fn ranges_that_a_home_makes_up_count_into_its_half() {
        let (mut witness, view) = (Witness::default(), view(2));
        assert!(witness.take(session(1), births(7, ROSTER_ROWS / 2 + 10), &view));
        assert!(witness.take(session(2), births(2, 10), &view));
        assert_eq!(witness.len(), ROSTER_ROWS / 2 + 10);
    }
}
