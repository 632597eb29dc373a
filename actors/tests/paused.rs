//! A node whose lease has ended accepts nothing, says so, and loses nothing of what it had begun.

use std::sync::Arc;
use std::time::Duration;

use actix::Actor;
use slipgate_actors::chronicle::Chronicle;
use slipgate_actors::clock::NodeClock;
use slipgate_actors::directory::DirectoryActor;
use slipgate_actors::lease::Lease;
use slipgate_actors::mailbox::Mailbox;
use slipgate_actors::post::Post;
use slipgate_actors::router::{RouterActor, SendBatch};
use slipgate_actors::scene::{self, AskScene, Question, SceneActor, SpawnOrder};
use slipgate_actors::types::Types;
use slipgate_cluster::manager::{Counter, ManagerReply};
use slipgate_cluster::message::{ManagerMessage, Message};
use slipgate_cluster::scene::Settings;
use slipgate_cluster::{Limits, Now, Own, Place, Port, Session, View};
use slipgate_entity::{OnlineId, RangeId, SceneId};
use slipgate_proto::admin::SendReport;
use tokio::sync::oneshot;

const ME: Session = Session { node: slipgate_cluster::NodeId(1), incarnation: slipgate_cluster::Incarnation(1) };

#[actix_rt::test]
async fn what_a_tool_sends_through_a_paused_node_comes_back_as_busy_all_of_it() {
    let clock = NodeClock::start();
    let post = Post::new(ME, Arc::new(View::default()), Lease::new(Now(0), clock));
    let router = Mailbox::new(RouterActor::new(0, Limits::default(), post, clock).start(), 64);
    let (reply, report) = oneshot::channel();
    let message = |position: u32| (position, OnlineId::new(RangeId(1), position), Arc::from([1u8].as_slice()));
    router.tell(SendBatch { messages: vec![message(4), message(7)], wait: Some(Duration::from_secs(9)), reply });
    let busy = SendReport { busy: 2, busy_at: vec![4, 7], incarnation: 1, ..SendReport::default() };
    assert_eq!(report.await.expect("an answer"), busy);
}

#[actix_rt::test]
async fn a_spawn_that_meets_the_end_of_the_lease_waits_for_the_next_one() {
    let clock = NodeClock::start();
    let lease = Lease::new(Now(u64::MAX >> 1), clock);
    let post = Post::new(ME, Arc::new(View::default()), lease.clone());
    let directory = Mailbox::new(DirectoryActor::new(post.clone(), clock, "m".to_owned()).start(), 64);
    post.open(Port::Directory, Arc::new(directory.clone()));
    let range = ManagerReply::Range { session: ME, request: 1, counter: Counter::Online, range: RangeId(1) };
    let place = Place { session: ME, port: Port::Directory };
    post.send_one(Port::Manager, place, Message::Manager(ManagerMessage::Reply(range)));
    let types = Types::built_in();
    let settings = Settings {
        me: Own::new(ME, SceneId(1)),
        capacity: 10,
        schema: types.schema(),
        limits: Limits::default(),
        on_panic: slipgate_cluster::scene::OnPanic::Park,
    };
    let router = Mailbox::new(RouterActor::new(0, Limits::default(), post.clone(), clock).start(), 64);
    let chronicle = Mailbox::new(Chronicle::new("n1".to_owned()).start(), 64);
    let around = scene::Surroundings { post: post.clone(), clock, types, directory, router, chronicle, keeper: None };
    let scene = Mailbox::new(SceneActor::new(settings, around, 1).start(), 64);

    lease.end();
    let (reply, mut spawned) = oneshot::channel();
    scene.tell(AskScene(Question::Spawn(SpawnOrder { type_name: "walker".to_owned(), label: None, reply })));
    let (census, counted) = oneshot::channel();
    scene.tell(AskScene(Question::Census(census)));
    assert_eq!(counted.await.expect("looking takes no lease").entities, 0);
    assert!(spawned.try_recv().is_err(), "nothing is spawned without a lease");
    lease.prolong(Now(u64::MAX >> 1));
    assert!(spawned.await.expect("an answer").is_ok());
}
