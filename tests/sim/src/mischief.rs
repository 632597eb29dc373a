//! What befalls a cluster, act by act.

use slipgate_cluster::message::Identity;
use slipgate_cluster::moves::{MoveId, Refusal};
use slipgate_cluster::router::{self, ToSend};
use slipgate_cluster::scene::{Companion, Input, MoveRequest};
use slipgate_cluster::schema::Part;
use slipgate_cluster::{Now, Own, Session, directory};
use slipgate_entity::{OnlineId, PersistId, PlayerId, SceneId, TypeName};
use uuid::Uuid;

use crate::cluster::{Cluster, SEAT};
use crate::dice::Dice;
use crate::life::LifeIndex;
use crate::network::NodeIndex;
use crate::plan::{Act, Mischief};
use crate::walker::Speech;

impl Cluster {
    pub(crate) fn act(&mut self, act: Act) {
        let dice = &mut Dice::new(act.seed);
        for (stage, entity, to) in std::mem::take(&mut self.provoked) {
            self.migrate(dice, stage, entity, Ok(to));
        }
        self.note(|| format!("-- {:?}", act.what));
        match act.what {
            Mischief::Talk => self.talk(dice, 1..6),
            Mischief::Flood => {
                let most = (10 * self.plan.limits.router_queue as u64).min(2_000);
                self.talk(dice, most / 2..most);
            }
            Mischief::Move => self.move_one(dice),
            Mischief::MoveAll => self.move_all(dice),
            Mischief::Spawn => self.spawn(dice),
            Mischief::Despawn => self.despawn(dice),
            Mischief::Cancel => self.cancel(dice),
            Mischief::LosePeer => self.forget_peer(dice),
            Mischief::Cut => self.cut(dice, true),
            Mischief::CutOneWay => self.cut(dice, false),
            Mischief::Stop => self.stop(dice),
            Mischief::JumpClock => self.jump_clock(dice),
            Mischief::SlowDisk => self.seat.write_us = dice.within(0..80_000),
            Mischief::Crash => self.crash_one(dice),
            Mischief::CrashManager => self.crash_seat(dice),
            Mischief::Retire => self.retire(dice),
            Mischief::Stay => self.stay(dice),
        }
    }

    pub(crate) fn spawn(&mut self, dice: &mut Dice) {
        let Some(stage) = self.any_stage(dice) else { return };
        let identity = Identity {
            type_name: TypeName("walker".into()),
            type_version: 1,
            label: None,
            persist: PersistId(Uuid::from_u128(u128::from(dice.roll()))),
            player: PlayerId::NONE,
        };
        if self.stages[stage].bodies.len() < 3 {
            let ticket = self.history.ask(self.stages[stage].me());
            self.tell_scene_or_defer(stage, Input::Spawn { ticket, identity });
        }
    }

    fn talk(&mut self, dice: &mut Dice, count: std::ops::Range<u64>) {
        let Some(life) = self.any_life(dice) else { return };
        if !self.may_act(life) {
            return;
        }
        let is_flood = count.start > 10;
        let Some(victim) = self.any_entity(dice) else { return };
        let batch: Vec<_> = (0..dice.within(count))
            .map(|_| {
                let entity = if is_flood { victim } else { self.any_entity(dice).unwrap_or(victim) };
                let tell = if !is_flood && dice.chance(300) { self.any_entity(dice) } else { None };
                let number = self.history.says(entity);
                ToSend { ticket: router::Ticket(number), entity, payload: Speech { number, tell }.payload() }
            })
            .collect();
        self.tell_router(life, router::Input::Send(batch));
    }

    fn move_one(&mut self, dice: &mut Dice) {
        let Some(entity) = self.any_entity(dice) else { return };
        let Some(stage) = self.stage_with(dice, entity) else { return };
        let Some(to) = self.any_target(dice) else { return };
        self.migrate(dice, stage, entity, to);
    }

