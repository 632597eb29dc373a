//! Who plays in a simulated cluster: how its scenes are given their turns, and who looks on.
//!
//! A cluster is nodes, lives, links, the manager's seat and a network, whoever plays in it. [`Walkers`] are the
//! simulator's own, with a history of all that they say and a script of mischief; `games` plays what studios have written.
//!
//! Leaves out: what is the same for all.

use std::collections::BTreeMap;
use std::fmt;

use slipgate_cluster::directory::Lost;
use slipgate_cluster::manager::SceneDeclaration;
use slipgate_cluster::message::{Message, Payload};
use slipgate_cluster::scene::{Input, OnPanic, Scene, Settings};
use slipgate_cluster::schema::Schema;
use slipgate_cluster::{NodeName, Own, Place, Session, router};
use slipgate_entity::{OnlineId, TypeName};

use crate::cluster::{Cluster, name, scene_of};
use crate::life::LifeIndex;
use crate::network::NodeIndex;
use crate::plan::Plan;
use crate::renown;
use crate::scenario::Direction;
use crate::stage::Stage;

/// A scene with its bodies.
pub(crate) trait Staged: fmt::Debug {
    /// The life that it is of.
    fn life(&self) -> LifeIndex;

    fn machine(&self) -> &Scene;

    /// Who takes turns here, as of the last look.
    fn active(&self) -> &[OnlineId];

    /// Looks who takes turns now; tells whether that has changed.
    fn look(&mut self) -> bool;

    /// Bodies that belong to nobody who lives here, and inputs that wait for a lease.
    fn strays(&self) -> (usize, usize);

    fn me(&self) -> Own {
        self.machine().me()
    }
}

/// Who plays. The functions take the cluster, for whatever they do may lead to more in it.
pub(crate) trait Cast: fmt::Debug + Sized {
    type Stage: Staged;

    /// Name of a node.
    fn node_name(cluster: &Cluster<Self>, node: NodeIndex) -> NodeName;

    /// The scenes of a node.
    fn scenes(cluster: &Cluster<Self>, node: NodeIndex) -> Vec<SceneDeclaration>;

    /// A scene of a life opens.
    fn open(cluster: &mut Cluster<Self>, life: LifeIndex, me: Own, capacity: u32) -> Self::Stage;

    /// Time passes for a life, before it does for its scenes.
    fn tick_life(_: &mut Cluster<Self>, _: LifeIndex) {}

    /// Time passes for a scene.
    fn tick(cluster: &mut Cluster<Self>, stage: usize);

    /// Something is said to a scene by others.
    fn hear(cluster: &mut Cluster<Self>, stage: usize, from: Place, message: Message);

    /// The node itself says something to a scene; without a lease that waits for one.
    fn tell(cluster: &mut Cluster<Self>, stage: usize, input: Input);

    /// A life is over.
    fn mourn(cluster: &mut Cluster<Self>, life: LifeIndex);

    /// A link is up.
    fn meet(_: &mut Cluster<Self>, _: [Session; 2]) {}

    /// Those in a scene that are found by name from everywhere.
    fn globals(_: &Self::Stage) -> BTreeMap<OnlineId, String> {
        BTreeMap::new()
    }

    /// A home calls somebody lost.
    fn lose(cluster: &mut Cluster<Self>, lost: &Lost);

    /// Something is about to be sent.
    fn look_at(_: &mut Cluster<Self>, _: &Message) {}

    /// A router tells what became of a message of a tool.
    fn told(cluster: &mut Cluster<Self>, life: LifeIndex, output: &router::Output);

    /// A cue has come in a play.
    fn direct(_: &mut Cluster<Self>, _: &Direction) {}

    /// An entity says something to a tool.
    fn replied(_: &mut Cluster<Self>, _: LifeIndex, _: OnlineId, _: Payload) {}
}

/// The simulator's own.
#[derive(Debug)]
pub(crate) struct Walkers;

impl Cluster {
    pub(crate) fn new(plan: &Plan, is_traced: bool) -> Self {
        Self::of(Walkers, plan, is_traced)
    }
}

impl Cast for Walkers {
    type Stage = Stage;

    fn node_name(_: &Cluster, node: NodeIndex) -> NodeName {
        name(format!("n{node}"))
    }

    fn scenes(cluster: &Cluster, node: NodeIndex) -> Vec<SceneDeclaration> {
        let scenes = (0..cluster.plan.scenes_per_node).map(|scene| SceneDeclaration {
            id: scene_of(node, scene),
            name: name(format!("s{node}-{scene}")),
            capacity: cluster.plan.capacity,
        });
        scenes.collect()
    }

    fn open(cluster: &mut Cluster, life: LifeIndex, me: Own, capacity: u32) -> Stage {
        let schema: Schema = [(TypeName("walker".into()), 1, 1)].into_iter().collect();
        let limits = cluster.plan.limits.clone();
        let settings = Settings { me, capacity, schema, limits, on_panic: OnPanic::Park };
        Stage::new(life, settings, cluster.plan.rules())
    }

    fn tick(cluster: &mut Cluster, stage: usize) {
        cluster.tell_scene(stage, Input::Tick);
        cluster.tell_scene(stage, Input::Flush);
    }

    fn hear(cluster: &mut Cluster, stage: usize, from: Place, message: Message) {
        cluster.tell_scene_of(stage, from, message);
    }

    fn tell(cluster: &mut Cluster, stage: usize, input: Input) {
        cluster.tell_scene_or_defer(stage, input);
    }

    fn mourn(cluster: &mut Cluster, life: LifeIndex) {
        cluster.touch(life);
    }

    fn globals(stage: &Stage) -> BTreeMap<OnlineId, String> {
        renown::among(&stage.active)
    }

    fn lose(cluster: &mut Cluster, lost: &Lost) {
        cluster.called_lost(lost);
    }

    fn direct(cluster: &mut Cluster, direction: &Direction) {
        cluster.direct(direction);
    }

    fn look_at(cluster: &mut Cluster, message: &Message) {
        cluster.note_letter(message);
    }

    fn told(cluster: &mut Cluster, life: LifeIndex, output: &router::Output) {
        if let router::Output::Dead(ticket) = output {
            cluster.check_dead(ticket.0, cluster.history.receiver_of(ticket.0));
        }
        let verdict = cluster.history.told(cluster.lives[life].session, output);
        cluster.demand("acknowledged_is_kept", verdict);
    }
}
