//! A state of the whole: everybody's state, everything that was ever said, and how far the plan has come.
//!
//! The network is a set: what was said stays in it, and may come at any later time, more than once, or never.
//! So a step that changes nobody and only adds to what was said takes nothing away: it is taken at once
//! ([`World::saturate`]), which keeps states apart only where somebody differs.

use super::bits::Bits;
use super::canon::mix;
use super::cue::Cue;
use super::deeds::{Deed, Deeds};
use super::ensemble::{ActorId, CueId, Ensemble, GONE, Slot};
use super::invariants::Sights;
use super::plan::{Plan, session};
use super::sight::{Sight, Stand};

/// How far the plan has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Script {
    said: u8,
    moves: u8,
    despawns: u8,
    unparks: u8,
    forgets: u8,
    /// Bit per life of a node: dead.
    dead: u32,
    /// Bit per entity: when a node died last, its owner was another that still lives. So it may not be lost.
    pub(crate) safe: u8,
    deeds: Deeds,
}

impl Script {
    fn note(&mut self, cue: &Cue) {
        match cue {
            Cue::Say { .. } => self.said += 1,
            Cue::Migrate { .. } => self.moves += 1,
            Cue::Despawn { .. } => self.despawns += 1,
            Cue::Unpark { .. } => self.unparks += 1,
            Cue::Forget => self.forgets += 1,
            Cue::Hear(_) | Cue::View(_) | Cue::Tick | Cue::Late | Cue::PeerLost(_) | Cue::Adopt(_) => {}
        }
    }

    fn digest(self) -> u64 {
        let Self { said, moves, despawns, unparks, forgets, dead, safe, deeds } = self;
        let bytes = [said, moves, despawns, unparks, forgets, safe]
            .into_iter()
            .fold(1u64, |sum, byte| sum << 8 | u64::from(byte));
        mix(mix(bytes) ^ u64::from(dead)) ^ mix(deeds.as_u64())
    }

    fn is_dead(self, node: u16) -> bool {
        self.dead & 1 << node != 0
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
    /// A node dies.
    Die(u16),
    /// The manager does something.
    Manage(Deed),
}

impl Step {
    pub(crate) fn pack(self) -> u32 {
        match self {
            Self::Play(slot, cue) => {
                assert!(slot < 0xf0 && cue < 1 << 24, "expected few slots and cues");
                u32::try_from(slot).expect("few slots") << 24 | cue
            }
            Self::Die(node) => 0xfc00_0000 | u32::from(node),
            Self::Manage(Deed::Declare(node)) => 0xfd00_0000 | u32::from(node),
            Self::Manage(Deed::Retire(node)) => 0xfe00_0000 | u32::from(node),
            Self::Manage(Deed::Join(node)) => 0xff00_0000 | u32::from(node),
        }
    }

    pub(crate) fn unpack(packed: u32) -> Self {
        let node = u16::try_from(packed & 0xffff).expect("16 bits");
        match packed >> 24 {
            0xfc => Self::Die(node),
            0xfd => Self::Manage(Deed::Declare(node)),
            0xfe => Self::Manage(Deed::Retire(node)),
            0xff => Self::Manage(Deed::Join(node)),
            slot => Self::Play(slot as usize, packed & 0xff_ffff),
        }
    }
}

impl World {
    pub(crate) fn first(ensemble: &mut Ensemble) -> Self {
        let all_safe = u8::try_from((1u32 << ensemble.plan.entities.len()) - 1).expect("few entities");
        let script = Script { safe: all_safe, ..Script::default() };
        let (actors, said) = (ensemble.cast(), Bits::default());
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
        let Plan { deaths, retires, joins, overlaps, .. } = &ensemble.plan;
        let Script { deeds, .. } = self.script;
        let is_there = |node: u16| !joins.contains(&node) || deeds.contains(Deed::Join(node));
        for &node in deaths.iter().filter(|&&node| is_there(node)) {
            if !self.script.is_dead(node) {
                steps.push(Step::Die(node));
            } else if !deeds.contains(Deed::Declare(node)) {
                steps.push(Step::Manage(Deed::Declare(node)));
            }
        }
        let retires = retires.iter().filter(|&&node| !self.script.is_dead(node)).map(|&node| Deed::Retire(node));
        // A second life begins once the first is over, whether that was noticed or not; or while it is only cut off.
        let may_join = |node: u16| node < 10 || *overlaps || self.script.is_dead(node % 10);
        let joins = joins.iter().filter(|&&node| may_join(node)).map(|&node| Deed::Join(node));
        steps.extend(retires.chain(joins).filter(|&deed| !deeds.contains(deed)).map(Step::Manage));
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
                cues.extend(self.dead_nodes(ensemble).into_iter().map(|node| Cue::PeerLost(session(node))));
                let active = |(index, here): (usize, &Option<super::sight::Here>)| {
                    here.as_ref().filter(|here| here.stand == Stand::Active).map(|_| plan.entity(index))
                };
                let entities: Vec<_> = scene.here.iter().enumerate().filter_map(active).collect();
                for &entity in &entities {
                    if self.script.unparks < plan.unparks && scene.is_parked(plan, entity) {
                        cues.push(Cue::Unpark { number: self.script.unparks + 1, entity });
                    }
                    if self.script.despawns < plan.despawns {
                        cues.push(Cue::Despawn { number: self.script.despawns + 1, entity });
                    }
                    if self.script.moves < plan.moves {
                        let is_there =
                            |node| !plan.joins.contains(&node) || self.script.deeds.contains(Deed::Join(node));
                        let open = (0..plan.scenes.len()).filter(|&index| is_there(plan.scenes[index]));
                        let others = open.map(|index| plan.own(index)).filter(|own| *own != scene.me);
                        let number = self.script.moves + 1;
                        let with = entities.iter().copied().filter(|&other| plan.together && other != entity);
                        let with: Vec<_> = with.collect();
                        cues.extend(others.map(|to| Cue::Migrate { number, entity, to, with: with.clone() }));
                    }
                }
            }
            Sight::Desk(_) => {
                cues.extend(plan.idles.then_some(Cue::Late));
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
            Step::Die(node) => {
                self.die(ensemble, node);
                None
            }
            Step::Manage(deed) => {
                self.manage(ensemble, deed, &mut news);
                None
            }
        };
        if news.changed.iter().any(|&slot| matches!(ensemble.part(self.actors[slot]).sight, Sight::Home(_))) {
            self.note_who_is_safe(ensemble);
        }
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

