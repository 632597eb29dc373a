//! Everybody in every state met so far, every cue, and what follows from which: each worked out once.
//!
//! The states of single actors are few; it is their combinations that are many. So the machines run once for
//! each state and cue, and the search handles numbers.

use std::rc::Rc;
use std::sync::Arc;

use slipgate_cluster::{Envelope, Own, Place, Port, View};
use slipgate_entity::FixedMap;

use super::bits::Bits;
use super::canon;
use super::cue::{Cue, Effects};
use super::deeds::Deeds;
use super::desks::{Desk, Home};
use super::invariants::{check_change, check_party};
use super::plan::{Plan, number, session};
use super::sight::Sight;
use super::stage::Stage;

/// Number of a state of an actor.
pub(crate) type ActorId = u32;

/// Number of a cue.
pub(crate) type CueId = u32;

/// Index of an actor in the plan's places.
pub(crate) type Slot = usize;

/// Somebody who acts, or whose node is dead.
#[derive(Clone, Debug)]
pub(crate) enum Actor {
    Scene(Box<Stage>),
    Home(Box<Home>),
    Desk(Box<Desk>),
    Gone,
}

/// What follows from a cue.
#[derive(Clone, Debug, Default)]
pub(crate) struct Outcome {
    pub(crate) actor: ActorId,
    pub(crate) says: Vec<CueId>,
    /// Done at once by another actor of the same node.
    pub(crate) hands: Option<(Slot, CueId)>,
    pub(crate) fault: Option<String>,
}

/// An actor in one of its states.
#[derive(Debug)]
pub(crate) struct Part {
    pub(crate) actor: Actor,
    pub(crate) sight: Sight,
    /// Cues that were tried.
    tried: Bits,
    /// Those that change nothing and to which it says nothing.
    idle: Bits,
    /// Those that change nothing, but to which it says something.
    chatty: Bits,
}

/// All states and cues met so far.
#[derive(Debug)]
pub(crate) struct Ensemble {
    pub(crate) plan: Plan,
    pub(crate) places: Vec<Place>,
    parts: Vec<Part>,
    by_text: FixedMap<u128, ActorId>,
    cues: Vec<(Cue, Option<Slot>)>,
    by_cue: FixedMap<u128, CueId>,
    /// What travels to each slot.
    addressed: Vec<Bits>,
    outcomes: FixedMap<(ActorId, CueId), Rc<Outcome>>,
    /// Per slot: time passes.
    ticks: Vec<CueId>,
    /// What an actor may be prompted to do, so far in the plan, and is moved by.
    prompts: FixedMap<(ActorId, u64), Rc<[CueId]>>,
    views: FixedMap<u64, Arc<View>>,
    view_cues: FixedMap<(Slot, u64), CueId>,
}

/// The state of every actor whose node is dead.
pub(crate) const GONE: ActorId = 0;

impl Ensemble {
    pub(crate) fn new(plan: &Plan) -> Self {
        let places = plan.places();
        let mut ensemble = Self {
            plan: plan.clone(),
            addressed: vec![Bits::default(); places.len()],
            places,
            parts: Vec::new(),
            by_text: FixedMap::default(),
            cues: Vec::new(),
            by_cue: FixedMap::default(),
            outcomes: FixedMap::default(),
            ticks: Vec::new(),
            prompts: FixedMap::default(),
            views: FixedMap::default(),
            view_cues: FixedMap::default(),
        };
        assert_eq!(ensemble.actor(Actor::Gone), GONE);
        ensemble.ticks = (0..ensemble.places.len()).map(|slot| ensemble.cue(Cue::Tick, slot)).collect();
        ensemble
    }

    /// Everybody who is there at first, as they are then.
    pub(crate) fn cast(&mut self) -> Vec<ActorId> {
        let view = self.view(Deeds::default());
        let joins = self.plan.joins.clone();
        let is_late = |place: Place| joins.iter().any(|&node| place.session == session(node));
        let places = self.places.clone();
        places.into_iter().map(|place| if is_late(place) { GONE } else { self.enter(place, &view) }).collect()
    }

    /// Somebody who begins with a view.
    fn enter(&mut self, place: Place, view: &Arc<View>) -> ActorId {
        let plan = self.plan.clone();
        let actor = match place.port {
            Port::Scene(scene) => {
                let me = Own::new(place.session, scene);
                let mut stage = Stage::new(&plan, me, view.clone());
                for index in (0..plan.entities.len()).filter(|&index| plan.own(plan.entities[index].scene) == me) {
                    stage.spawn(plan.entity(index));
                }
                Actor::Scene(Box::new(stage))
            }
            Port::Directory => {
                let mut home = Home::new(&plan, place, view.clone());
                let here = number(place.session);
                for (index, start) in plan.entities.iter().enumerate().filter(|(_, start)| start.home == here) {
                    home.register(plan.entity(index), plan.own(start.scene));
                }
                Actor::Home(Box::new(home))
            }
            Port::Router(_) => Actor::Desk(Box::new(Desk::new(&plan, place))),
            Port::Manager | Port::Member | Port::Admin => panic!("expected an actor of the plan, got {place:?}"),
        };
        self.actor(actor)
    }

