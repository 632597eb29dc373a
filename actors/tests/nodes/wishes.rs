//! What game code wants of its scene, in real scenes: messages to many, answers, timers, and who lives there.

use std::cell::RefCell;
use std::time::Duration;

use slipgate_actors::mailbox::Mailbox;
use slipgate_actors::scene::{Question, SceneActor, SpawnOrder, Which};
use slipgate_cluster::message::{Control, Message as Said};
use slipgate_cluster::moves::Outcome;
use slipgate_cluster::{Envelope, Own, Place, Port, Record, Session};
use slipgate_entity::game::{Answered, AskError, Context, Data, Position, Spawn, Types};
use slipgate_entity::{OnlineId, RangeId, Returned, SceneId};
use slipgate_macros::{Entity, Message, handlers};
use tokio::time::timeout;

use crate::node::{LIMIT, Make, Node, ask, me, migrate, spawn, until, view};

const HERE: SceneId = SceneId(1);
const THERE: SceneId = SceneId(2);
/// On a node that nobody reaches.
const ELSEWHERE: SceneId = SceneId(3);

#[actix_rt::test]
async fn what_is_said_to_a_scene_all_others_there_hear_and_nobody_elsewhere() {
    let flock = Flock::start().await;
    flock.node.say(flock.bird, Shout {}).await;
    assert_eq!(HEARD.take(), [flock.owl, flock.far_owl, flock.stone]);
}

#[actix_rt::test]
async fn what_is_said_to_a_type_those_of_types_below_it_hear_too() {
    let flock = Flock::start().await;
    flock.node.say(flock.bird, Chirp {}).await;
    assert_eq!(HEARD.take(), [flock.owl, flock.far_owl]);
    flock.node.say(flock.bird, Mumble {}).await;
    assert_eq!(HEARD.take(), [flock.stone]);
}

#[actix_rt::test]
async fn what_is_said_around_those_hear_who_are_near_to_where_the_handler_has_left_the_speaker() {
    let flock = Flock::start().await;
    let peep = |x, y, radius| flock.node.say(flock.bird, Peep { x, y, radius });
    peep(0.0, 0.0, 4.9).await;
    assert_eq!(HEARD.take(), []);
    peep(0.0, 0.0, 5.0).await;
    assert_eq!(HEARD.take(), [flock.owl]);
    peep(300.0, 399.0, 5.0).await;
    assert_eq!(HEARD.take(), [flock.far_owl]);
    peep(0.0, 0.0, 500.0).await;
    assert_eq!(HEARD.take(), [flock.owl, flock.far_owl], "the stone is nowhere");
}

#[actix_rt::test]
async fn whoever_has_moved_away_hears_what_is_said_there_and_whoever_is_gone_hears_nothing() {
    let flock = Flock::start().await;
    let there = spawn(&flock.node.scene(THERE), "bird").await;
    let moved = migrate(&flock.node.scene(HERE), flock.owl, Own::new(me(), THERE)).await;
    assert!(matches!(moved, Outcome::Moved { .. }));
    let hunt = flock.node.say(flock.bird, Hunt { prey: flock.far_owl }).await;
    assert_eq!(hunt.applied, 1);
    await_gone(&flock.node.scene(HERE), flock.far_owl).await;
    for (speaker, around) in [(flock.bird, vec![]), (there, vec![flock.stranger, flock.owl])] {
        flock.node.say(speaker, Peep { x: 0.0, y: 0.0, radius: 1e9 }).await;
        assert_eq!(sorted(HEARD.take()), sorted(around));
        flock.node.say(speaker, Chirp {}).await;
        let expected = if speaker == there { vec![flock.stranger, flock.owl] } else { vec![] };
        assert_eq!(sorted(HEARD.take()), sorted(expected));
    }
    flock.node.say(flock.bird, Shout {}).await;
    assert_eq!(HEARD.take(), [flock.stone]);
}

