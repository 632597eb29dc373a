//! What befalls a world: messages, spawns, despawns, moves of every kind, cancels, lost peers, cut links.

use slipgate_cluster::message::Identity;
use slipgate_cluster::moves::{MoveId, Refusal};
use slipgate_cluster::router::{self, ToSend};
use slipgate_cluster::scene::{Companion, Input, MoveRequest, Ticket};
use slipgate_cluster::schema::Part;
use slipgate_cluster::{Now, Own, Session};
use slipgate_entity::{OnlineId, PersistId, PlayerId, RangeId, SceneId, TypeName};
use uuid::Uuid;

use super::dice::Dice;
use super::walker::Speech;
use super::world::World;

/// Invents what happens next.
#[derive(Debug)]
pub(crate) struct Mischief {
    dice: Dice,
}

impl Mischief {
    pub(crate) fn new(dice: Dice) -> Self {
        Self { dice }
    }

    pub(crate) fn act(&mut self, world: &mut World) {
        for (stage, entity, to) in std::mem::take(&mut world.provoked) {
            self.migrate(world, stage, entity, Ok(to));
        }
        match self.dice.within(0..100) {
            0..45 => self.talk(world),
            45..68 => self.move_one(world),
            68..72 => self.move_all(world),
            72..79 => self.spawn(world),
            79..82 => self.despawn(world),
            82..89 => self.cancel(world),
            89..95 => self.lose_peer(world),
            95..97 => self.cut(world),
            _ => {}
        }
    }

    pub(crate) fn spawn(&mut self, world: &mut World) {
        let stage = self.stage(world);
        let identity = Identity {
            type_name: TypeName("walker".into()),
            type_version: 1,
            label: None,
            persist: PersistId(Uuid::from_u128(u128::from(self.dice.roll()))),
            player: PlayerId::NONE,
        };
        if world.stages[stage].bodies.len() < 2 || self.dice.chance(200) {
            let ticket = world.history.ask();
            world.tell_scene(stage, Input::Spawn { ticket, identity });
        }
    }

    fn talk(&mut self, world: &mut World) {
        let node = self.index(world.nodes.len());
        let count = self.dice.within(1..7);
        let batch = (0..count).map(|_| {
            let entity = self.entity(world);
            let tell = self.dice.chance(300).then(|| self.entity(world));
            let number = world.history.says(entity);
            ToSend { ticket: router::Ticket(number), entity, payload: Speech { number, tell }.payload() }
        });
        let batch = batch.collect();
        world.tell_router(node, router::Input::Send(batch));
    }

    fn move_one(&mut self, world: &mut World) {
        let entity = self.entity(world);
        let stage = self.stage_of(world, entity);
        let to = self.target(world);
        self.migrate(world, stage, entity, to);
    }

    fn move_all(&mut self, world: &mut World) {
        let stage = self.stage(world);
        let to = self.target(world);
        for entity in world.stages[stage].scene.entities().collect::<Vec<_>>() {
            self.migrate(world, stage, entity, to);
        }
    }

    fn migrate(&mut self, world: &mut World, stage: usize, entity: OnlineId, to: Result<Own, SceneId>) {
        let ticket = self.dice.chance(700).then(|| world.history.ask());
        let Companion { id, body_bytes, components, objection, .. } = self.mover(world, stage, entity);
        let count = if self.dice.chance(150) { self.dice.within(1..4) } else { 0 };
        let companions = (0..count).map(|_| {
            let who = self.neighbour(world, stage);
            self.mover(world, stage, who)
        });
        let companions = companions.collect();
        let request = MoveRequest { ticket, id, entity, to, body_bytes, components, objection, companions };
        world.tell_scene(stage, Input::Migrate(Box::new(request)));
    }