    /// Those of a node that joins after `deeds`.
    pub(crate) fn newcomers(&mut self, node: u16, deeds: Deeds) -> Vec<(Slot, ActorId)> {
        let view = self.view(deeds);
        let places: Vec<_> = self.places.iter().copied().enumerate().collect();
        let here = places.into_iter().filter(|(_, place)| place.session == session(node));
        here.map(|(slot, place)| (slot, self.enter(place, &view))).collect()
    }

    /// The cluster after `deeds`.
    fn view(&mut self, deeds: Deeds) -> Arc<View> {
        let Self { views, plan, .. } = self;
        views.or_insert_with(deeds.as_u64(), || deeds.view(plan)).clone()
    }

    /// An actor is told the cluster as it is after `deeds`.
    pub(crate) fn view_cue(&mut self, slot: Slot, deeds: Deeds) -> CueId {
        if let Some(&cue) = self.view_cues.get(&(slot, deeds.as_u64())) {
            return cue;
        }
        let view = self.view(deeds);
        let cue = self.cue(Cue::View(view), slot);
        self.view_cues.insert((slot, deeds.as_u64()), cue);
        cue
    }

    pub(crate) fn slot(&self, place: Place) -> Option<Slot> {
        self.places.iter().position(|here| *here == place)
    }

    /// Number of an actor's state.
    fn actor(&mut self, actor: Actor) -> ActorId {
        let digest = canon::digest(&text(&actor));
        if let Some(&id) = self.by_text.get(&digest) {
            return id;
        }
        let id = numbered(self.parts.len());
        self.by_text.insert(digest, id);
        let sight = Sight::of(&actor, &self.plan);
        let [tried, idle, chatty] = Default::default();
        self.parts.push(Part { actor, sight, tried, idle, chatty });
        id
    }

    /// Number of a cue; `slot` is who hears it, if it travels.
    pub(crate) fn cue(&mut self, cue: Cue, slot: Slot) -> CueId {
        let digest = canon::digest(&format!("{slot} {cue:?}"));
        if let Some(&id) = self.by_cue.get(&digest) {
            return id;
        }
        let id = numbered(self.cues.len());
        self.by_cue.insert(digest, id);
        let travels = cue.travels();
        if travels {
            self.addressed[slot].insert(id);
        }
        self.cues.push((cue, travels.then_some(slot)));
        id
    }

    pub(crate) fn part(&self, actor: ActorId) -> &Part {
        &self.parts[actor as usize]
    }

    pub(crate) fn cue_of(&self, cue: CueId) -> &Cue {
        &self.cues[cue as usize].0
    }

    /// Who hears a cue that travels.
    pub(crate) fn hearer(&self, cue: CueId) -> Slot {
        self.cues[cue as usize].1.expect("only what travels has a hearer")
    }

    pub(crate) fn addressed(&self, slot: Slot) -> &Bits {
        &self.addressed[slot]
    }

    /// The router's slot.
    pub(crate) fn router(&self) -> Slot {
        self.places.len() - 1
    }

    /// Time passes for an actor.
    pub(crate) fn tick(&self, slot: Slot) -> CueId {
        self.ticks[slot]
    }

    /// What an actor may be prompted to do and is moved by; `script` tells how far the plan has come.
    pub(crate) fn prompts(
        &mut self,
        (slot, actor): (Slot, ActorId),
        script: u64,
        cues: impl FnOnce(&Self) -> Vec<Cue>,
    ) -> Rc<[CueId]> {
        if let Some(prompts) = self.prompts.get(&(actor, script)) {
            return prompts.clone();
        }
        let cues: Vec<_> = cues(self).into_iter().map(|cue| self.cue(cue, slot)).collect();
        self.try_all(actor, cues.iter().copied());
        let prompts: Rc<[_]> = cues.into_iter().filter(|&cue| self.part(actor).is_moved_by(cue)).collect();
        self.prompts.insert((actor, script), prompts.clone());
        prompts
    }

    /// Everybody in every state met.
    pub(crate) fn sights(&self) -> impl Iterator<Item = &Sight> {
        self.parts.iter().map(|part| &part.sight)
    }

    /// Every cue met.
    pub(crate) fn cues(&self) -> impl Iterator<Item = &Cue> {
        self.cues.iter().map(|(cue, _)| cue)
    }

    /// States of actors, and cues.
    pub(crate) fn sizes(&self) -> (usize, usize) {
        (self.parts.len(), self.cues.len())
    }

