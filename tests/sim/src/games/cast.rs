//! How scenes of a game have their turns, and who hears what comes of them: as `SceneActor` does, without its mailbox.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use slipgate_actors::budget::NodeBudget;
use slipgate_actors::chronicle::Happening;
use slipgate_actors::router::Batches;
use slipgate_actors::scene::{Fresh, Means, Order, Outlook, Troupe};
use slipgate_actors::scenes::workshop::schema_of;
use slipgate_actors::voices::Voices;
use slipgate_cluster::directory::Lost;
use slipgate_cluster::manager::SceneDeclaration;
use slipgate_cluster::message::{Message, Payload};
use slipgate_cluster::scene::{Input, Settings};
use slipgate_cluster::{Envelope, NodeName, Now, Own, Place, Session, router};
use slipgate_entity::{OnlineId, SceneId};

use super::house::House;
use super::{GamePanic, Games, Shape};
use crate::cast::Cast;
use crate::cluster::Cluster;
use crate::dice::Dice;
use crate::life::LifeIndex;
use crate::network::NodeIndex;

impl Games {
    pub(super) fn new(shape: Shape, seed: u64) -> Self {
        Self {
            shape,
            dice: Dice::new(seed ^ 0x6a3e_5eed_6a3e_5eed),
            batches: BTreeMap::new(),
            lost_peers: BTreeMap::new(),
            lost: BTreeSet::new(),
            panics: Vec::new(),
            story: Vec::new(),
        }
    }
}

impl Cast for Games {
    type Stage = House;

    fn node_name(cluster: &Cluster<Self>, node: NodeIndex) -> NodeName {
        cluster.cast.shape.nodes[node].0.clone()
    }

    /// Scenes are numbered from 1, over all nodes.
    fn scenes(cluster: &Cluster<Self>, node: NodeIndex) -> Vec<SceneDeclaration> {
        let nodes = &cluster.cast.shape.nodes;
        let before: usize = nodes[..node].iter().map(|(_, scenes)| scenes.len()).sum();
        let declare = |(at, name): (usize, &NodeName)| {
            let number = u16::try_from(before + at + 1).expect("a few scenes");
            SceneDeclaration { id: SceneId::from(number), name: name.clone(), capacity: cluster.plan.capacity }
        };
        nodes[node].1.iter().enumerate().map(declare).collect()
    }

    fn open(cluster: &mut Cluster<Self>, life: LifeIndex, me: Own, capacity: u32) -> House {
        let outlook = cluster.outlook(life);
        let Games { shape, dice, .. } = &mut cluster.cast;
        let settings = Settings {
            me,
            capacity,
            schema: schema_of(&shape.types),
            limits: shape.limits.clone(),
            on_panic: shape.on_panic,
        };
        let means = Means {
            types: shape.types.clone(),
            voices: Voices::default(),
            budget: NodeBudget::default(),
            fresh: Fresh::of_seed(dice.roll()),
            first_generation: 1,
        };
        House::new(life, Troupe::new(settings, means, outlook))
    }

    fn tick_life(cluster: &mut Cluster<Self>, life: LifeIndex) {
        let now = cluster.clock(cluster.lives[life].node);
        cluster.batches(life).answer_ended(now);
    }

    fn globals(stage: &House) -> BTreeMap<OnlineId, String> {
        stage.globals.clone()
    }

    fn tick(cluster: &mut Cluster<Self>, stage: usize) {
        cluster.act(stage, |troupe| troupe.turn([Input::Tick]));
    }

    fn hear(cluster: &mut Cluster<Self>, stage: usize, from: Place, message: Message) {
        cluster.act(stage, |troupe| troupe.turn([Input::Heard { from, message }]));
    }

    fn tell(cluster: &mut Cluster<Self>, stage: usize, input: Input) {
        if let Input::PeerLost(session) = input {
            let life = cluster.stages[stage].life_index();
            cluster.cast.lost_peers.entry(life).or_default().insert(session);
        }
        cluster.act(stage, |troupe| troupe.turn_or_defer([input]));
    }

    fn mourn(cluster: &mut Cluster<Self>, life: LifeIndex) {
        let (node, session) = (cluster.lives[life].node, cluster.lives[life].session);
        let name = Self::node_name(cluster, node);
        cluster.tell_story(format!("life {} of {name} is over", session.incarnation.0));
    }