    fn move_all(&mut self, dice: &mut Dice) {
        let (Some(stage), Some(to)) = (self.any_stage(dice), self.any_target(dice)) else { return };
        for entity in self.stages[stage].scene.entities().collect::<Vec<_>>() {
            self.migrate(dice, stage, entity, to);
        }
    }

    fn migrate(&mut self, dice: &mut Dice, stage: usize, entity: OnlineId, to: Result<Own, SceneId>) {
        if !self.may_act(self.stages[stage].life) {
            return;
        }
        let ticket = dice.chance(700).then(|| self.history.ask(self.stages[stage].me()));
        let Companion { id, body_bytes, components, objection, .. } = self.mover(dice, stage, entity);
        let count = if dice.chance(150) { dice.within(1..4) } else { 0 };
        let companions = (0..count).filter_map(|_| {
            let who = self.neighbour(dice, stage)?;
            Some(self.mover(dice, stage, who))
        });
        let companions = companions.collect();
        let request = MoveRequest { ticket, id, entity, to, body_bytes, components, objection, companions };
        self.tell_scene(stage, Input::Migrate(Box::new(request)));
    }

    fn mover(&mut self, dice: &mut Dice, stage: usize, entity: OnlineId) -> Companion {
        let id = MoveId(Uuid::from_u128(u128::from(self.history.number())));
        let bytes = self.stages[stage].bodies.get(&entity).map_or(0, |body| body.encode().len() as u64);
        let body_bytes = if dice.chance(500) { bytes } else { 0 };
        let components = dice.chance(30).then(|| Part { name: TypeName("bag".into()), version: 1 });
        let veto = || Refusal::Vetoed { reason: "not today".into() };
        let objection = dice.chance(20).then(|| dice.pick(&[veto(), Refusal::NotMovable]).cloned()).flatten();
        Companion { entity, id, body_bytes, components: components.into_iter().collect(), objection }
    }

    fn despawn(&mut self, dice: &mut Dice) {
        let Some(entity) = self.any_entity(dice) else { return };
        let Some(stage) = self.stage_with(dice, entity) else { return };
        if self.may_act(self.stages[stage].life) {
            let ticket = self.history.ask(self.stages[stage].me());
            self.tell_scene(stage, Input::Despawn { ticket: Some(ticket), entity });
        }
    }

    fn cancel(&mut self, dice: &mut Dice) {
        let open: Vec<_> = self.history.moves.iter().filter(|(_, story)| story.ended.is_empty()).collect();
        let Some(&(&id, story)) = dice.pick(&open) else { return };
        let source = story.source;
        let Some(stage) = self.stage_of(source) else { return };
        if self.may_act(self.stages[stage].life) {
            let ticket = self.history.ask(source);
            self.tell_scene(stage, Input::Cancel { ticket, id });
        }
    }

    fn forget_peer(&mut self, dice: &mut Dice) {
        let (Some(life), Some(other)) = (self.any_life(dice), self.any_life(dice)) else { return };
        self.lose_peer(life, self.lives[other].session);
    }

    fn cut(&mut self, dice: &mut Dice, both_ways: bool) {
        let (one, other) = (self.any_node(dice), self.any_node(dice));
        if one == other {
            return;
        }
        let until = Now(self.now.0 + dice.within(20_000..1_500_000));
        self.network.cut(one, other, until);
        if both_ways {
            self.network.cut(other, one, until);
        }
    }

    /// A process stands still, at times for longer than its lease.
    fn stop(&mut self, dice: &mut Dice) {
        let node = self.any_node(dice);
        self.nodes[node].stopped_until = Now(self.now.0 + dice.within(20_000..2_500_000));
        self.history.count("stopped");
    }

    fn jump_clock(&mut self, dice: &mut Dice) {
        let node = self.any_node(dice);
        self.nodes[node].ahead_us += dice.within(10_000..3_000_000);
        self.history.count("clock jumped");
    }

