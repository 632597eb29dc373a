//! A scene that is opened under the number of an earlier one, in one node: nothing that was meant for the earlier comes
//! to the later one.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use actix::Actor;
use slipgate_actors::chronicle::Chronicle;
use slipgate_actors::clock::NodeClock;
use slipgate_actors::directory::DirectoryActor;
use slipgate_actors::lease::Lease;
use slipgate_actors::mailbox::{Door, Mailbox};
use slipgate_actors::post::Post;
use slipgate_actors::router::RouterActor;
use slipgate_actors::scene::{AskScene, Question, SceneActor, SceneCensus, SpawnOrder};
use slipgate_actors::scenes::Scenes;
use slipgate_actors::scenes::keeper::{SceneKeeper, Seen};
use slipgate_actors::scenes::workshop::{Materials, Thread, Workshop};
use slipgate_actors::types::Types;
use slipgate_cluster::manager::{Counter, ManagerReply, ManagerRequest, SceneNews};
use slipgate_cluster::message::{
    Control, Data, Identity, Image, ManagerMessage, Message, Nonce, Prepare, Reserve, Sender,
};
use slipgate_cluster::moves::{MoveId, Refusal};
use slipgate_cluster::stream::{Received, StreamId};
use slipgate_cluster::view::{Clearing, Home, Made, Member, ScenePlacement, SceneStage, View};
use slipgate_cluster::{Envelope, Epoch, Limits, NodeName, Now, Own, Place, Port, Record, Session};
use slipgate_entity::{OnlineId, PersistId, PlayerId, RangeId, SceneId, TypeName};
use tokio::sync::oneshot;
use uuid::Uuid;

#[actix_rt::test]
async fn nothing_that_was_meant_for_a_scene_comes_to_the_next_one_of_its_number() {
    let mut node = Node::start();
    let (first, second) = (SceneId::of(40_000, 1), SceneId::of(40_000, 2));
    node.show(Some((first, SceneStage::Opening)));
    node.await_news(first, SceneNews::Opened).await;
    node.show(Some((first, SceneStage::Open)));
    let scene = node.scene(first);
    let ann = spawn(&scene).await;
    let old_handle = handle(&scene, ann).await.expect("she lives there");
    assert_eq!(old_handle, "40000:0/gen1");

    node.show(Some((first, SceneStage::Closing(Clearing::Despawn))));
    node.await_news(first, SceneNews::Cleared).await;
    assert!(node.scenes.get(first).is_none(), "nobody is in it any more");
    node.show(Some((first, SceneStage::Over)));
    node.await_news(first, SceneNews::Forgotten).await;
    assert!(node.scenes.get_even_if_over(first).is_none(), "its actor has ended");
    node.show(None);

    node.show(Some((second, SceneStage::Opening)));
    node.await_news(second, SceneNews::Opened).await;
    node.show(Some((second, SceneStage::Open)));
    let scene = node.scene(second);
    let bob = spawn(&scene).await;
    assert_eq!(handle(&scene, bob).await.as_deref(), Some("40000:0/gen2"), "the old handle names nobody");

    node.say_late_things_to(first, ann);
    let answers = node.answers.taken();
    let refusals = answers.iter().filter(|answer| {
        let refused = |reason: &Refusal| *reason == Refusal::NoScene { scene: first };
        matches!(answer, Message::Control(Control::Refused { reason, .. }) if refused(reason))
    });
    assert_eq!(refusals.count(), 2, "{answers:?}");
    let not_owner = |answer: &&Message| matches!(answer, Message::Control(Control::NotOwner { .. }));
    assert_eq!(answers.iter().filter(not_owner).count(), 1, "{answers:?}");
    let nothing = |answer: &&Message| matches!(answer, Message::Control(Control::Claims { claims, more: false, .. }) if claims.is_empty());
    assert_eq!((answers.iter().filter(nothing).count(), answers.len()), (1, 4), "{answers:?}");
    let SceneCensus { entities, arriving, applied, .. } = ask(&scene, Question::Census).await;
    assert_eq!((entities, arriving, applied), (1, 0, 0), "the later scene has heard nothing of it");
    assert_eq!(handle(&scene, ann).await, None);
}

/// A node without links; its manager is a door that keeps what it is told.
struct Node {
    post: Post,
    scenes: Scenes,
    keeper: Mailbox<SceneKeeper>,
    told: Kept,
    /// What comes to a scene that is not there for anything else.
    answers: Kept,
    version: u64,
}

impl Node {
    fn start() -> Self {
        let clock = NodeClock::start();
        let post = Post::new(me(), Arc::new(view(1, None)), Lease::new(Now(u64::MAX), clock));
        let (told, answers) = (Kept::default(), Kept::default());
        post.open(Port::Manager, Arc::new(told.clone()));
        post.open(Port::Scene(asker().scene), Arc::new(answers.clone()));
        let directory = Mailbox::new(DirectoryActor::new(post.clone(), clock, "n1".to_owned()).start(), 64);
        post.open(Port::Directory, Arc::new(directory.clone()));
        let range = ManagerReply::Range { session: me(), request: 1, counter: Counter::Online, range: RangeId(1) };
        let to = Place { session: me(), port: Port::Directory };
        post.send_one(Port::Manager, to, Message::Manager(ManagerMessage::Reply(range)));
        let router = Mailbox::new(RouterActor::new(0, Limits::default(), post.clone(), clock).start(), 64);
        let materials = Materials {
            post: post.clone(),
            clock,
            types: Types::built_in(),
            limits: Limits { tombstone: Duration::from_millis(30), ..Limits::default() },
            directory,
            chronicle: Mailbox::new(Chronicle::new("n1".to_owned()).start(), 64),
            threads: vec![Thread { arbiter: None, router }],
        };
        let scenes = Scenes::default();
        let workshop = Workshop::new(materials, scenes.clone());
        let keeper = Mailbox::new(SceneKeeper::new(workshop, post.clone(), clock, "n1".to_owned()).start(), 64);
        Self { post, scenes, keeper, told, answers, version: 1 }
    }

