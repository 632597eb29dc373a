//! What game code says of those whom it spawns: whose they are, their number over restarts, what they bring along; and
//! how they are found.

use std::cell::RefCell;

use slipgate_cluster::Own;
use slipgate_cluster::moves::{Outcome, Refusal};
use slipgate_entity::game::{Context, Entered, Entry, Message, Spawn, Types, payload};
use slipgate_entity::{OnlineId, PersistId, PlayerId, SceneId};
use slipgate_macros::{Entity, Message, handlers};
use tokio::time::timeout;
use uuid::Uuid;

use crate::node::{LIMIT, Make, Node, me, migrate, spawn, view};

#[actix_rt::test]
async fn a_newcomer_has_its_player_and_its_number_over_restarts_and_hears_what_it_brings_along() {
    let node = start();
    let hen = spawn(&node.scene(HERE), "hen").await;
    tell(&node, hen, Hatch { persist: 7 }).await;
    await_lines(&[r#"{"shell":1} of player 9"#]).await;
    tell(&node, hen, Count { persist: 7 }).await;
    await_lines(&["1 chick, 2 birds, chick"]).await;
}

#[actix_rt::test]
async fn of_two_with_one_number_over_restarts_the_second_is_not_made_nor_taken_in() {
    let node = start();
    let [hen, other] = [HERE, THERE].map(|scene| node.scene(scene));
    let (hen, other) = (spawn(&hen, "hen").await, spawn(&other, "hen").await);
    // Both at once: neither is there yet when the other is made.
    tell(&node, hen, HatchTwins { persist: 7 }).await;
    await_lines(&[r#"null of player 0"#]).await;
    tell(&node, hen, Count { persist: 7 }).await;
    await_lines(&["1 chick, 2 birds, chick"]).await;
    tell(&node, other, Hatch { persist: 7 }).await;
    await_lines(&[r#"{"shell":1} of player 9"#]).await;
    let chick = CHICKS.with_borrow(|chicks| *chicks.last().expect("it hatched"));
    let moved = migrate(&node.scene(THERE), chick, Own::new(me(), HERE)).await;
    assert!(matches!(moved, Outcome::Refused(Refusal::Unreadable { .. })), "{moved:?}");
    assert_eq!(CHICKS.with_borrow(Vec::len), 2, "the second one never came into the scene");
}

const HERE: SceneId = SceneId(1);
const THERE: SceneId = SceneId(2);

fn start() -> Node {
    let scenes = vec![HERE, THERE];
    let types = Types::builder().entity::<Hen>().entity::<Chick>().build().expect("types");
    let placed: Vec<_> = scenes.iter().map(|scene| (1, *scene)).collect();
    Node::start(me(), Make { view: view(1, &placed), types, scenes, ..Make::default() }).0
}

async fn tell<M: Message>(node: &Node, entity: OnlineId, message: M) {
    let report = node.send(vec![(0, entity, payload(&message).into())], None).await;
    assert_eq!(report.accepted, 1);
}

/// So many lines, once they are there.
async fn lines(count: usize) -> Vec<String> {
    let there = async {
        while LINES.with_borrow(Vec::len) < count {
            tokio::task::yield_now().await;
        }
    };
    timeout(LIMIT, there).await.expect("game code tells");
    LINES.take()
}

async fn await_lines(expected: &[&str]) {
    assert_eq!(lines(expected.len()).await, expected);
}

thread_local! {
    /// The scenes run on the thread of their test.
    static LINES: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
    static CHICKS: RefCell<Vec<OnlineId>> = const { RefCell::new(Vec::new()) };
}

fn note(line: String) {
    LINES.with_borrow_mut(|lines| lines.push(line));
}

fn persist(number: u8) -> PersistId {
    PersistId(Uuid::from_u128(number.into()))
}

#[derive(Debug, Default, Entity)]
#[entity(crate = "slipgate_entity")]
struct Hen {}

#[derive(Debug, Default, Entity)]
#[entity(crate = "slipgate_entity", parent = Hen)]
struct Chick {}

#[derive(Debug, Message)]
#[message(crate = "slipgate_entity")]
struct Hatch {
    persist: u8,
}

#[derive(Debug, Message)]
#[message(crate = "slipgate_entity")]
struct HatchTwins {
    persist: u8,
}

#[derive(Debug, Message)]
#[message(crate = "slipgate_entity")]
struct Count {
    persist: u8,
}

#[handlers(crate = "slipgate_entity")]
impl Hen {
    #[from(cluster)]
    fn hatch(&mut self, hatch: Hatch, cx: &mut Context<'_>) {
        let chick = Spawn::of::<Chick>().persist(persist(hatch.persist)).player(PlayerId(9));
        cx.spawn(chick.brings(serde_json::json!({ "shell": 1 })));
    }

    #[from(cluster)]
    fn hatch_twins(&mut self, hatch: HatchTwins, cx: &mut Context<'_>) {
        for _ in 0..2 {
            cx.spawn(Spawn::of::<Chick>().persist(persist(hatch.persist)));
        }
    }

    #[from(cluster)]
    fn count(&mut self, count: Count, cx: &mut Context<'_>) {
        let (chicks, birds) = (cx.of_type::<Chick>().len(), cx.of_type::<Hen>().len());
        let named = cx.find_persist(persist(count.persist)).map_or("nobody", |who| who.type_name());
        note(format!("{chicks} chick, {birds} birds, {named}"));
    }
}

#[handlers(crate = "slipgate_entity")]
impl Chick {
    #[hook]
    fn on_enter_scene(&mut self, entry: &Entry, cx: &mut Context<'_>) {
        if entry.how == Entered::Spawned {
            CHICKS.with_borrow_mut(|chicks| chicks.push(cx.id()));
            let brings = entry.brings.as_ref().map_or("null".to_owned(), ToString::to_string);
            note(format!("{brings} of player {}", cx.description().player().0));
        }
    }
}
