//! A state of the whole: everybody's state, everything that was ever said, and how far the plan has come.
//!
//! The network is a set: what was said stays in it, and may come at any later time, more than once, or never.
//! So a step that changes nobody and only adds to what was said takes nothing away: it is taken at once
//! ([`World::saturate`]), which keeps states apart only where somebody differs.

use std::collections::BTreeMap;

use slipgate_cluster::{Incarnation, NodeId};

use super::bits::Bits;
use super::canon::mix;
use super::cue::Cue;
use super::ensemble::{ActorId, CueId, Ensemble, GONE, Slot};
use super::plan::session;
use super::sight::{Sight, Stand};

/// How far the plan has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Script {
    pub(crate) said: u8,
    pub(crate) moves: u8,
    pub(crate) despawns: u8,
    pub(crate) forgets: u8,
    /// Bit per node of the plan's deaths: dead, and declared dead.
    pub(crate) dead: u8,
    pub(crate) sentenced: u8,
}

impl Script {
    fn note(&mut self, cue: &Cue) {
        match cue {
            Cue::Say { .. } => self.said += 1,
            Cue::Migrate { .. } => self.moves += 1,
            Cue::Despawn { .. } => self.despawns += 1,
            Cue::Forget => self.forgets += 1,
            Cue::Hear(_) | Cue::Sentenced(_) | Cue::Tick | Cue::Late | Cue::PeerLost(_) | Cue::Adopt(_) => {}
        }
    }

    fn digest(self) -> u64 {
        let Self { said, moves, despawns, forgets, dead, sentenced } = self;
        [said, moves, despawns, forgets, dead, sentenced].into_iter().fold(1, |sum, byte| sum << 8 | u64::from(byte))
    }
}

/// A state.
#[derive(Clone, Debug)]
pub(crate) struct World {
    pub(crate) actors: Vec<ActorId>,
    said: Bits,
    /// Sum over what was said.
    digest_of_said: u64,
    pub(crate) script: Script,
}

/// What may happen next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// An actor gets a cue.
    Play(Slot, CueId),
    /// The node with this index in the plan's deaths dies.
    Die(u8),
    /// The manager declares it dead.
    Sentence(u8),
}

impl Step {
    pub(crate) fn pack(self) -> u32 {
        match self {
            Self::Play(slot, cue) => {
                assert!(slot < 0xf0 && cue < 1 << 24, "expected few slots and cues");
                u32::try_from(slot).expect("few slots") << 24 | cue
            }
            Self::Die(index) => 0xfe00_0000 | u32::from(index),
            Self::Sentence(index) => 0xff00_0000 | u32::from(index),
        }
    }

    pub(crate) fn unpack(packed: u32) -> Self {
        let index = u8::try_from(packed & 0xff).expect("8 bits");
        match packed >> 24 {
            0xfe => Self::Die(index),
            0xff => Self::Sentence(index),
            slot => Self::Play(slot as usize, packed & 0xff_ffff),
        }
    }
}

impl World {
    pub(crate) fn first(ensemble: &mut Ensemble) -> Self {
        let (actors, said, script) = (ensemble.cast(), Bits::default(), Script::default());
        let mut world = Self { actors, said, digest_of_said: 0, script };
        let all = (0..world.actors.len()).collect();
        world.saturate(ensemble, News { changed: all, said: Vec::new() });
        world
    }

    /// 64 bits of the whole: two states have the same with a chance of one in 10^5, in ten million states.
    pub(crate) fn digest(&self) -> u64 {
        self.digest_of_actors().wrapping_add(mix(self.digest_of_said))
    }

    /// The same, without what is on the way.
    pub(crate) fn digest_of_actors(&self) -> u64 {
        let actors = self.actors.iter().fold(0u64, |sum, &actor| mix(sum ^ u64::from(actor)));
        mix(actors ^ mix(self.script.digest()))
    }