    fn crash_one(&mut self, dice: &mut Dice) {
        let node = self.any_node(dice);
        if node != SEAT {
            self.crash(node, Now(self.now.0 + dice.within(10_000..1_500_000)));
            self.history.count("crashed");
            if dice.chance(300) {
                self.put_back_old(node);
            }
        }
    }

    /// The data folder of a node is one from the time before its last life, or from before all.
    fn put_back_old(&mut self, node: NodeIndex) {
        let at = &mut self.nodes[node];
        at.seen = at.seen_before.take();
        self.history.count("folder put back old");
    }

    fn crash_seat(&mut self, dice: &mut Dice) {
        self.crash(SEAT, Now(self.now.0 + dice.within(10_000..800_000)));
        self.history.count("manager crashed");
    }

    /// A node gives its homes away, and goes on.
    fn retire(&mut self, dice: &mut Dice) {
        let Some(life) = self.any_life(dice) else { return };
        self.lives[life].is_retiring = true;
        self.lives[life].stock.surrender();
        self.tell_directory(life, directory::Input::Retire);
    }

    fn stay(&mut self, dice: &mut Dice) {
        let Some(life) = self.any_life(dice) else { return };
        self.lives[life].is_retiring = false;
        self.tell_directory(life, directory::Input::Stay);
    }

    fn any_node(&self, dice: &mut Dice) -> NodeIndex {
        usize::try_from(dice.within(0..self.nodes.len() as u64)).expect("an index")
    }

    fn any_life(&self, dice: &mut Dice) -> Option<LifeIndex> {
        let lives: Vec<_> = self.living().filter(|&life| !self.is_stopped(self.lives[life].node)).collect();
        dice.pick(&lives).copied()
    }

    fn any_stage(&self, dice: &mut Dice) -> Option<usize> {
        let life = self.any_life(dice)?;
        let here: Vec<_> = (0..self.stages.len()).filter(|&stage| self.stages[stage].life == life).collect();
        dice.pick(&here).copied()
    }

    /// Somebody who lives, as a rule; at times one who is dead, or an id that was never given out.
    fn any_entity(&self, dice: &mut Dice) -> Option<OnlineId> {
        let living: Vec<_> = self.open_stages().flat_map(|stage| stage.bodies.keys().copied()).collect();
        let entities = if dice.chance(30) { &self.history.entities } else { &living };
        match dice.pick(entities) {
            Some(entity) if !dice.chance(10) => Some(*entity),
            // Of a range that somebody is the home of: nobody answers for others.
            Some(_) | None => Some(OnlineId::new(*self.seat.disk.view.homes.keys().next()?, 1 << 20)),
        }
    }

    /// Where an entity is, as a rule.
    fn stage_with(&self, dice: &mut Dice, entity: OnlineId) -> Option<usize> {
        let here = |stage: &usize| {
            let stage = &self.stages[*stage];
            stage.bodies.contains_key(&entity)
                && !self.lives[stage.life].is_gone
                && !self.is_stopped(self.lives[stage.life].node)
        };
        let found = (0..self.stages.len()).find(here).filter(|_| !dice.chance(50));
        found.or_else(|| self.any_stage(dice))
    }

    /// Somebody of the same scene, as a rule.
    fn neighbour(&self, dice: &mut Dice, stage: usize) -> Option<OnlineId> {
        let here: Vec<_> = self.stages[stage].bodies.keys().copied().collect();
        match dice.pick(&here) {
            Some(entity) if !dice.chance(50) => Some(*entity),
            Some(_) | None => self.any_entity(dice),
        }
    }

    /// A scene as a rule, also of a life that is over; at times a number that no scene has, or one that its node does not
    /// have.
    fn any_target(&self, dice: &mut Dice) -> Option<Result<Own, SceneId>> {
        Some(match dice.within(0..20) {
            0 => Err(SceneId(999)),
            1 => Ok(Own::new(Session::new(1, 1), SceneId(77))),
            2 | 3 => Ok(dice.pick(&self.stages)?.me()),
            _ => Ok(self.stages[self.any_stage(dice)?].me()),
        })
    }
}
