//! Who moves where next, and how the moves ended.
//!
//! Each trip takes a walker that is not under way to another scene: now and then straight back to where
//! it came from, else to any node, the one where it is included, and there to any scene. Until somebody has
//! tried every way from one node to another, those who can take a new one do.
//!
//! Keeps: no walker is on two trips at once; no more trips begin than were asked for; every trip that
//! began is counted once.

use std::collections::BTreeSet;
use std::time::Duration;

use fastrand::Rng;

/// A scene and its node.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// Name of the node.
    pub node: String,
    /// Name of the scene.
    pub scene: String,
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}@{}", self.scene, self.node)
    }
}

/// One walker's way to one place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trip {
    /// The walker's id.
    pub entity: String,
    /// Where it is to go.
    pub to: Place,
    walker: usize,
}

/// How a trip ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// The walker is there.
    Moved {
        /// How long it ran no turn.
        pause: Duration,
    },
    /// The answer was no; the walker is where it was.
    Refused,
    /// It did not move; the answer said so.
    Failed,
    /// No answer said how it ended.
    Unanswered,
    /// The walker is gone: it was lost with its node.
    Gone,
}

/// What to do next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Next {
    /// Take this trip.
    Trip(Trip),
    /// Every walker is under way; ask again when a trip has ended.
    Wait,
    /// All trips have begun, or nobody is left to take one.
    Done,
}

/// Trips by how they ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trips {
    /// The walker got there.
    pub ok: u64,
    /// The answer was no.
    pub refused: u64,
    /// It did not move, or nobody knows.
    pub failed: u64,
    /// Of the failed ones: no answer came.
    pub unanswered: u64,
    /// Pauses of those that got there, in microseconds, in the order of their ends.
    pub pauses_us: Vec<u64>,
}

/// Decides trips and counts them.
#[derive(Debug)]
pub struct Itinerary {
    places: Vec<Place>,
    walkers: Vec<Walker>,
    left: u64,
    rng: Rng,
    trips: Trips,
    /// Ways from one node to another that nobody has tried yet.
    fresh: BTreeSet<(String, String)>,
}

#[derive(Debug)]
struct Walker {
    entity: String,
    at: Place,
    before: Option<Place>,
    under_way: bool,
    is_gone: bool,
}

impl Itinerary {
    /// An itinerary of so many trips for these walkers, each with where it is, over these places.
    #[must_use]
    pub fn new(trips: u64, mut places: Vec<Place>, walkers: Vec<(String, Place)>, seed: u64) -> Self {
        places.sort();
        let walker = |(entity, at)| Walker { entity, at, before: None, under_way: false, is_gone: false };
        let walkers = walkers.into_iter().map(walker).collect();
        let nodes: BTreeSet<&String> = places.iter().map(|place| &place.node).collect();
        let ways = nodes.iter().flat_map(|from| nodes.iter().map(move |to| ((*from).clone(), (*to).clone())));
        let fresh = ways.filter(|(from, to)| from != to).collect();
        Self { places, walkers, left: trips, rng: Rng::with_seed(seed), trips: Trips::default(), fresh }
    }

    /// The next trip.
    pub fn decide(&mut self) -> Next {
        if self.left == 0 {
            return Next::Done;
        }
        if self.walkers.iter().all(|walker| walker.is_gone) {
            return Next::Done;
        }
        let can_go = |walker: &Walker| !walker.under_way && !walker.is_gone;
        let at_rest: Vec<usize> = (0..self.walkers.len()).filter(|&at| can_go(&self.walkers[at])).collect();
        let curious: Vec<usize> =
            at_rest.iter().copied().filter(|&walker| !self.fresh_from(&self.walkers[walker].at).is_empty()).collect();
        let Some(walker) = self.rng.choice(curious).or_else(|| self.rng.choice(at_rest)) else { return Next::Wait };
        let to = self.destination(walker);
        self.left -= 1;
        self.walkers[walker].under_way = true;
        Next::Trip(Trip { entity: self.walkers[walker].entity.clone(), to, walker })
    }

    /// Nodes that nobody has tried to get to from the node of `at`.
    fn fresh_from(&self, at: &Place) -> Vec<String> {
        self.fresh.iter().filter(|(from, _)| *from == at.node).map(|(_, to)| to.clone()).collect()
    }

    fn destination(&mut self, walker: usize) -> Place {
        let Walker { at, before, .. } = &self.walkers[walker];
        let fresh = self.fresh_from(at);
        if let Some(before) = before
            && fresh.is_empty()
            && self.rng.u32(..BACK_ONE_IN) == 0
        {
            return before.clone();
        }
        let others: Vec<&Place> = self.places.iter().filter(|place| *place != at).collect();
        let mut nodes: Vec<&str> = others.iter().map(|place| place.node.as_str()).collect();
        nodes.dedup();
        if !fresh.is_empty() {
            nodes.retain(|node| fresh.iter().any(|to| to == node));
        }
        let node = self.rng.choice(nodes).expect("a tour has two places");
        let there = others.into_iter().filter(|place| place.node == node).collect::<Vec<_>>();
        self.rng.choice(there).expect("the node was taken from these places").clone()
    }

