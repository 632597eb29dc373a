//! All states, breadth first: the first violation found is one of the shortest.

use slipgate_entity::FixedMap;

use super::ensemble::Ensemble;
use super::invariants::Sights;
use super::plan::Plan;
use super::rest::{Given, Rest};
use super::world::{Step, World};

/// What an exploration came to.
#[derive(Debug)]
pub(crate) struct Report {
    pub(crate) name: &'static str,
    pub(crate) states: usize,
    /// Steps of the longest of the shortest ways to a state.
    pub(crate) depth: usize,
    /// States of single actors, and different cues.
    pub(crate) actors: usize,
    pub(crate) cues: usize,
    /// Different states of all actors together, from each of which rest was demanded.
    pub(crate) rests: usize,
    /// Whether the bound on states was met before all were seen.
    pub(crate) cut: bool,
    pub(crate) violation: Option<Violation>,
}

impl Report {
    /// As a row of the table in `docs/explored.md`.
    pub(crate) fn row(&self) -> String {
        let Self { name, states, depth, actors, cues, rests, .. } = self;
        format!("| {name} | {states} | {depth} | {actors} | {cues} | {rests} |")
    }
}

/// A promise broken, and the steps that led there.
#[derive(Clone, Debug)]
pub(crate) struct Violation {
    pub(crate) fault: String,
    pub(crate) steps: Vec<Step>,
    /// What followed on the way to rest, where rest is what is wrong.
    pub(crate) given: Vec<Given>,
}

/// Explores a plan, up to a number of states.
#[derive(Debug)]
pub(crate) struct Search {
    pub(crate) ensemble: Ensemble,
    seen: FixedMap<u64, ()>,
    /// Per state the one it was first reached from, and by which step.
    parents: Vec<(u32, u32)>,
    rest: Rest,
    /// States of the actors that were looked at.
    looked_at: FixedMap<u64, ()>,
}

impl Search {
    pub(crate) fn new(plan: &Plan) -> Self {
        Self {
            ensemble: Ensemble::new(plan),
            seen: FixedMap::default(),
            parents: Vec::new(),
            rest: Rest::default(),
            looked_at: FixedMap::default(),
        }
    }

    pub(crate) fn run(&mut self, states_max: usize) -> Report {
        let first = World::first(&mut self.ensemble);
        self.seen.insert(first.digest(), ());
        self.parents.push((0, 0));
        let mut violation = self.look_at(&first, 0);
        let mut layer = vec![(0u32, first)];
        let mut depth = 0;
        while violation.is_none() && !layer.is_empty() && self.parents.len() < states_max {
            let mut next = Vec::new();
            for (id, world) in layer {
                violation = self.expand(id, &world, &mut next);
                if violation.is_some() || self.parents.len() >= states_max {
                    break;
                }
            }
            depth += usize::from(!next.is_empty());
            layer = next;
        }
        let (actors, cues) = self.ensemble.sizes();
        Report {
            name: self.ensemble.plan.name,
            states: self.parents.len(),
            depth,
            actors,
            cues,
            rests: self.rest.len(),
            cut: self.parents.len() >= states_max,
            violation,
        }
    }

    /// States that were seen.
    pub(crate) fn states(&self) -> usize {
        self.parents.len()
    }

    fn expand(&mut self, id: u32, world: &World, next: &mut Vec<(u32, World)>) -> Option<Violation> {
        for step in world.steps(&mut self.ensemble) {
            let mut after = world.clone();
            let fault = after.take(&mut self.ensemble, step);
            if self.seen.insert(after.digest(), ()).is_some() && fault.is_none() {
                continue;
            }
            let state = u32::try_from(self.parents.len()).expect("fewer than 2^32 states");
            self.parents.push((id, step.pack()));
            if let Some(fault) = fault {
                return Some(self.violation(fault, state, Vec::new()));
            }
            if let Some(violation) = self.look_at(&after, state) {
                return Some(violation);
            }
            next.push((state, after));
        }
        None
    }

    /// Checks a state, unless everybody was seen like this before.
    fn look_at(&mut self, world: &World, state: u32) -> Option<Violation> {
        if self.looked_at.insert(world.digest_of_actors(), ()).is_some() {
            return None;
        }
        let sights = world.actors.iter().map(|&actor| &self.ensemble.part(actor).sight);
        if let Err(fault) = Sights::new(&self.ensemble.plan, sights).check() {
            return Some(self.violation(fault, state, Vec::new()));
        }
        let (fault, given) = self.rest.demand(&mut self.ensemble, world).err()?;
        Some(self.violation(fault, state, given))
    }

    fn violation(&self, fault: String, state: u32, given: Vec<Given>) -> Violation {
        let mut steps = Vec::new();
        let mut at = state;
        while at != 0 {
            let (parent, step) = self.parents[at as usize];
            steps.push(Step::unpack(step));
            at = parent;
        }
        steps.reverse();
        Violation { fault, steps, given }
    }
}
