//! Game code that panics where nobody expects it, says things again and again, or wants two things at once: its scene
//! goes on.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use slipgate_actors::mailbox::Halt;
use slipgate_actors::panic::{is_guarded, text_of};
use slipgate_actors::scene::Question;
use slipgate_cluster::message::{Control, Message as Said};
use slipgate_cluster::moves::{Outcome, Refusal};
use slipgate_cluster::view::Home;
use slipgate_cluster::{Envelope, Epoch, Limits, Own, Place, Port, Record, Session};
use slipgate_entity::game::{
    Context, Destination, Leave, Message, MoveFailed, Position, ReturnedMessage, SceneRef, Types, payload,
};
use slipgate_entity::{OnlineId, RangeId, SceneId};
use slipgate_macros::{Entity, Message, handlers};
use tokio::sync::Notify;
use tokio::time::timeout;

use crate::alone::Kept;
use crate::node::{LIMIT, Make, Node, ask, me, migrate, spawn, view};

#[actix_rt::test]
async fn whoever_sends_what_comes_back_again_and_again_does_not_keep_its_scene() {
    let node = start();
    let stubborn = spawn(&node.scene(HERE), "stubborn").await;
    tell(&node, stubborn, Again {}).await;
    let came_back = async {
        while RETURNED.get() < 1_000 {
            tokio::task::yield_now().await;
        }
    };
    timeout(LIMIT, came_back).await.expect("it goes on from turn to turn");
    spawn(&node.scene(HERE), "wisher").await;
}

#[actix_rt::test]
async fn a_destructor_a_position_and_a_default_that_panic_harm_nobody_else() {
    let node = start();
    let scene = node.scene(HERE);
    let fragile = spawn(&scene, "fragile").await;
    let gone = ask(&scene, |reply| Question::Despawn { entity: fragile, reply }).await;
    gone.expect("it lived there");
    let once = spawn(&scene, "once").await;
    assert!(ask(&scene, |reply| Question::Has { entity: once, reply }).await, "its `Default` ran but once");
    let other = spawn(&scene, "fragile").await;
    let moved = migrate(&scene, other, Own::new(me(), SECOND)).await;
    assert!(matches!(moved, Outcome::Refused(Refusal::Unreadable { .. })), "its decoder drops one: {moved:?}");
    spawn(&scene, "wisher").await;
}

#[actix_rt::test]
async fn a_scene_ends_with_entities_whose_destructors_panic_each_of_them_guarded() {
    let node = start();
    let scene = node.scene(HERE);
    for _ in 0..3 {
        spawn(&scene, "brittle").await;
    }
    // One that nobody guards ends the node, and two at once the process.
    let unguarded = Arc::new(AtomicUsize::new(0));
    let count = unguarded.clone();
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        let is_here = text_of(panic.payload()) == BRITTLE;
        if !is_guarded(panic) && is_here {
            count.fetch_add(1, Ordering::Relaxed);
        }
        if !is_here {
            before(panic);
        }
    }));
    scene.tell(Halt);
    let ended = async {
        while BROKEN.get() < 3 {
            tokio::task::yield_now().await;
        }
    };
    timeout(LIMIT, ended).await.expect("every entity ends with its scene");
    assert_eq!(unguarded.load(Ordering::Relaxed), 0);
}

#[actix_rt::test]
async fn of_two_moves_that_a_handler_wants_the_last_one_counts() {
    let node = start();
    let wisher = spawn(&node.scene(HERE), "wisher").await;
    tell(&node, wisher, GoTwice {}).await;
    await_in(&node, wisher, THIRD).await;
}

#[actix_rt::test]
async fn whoever_wants_to_go_and_then_to_end_ends() {
    let node = start();
    let wisher = spawn(&node.scene(HERE), "wisher").await;
    tell(&node, wisher, GoAndEnd {}).await;
    let gone = async {
        loop {
            let mut lives = false;
            for scene in [HERE, SECOND, THIRD] {
                lives |= ask(&node.scene(scene), |reply| Question::Has { entity: wisher, reply }).await;
            }
            if !lives {
                return;
            }
            tokio::task::yield_now().await;
        }
    };
    timeout(LIMIT, gone).await.expect("it is gone");
}

#[actix_rt::test]
async fn whoever_cannot_set_out_for_want_of_company_hears_so() {
    let node = start();
    let guide = spawn(&node.scene(HERE), "guide").await;
    tell(&node, guide, Lead {}).await;
    let heard = async {
        while FAILED.with_borrow(Vec::is_empty) {
            tokio::task::yield_now().await;
        }
    };
    timeout(LIMIT, heard).await.expect("it hears of it");
    let expected = (
        "refused",
        format!("{} was to come along and cannot (it is not in the scene from which they were to set out)", nobody()),
    );
    assert_eq!(FAILED.take(), [expected].map(|(word, text)| (word.to_owned(), text)));
}

