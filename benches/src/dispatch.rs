//! A message to a component: from its bytes to its handler, beside a call of the handler.

use std::hint::black_box;

use anyhow::Result;
use slipgate_entity::game::{
    Body, Caller, Context, Data, Description, Effect, Identity, Incoming, Lookup, Moment, SceneInfo, Types, World,
    payload,
};
use slipgate_entity::{Handle, LookupError, OnlineId, PersistId, PlayerId, RangeId, SceneId, codec};
use slipgate_macros::{Component, Entity, Message, handlers};
use uuid::Uuid;

use crate::measure::{compete, cpu_ns_each};
use crate::report::{Bound, Goal, Section};

#[derive(Component, Default, Debug)]
#[component(crate = "slipgate_entity")]
struct Health {
    hp: u32,
}

#[derive(Message, Debug)]
#[message(crate = "slipgate_entity")]
struct Hit {
    hp: u32,
}

#[handlers(crate = "slipgate_entity")]
impl Health {
    #[from(cluster)]
    fn hit(&mut self, Hit { hp }: Hit, _: &mut Context<'_>) {
        self.hp = self.hp.wrapping_add(hp);
    }
}

#[derive(Entity, Default, Debug)]
#[entity(crate = "slipgate_entity", components(Health))]
struct Player {}

#[handlers(crate = "slipgate_entity")]
impl Player {}

struct Nobody;

impl Lookup for Nobody {
    fn find(&self, _: Handle) -> Result<&Description, LookupError> {
        Err(LookupError::NotFound)
    }
}

pub(crate) fn sections(rounds: usize) -> Result<Vec<Section>> {
    let types = Types::builder().entity::<Player>().build()?;
    let (online, persist) = (OnlineId::new(RangeId(1), 1), PersistId(Uuid::nil()));
    let identity = Identity { online, persist, player: PlayerId::NONE, label: None };
    let mut body = types.create("player", identity, &Data::default())?;
    let scene = SceneInfo { id: SceneId(1), name: "forest".to_owned(), node: "n1".to_owned() };
    let world = World { types: &types, scene: &scene, tick: 0, now: Moment(0), handles: &Nobody };
    let hit = payload(&Hit { hp: 5 });
    let mut bytes = Vec::new();
    codec::append_part(&Hit { hp: 5 }, &mut bytes)?;
    let (mut health, mut health_of_bytes) = (Health::default(), Health::default());
    let lines = compete(
        rounds,
        vec![
            (DIRECT.to_owned(), Box::new(|| Ok(cpu_ns_each(CALLS, || (0..CALLS).for_each(|_| directly(&mut health)))))),
            (
                DECODED.to_owned(),
                Box::new(|| Ok(cpu_ns_each(CALLS, || (0..CALLS).for_each(|_| decoded(&mut health_of_bytes, &bytes))))),
            ),
            (
                DISPATCHED.to_owned(),
                Box::new(|| Ok(cpu_ns_each(CALLS, || (0..CALLS).for_each(|_| dispatched(&mut body, &hit, &world))))),
            ),
        ],
    )?;
    let goals = [DIRECT, DECODED].map(|over| Goal { of: DISPATCHED, over: Some(over), bound: Bound::Within(10.0) });
    let goals = goals.into();
    Ok(vec![Section { title: "A message to a component".to_owned(), unit: "CPU ns per message", lines, goals }])
}

#[inline(never)]
fn directly(health: &mut Health) {
    let Hit { hp } = black_box(Hit { hp: 5 });
    health.hp = black_box(health.hp.wrapping_add(hp));
}

#[inline(never)]
fn decoded(health: &mut Health, bytes: &[u8]) {
    let Hit { hp } = codec::decode_part(black_box(bytes)).expect("it was encoded just now");
    health.hp = black_box(health.hp.wrapping_add(hp));
}

#[inline(never)]
fn dispatched(body: &mut Body, hit: &[u8], world: &World<'_>) {
    let mut effects: Vec<Effect> = Vec::new();
    let incoming = Incoming { caller: Caller::Entity(body.description().online()), payload: black_box(hit) };
    body.call(incoming, world, &mut effects).expect("a component takes it");
    black_box(effects);
}

const DIRECT: &str = "limit: the handler is called";
const DECODED: &str = "limit: decoded, and the handler is called";
const DISPATCHED: &str = "`Body::call`: decoded, dispatched, handled";
const CALLS: usize = 1 << 20;