#[actix_rt::test]
async fn whoever_ends_itself_is_heard_before_and_hears_of_its_end() {
    let flock = Flock::start().await;
    let report = flock.node.say(flock.bird, Sing {}).await;
    assert_eq!(report.applied, 1);
    assert_eq!(HEARD.take(), [flock.owl, flock.far_owl, flock.stone]);
    await_gone(&flock.node.scene(HERE), flock.bird).await;
    assert_eq!(flock.node.say(flock.bird, Shout {}).await.dead, 1);
    assert_eq!(HEARD.take(), []);
}

#[actix_rt::test]
async fn an_entity_hears_what_came_of_what_it_asked_others() {
    let flock = Flock::start().await;
    let silent = OnlineId::new(RangeId(2), 1);
    for whom in [flock.owl, flock.stranger, flock.stone, OnlineId::new(RangeId(1), 4_000)] {
        flock.node.say(flock.bird, Wonder { whom, within: LIMIT }).await;
        until("an answer", || ANSWERED.with_borrow(|answered| answered.last().is_some_and(|last| last.0 == whom)))
            .await;
    }
    flock.node.say(flock.bird, Wonder { whom: silent, within: Duration::from_millis(5) }).await;
    until("the end of its patience", || ANSWERED.with_borrow(|answered| answered.len() == 5)).await;
    let answers: Vec<_> = ANSWERED.take().into_iter().map(|(_, answer)| answer).collect();
    let Err(AskError::Refused(why)) = &answers[2] else { panic!("a stone has no age: {answers:?}") };
    assert!(why.contains("age"), "{why}");
    let dead = Err(AskError::Returned(Returned::Dead));
    assert_eq!((&answers[..2], &answers[3..]), (&[Ok(7), Ok(7)][..], &[dead, Err(AskError::Timeout)][..]));
}

#[actix_rt::test]
async fn a_timer_that_is_cancelled_does_not_come() {
    let flock = Flock::start().await;
    flock.node.say(flock.bird, Wind {}).await;
    until("the other one", || !RUNG.with_borrow(Vec::is_empty)).await;
    assert_eq!(RUNG.take(), [2], "the first one would have come before");
}

#[actix_rt::test]
async fn who_is_spawned_by_one_that_is_despawned_lives_and_its_last_words_are_heard() {
    let flock = Flock::start().await;
    let scene = flock.node.scene(THERE);
    let hydra = spawn(&scene, "hydra").await;
    let gone = ask(&scene, |reply| Question::Despawn { entity: hydra, reply }).await;
    gone.expect("it lived there");
    await_heads(&scene).await;
    assert_eq!(HEARD.take(), [flock.stranger], "it speaks before its heads are there");
}

#[actix_rt::test]
async fn who_is_spawned_by_one_that_is_taken_away_lives_and_its_last_words_are_not_heard() {
    let flock = Flock::start().await;
    let scene = flock.node.scene(THERE);
    let hydra = spawn(&scene, "hydra").await;
    let (shown, _) = ask(&scene, |reply| Question::Show { entity: hydra, reply }).await.expect("it lives there");
    let epoch = shown.stand.epoch.next();
    let owner = Some(Own::new(Session::new(2, 1), ELSEWHERE));
    let record = Record { owner, epoch, data: epoch, lost: false, base: shown.stand.base };
    let from = Place { session: me(), port: Port::Directory };
    let message = Said::Control(Control::RecordIs { entity: hydra, record, nonce: None });
    flock.node.post.send(vec![Envelope { from, to: Own::new(me(), THERE).into(), message }]);
    await_heads(&scene).await;
    assert!(!ask(&scene, |reply| Question::Has { entity: hydra, reply }).await, "its home says that it is elsewhere");
    assert_eq!(HEARD.take(), [], "it may be saying something else there");
}

/// A bird and those around it in one scene, and a stranger in another.
struct Flock {
    node: Node,
    bird: OnlineId,
    /// Five away from the bird.
    owl: OnlineId,
    /// Five hundred away.
    far_owl: OnlineId,
    /// Nowhere.
    stone: OnlineId,
    /// In the other scene, where the bird is in this one.
    stranger: OnlineId,
}

