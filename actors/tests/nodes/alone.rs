//! One node without links, whose manager is the test: it hears what the manager is asked, and says what the view is.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use slipgate_actors::desk::{self, Desk, DeskActor, Stage};
use slipgate_actors::drain;
use slipgate_actors::mailbox::{Door, Mailbox};
use slipgate_actors::post::Post;
use slipgate_actors::router::RouterActor;
use slipgate_actors::scene::SceneActor;
use slipgate_actors::scenes::Scenes;
use slipgate_actors::scenes::keeper::{SceneKeeper, Seen};
use slipgate_actors::transport::memory::MemoryNetwork;
use slipgate_cluster::manager::{ManagerRequest, SceneNews};
use slipgate_cluster::message::{ManagerMessage, Message};
use slipgate_cluster::view::{Home, Made, ScenePlacement, SceneStage, View};
use slipgate_cluster::{Envelope, Limits, NodeName, Own, Port, Session};
use slipgate_entity::game::Types;
use slipgate_entity::{RangeId, SceneId};
use tokio::sync::{Notify, watch};
use tokio::time::timeout;

use crate::node::{self, CLUSTER, LIMIT, Make, Node, me, member, name, walkers};

/// A node without links; its manager is a door that keeps what it is told.
pub(crate) struct Alone {
    pub(crate) post: Post,
    pub(crate) scenes: Scenes,
    keeper: Mailbox<SceneKeeper>,
    pub(crate) router: Mailbox<RouterActor>,
    told: Kept,
    /// What comes to a scene that is not there for anything else.
    pub(crate) answers: Kept,
    pub(crate) desk: Desk,
    version: u64,
}

impl Alone {
    pub(crate) fn start() -> Self {
        Self::start_with(walkers())
    }

    pub(crate) fn start_with(types: Types) -> Self {
        let limits = Limits { tombstone: Duration::from_millis(30), ..Limits::default() };
        let make = Make { manager: "n1", limits, types: types.clone(), ..Make::default() };
        let (node, workshop) = Node::start(me(), make);
        let (told, answers) = (Kept::default(), Kept::default());
        node.post.open(Port::Manager, Arc::new(told.clone()));
        node.post.open(Port::Scene(asker().scene), Arc::new(answers.clone()));
        let (keeper, member) = node.join(workshop, Arc::new(MemoryNetwork::default()));
        let Node { post, clock, scenes, directory, router, chronicle, .. } = node;
        let (drain, _, _) = drain::channel("n1", clock);
        let desk = DeskActor::open(desk::Surroundings {
            cluster: CLUSTER.to_owned(),
            name: name(1),
            manager: name(1),
            version: "0",
            message_bytes: Limits::default().message_bytes,
            stage: watch::Sender::new(Stage::Working).subscribe(),
            drain,
            post: post.clone(),
            clock,
            types,
            scenes: scenes.clone(),
            keeper: keeper.clone(),
            routers: vec![router.clone()],
            directory,
            member,
            chronicle,
        });
        Self { post, scenes, keeper, router, told, answers, desk, version: 1 }
    }

    /// The next view, with this scene.
    pub(crate) fn show(&mut self, scene: Option<(SceneId, SceneStage)>) {
        self.version += 1;
        let view = Arc::new(view(self.version, scene));
        self.post.set_view(view.clone());
        self.keeper.tell(Seen(view));
    }

    /// A door in place of the link to another node, which it makes known.
    pub(crate) fn link(&mut self, session: Session) -> Kept {
        let kept = Kept::default();
        self.post.link(session, Arc::new(kept.clone()));
        self.change(|view| {
            view.members.insert(session.node, member(session));
        });
        kept
    }

    /// The next view, with that home.
    pub(crate) fn name_home(&mut self, range: RangeId, session: Session) {
        self.change(|view| {
            view.homes.insert(range, Home::first(range, session));
        });
    }

    /// The next view, with a verdict on that session.
    pub(crate) fn bury(&mut self, session: Session) {
        self.change(|view| {
            view.dead.insert(session.node, session.incarnation);
        });
    }

    fn change(&mut self, change: impl FnOnce(&mut View)) {
        self.version += 1;
        let mut view = View { version: self.version, ..View::clone(&self.post.view()) };
        change(&mut view);
        self.post.set_view(Arc::new(view));
    }

    pub(crate) fn scene(&self, scene: SceneId) -> Mailbox<SceneActor> {
        self.scenes.get(scene).expect("it is open")
    }

    pub(crate) async fn await_news(&self, scene: SceneId, news: SceneNews) {
        let wanted = ManagerRequest::SceneIs { session: me(), scene, news };
        self.await_request(&format!("{scene} is {news:?}"), |request| (*request == wanted).then_some(())).await;
    }

    /// Takes what the manager is told until it is asked for what is looked for.
    pub(crate) async fn await_request<T>(&self, what: &str, find: impl Fn(&ManagerRequest) -> Option<T>) -> T {
        let find = |message: &Message| {
            let Message::Manager(ManagerMessage::Request(request)) = message else { return None };
            find(request)
        };
        self.told.await_one(what, find).await
    }
}

/// A door that keeps what comes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Kept {
    messages: Arc<Mutex<Vec<Message>>>,
    came: Arc<Notify>,
}

impl Kept {
    pub(crate) fn taken(&self) -> Vec<Message> {
        std::mem::take(&mut *self.messages.lock().expect("no holder panics"))
    }

    /// Takes what comes until it is what is looked for.
    pub(crate) async fn await_one<T>(&self, what: &str, find: impl Fn(&Message) -> Option<T>) -> T {
        let found = async {
            loop {
                if let Some(found) = self.taken().iter().find_map(&find) {
                    return found;
                }
                self.came.notified().await;
            }
        };
        timeout(LIMIT, found).await.unwrap_or_else(|_| panic!("it was not said: {what}"))
    }
}

impl Door for Kept {
    fn put(&self, envelopes: Vec<Envelope>) -> Vec<Envelope> {
        let messages = envelopes.into_iter().map(|envelope| envelope.message);
        self.messages.lock().expect("no holder panics").extend(messages);
        self.came.notify_one();
        Vec::new()
    }
}

/// Who asks, and hears the answers.
pub(crate) fn asker() -> Own {
    Own::new(me(), SceneId(9))
}

fn view(version: u64, scene: Option<(SceneId, SceneStage)>) -> View {
    let placement = |(id, stage)| {
        let name = NodeName::new("dungeon").expect("a name");
        let made = Some(Made { by: me(), request: 1 });
        (id, ScenePlacement { stage, made, ..ScenePlacement::declared(id, name, me().node, 10) })
    };
    View { version, scenes: scene.map(placement).into_iter().collect(), ..node::view(1, &[]) }
}
