//! The turns of an entity's life in real scenes: which of its parts hears what, where, and in which order.
//!
//! Each part tells what it was called with, and when it is dropped.

use std::cell::{Cell, RefCell};

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};
use slipgate_actors::scene::Question;
use slipgate_cluster::moves::{Outcome, Refusal};
use slipgate_entity::game::{
    Behaviour, Callers, Context, Data, Destination, Entry, Flags, Handlers, Leave, MoveFailed, Types,
};
use slipgate_entity::{OnlineId, SceneId};
use slipgate_macros::{Component, Entity, Message};

use crate::node::{spawn, until};
use crate::two_nodes::Cluster;

const HERE: SceneId = SceneId(1);
const THERE: SceneId = SceneId(2);

#[actix_rt::test]
async fn a_new_entity_is_made_comes_into_its_scene_and_is_active() {
    let cluster = start();
    spawn(&cluster.nodes[0].scene(), "teller").await;
    assert_eq!(heard_in(HERE), [forward("init"), forward("enter Spawned"), forward("activate")].concat());
}

#[actix_rt::test]
async fn an_entity_that_moves_leaves_here_before_it_comes_in_there_and_then_hears_that_it_has_left() {
    let (cluster, teller) = spawned().await;
    assert!(matches!(cluster.migrate(teller, 0, 1).await, Outcome::Moved { .. }));
    arrive().await;
    let all: Vec<_> = TOLD.take();
    let leaves = [forward("leaving n2"), backward("deactivate"), backward("leave")].concat();
    let comes = [forward("enter Arrived"), forward("arrived"), forward("activate")].concat();
    let ends = [backward("left"), backward("drop")].concat();
    let by = |scene| all.iter().filter(|told| told.0 == Some(scene)).map(|told| told.1.clone()).collect::<Vec<_>>();
    assert_eq!(by(HERE), [&leaves[..], &backward("left")].concat());
    assert_eq!(by(THERE), comes);
    let place = |text: &str| all.iter().position(|(_, told)| told == text).expect("it was told");
    assert!(place("teller.leave") < place("teller.enter Arrived"), "{all:?}");
    let at_the_end: Vec<_> = all.iter().filter(|told| told.0 != Some(THERE)).map(|told| told.1.clone()).collect();
    assert_eq!(at_the_end[leaves.len()..], ends);
}

#[actix_rt::test]
async fn an_entity_whose_move_comes_to_nothing_comes_in_again_and_then_hears_why() {
    let (cluster, teller) = spawned().await;
    IS_BROKEN.set(true);
    let moved = cluster.migrate(teller, 0, 1).await;
    assert!(matches!(moved, Outcome::Refused(Refusal::Unreadable { .. })), "{moved:?}");
    let leaves = [forward("leaving n2"), backward("deactivate"), backward("leave")];
    let again = [forward("enter MoveFailed"), forward("activate"), forward("failed unreadable")];
    assert_eq!(heard_in(HERE), [leaves, again].concat().concat());
    assert_eq!(heard_in(THERE), [""; 0]);
    IS_BROKEN.set(false);
    assert!(matches!(cluster.migrate(teller, 0, 1).await, Outcome::Moved { .. }), "it can move nevertheless");
}

#[actix_rt::test]
async fn an_entity_that_is_despawned_leaves_and_its_parts_end_the_last_one_first() {
    let (cluster, teller) = spawned().await;
    despawn(&cluster, teller).await;
    let told: Vec<_> = TOLD.take().into_iter().map(|(_, text)| text).collect();
    assert_eq!(told, [backward("deactivate"), backward("leave"), backward("drop")].concat());
}

#[actix_rt::test]
async fn a_parked_entity_moves_and_hears_nothing_of_that_until_it_is_unparked() {
    let (cluster, teller) = parked().await;
    assert!(matches!(cluster.migrate(teller, 0, 1).await, Outcome::Moved { .. }));
    assert_eq!(ended_here(), backward("drop"));
    let unpark = |reply| Question::Unpark { entity: teller, reply };
    assert_eq!(cluster.nodes[1].ask(unpark).await, Ok(true));
    assert_eq!(heard_in(THERE), [forward("enter Arrived"), forward("arrived"), forward("activate")].concat());
}

#[actix_rt::test]
async fn a_parked_entity_whose_move_comes_to_nothing_hears_nothing_of_that() {
    let (cluster, teller) = parked().await;
    IS_BROKEN.set(true);
    let moved = cluster.migrate(teller, 0, 1).await;
    assert!(matches!(moved, Outcome::Refused(Refusal::Unreadable { .. })), "{moved:?}");
    assert_eq!((heard_in(HERE), heard_in(THERE)), (Vec::new(), Vec::new()));
    let unpark = |reply| Question::Unpark { entity: teller, reply };
    assert_eq!(cluster.nodes[0].ask(unpark).await, Ok(true));
    assert_eq!(heard_in(HERE), [""; 0], "it has never left");
    despawn(&cluster, teller).await;
    assert_eq!(heard_in(HERE), [backward("deactivate"), backward("leave")].concat());
}

