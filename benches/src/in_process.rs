//! A message of 64 bytes inside one process: through router and scene, acknowledged; between two entities of one scene;
//! peers beside it.
//!
//! Everything runs on one thread and is told in batches of 64. The limit is a queue whose messages are
//! taken out and counted. Peers have a router actor that casts to one of 64 actors, without numbers
//! or acknowledgements.

use std::collections::VecDeque;
use std::hint::black_box;
use std::net::TcpListener;

use anyhow::Result;
use slipgate_cluster::message::{Control, Identity, Message};
use slipgate_cluster::router::{self, Router, ToSend};
use slipgate_cluster::scene::{self, OnPanic, Output, Scene, Settings};
use slipgate_cluster::{Limits, Now, Own, Place, Port, Record, Session};
use slipgate_entity::{OnlineId, PersistId, PlayerId, RangeId, SceneId, TypeName};
use uuid::Uuid;

use crate::block::{self, MESSAGE};
use crate::measure::{compete, cpu_ns_each};
use crate::node::{BATCH, Node};
use crate::peers::{WithKameo, WithRactor};
use crate::report::{Bound, Goal, Section};

pub(crate) fn sections(rounds: usize) -> Result<Vec<Section>> {
    let mut queue = Queue { queue: VecDeque::new(), applied: [0; BATCH] };
    let (mut many, mut one, mut neighbours) = (Machines::new(BATCH), Machines::new(1), Neighbours::new());
    let (mut actors, mut ractor, mut kameo) = (Actors::start()?, WithRactor::start()?, WithKameo::start()?);
    let lines = compete(
        rounds,
        vec![
            (QUEUE.to_owned(), Box::new(|| Ok(batches(|| queue.batch())))),
            (DIRECT.to_owned(), Box::new(|| Ok(batches(|| neighbours.batch())))),
            (MANY.to_owned(), Box::new(|| Ok(batches(|| many.batch())))),
            (ONE.to_owned(), Box::new(|| Ok(batches(|| one.batch())))),
            (ACTORS.to_owned(), Box::new(|| actors.flood())),
            (RACTOR.to_owned(), Box::new(|| ractor.flood(MESSAGES))),
            (KAMEO.to_owned(), Box::new(|| kameo.flood(MESSAGES))),
        ],
    )?;
    let over = |of, over, bound| Goal { of, over: Some(over), bound };
    let goals = vec![
        over(DIRECT, QUEUE, Bound::AtMost(3.0)),
        over(MANY, QUEUE, Bound::AtMost(10.0)),
        over(ONE, QUEUE, Bound::AtMost(10.0)),
        over(RACTOR, MANY, Bound::AtLeast(20.0)),
        over(KAMEO, MANY, Bound::AtLeast(20.0)),
        over(RACTOR, ACTORS, Bound::AtLeast(20.0)),
        over(KAMEO, ACTORS, Bound::AtLeast(20.0)),
    ];
    let title = "A message of 64 bytes in one process".to_owned();
    Ok(vec![Section { title, unit: "CPU ns per message", lines, goals }])
}

fn batches(mut batch: impl FnMut()) -> f64 {
    cpu_ns_each(MESSAGES, || (0..MESSAGES / BATCH).for_each(|_| batch()))
}

#[derive(Debug)]
struct Queue {
    queue: VecDeque<(usize, [u8; MESSAGE])>,
    applied: [u64; BATCH],
}

impl Queue {
    fn batch(&mut self) {
        self.queue.extend((0..BATCH).map(|to| black_box((to, [1; MESSAGE]))));
        while let Some((to, message)) = self.queue.pop_front() {
            self.applied[to] += u64::from(black_box(message)[0]);
        }
    }
}

/// Router and scene as pure machines; whoever shells them is left out.
#[derive(Debug)]
struct Machines {
    router: Router,
    scene: Scene,
    receivers: Vec<OnlineId>,
    now: Now,
    from_router: Vec<router::Output>,
    from_scene: Vec<Output>,
}

impl Machines {
    /// Batches go to `receivers` entities in turn.
    fn new(receivers: usize) -> Self {
        let receivers: Vec<_> = (0..).take(receivers).map(|counter| OnlineId::new(RangeId(1), counter)).collect();
        let mut router = Router::new(router_place(), Limits::default());
        let scene = scene_with(receivers.iter().copied());
        // The home's answer, before anything is sent: asking it is not what is measured.
        let message =
            receivers.iter().map(|&entity| ToSend { ticket: router::Ticket(0), entity, payload: block::message() });
        router.handle(router::Input::Send(message.collect()), Now(0), &mut Vec::new());
        let mut machines =
            Self { router, scene, receivers, now: Now(1), from_router: Vec::new(), from_scene: Vec::new() };
        for entity in machines.receivers.clone() {
            let record = Control::RecordIs { entity, record: Record::registered(me()), nonce: None };
            let heard = router::Input::Heard { from: me().into(), control: record };
            machines.router.handle(heard, machines.now, &mut machines.from_router);
        }
        machines.deliver();
        machines
    }