    /// Counts a trip.
    pub fn ended(&mut self, trip: Trip, ending: Ending) {
        let walker = &mut self.walkers[trip.walker];
        walker.under_way = false;
        // Tried once is enough: a node that takes nobody in must not draw everybody.
        self.fresh.remove(&(walker.at.node.clone(), trip.to.node.clone()));
        match ending {
            Ending::Moved { pause } => {
                walker.before = Some(std::mem::replace(&mut walker.at, trip.to));
                self.trips.ok += 1;
                self.trips.pauses_us.push(u64::try_from(pause.as_micros()).unwrap_or(u64::MAX));
            }
            Ending::Refused => self.trips.refused += 1,
            Ending::Failed => self.trips.failed += 1,
            Ending::Gone => {
                walker.is_gone = true;
                self.trips.failed += 1;
            }
            Ending::Unanswered => {
                self.trips.failed += 1;
                self.trips.unanswered += 1;
            }
        }
    }

    /// How many trips have ended.
    #[must_use]
    pub fn count_ended(&self) -> u64 {
        self.trips.ok + self.trips.refused + self.trips.failed
    }

    /// The trips that ended.
    #[must_use]
    pub fn trips(&self) -> &Trips {
        &self.trips
    }
}

/// One trip in so many goes straight back.
const BACK_ONE_IN: u32 = 4;

#[cfg(test)]
mod tests {
    use super::*;

    fn place(node: &str, scene: &str) -> Place {
        Place { node: node.into(), scene: scene.into() }
    }

    fn places() -> Vec<Place> {
        vec![place("n1", "forest"), place("n2", "keep"), place("n1", "harbor"), place("n3", "mine")]
    }

    fn itinerary(trips: u64, walkers: usize) -> Itinerary {
        let walkers = (0..walkers).map(|n| (format!("1.{n}"), place("n1", "forest"))).collect();
        Itinerary::new(trips, places(), walkers, 7)
    }

    fn trip(itinerary: &mut Itinerary) -> Trip {
        let Next::Trip(trip) = itinerary.decide() else { panic!("a walker is at rest and a trip is left") };
        trip
    }

    const MOVED: Ending = Ending::Moved { pause: Duration::from_micros(5) };

    #[test]
    fn no_walker_is_on_two_trips_at_once() {
        let mut itinerary = itinerary(10, 2);
        let (one, two) = (trip(&mut itinerary), trip(&mut itinerary));
        assert_ne!(one.entity, two.entity);
        assert_eq!(itinerary.decide(), Next::Wait);
        itinerary.ended(one.clone(), Ending::Refused);
        assert_eq!(trip(&mut itinerary).entity, one.entity);
    }

    #[test]
    fn every_trip_is_counted_once_and_by_how_it_ended() {
        let mut itinerary = itinerary(4, 1);
        for ending in [MOVED, Ending::Refused, Ending::Failed, Ending::Unanswered] {
            let trip = trip(&mut itinerary);
            itinerary.ended(trip, ending);
        }
        assert_eq!(itinerary.decide(), Next::Done);
        let expected = Trips { ok: 1, refused: 1, failed: 2, unanswered: 1, pauses_us: vec![5] };
        assert_eq!((itinerary.count_ended(), itinerary.trips()), (4, &expected));
    }

    #[test]
    fn a_walker_that_is_gone_takes_no_trip_and_without_any_the_tour_is_over() {
        let mut itinerary = itinerary(100, 2);
        let first = trip(&mut itinerary);
        itinerary.ended(first.clone(), Ending::Gone);
        let second = trip(&mut itinerary);
        assert_ne!(first.entity, second.entity);
        assert_eq!(itinerary.decide(), Next::Wait);
        itinerary.ended(second, Ending::Gone);
        assert_eq!((itinerary.decide(), itinerary.count_ended()), (Next::Done, 2));
    }

    #[test]
    fn trips_lead_to_every_other_place_and_also_straight_back() {
        let mut itinerary = itinerary(200, 1);
        let (mut at, mut before) = (place("n1", "forest"), None);
        let (mut seen, mut back) = (std::collections::BTreeSet::new(), 0);
        while let Next::Trip(trip) = itinerary.decide() {
            assert_ne!(trip.to, at, "a trip leads elsewhere");
            back += u32::from(before.as_ref() == Some(&trip.to));
            seen.insert((at.clone(), trip.to.clone()));
            before = Some(std::mem::replace(&mut at, trip.to.clone()));
            itinerary.ended(trip, MOVED);
        }
        assert_eq!(seen.len(), 12, "every pair of two different places of four");
        assert!(back > 30, "{back} of 200 went straight back");
    }

    #[test]
    fn a_short_tour_has_gone_from_every_node_to_every_other_one_whatever_the_seed() {
        for seed in 0..500 {
            let places = ["n1", "n2", "n3"].map(|node| place(node, node));
            let walkers = places.iter().enumerate().map(|(at, place)| (format!("1.{at}"), place.clone())).collect();
            let mut itinerary = Itinerary::new(30, places.to_vec(), walkers, seed);
            while let Next::Trip(trip) = itinerary.decide() {
                itinerary.ended(trip, MOVED);
            }
            assert!(itinerary.fresh.is_empty(), "seed {seed}: {:?}", itinerary.fresh);
        }
    }

    #[test]
    fn a_walker_that_did_not_move_starts_again_from_where_it_is() {
        let mut itinerary = itinerary(50, 1);
        while let Next::Trip(trip) = itinerary.decide() {
            assert_ne!(trip.to, place("n1", "forest"));
            itinerary.ended(trip, Ending::Refused);
        }
    }

    #[test]
    fn one_seed_makes_one_itinerary() {
        let trips = |_| (0..5).map(|_| 0).scan(itinerary(5, 9), |all, _| Some(trip(all))).collect::<Vec<_>>();
        assert_eq!(trips(()), trips(()));
    }
}