#[actix_rt::test]
async fn a_parked_entity_that_is_despawned_ends_and_hears_nothing_of_that() {
    let (cluster, teller) = parked().await;
    despawn(&cluster, teller).await;
    assert_eq!(ended_here(), backward("drop"));
}

#[actix_rt::test]
async fn components_that_are_added_to_a_living_entity_hear_what_it_has_heard_and_travel_with_it() {
    let (cluster, teller) = spawned().await;
    let report = cluster.nodes[0].node.say(teller, Grow {}).await;
    assert_eq!(report.applied, 1);
    let grown = |part: &str| ["init", "enter Spawned", "activate"].map(|hook| format!("{part}.{hook}"));
    assert_eq!(heard_in(HERE), [grown("tail"), grown("horn")].concat());
    assert!(matches!(cluster.migrate(teller, 0, 1).await, Outcome::Moved { .. }));
    arrive().await;
    let activated: Vec<_> = heard_in(THERE).into_iter().filter(|text| text.ends_with("activate")).collect();
    assert_eq!(activated, ["teller", "ear", "mouth", "tail", "horn"].map(|part| format!("{part}.activate")));
    let shown = cluster.nodes[1].show(teller).await.expect("it lives there");
    assert!(shown.contains(r#""points":7"#), "{shown}");
    cluster.nodes[0].node.say(teller, Grow {}).await;
    assert_eq!(heard_in(THERE), ["teller.has grown already"]);
}

#[actix_rt::test]
async fn flags_that_game_code_sets_and_clears_decide_about_moves_and_travel() {
    let (cluster, teller) = spawned().await;
    let node = &cluster.nodes[0].node;
    node.say(teller, Root { is_rooted: true }).await;
    assert_eq!(cluster.migrate(teller, 0, 1).await, Outcome::Refused(Refusal::NotMovable));
    assert_eq!(heard_in(HERE), forward("failed not_movable"), "it is not asked");
    node.say(teller, Root { is_rooted: false }).await;
    assert!(matches!(cluster.migrate(teller, 0, 1).await, Outcome::Moved { .. }));
    TOLD.take();
    node.say(teller, Look {}).await;
    assert_eq!(heard_in(THERE), ["teller.support_migrate|bit_35"]);
}

fn start() -> Cluster {
    let types = || {
        let types = Types::builder().entity::<Teller>().component::<Tail>().component::<Horn>();
        types.build().expect("nothing is wrong")
    };
    Cluster::of([types(), types()])
}

/// A teller that lives at n1, after which nothing is told yet.
async fn spawned() -> (Cluster, OnlineId) {
    let cluster = start();
    let teller = spawn(&cluster.nodes[0].scene(), "teller").await;
    TOLD.take();
    (cluster, teller)
}

/// The same, parked.
async fn parked() -> (Cluster, OnlineId) {
    let (cluster, teller) = spawned().await;
    let report = cluster.nodes[0].node.say(teller, Trip {}).await;
    assert_eq!((report.failed, heard_in(HERE)), (1, Vec::new()));
    (cluster, teller)
}

async fn despawn(cluster: &Cluster, entity: OnlineId) {
    let gone = cluster.nodes[0].ask(|reply| Question::Despawn { entity, reply }).await;
    gone.expect("it lived there");
}

/// The answer to a move does not wait for the target.
async fn arrive() {
    let is_told = |told: &Vec<Told>| told.iter().any(|told| told.1.ends_with(".activate"));
    until("the last of it is active", || TOLD.with_borrow(is_told)).await;
}

/// What all parts tell of a hook, the own part first.
fn forward(hook: &str) -> Vec<String> {
    ["teller", "ear", "mouth"].map(|part| format!("{part}.{hook}")).to_vec()
}

fn backward(hook: &str) -> Vec<String> {
    forward(hook).into_iter().rev().collect()
}

/// What was told in a scene; all that was told is forgotten.
fn heard_in(scene: SceneId) -> Vec<String> {
    TOLD.with_borrow_mut(|told| told.extract_if(.., |told| told.0 == Some(scene)).map(|told| told.1).collect())
}

/// The same at n1, with the ends of parts, wherever.
fn ended_here() -> Vec<String> {
    TOLD.with_borrow_mut(|told| told.extract_if(.., |told| told.0 != Some(THERE)).map(|told| told.1).collect())
}

/// In which scene, if that is known there, and what.
type Told = (Option<SceneId>, String);

thread_local! {
    /// The scenes run on the thread of their test.
    static TOLD: RefCell<Vec<Told>> = const { RefCell::new(Vec::new()) };
    pub(crate) static IS_BROKEN: Cell<bool> = const { Cell::new(false) };
}

/// Something whose bytes cannot be read while [`IS_BROKEN`].
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub(crate) struct Seal;

impl<'de> Deserialize<'de> for Seal {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        <()>::deserialize(deserializer)?;
        if IS_BROKEN.get() { Err(D::Error::custom("the seal is broken")) } else { Ok(Self) }
    }
}

#[derive(Debug, Default, Entity)]
#[entity(crate = "slipgate_entity", components(Ear, Mouth))]
struct Teller {
    is_made: bool,
}

#[derive(Debug, Default, Component)]
#[component(crate = "slipgate_entity")]
struct Ear {
    is_made: bool,
}

#[derive(Debug, Default, Component)]
#[component(crate = "slipgate_entity")]
struct Mouth {
    is_made: bool,
    seal: Seal,
}

/// Grows when its entity lives already, and so does the horn.
#[derive(Debug, Default, Component)]
#[component(crate = "slipgate_entity")]
struct Tail {
    is_made: bool,
}

#[derive(Debug, Default, Component)]
#[component(crate = "slipgate_entity")]
struct Horn {
    is_made: bool,
    points: u32,
}

#[derive(Debug, Message)]
#[message(crate = "slipgate_entity")]
struct Trip {}

#[derive(Debug, Message)]
#[message(crate = "slipgate_entity")]
struct Grow {}

#[derive(Debug, Message)]
#[message(crate = "slipgate_entity")]
struct Root {
    is_rooted: bool,
}

#[derive(Debug, Message)]
#[message(crate = "slipgate_entity")]
struct Look {}

const OF_THE_GAME: Flags = Flags::game(3);

impl Teller {
    fn take(table: &mut Handlers<Self>) {
        table.on(Callers::CLUSTER, |_, _: Trip, _| panic!("it trips"));
        table.on(Callers::CLUSTER, Self::grow);
        table.on(Callers::CLUSTER, |_, Root { is_rooted }, cx| {
            if is_rooted {
                cx.clear_flag(Flags::SUPPORT_MIGRATE);
            } else {
                cx.set_flag(Flags::SUPPORT_MIGRATE.with(OF_THE_GAME));
            }
        });
        table.on(Callers::CLUSTER, |_, _: Look, cx| tell("teller", &cx.flags().to_string(), cx));
    }

    fn grow(&mut self, _: Grow, cx: &mut Context<'_>) {
        let horn = Data::default().with("horn", serde_json::json!({ "points": 7 }));
        if cx.add(Tail::default()).and_then(|()| cx.init_components(&horn).map_err(|error| panic!("{error}"))).is_err()
        {
            tell("teller", "has grown already", cx);
        }
    }
}

fn tell(part: &str, what: &str, cx: &Context<'_>) {
    let told = (Some(cx.scene().id), format!("{part}.{what}"));
    TOLD.with_borrow_mut(|all| all.push(told));
}

macro_rules! tells {
    ($type:ident, $name:literal, $handlers:expr) => {
        impl Behaviour for $type {
            fn handlers(table: &mut Handlers<Self>) {
                let take: fn(&mut Handlers<Self>) = $handlers;
                take(table);
            }
            fn init(&mut self, cx: &mut Context<'_>) -> Result<(), String> {
                tell($name, "init", cx);
                self.is_made = true;
                Ok(())
            }
            fn on_enter_scene(&mut self, entry: &Entry, cx: &mut Context<'_>) {
                let how = format!("{:?}", entry.how);
                let how = how.split(' ').next().expect("the first of any words");
                tell($name, &format!("enter {how}"), cx);
            }
            fn activate(&mut self, cx: &mut Context<'_>) {
                tell($name, "activate", cx);
            }
            fn deactivate(&mut self, cx: &mut Context<'_>) {
                tell($name, "deactivate", cx);
            }
            fn on_leave_scene(&mut self, cx: &mut Context<'_>) {
                tell($name, "leave", cx);
            }
            fn leaving(&mut self, to: &Destination, cx: &mut Context<'_>) -> Leave {
                tell($name, &format!("leaving {}", to.node), cx);
                Leave::allow()
            }
            fn left(&mut self, cx: &mut Context<'_>) {
                tell($name, "left", cx);
            }
            fn arrived(&mut self, cx: &mut Context<'_>) {
                tell($name, "arrived", cx);
            }
            fn move_failed(&mut self, why: &MoveFailed, cx: &mut Context<'_>) {
                tell($name, &format!("failed {}", why.word), cx);
            }
        }

        impl Drop for $type {
            fn drop(&mut self) {
                // Decoders make one, too, to take its fields. A thread that ends may have nothing to tell it to any more.
                if self.is_made {
                    let _ = TOLD.try_with(|told| told.borrow_mut().push((None, concat!($name, ".drop").to_owned())));
                }
            }
        }
    };
}

tells!(Teller, "teller", Self::take);
tells!(Ear, "ear", |_| {});
tells!(Mouth, "mouth", |_| {});
tells!(Tail, "tail", |_| {});
tells!(Horn, "horn", |_| {});