    /// Everything that may happen next and makes a difference.
    pub(crate) fn steps(&self, ensemble: &mut Ensemble) -> Vec<Step> {
        let mut steps = Vec::new();
        for slot in self.alive() {
            let actor = self.actors[slot];
            let moving = ensemble.part(actor).moving(&self.said, ensemble.addressed(slot));
            steps.extend(moving.map(|cue| Step::Play(slot, cue)));
            let prompts =
                ensemble.prompts((slot, actor), self.script.digest(), |ensemble| self.prompts(ensemble, slot));
            steps.extend(prompts.iter().map(|&cue| Step::Play(slot, cue)));
        }
        for index in 0..u8::try_from(ensemble.plan.deaths.len()).expect("few nodes") {
            if self.script.dead & 1 << index == 0 {
                steps.push(Step::Die(index));
            } else if self.script.sentenced & 1 << index == 0 {
                steps.push(Step::Sentence(index));
            }
        }
        steps
    }

    /// What an actor may be prompted to do from outside the network.
    fn prompts(&self, ensemble: &Ensemble, slot: Slot) -> Vec<Cue> {
        let plan = &ensemble.plan;
        let mut cues = vec![Cue::Tick];
        match &ensemble.part(self.actors[slot]).sight {
            Sight::Scene(scene) => {
                cues.extend(plan.late.then_some(Cue::Late));
                cues.extend((self.script.forgets < plan.forgets).then_some(Cue::Forget));
                cues.extend(self.dead_nodes(ensemble).map(|node| Cue::PeerLost(session(node))));
                let active = |(index, here): (usize, &Option<super::sight::Here>)| {
                    here.as_ref().filter(|here| here.stand == Stand::Active).map(|_| plan.entity(index))
                };
                for entity in scene.here.iter().enumerate().filter_map(active) {
                    if self.script.despawns < plan.despawns {
                        cues.push(Cue::Despawn { number: self.script.despawns + 1, entity });
                    }
                    if self.script.moves < plan.moves {
                        let others = (0..plan.scenes.len()).map(|index| plan.own(index)).filter(|own| *own != scene.me);
                        let number = self.script.moves + 1;
                        cues.extend(others.map(|to| Cue::Migrate { number, entity, to }));
                    }
                }
            }
            Sight::Desk(_) => {
                if let Some(line) = plan.says.get(usize::from(self.script.said)) {
                    let tell = line.tell.map(|tell| plan.entity(tell));
                    cues.push(Cue::Say { number: self.script.said + 1, entity: plan.entity(line.to), tell });
                }
            }
            Sight::Home(_) | Sight::Gone => {}
        }
        cues
    }

    /// Takes a step. Returns what somebody did wrong, if so.
    pub(crate) fn take(&mut self, ensemble: &mut Ensemble, step: Step) -> Option<String> {
        let mut news = News::default();
        let fault = match step {
            Step::Play(slot, cue) => {
                self.script.note(ensemble.cue_of(cue));
                self.play(ensemble, slot, cue, &mut news)
            }
            Step::Die(index) => {
                self.die(ensemble, index);
                None
            }
            Step::Sentence(index) => {
                self.script.sentenced |= 1 << index;
                for (slot, cue) in self.verdicts(ensemble) {
                    self.hear_of(slot, cue, &mut news);
                }
                None
            }
        };
        self.saturate(ensemble, news);
        fault
    }

    /// An actor gets a cue, and what it says is said.
    fn play(&mut self, ensemble: &mut Ensemble, slot: Slot, cue: CueId, news: &mut News) -> Option<String> {
        let outcome = ensemble.outcome(self.actors[slot], cue);
        self.actors[slot] = outcome.actor;
        news.changed.push(slot);
        for &said in &outcome.says {
            self.hear_of(ensemble.hearer(said), said, news);
        }
        let handed = outcome.hands.and_then(|(slot, cue)| self.play(ensemble, slot, cue, news));
        outcome.fault.clone().or(handed)
    }