impl Flock {
    async fn start() -> Self {
        let types = Types::builder().entity::<Bird>().entity::<Owl>().entity::<Stone>().entity::<Hydra>();
        let types = types.build().expect("nothing is wrong");
        let view = view(2, &[(1, HERE), (1, THERE), (2, ELSEWHERE)]);
        let (node, _) = Node::start(me(), Make { view, types, scenes: vec![HERE, THERE], ..Make::default() });
        let (here, there) = (node.scene(HERE), node.scene(THERE));
        let bird = spawn(&here, "bird").await;
        let owl = spawn_at(&here, "owl", (3, 4)).await;
        let far_owl = spawn_at(&here, "owl", (300, 400)).await;
        let stone = spawn(&here, "stone").await;
        let stranger = spawn(&there, "owl").await;
        Self { node, bird, owl, far_owl, stone, stranger }
    }
}

async fn spawn_at(scene: &Mailbox<SceneActor>, type_name: &str, (x, y): (i32, i32)) -> OnlineId {
    let data = Data::default().with(type_name, serde_json::json!({ "at": { "x": x, "y": y } }));
    let order = |reply| Question::Spawn(SpawnOrder { data, ..SpawnOrder::of(type_name, reply) });
    ask(scene, order).await.expect("room and an id")
}

async fn await_gone(scene: &Mailbox<SceneActor>, entity: OnlineId) {
    let gone = async { while ask(scene, |reply| Question::Has { entity, reply }).await {} };
    timeout(LIMIT, gone).await.expect("it goes");
}

/// What grows where a hydra was, beside the stranger.
async fn await_heads(scene: &Mailbox<SceneActor>) {
    let grown = async {
        loop {
            let rows = ask(scene, |reply| Question::List { which: Which::All, limit: 10, reply }).await;
            let heads = rows.iter().filter(|row| row.stand.identity.label.as_deref() == Some("head"));
            if heads.count() == 2 {
                return;
            }
        }
    };
    timeout(LIMIT, grown).await.expect("two heads");
}

fn sorted(mut entities: Vec<OnlineId>) -> Vec<OnlineId> {
    entities.sort_unstable();
    entities
}

thread_local! {
    /// The scenes run on the thread of their test.
    static HEARD: RefCell<Vec<OnlineId>> = const { RefCell::new(Vec::new()) };
    static ANSWERED: RefCell<Vec<(OnlineId, Result<u32, AskError>)>> = const { RefCell::new(Vec::new()) };
    static RUNG: RefCell<Vec<u32>> = const { RefCell::new(Vec::new()) };
}

#[derive(Debug, Message)]
#[message(crate = "slipgate_entity")]
struct Heard {}

#[derive(Debug, Message)]
#[message(crate = "slipgate_entity")]
struct Shout {}

#[derive(Debug, Message)]
#[message(crate = "slipgate_entity")]
struct Chirp {}

#[derive(Debug, Message)]
#[message(crate = "slipgate_entity")]
struct Mumble {}

/// Flies there, and says so to those around.
#[derive(Debug, Message)]
#[message(crate = "slipgate_entity")]
struct Peep {
    x: f32,
    y: f32,
    radius: f32,
}

#[derive(Debug, Message)]
#[message(crate = "slipgate_entity")]
struct Hunt {
    prey: OnlineId,
}

/// Sings, and dies of it.
#[derive(Debug, Message)]
#[message(crate = "slipgate_entity")]
struct Sing {}

#[derive(Debug, Message)]
#[message(crate = "slipgate_entity")]
struct Wonder {
    whom: OnlineId,
    within: Duration,
}

#[derive(Debug, Message)]
#[message(crate = "slipgate_entity", answer = u32)]
struct Age {}

/// Sets two timers, and cancels the first.
#[derive(Debug, Message)]
#[message(crate = "slipgate_entity")]
struct Wind {}

#[derive(Debug, Message)]
#[message(crate = "slipgate_entity")]
struct Ring {
    number: u32,
}