    fn mover(&mut self, world: &mut World, stage: usize, entity: OnlineId) -> Companion {
        let id = MoveId(Uuid::from_u128(u128::from(world.history.number())));
        let known = self.dice.chance(500);
        let bytes = world.stages[stage].bodies.get(&entity).map_or(0, |body| body.encode().len() as u64);
        let body_bytes = if known { bytes } else { 0 };
        let components = self.dice.chance(30).then(|| Part { name: TypeName("bag".into()), version: 1 });
        let veto = || Refusal::Vetoed { reason: "not today".into() };
        let objection = self.dice.chance(20).then(|| self.dice.pick(&[veto(), Refusal::NotMovable]).cloned()).flatten();
        Companion { entity, id, body_bytes, components: components.into_iter().collect(), objection }
    }

    /// Somebody of the same scene, as a rule.
    fn neighbour(&mut self, world: &World, stage: usize) -> OnlineId {
        let here: Vec<_> = world.stages[stage].bodies.keys().copied().collect();
        match self.dice.pick(&here) {
            Some(entity) if !self.dice.chance(50) => *entity,
            Some(_) | None => self.entity(world),
        }
    }

    /// A scene as a rule; at times a number that no scene has, a scene of a session that is long over, or one
    /// that its node does not have.
    fn target(&mut self, world: &World) -> Result<Own, SceneId> {
        match self.dice.within(0..20) {
            0 => Err(SceneId(999)),
            1 => Ok(Own::new(Session::new(1, 0), SceneId(1))),
            2 => Ok(Own::new(Session::new(1, 1), SceneId(77))),
            _ => Ok(world.me(self.stage(world))),
        }
    }

    fn despawn(&mut self, world: &mut World) {
        let entity = self.entity(world);
        let stage = self.stage_of(world, entity);
        let ticket = world.history.ask();
        world.tell_scene(stage, Input::Despawn { ticket: Some(ticket), entity });
    }

    fn cancel(&mut self, world: &mut World) {
        let open: Vec<_> = world.history.moves.iter().filter(|(_, story)| story.ended.is_empty()).collect();
        let Some(&(&id, story)) = self.dice.pick(&open) else { return };
        let source = story.source;
        let stage = world.stages.iter().position(|stage| stage.me() == source).expect("a scene of the simulation");
        let ticket: Ticket = world.history.ask();
        world.tell_scene(stage, Input::Cancel { ticket, id });
    }

    fn lose_peer(&mut self, world: &mut World) {
        let (stage, node) = (self.stage(world), self.index(world.nodes.len()));
        world.tell_scene(stage, Input::PeerLost(world.nodes[node].session));
    }

    fn cut(&mut self, world: &mut World) {
        let (a, b) = (self.index(world.nodes.len()), self.index(world.nodes.len()));
        let until = Now(world.now.0 + self.dice.within(20_000..1_500_000));
        world.network.cut(world.nodes[a].session.node, world.nodes[b].session.node, until);
    }

    /// A living one as a rule; at times a dead one, or an id that was never given out.
    fn entity(&mut self, world: &World) -> OnlineId {
        let lives = |entity: &OnlineId| world.record(*entity).owner.is_some();
        let living: Vec<_> = world.history.entities.iter().copied().filter(lives).collect();
        let entities = if self.dice.chance(30) { &world.history.entities } else { &living };
        match self.dice.pick(entities) {
            Some(entity) if !self.dice.chance(10) => *entity,
            Some(_) | None => OnlineId::new(RangeId(1), 1 << 20),
        }
    }

    /// Where an entity is, as a rule.
    fn stage_of(&mut self, world: &World, entity: OnlineId) -> usize {
        let here = world.stages.iter().position(|stage| stage.bodies.contains_key(&entity));
        here.filter(|_| !self.dice.chance(50)).unwrap_or_else(|| self.stage(world))
    }

    fn stage(&mut self, world: &World) -> usize {
        self.index(world.stages.len())
    }

    fn index(&mut self, count: usize) -> usize {
        usize::try_from(self.dice.within(0..count as u64)).expect("an index fits")
    }
}