    /// Makes sure that it is known what `actor` does with `cues`.
    pub(crate) fn try_all(&mut self, actor: ActorId, cues: impl Iterator<Item = CueId>) {
        for cue in cues {
            self.try_out(actor, cue);
        }
    }

    /// What follows when `actor` is given `cue`.
    pub(crate) fn outcome(&mut self, actor: ActorId, cue: CueId) -> Rc<Outcome> {
        self.try_out(actor, cue);
        if self.part(actor).idle.contains(cue) {
            return Rc::new(Outcome { actor, ..Outcome::default() });
        }
        self.outcomes.get(&(actor, cue)).expect("what was tried and is not idle has an outcome").clone()
    }

    /// What `actor` says to a cue that does not change it.
    pub(crate) fn chat(&self, actor: ActorId, cue: CueId) -> Rc<Outcome> {
        self.outcomes.get(&(actor, cue)).expect("a chatty cue has an outcome").clone()
    }

    fn try_out(&mut self, id: ActorId, cue: CueId) {
        if !self.parts[id as usize].tried.insert(cue) {
            return;
        }
        let mut actor = self.part(id).actor.clone();
        let effects = match &mut actor {
            Actor::Scene(stage) => stage.play(&self.cues[cue as usize].0),
            Actor::Home(home) => home.play(&self.cues[cue as usize].0),
            Actor::Desk(desk) => desk.play(&self.cues[cue as usize].0),
            Actor::Gone => Effects::default(),
        };
        let next = self.actor(actor);
        let Effects { says, adopt, mut faults } = effects;
        let (before, after) = (&self.part(id).sight, &self.part(next).sight);
        faults.extend(check_change(before, after).err());
        faults.extend(check_party(&self.plan, before, after).err());
        let says = says.into_iter().filter_map(|envelope| self.said(envelope)).collect::<Vec<_>>();
        let hands = (!adopt.is_empty()).then(|| {
            let router = self.router();
            (router, self.cue(Cue::Adopt(adopt), router))
        });
        let fault = (!faults.is_empty()).then(|| faults.join("; "));
        let part = &mut self.parts[id as usize];
        if next == id && hands.is_none() && fault.is_none() {
            if says.is_empty() {
                part.idle.insert(cue);
                return;
            }
            part.chatty.insert(cue);
        }
        self.outcomes.insert((id, cue), Rc::new(Outcome { actor: next, says, hands, fault }));
    }

    fn said(&mut self, envelope: Envelope) -> Option<CueId> {
        if !self.plan.carries(&envelope) {
            return None;
        }
        let slot = self.slot(envelope.to)?;
        Some(self.cue(Cue::Hear(envelope), slot))
    }
}

impl Part {
    /// Of the lines said to it, those that it answers without changing.
    pub(crate) fn chatty<'a>(&'a self, said: &'a Bits) -> impl Iterator<Item = CueId> + 'a {
        self.chatty.select(said, &NOTHING)
    }

    /// Of the lines said to it, those that were not tried yet.
    pub(crate) fn untried<'a>(&'a self, said: &'a Bits, addressed: &'a Bits) -> impl Iterator<Item = CueId> + 'a {
        said.select(addressed, &self.tried)
    }

    /// Of the lines said to it, those that move it; all must have been tried.
    pub(crate) fn moving<'a>(&'a self, said: &'a Bits, addressed: &'a Bits) -> impl Iterator<Item = CueId> + 'a {
        said.select(addressed, &self.idle).filter(|&cue| !self.chatty.contains(cue))
    }

    /// Whether a cue changes it, or has it do something that is more than talk.
    pub(crate) fn is_moved_by(&self, cue: CueId) -> bool {
        !self.idle.contains(cue) && !self.chatty.contains(cue)
    }

    pub(crate) fn is_chatty_about(&self, cue: CueId) -> bool {
        self.chatty.contains(cue)
    }
}

/// What is the same in every state that is the same.
pub(crate) fn text(actor: &Actor) -> String {
    match actor {
        Actor::Scene(stage) => {
            let Stage { scene, now, bodies, aside, nonces, answers, parked, .. } = &**stage;
            let staged: Vec<_> = nonces.iter().map(|(entity, (_, told))| (entity, told)).collect();
            let debug = format!("{scene:?} {bodies:?} {parked:?} {aside:?} {staged:?} {answers:?}");
            canon::text(&debug, *now, &stage.told_nonces())
        }
        Actor::Home(home) => canon::text(&format!("{home:?}"), home.now, &[]),
        Actor::Desk(desk) => canon::text(&format!("{desk:?}"), desk.now, &[]),
        Actor::Gone => "gone".into(),
    }
}

fn numbered(index: usize) -> u32 {
    u32::try_from(index).expect("fewer than 2^32 states of single actors")
}

static NOTHING: Bits = Bits::nothing();