#[derive(Debug, Default, Entity)]
#[entity(crate = "slipgate_entity", position = at)]
struct Bird {
    at: Position,
    asked: Vec<OnlineId>,
}

#[handlers(crate = "slipgate_entity")]
impl Bird {
    #[from(cluster)]
    fn shout(&mut self, _: Shout, cx: &mut Context<'_>) {
        cx.send_scene(Heard {});
    }

    #[from(cluster)]
    fn chirp(&mut self, _: Chirp, cx: &mut Context<'_>) {
        cx.send_type::<Bird, _>(Heard {});
    }

    #[from(cluster)]
    fn mumble(&mut self, _: Mumble, cx: &mut Context<'_>) {
        cx.send_type::<Stone, _>(Heard {});
    }

    #[from(cluster)]
    fn peep(&mut self, Peep { x, y, radius }: Peep, cx: &mut Context<'_>) {
        cx.send_around(radius, Heard {});
        self.at = Position { x, y };
    }

    #[from(cluster)]
    fn hunt(&mut self, Hunt { prey }: Hunt, cx: &mut Context<'_>) {
        let prey = cx.find(prey).expect("it is here").handle();
        cx.despawn_other(prey).expect("it is here");
    }

    #[from(cluster)]
    fn sing(&mut self, _: Sing, cx: &mut Context<'_>) {
        cx.despawn();
        cx.send_scene(Heard {});
    }

    #[from(cluster)]
    fn wonder(&mut self, Wonder { whom, within }: Wonder, cx: &mut Context<'_>) {
        cx.ask(whom, Age {}, within).expect("room for one");
        self.asked.push(whom);
    }

    fn wondered(&mut self, answer: Answered<Age>) {
        let whom = *self.asked.last().expect("it has asked");
        ANSWERED.with_borrow_mut(|answered| answered.push((whom, answer.result)));
    }

    #[from(cluster)]
    fn wind(&mut self, _: Wind, cx: &mut Context<'_>) {
        let first = cx.after(Duration::from_millis(1), Ring { number: 1 }).expect("room for one");
        cx.after(Duration::from_millis(2), Ring { number: 2 }).expect("room for one");
        assert!(cx.cancel(first), "it is still to come");
        assert!(!cx.cancel(first), "it was cancelled");
    }

    #[from(cluster)]
    fn ring(&mut self, Ring { number }: Ring) {
        RUNG.with_borrow_mut(|rung| rung.push(number));
    }

    #[from(cluster)]
    fn heard(&mut self, _: Heard, cx: &mut Context<'_>) {
        HEARD.with_borrow_mut(|heard| heard.push(cx.id()));
    }
}

#[derive(Debug, Default, Entity)]
#[entity(crate = "slipgate_entity", parent = Bird, position = at)]
struct Owl {
    at: Position,
}

#[handlers(crate = "slipgate_entity")]
impl Owl {
    #[from(cluster)]
    fn heard(&mut self, _: Heard, cx: &mut Context<'_>) {
        HEARD.with_borrow_mut(|heard| heard.push(cx.id()));
    }

    #[from(cluster)]
    fn age(&mut self, _: Age) -> u32 {
        7
    }
}

#[derive(Debug, Default, Entity)]
#[entity(crate = "slipgate_entity")]
struct Stone {}

#[handlers(crate = "slipgate_entity")]
impl Stone {
    #[from(cluster)]
    fn heard(&mut self, _: Heard, cx: &mut Context<'_>) {
        HEARD.with_borrow_mut(|heard| heard.push(cx.id()));
    }
}

/// Grows two heads where it goes, and says so.
#[derive(Debug, Default, Entity)]
#[entity(crate = "slipgate_entity")]
struct Hydra {}

#[handlers(crate = "slipgate_entity")]
impl Hydra {
    #[hook]
    fn on_leave_scene(&mut self, cx: &mut Context<'_>) {
        for _ in 0..2 {
            cx.spawn(Spawn::of::<Stone>().label("head"));
        }
        cx.send_scene(Heard {});
    }
}