    fn meet(cluster: &mut Cluster<Self>, [one, other]: [Session; 2]) {
        for (here, there) in [(one, other), (other, one)] {
            if let Some(life) = cluster.life_of(here) {
                cluster.cast.lost_peers.entry(life).or_default().remove(&there);
            }
        }
    }

    fn lose(cluster: &mut Cluster<Self>, lost: &Lost) {
        if cluster.cast.lost.insert(lost.entity) {
            let label = lost.label.as_deref().map(|label| format!(" ({label})")).unwrap_or_default();
            cluster.tell_story(format!("{}{label} is lost with its node", lost.entity));
        }
    }

    fn told(cluster: &mut Cluster<Self>, life: LifeIndex, output: &router::Output) {
        let now = cluster.clock(cluster.lives[life].node);
        cluster.batches(life).hear(output, now);
    }

    fn replied(cluster: &mut Cluster<Self>, life: LifeIndex, entity: OnlineId, payload: Payload) {
        cluster.batches(life).replied(entity, payload);
    }
}

impl Cluster<Games> {
    /// What a scene of a life knows.
    pub(super) fn outlook(&self, life: LifeIndex) -> Outlook {
        let at = &self.lives[life];
        Outlook {
            now: self.clock(at.node),
            unix_ms: self.unix_ms(),
            may_act: self.may_act(life),
            view: at.member.view().clone(),
            globals: at.names.clone(),
            lost: Arc::new(self.cast.lost_peers.get(&life).cloned().unwrap_or_default()),
        }
    }

    pub(super) fn unix_ms(&self) -> u64 {
        BEGAN_MS + self.now.0 / 1000
    }

    pub(super) fn batches(&mut self, life: LifeIndex) -> &mut Batches {
        self.cast.batches.entry(life).or_insert_with(|| Batches::after(0))
    }

    /// Lets a troupe do something, and carries out what it wants done. An id that it needs is there at once: its next turn
    /// is the one that hears of it.
    pub(super) fn act(&mut self, stage: usize, what: impl FnOnce(&mut Troupe)) {
        let outlook = self.outlook(self.stages[stage].life_index());
        let troupe = &mut self.stages[stage].troupe;
        troupe.see(outlook);
        what(troupe);
        while let Some(registered) = self.carry_out(stage) {
            self.stages[stage].troupe.turn_or_defer(registered);
        }
        self.look_at_stage(stage);
    }

    /// Carries out what a troupe wants done. Returns what it is to hear of it, if there is anything.
    fn carry_out(&mut self, stage: usize) -> Option<Vec<Input>> {
        let life = self.stages[stage].life_index();
        let troupe = &mut self.stages[stage].troupe;
        let (orders, letters) = (troupe.take_orders(), troupe.take_letters());
        let mut registered = Vec::new();
        for order in orders {
            match order {
                Order::Register { ticket, label } => registered.push(match self.register(stage, label) {
                    Some(entity) => Input::Registered { ticket, entity },
                    None => Input::NotRegistered { ticket },
                }),
                Order::Adopt(orphans) => {
                    let more = orphans.iter().map(|orphan| orphan.stream.load().messages);
                    self.lives[life].adopted += more.sum::<usize>();
                    self.tell_router(life, router::Input::Adopt(orphans));
                }
                Order::TakeDown(happening) => self.take_down(&happening),
                Order::Globals(entities) => self.stages[stage].globals = entities,
                // Scenes here are declared, and do not end.
                Order::Tell(_) => {}
            }
        }
        for Envelope { from, to, message } in letters {
            self.send_noted(from, to, message);
        }
        (!registered.is_empty()).then_some(registered)
    }

    fn take_down(&mut self, happening: &Happening) {
        let event = match happening {
            Happening::Move(story) => story.event(),
            Happening::Life(episode) => episode.event(),
            Happening::Else(event) => event.clone(),
        };
        self.tell_story(format!("{} {}", event.event, event.fields));
        if let Happening::Life(episode) = happening
            && let Some((entity, text)) = episode.panic()
        {
            self.cast.panics.push(GamePanic { entity, text });
        }
    }

    pub(super) fn tell_story(&mut self, line: String) {
        self.note(|| line.clone());
        let Now(us) = self.now;
        self.cast.story.push(format!("{:>4}.{:03} s  {line}", us / 1_000_000, us / 1000 % 1000));
    }
}

/// When simulated time begins, for people: the first of January 2026.
const BEGAN_MS: u64 = 1_767_225_600_000;