#[actix_rt::test]
async fn whoever_stays_by_a_late_word_of_its_home_is_in_the_scene_again_with_its_timers() {
    let other = Session::new(2, 1);
    let mut view = view(2, &[(1, HERE), (2, SECOND)]);
    let limits = Limits { transfer: SHORT, decide: SHORT, ..Limits::default() };
    let types = Types::builder().entity::<Clock>().build().expect("a type");
    let make = Make { view: view.clone(), limits, types, scenes: vec![HERE], ..Make::default() };
    let (node, _) = Node::start(me(), make);
    let kept = Kept::default();
    node.post.link(other, Arc::new(kept.clone()));
    let scene = node.scene(HERE);
    let clock = spawn(&scene, "clock").await;
    let target = Own::new(other, SECOND);
    let say = |from: Place, control| {
        let to = Own::new(me(), HERE).into();
        node.post.send(vec![Envelope { from, to, message: Said::Control(control) }]);
    };
    let ((), moved) = tokio::join!(
        async {
            let reserve = |message: &Said| {
                let Said::Control(Control::Reserve(reserve)) = message else { return None };
                Some((reserve.id, reserve.label))
            };
            let (id, label) = kept.await_one("room is asked for", reserve).await;
            say(target.into(), Control::Reserved { entity: clock, id, label });
            kept.await_one("the copy", |message| matches!(message, Said::Prepare(_)).then_some(())).await;
            // From now on the home is elsewhere, and silent.
            view.version += 1;
            view.homes
                .insert(RangeId(1), Home { session: other, term: 1, before: Some(me()), ..view.homes[&RangeId(1)] });
            node.post.set_view(Arc::new(view.clone()));
        },
        migrate(&scene, clock, target),
    );
    assert_eq!(moved, Outcome::Undecided);
    let (rung, bell) = (RUNG.get(), BELL.with(Rc::clone));
    let shown = ask(&scene, |reply| Question::Show { entity: clock, reply }).await.expect("it is here").0.stand;
    let epoch = Epoch::new(1, 1);
    let record = Record { owner: Some(Own::new(me(), HERE)), epoch, data: shown.data, lost: false, base: shown.base };
    let home = Place { session: other, port: Port::Directory };
    say(home, Control::RecordIs { entity: clock, record, nonce: None });
    let rings = async {
        while RUNG.get() <= rung {
            bell.notified().await;
        }
    };
    timeout(LIMIT, rings).await.expect("its timer goes on");
    assert_eq!(FAILED.take().into_iter().map(|(word, _)| word).collect::<Vec<_>>(), ["undecided"]);
}

const SHORT: Duration = Duration::from_millis(20);
const HERE: SceneId = SceneId(1);
const SECOND: SceneId = SceneId(2);
const THIRD: SceneId = SceneId(3);

fn start() -> Node {
    let scenes = vec![HERE, SECOND, THIRD];
    let types = Types::builder().entity::<Stubborn>().entity::<Fragile>().entity::<Once>();
    let types = types.entity::<Brittle>().entity::<Wisher>().entity::<Guide>().build().expect("types");
    let placed: Vec<_> = scenes.iter().map(|scene| (1, *scene)).collect();
    Node::start(me(), Make { view: view(1, &placed), types, scenes, ..Make::default() }).0
}

async fn tell<M: Message>(node: &Node, entity: OnlineId, message: M) {
    let report = node.send(vec![(0, entity, payload(&message).into())], None).await;
    assert_eq!(report.accepted, 1);
}

async fn await_in(node: &Node, entity: OnlineId, scene: SceneId) {
    let there = async {
        while !ask(&node.scene(scene), |reply| Question::Has { entity, reply }).await {
            tokio::task::yield_now().await;
        }
    };
    timeout(LIMIT, there).await.expect("it arrives");
}

/// Somebody who is not there.
fn nobody() -> OnlineId {
    OnlineId::new(RangeId(1), 4_000)
}

thread_local! {
    /// The scenes run on the thread of their test.
    static RETURNED: Cell<u32> = const { Cell::new(0) };
    static RUNG: Cell<u32> = const { Cell::new(0) };
    static BELL: Rc<Notify> = Rc::default();
    static MADE: Cell<u32> = const { Cell::new(0) };
    static BROKEN: Cell<u32> = const { Cell::new(0) };
    static FAILED: RefCell<Vec<(String, String)>> = const { RefCell::new(Vec::new()) };
}

/// Sends what is too large, and sends it again whenever it comes back.
#[derive(Debug, Default, Entity)]
#[entity(crate = "slipgate_entity")]
struct Stubborn {}