    /// Adds a line to what was said, if there is still somebody to hear it.
    fn hear_of(&mut self, slot: Slot, cue: CueId, news: &mut News) {
        if self.actors[slot] != GONE && self.said.insert(cue) {
            self.digest_of_said = self.digest_of_said.wrapping_add(mix(u64::from(cue)));
            news.said.push(cue);
        }
    }

    fn die(&mut self, ensemble: &Ensemble, index: u8) {
        self.script.dead |= 1 << index;
        let node = ensemble.plan.deaths[usize::from(index)];
        for slot in 0..self.actors.len() {
            if ensemble.places[slot].session == session(node) {
                self.actors[slot] = GONE;
                self.said.subtract(ensemble.addressed(slot));
            }
        }
        self.digest_of_said = self.said.iter().fold(0, |sum, cue| sum.wrapping_add(mix(u64::from(cue))));
    }

    /// The manager's verdicts so far, for everybody who lives.
    pub(crate) fn verdicts(&self, ensemble: &mut Ensemble) -> Vec<(Slot, CueId)> {
        let deaths = ensemble.plan.deaths.clone();
        let sentenced = deaths.iter().enumerate().filter(|(index, _)| self.script.sentenced & 1 << index != 0);
        let dead: BTreeMap<_, _> = sentenced.map(|(_, &node)| (NodeId(node), Incarnation(1))).collect();
        let told = |&slot: &Slot| matches!(ensemble.part(self.actors[slot]).sight, Sight::Home(_));
        let slots: Vec<_> = self.alive().filter(told).collect();
        slots.into_iter().map(|slot| (slot, ensemble.cue(Cue::Sentenced(dead.clone()), slot))).collect()
    }

    pub(crate) fn alive(&self) -> impl Iterator<Item = Slot> + use<> {
        let alive: Vec<_> = (0..self.actors.len()).filter(|&slot| self.actors[slot] != GONE).collect();
        alive.into_iter()
    }

    pub(crate) fn dead_nodes(&self, ensemble: &Ensemble) -> impl Iterator<Item = u16> + use<> {
        let dead = self.script.dead;
        let deaths = ensemble.plan.deaths.clone();
        deaths.into_iter().enumerate().filter(move |(index, _)| dead & 1 << index != 0).map(|(_, node)| node)
    }

    /// Says whatever anybody would say without changing.
    fn saturate(&mut self, ensemble: &mut Ensemble, mut news: News) {
        while let Some(slot) = news.changed.pop() {
            let actor = self.actors[slot];
            let tick = ensemble.tick(slot);
            let untried: Vec<_> = ensemble.part(actor).untried(&self.said, ensemble.addressed(slot)).collect();
            ensemble.try_all(actor, untried.into_iter().chain([tick]));
            let chatty: Vec<_> = ensemble.part(actor).chatty(&self.said).collect();
            let tick = ensemble.part(actor).is_chatty_about(tick).then_some(tick);
            for cue in chatty.into_iter().chain(tick) {
                self.chat(ensemble, actor, cue, &mut news);
            }
        }
        while let Some(cue) = news.said.pop() {
            let actor = self.actors[ensemble.hearer(cue)];
            ensemble.try_all(actor, [cue].into_iter());
            if ensemble.part(actor).is_chatty_about(cue) {
                self.chat(ensemble, actor, cue, &mut news);
            }
        }
    }

    fn chat(&mut self, ensemble: &Ensemble, actor: ActorId, cue: CueId, news: &mut News) {
        for &said in &ensemble.chat(actor, cue).says {
            self.hear_of(ensemble.hearer(said), said, news);
        }
    }
}

/// What a step has brought, and saturation must look at.
#[derive(Debug, Default)]
struct News {
    changed: Vec<Slot>,
    said: Vec<CueId>,
}
