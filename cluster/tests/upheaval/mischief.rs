//! What befalls a cluster: messages, moves, spawns, despawns, cuts; deaths, new lives, homes given away.

use slipgate_cluster::message::Identity;
use slipgate_cluster::moves::MoveId;
use slipgate_cluster::router::{self, ToSend};
use slipgate_cluster::scene::{Input, MoveRequest};
use slipgate_cluster::{Now, directory};
use slipgate_entity::{OnlineId, PersistId, PlayerId, TypeName};
use uuid::Uuid;

use super::dice::Dice;
use super::walker::Speech;
use super::world::World;

/// Invents what happens next.
#[derive(Debug)]
pub(crate) struct Mischief {
    dice: Dice,
    crashes: u32,
}

impl Mischief {
    pub(crate) fn new(dice: Dice) -> Self {
        Self { dice, crashes: 0 }
    }

    pub(crate) fn act(&mut self, world: &mut World) {
        match self.dice.within(0..200) {
            0..80 => self.talk(world),
            80..135 => self.migrate(world),
            135..145 => self.spawn(world),
            145..150 => self.despawn(world),
            150..155 => self.cut(world),
            155..160 => self.lose_peer(world),
            160..165 => self.cancel(world),
            165..169 => self.crash(world),
            169..174 => self.rejoin(world),
            174..180 => self.retire(world),
            _ => {}
        }
    }

    pub(crate) fn spawn(&mut self, world: &mut World) {
        let Some(stage) = self.stage(world) else { return };
        let identity = Identity {
            type_name: TypeName("walker".into()),
            type_version: 1,
            label: None,
            persist: PersistId(Uuid::nil()),
            player: PlayerId::NONE,
        };
        if world.stages[stage].bodies.len() < 3 {
            let ticket = world.history.ask(world.me(stage));
            world.tell_scene(stage, Input::Spawn { ticket, identity });
        }
    }

    fn talk(&mut self, world: &mut World) {
        let Some(node) = self.node(world) else { return };
        let batch: Vec<_> = (0..self.dice.within(1..5))
            .filter_map(|_| {
                let entity = self.entity(world)?;
                let tell = if self.dice.chance(300) { self.entity(world) } else { None };
                let number = world.history.says(entity);
                let payload = Speech { number, tell }.payload();
                Some(ToSend { ticket: router::Ticket(number), entity, payload })
            })
            .collect();
        world.tell_router(node, router::Input::Send(batch));
    }

    fn migrate(&mut self, world: &mut World) {
        let Some((stage, entity)) = self.living(world) else { return };
        let Some(to) = self.stage(world) else { return };
        // At times to a scene of a node that is dead already.
        let any = usize::try_from(self.dice.within(0..world.stages.len() as u64)).expect("an index");
        let to = world.me(if self.dice.chance(100) { any } else { to });
        let id = MoveId(Uuid::from_u128(u128::from(world.history.number())));
        let ticket = Some(world.history.ask(world.me(stage)));
        world.tell_scene(stage, Input::Migrate(Box::new(MoveRequest::new(ticket, id, entity, Ok(to)))));
    }

    fn despawn(&mut self, world: &mut World) {
        let Some((stage, entity)) = self.living(world) else { return };
        let ticket = world.history.ask(world.me(stage));
        world.tell_scene(stage, Input::Despawn { ticket: Some(ticket), entity });
    }

    fn cancel(&mut self, world: &mut World) {
        let open: Vec<_> = world.history.moves.iter().filter(|(_, story)| story.ended.is_empty()).collect();
        let Some(&(&id, story)) = self.dice.pick(&open) else { return };
        let source = story.source;
        let Some(stage) = world.stages.iter().position(|stage| stage.me() == source) else { return };
        if world.nodes[world.stages[stage].node].has_crashed {
            return;
        }
        let ticket = world.history.ask(source);
        world.tell_scene(stage, Input::Cancel { ticket, id });
    }

    fn lose_peer(&mut self, world: &mut World) {
        let Some(stage) = self.stage(world) else { return };
        let node = usize::try_from(self.dice.within(0..world.nodes.len() as u64)).expect("an index");
        world.tell_scene(stage, Input::PeerLost(world.nodes[node].session));
    }

    fn cut(&mut self, world: &mut World) {
        let (Some(a), Some(b)) = (self.node(world), self.node(world)) else { return };
        let until = Now(world.now.0 + self.dice.within(20_000..800_000));
        world.network.cut(world.nodes[a].session.node, world.nodes[b].session.node, until);
    }

    fn crash(&mut self, world: &mut World) {
        let alive = world.nodes.iter().filter(|node| !node.has_crashed).count();
        if alive < 2 || self.crashes >= world.plan.crashes {
            return;
        }
        self.crashes += 1;
        let Some(node) = self.node(world) else { return };
        world.crash(node);
    }

    /// A node that has crashed comes back, at times before anybody knows that it was away.
    fn rejoin(&mut self, world: &mut World) {
        let gone = world.nodes.iter().filter(|node| node.has_crashed && world.manager.is_latest(node.session));
        let gone: Vec<_> = gone.map(|node| node.session).collect();
        let Some(session) = self.dice.pick(&gone).copied() else { return };
        world.history.count("rejoined");
        if !world.manager.view.is_dead(session) {
            world.history.count("came back before the verdict");
        }
        world.join(world.manager.next_life(session.node));
    }

    /// A node gives its homes away, and goes on.
    fn retire(&mut self, world: &mut World) {
        let Some(node) = self.node(world) else { return };
        world.tell_directory(node, directory::Input::Retire);
    }

    fn entity(&mut self, world: &World) -> Option<OnlineId> {
        let entities: Vec<_> = world.history.entities.iter().copied().collect();
        self.dice.pick(&entities).copied()
    }

    /// An entity, and where it lives.
    fn living(&mut self, world: &World) -> Option<(usize, OnlineId)> {
        let alive = (0..world.stages.len()).filter(|stage| !world.nodes[world.stages[*stage].node].has_crashed);
        let living: Vec<_> =
            alive.flat_map(|stage| world.stages[stage].bodies.keys().map(move |entity| (stage, *entity))).collect();
        self.dice.pick(&living).copied()
    }

    fn node(&mut self, world: &World) -> Option<usize> {
        let alive: Vec<_> = (0..world.nodes.len()).filter(|node| !world.nodes[*node].has_crashed).collect();
        self.dice.pick(&alive).copied()
    }

    fn stage(&mut self, world: &World) -> Option<usize> {
        let is_alive = |stage: &usize| !world.nodes[world.stages[*stage].node].has_crashed;
        let alive: Vec<_> = (0..world.stages.len()).filter(is_alive).collect();
        self.dice.pick(&alive).copied()
    }
}