    fn batch(&mut self) {
        self.now = Now(self.now.0 + 1);
        let receivers = self.receivers.iter().copied().cycle().take(BATCH);
        let messages =
            receivers.map(|entity| ToSend { ticket: router::Ticket(0), entity, payload: block::message() }).collect();
        self.router.handle(router::Input::Send(messages), self.now, &mut self.from_router);
        let applied = self.deliver();
        assert_eq!(applied, BATCH, "every message of a batch is applied and acknowledged");
    }

    /// Carries messages to the scene and acknowledgements back; returns how many the router reports.
    fn deliver(&mut self) -> usize {
        for output in self.from_router.drain(..) {
            if let router::Output::Data { data, .. } = output {
                let heard = scene::Input::Heard { from: router_place(), message: Message::Data(data) };
                self.scene.handle(heard, self.now, &mut self.from_scene);
            }
        }
        self.scene.handle(scene::Input::Flush, self.now, &mut self.from_scene);
        for output in self.from_scene.drain(..) {
            if let Output::Send { message: Message::Control(acknowledgement), .. } = output {
                let heard = router::Input::Heard { from: me().into(), control: acknowledgement };
                self.router.handle(heard, self.now, &mut self.from_router);
            } else {
                black_box(output);
            }
        }
        let applied = self.from_router.drain(..).filter(|output| matches!(output, router::Output::Applied(_)));
        applied.count()
    }
}

/// Entities of one scene, each of which says something to the next.
#[derive(Debug)]
struct Neighbours {
    scene: Scene,
    entities: Vec<OnlineId>,
    out: Vec<Output>,
    applied: [u64; BATCH],
}

impl Neighbours {
    fn new() -> Self {
        let entities: Vec<_> = (0..).take(BATCH).map(|counter| OnlineId::new(RangeId(1), counter)).collect();
        let scene = scene_with(entities.iter().copied());
        Self { scene, entities, out: Vec::new(), applied: [0; BATCH] }
    }

    fn batch(&mut self) {
        for (at, &entity) in self.entities.iter().enumerate() {
            let to = self.entities[(at + 1) % BATCH];
            self.scene.handle(scene::Input::Sends { entity, to, payload: block::message() }, Now(1), &mut self.out);
        }
        self.scene.handle(scene::Input::Flush, Now(1), &mut self.out);
        assert_eq!(self.out.len(), BATCH, "every message is applied when the turn ends, and nothing else comes of it");
        for output in self.out.drain(..) {
            if let Output::Apply { entity, payload, .. } = output {
                self.applied[entity.counter() as usize] += u64::from(black_box(payload)[0]);
            }
        }
    }
}

/// A scene in which `entities` live.
pub(crate) fn scene_with(entities: impl Iterator<Item = OnlineId>) -> Scene {
    let type_name = TypeName(block::type_name());
    let settings = Settings {
        me: me(),
        capacity: u32::MAX,
        schema: [(type_name.clone(), 1, 1)].into_iter().collect(),
        limits: Limits::default(),
        on_panic: OnPanic::Park,
    };
    let mut scene = Scene::new(settings);
    let mut out = Vec::new();
    for entity in entities {
        let ticket = scene::Ticket(0);
        let (persist, player) = (PersistId(Uuid::nil()), PlayerId::NONE);
        let identity = Identity { type_name: type_name.clone(), type_version: 1, label: None, persist, player };
        scene.handle(scene::Input::Spawn { ticket, identity }, Now(0), &mut out);
        scene.handle(scene::Input::Registered { ticket, entity }, Now(0), &mut out);
        out.clear();
    }
    scene
}

fn me() -> Own {
    Own::new(Session::new(1, 1), SceneId(1))
}

fn router_place() -> Place {
    Place { session: Session::new(1, 1), port: Port::Router(0) }
}

/// The shipping actors of one node, on this thread.
struct Actors {
    system: actix_rt::SystemRunner,
    node: Node,
    entities: Vec<OnlineId>,
}

impl Actors {
    fn start() -> Result<Self> {
        let system = actix_rt::System::new();
        let (node, entities) = system.block_on(async {
            let port = TcpListener::bind("127.0.0.1:0")?;
            let address = port.local_addr()?.to_string();
            let node = Node::start(1, port, &[address])?;
            let entities = node.spawn(BATCH, 8).await?;
            anyhow::Ok((node, entities))
        })?;
        Ok(Self { system, node, entities })
    }

    fn flood(&mut self) -> Result<f64> {
        let mut result = Ok(());
        let flood = self.node.flood(&self.entities, MESSAGES);
        let each = cpu_ns_each(MESSAGES, || result = self.system.block_on(flood));
        result.map(|()| each)
    }
}

const QUEUE: &str = "limit: VecDeque";
const DIRECT: &str = "direct path, 64 entities of a scene";
const MANY: &str = "machines, 64 entities";
const ONE: &str = "machines, one entity";
const ACTORS: &str = "actors, 64 entities";
const RACTOR: &str = "ractor, 64 actors";
const KAMEO: &str = "kameo, 64 actors";
const MESSAGES: usize = BATCH * 2000;