#[derive(Debug, Message)]
#[message(crate = "slipgate_entity")]
struct Again {}

#[derive(Debug, Message)]
#[message(crate = "slipgate_entity")]
struct Huge {
    bytes: Vec<u8>,
}

#[handlers(crate = "slipgate_entity")]
impl Stubborn {
    #[from(cluster)]
    fn again(&mut self, _: Again, cx: &mut Context<'_>) {
        cx.send(nobody(), Huge { bytes: vec![0; Limits::default().message_bytes] });
    }

    #[hook]
    fn returned(&mut self, _: &ReturnedMessage, cx: &mut Context<'_>) {
        RETURNED.set(RETURNED.get() + 1);
        cx.send(nobody(), Huge { bytes: vec![0; Limits::default().message_bytes] });
    }
}

/// Cannot say where it stands, and cannot end.
#[derive(Debug, Default, Entity)]
#[entity(crate = "slipgate_entity", position = at())]
struct Fragile {
    hp: u32,
}

impl Fragile {
    fn at(&self) -> Position {
        panic!("lost, with {} hp", self.hp)
    }
}

impl Drop for Fragile {
    fn drop(&mut self) {
        assert!(std::thread::panicking(), "it does not end");
    }
}

#[handlers(crate = "slipgate_entity")]
impl Fragile {}

/// Panics whenever it ends.
#[derive(Debug, Default, Entity)]
#[entity(crate = "slipgate_entity")]
struct Brittle {}

impl Drop for Brittle {
    fn drop(&mut self) {
        BROKEN.set(BROKEN.get() + 1);
        panic!("{BRITTLE}");
    }
}

#[handlers(crate = "slipgate_entity")]
impl Brittle {}

const BRITTLE: &str = "broken in the end";

/// Can be made once.
#[derive(Debug, Entity)]
#[entity(crate = "slipgate_entity")]
struct Once {}

impl Default for Once {
    fn default() -> Self {
        MADE.set(MADE.get() + 1);
        assert_eq!(MADE.get(), 1, "there is one already");
        Self {}
    }
}

#[handlers(crate = "slipgate_entity")]
impl Once {}

/// Rings.
#[derive(Debug, Default, Entity)]
#[entity(crate = "slipgate_entity")]
struct Clock {}

#[derive(Debug, Message)]
#[message(crate = "slipgate_entity")]
struct Ring {}

#[handlers(crate = "slipgate_entity")]
impl Clock {
    #[hook]
    fn init(&mut self, cx: &mut Context<'_>) -> Result<(), String> {
        self.ring(Ring {}, cx);
        Ok(())
    }

    #[from(cluster)]
    fn ring(&mut self, _: Ring, cx: &mut Context<'_>) {
        RUNG.set(RUNG.get() + 1);
        BELL.with(|bell| bell.notify_one());
        cx.after(SHORT, Ring {}).expect("room for one");
    }

    #[hook]
    fn move_failed(&mut self, why: &MoveFailed) {
        FAILED.with_borrow_mut(|failed| failed.push((why.word.to_owned(), why.text.clone())));
    }
}

/// Wants two things at once.
#[derive(Debug, Default, Entity)]
#[entity(crate = "slipgate_entity")]
struct Wisher {}

#[derive(Debug, Message)]
#[message(crate = "slipgate_entity")]
struct GoTwice {}

#[derive(Debug, Message)]
#[message(crate = "slipgate_entity")]
struct GoAndEnd {}

#[handlers(crate = "slipgate_entity")]
impl Wisher {
    #[from(cluster)]
    fn go_twice(&mut self, _: GoTwice, cx: &mut Context<'_>) {
        cx.move_to(SECOND);
        cx.move_to(THIRD);
    }

    #[from(cluster)]
    fn go_and_end(&mut self, _: GoAndEnd, cx: &mut Context<'_>) {
        cx.move_to(SECOND);
        cx.despawn();
    }
}

/// Takes somebody along who is not there.
#[derive(Debug, Default, Entity)]
#[entity(crate = "slipgate_entity")]
struct Guide {}

#[derive(Debug, Message)]
#[message(crate = "slipgate_entity")]
struct Lead {}

#[handlers(crate = "slipgate_entity")]
impl Guide {
    #[from(cluster)]
    fn lead(&mut self, _: Lead, cx: &mut Context<'_>) {
        cx.move_with(SceneRef::Id(SECOND), serde_json::json!({ "lamp": 1 }));
    }

    #[hook]
    fn leaving(&mut self, _: &Destination, _: &mut Context<'_>) -> Leave {
        Leave::allow().with([nobody()])
    }

    #[hook]
    fn move_failed(&mut self, why: &MoveFailed) {
        FAILED.with_borrow_mut(|failed| failed.push((why.word.to_owned(), why.text.clone())));
    }
}