    fn die(&mut self, ensemble: &Ensemble, node: u16) {
        let here: Vec<_> = self.alive().filter(|&slot| ensemble.places[slot].session == session(node)).collect();
        self.script.dead |= 1 << node;
        self.note_who_is_safe(ensemble);
        for slot in here {
            self.actors[slot] = GONE;
            self.said.subtract(ensemble.addressed(slot));
        }
        self.digest_of_said = self.said.iter().fold(0, |sum, cue| sum.wrapping_add(mix(u64::from(cue))));
    }

    /// Whoever is owned by a dead node's scene may be lost: as it dies, or since the home named it before it heard.
    fn note_who_is_safe(&mut self, ensemble: &Ensemble) {
        if self.script.dead != 0 {
            let sights = self.actors.iter().map(|&actor| &ensemble.part(actor).sight);
            self.script.safe &= Sights::new(&ensemble.plan, sights).safe_from(|node| self.script.is_dead(node));
        }
    }

    fn manage(&mut self, ensemble: &mut Ensemble, deed: Deed, news: &mut News) {
        self.script.deeds = self.script.deeds.and(deed);
        for (slot, cue) in self.views(ensemble) {
            self.hear_of(slot, cue, news);
        }
        if let Deed::Join(node) = deed {
            for (slot, actor) in ensemble.newcomers(node, self.script.deeds) {
                self.actors[slot] = actor;
                news.changed.push(slot);
            }
        }
    }

    /// The manager declares everybody dead who is; the lease of whoever was replaced is over.
    pub(crate) fn judge(&mut self, ensemble: &Ensemble) {
        let joined = |node: &&u16| **node > 10 && self.script.deeds.contains(Deed::Join(**node));
        let replaced: Vec<_> = ensemble.plan.joins.iter().filter(joined).map(|node| node % 10).collect();
        for node in replaced.into_iter().filter(|&node| !self.script.is_dead(node)).collect::<Vec<_>>() {
            self.die(ensemble, node);
        }
        for node in self.dead_nodes(ensemble) {
            if !self.script.deeds.contains(Deed::Declare(node)) {
                self.script.deeds = self.script.deeds.and(Deed::Declare(node));
            }
        }
    }

    /// The cluster as it is told by now, for everybody who lives.
    pub(crate) fn views(&self, ensemble: &mut Ensemble) -> Vec<(Slot, CueId)> {
        let is_told = |&slot: &Slot| matches!(ensemble.part(self.actors[slot]).sight, Sight::Home(_) | Sight::Scene(_));
        let slots: Vec<_> = self.alive().filter(is_told).collect();
        slots.into_iter().map(|slot| (slot, ensemble.view_cue(slot, self.script.deeds))).collect()
    }

    pub(crate) fn alive(&self) -> impl Iterator<Item = Slot> + use<> {
        let alive: Vec<_> = (0..self.actors.len()).filter(|&slot| self.actors[slot] != GONE).collect();
        alive.into_iter()
    }

    pub(crate) fn dead_nodes(&self, ensemble: &Ensemble) -> Vec<u16> {
        ensemble.plan.deaths.iter().copied().filter(|&node| self.script.is_dead(node)).collect()
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