    /// The next view, with this scene.
    fn show(&mut self, scene: Option<(SceneId, SceneStage)>) {
        self.version += 1;
        let view = Arc::new(view(self.version, scene));
        self.post.set_view(view.clone());
        self.keeper.tell(Seen(view));
    }

    fn scene(&self, scene: SceneId) -> Mailbox<SceneActor> {
        self.scenes.get(scene).expect("it is open")
    }

    async fn await_news(&self, scene: SceneId, news: SceneNews) {
        let wanted = ManagerRequest::SceneIs { session: me(), scene, news };
        for _ in 0..1_000 {
            let is_it = |message: &Message| *message == Message::Manager(ManagerMessage::Request(wanted.clone()));
            if self.told.taken().iter().any(is_it) {
                return;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        panic!("the manager was not told that {scene} is {news:?}");
    }

    /// All that somebody may have had on its way to a scene, and to somebody in it.
    fn say_late_things_to(&self, scene: SceneId, entity: OnlineId) {
        let (to, from) = (Own::new(me(), scene), asker());
        let (id, label) = (MoveId(Uuid::nil()), Epoch::FIRST.next().next());
        let (type_name, eve) = (TypeName("walker".to_owned()), OnlineId::new(RangeId(1), 77));
        let reserve = Reserve { entity: eve, id, label, type_name: type_name.clone(), type_version: 1, bytes: 3 };
        let identity = Identity {
            type_name,
            type_version: 1,
            label: None,
            persist: PersistId(Uuid::nil()),
            player: PlayerId::NONE,
        };
        let (body, received, sending) = (Vec::new(), Received::default(), Vec::new());
        let image = Image { identity, body, received, sending, base: Epoch::ZERO };
        let data = Data {
            entity,
            stream: StreamId { opened_at: from.into(), generation: 1 },
            seq: 1,
            sender: Sender::Tool(me()),
            reply_to: from.into(),
            hops: 0,
            epoch: Epoch::ZERO,
            base: Epoch::ZERO,
            payload: Arc::from([0u8].as_slice()),
        };
        let record = Record::handed_to(to, label, Epoch::ZERO);
        let letters = [
            Message::Control(Control::Reserve(reserve)),
            Message::Prepare(Arc::new(Prepare { entity: eve, id, from, label, image })),
            Message::Data(data),
            Message::Control(Control::RecordIs { entity: eve, record, nonce: Some(Nonce(1)) }),
            Message::Control(Control::AskClaims { range: RangeId(1), term: 0, after: None }),
        ];
        let letter = |message| Envelope { from: from.into(), to: to.into(), message };
        self.post.send(letters.map(letter).into());
    }
}

/// A door that keeps what comes.
#[derive(Clone, Debug, Default)]
struct Kept(Arc<Mutex<Vec<Message>>>);

impl Kept {
    fn taken(&self) -> Vec<Message> {
        std::mem::take(&mut *self.0.lock().expect("no holder panics"))
    }
}

impl Door for Kept {
    fn put(&self, envelopes: Vec<Envelope>) -> Vec<Envelope> {
        let messages = envelopes.into_iter().map(|envelope| envelope.message);
        self.0.lock().expect("no holder panics").extend(messages);
        Vec::new()
    }
}

async fn ask<T>(scene: &Mailbox<SceneActor>, question: impl FnOnce(oneshot::Sender<T>) -> Question) -> T {
    let (reply, answer) = oneshot::channel();
    scene.tell(AskScene(question(reply)));
    answer.await.expect("the scene answers")
}

async fn spawn(scene: &Mailbox<SceneActor>) -> OnlineId {
    let order = |reply| Question::Spawn(SpawnOrder { type_name: "walker".to_owned(), label: None, reply });
    ask(scene, order).await.expect("room and an id")
}

async fn handle(scene: &Mailbox<SceneActor>, entity: OnlineId) -> Option<String> {
    ask(scene, |reply| Question::Show { entity, reply }).await.map(|(shown, _)| shown.handle)
}

fn me() -> Session {
    Session::new(1, 1)
}

/// Who asks, and hears the answers.
fn asker() -> Own {
    Own::new(me(), SceneId(9))
}

fn view(version: u64, scene: Option<(SceneId, SceneStage)>) -> View {
    let name = |text: &str| NodeName::new(text).expect("a name");
    let member = Member { session: me(), name: name("n1"), address: String::new(), admin: String::new() };
    let placement = |(id, stage)| {
        let made = Some(Made { by: me(), request: 1 });
        let placement = ScenePlacement::declared(id, name("dungeon"), me().node, 10);
        (id, ScenePlacement { stage, made, ..placement })
    };
    View {
        version,
        members: [(me().node, member)].into(),
        scenes: scene.map(placement).into_iter().collect(),
        homes: [(RangeId(1), Home::first(RangeId(1), me()))].into(),
        ..View::default()
    }
}
