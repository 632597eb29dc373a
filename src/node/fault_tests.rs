//! Faults of our own in a node that a program has: whichever actor panics, the node ends, and nothing else.

use std::io::Write;
use std::net::{TcpListener, TcpStream};
use std::sync::Mutex;
use std::time::Duration;

use actix::{Actor, Context, Handler, Message};
use metrics_exporter_prometheus::PrometheusBuilder;
use slipgate_actors::chronicle::Chronicle;
use slipgate_actors::directory::DirectoryActor;
use slipgate_actors::mailbox::Mailbox;
use slipgate_actors::manager::ManagerActor;
use slipgate_actors::manager_seat::Seat;
use slipgate_actors::member::MemberActor;
use slipgate_actors::router::RouterActor;
use slipgate_actors::scene::SceneActor;
use slipgate_actors::scenes::keeper::SceneKeeper;
use slipgate_cluster::NodeName;
use slipgate_entity::game::Types;
use slipgate_proto::admin::{Answer, Problem, Question};
use slipgate_walker::Walker;
use tokio::time::timeout;

use super::NodeError;
use super::wiring::Wired;
use crate::admin::{self, Oracle, Settings};
use crate::block_on;
use crate::cluster::Cluster;
use crate::fault::Alarm;
use crate::telemetry;

/// Makes an actor break, as on an invariant of its own.
#[derive(Debug, Message)]
#[rtype(result = "()")]
struct Break;

macro_rules! breaks {
    ($($actor:ident),*) => {
        $(impl Handler<Break> for $actor {
            type Result = ();

            fn handle(&mut self, Break: Break, _: &mut Self::Context) {
                panic!("expected the {} to be whole", stringify!($actor));
            }
        })*
    };
}

breaks!(Chronicle, DirectoryActor, ManagerActor, MemberActor, RouterActor, SceneActor, SceneKeeper);

/// A way to break one actor.
struct Way {
    node: String,
    actor: &'static str,
    go: Box<dyn Fn() + Send>,
}

static WAYS: Mutex<Vec<Way>> = Mutex::new(Vec::new());

/// Called for each life of each node: remembers how its actors are broken.
pub(super) fn offer(node: &NodeName, wired: &Wired, seat: Option<&Seat>) {
    let mut ways = WAYS.lock().expect("nobody panics while it is held");
    let mut offer = |actor, go| ways.push(Way { node: node.to_string(), actor, go });
    offer("chronicle", way(&wired.chronicle));
    offer("directory", way(&wired.directory));
    offer("keeper", way(&wired.keeper));
    offer("member", way(&wired.joined.member));
    for (name, router) in ["router here", "router there"].into_iter().zip(&wired.routers) {
        offer(name, way(router));
    }
    for (name, scene) in ["scene here", "scene there"].into_iter().zip(&wired.scenes.all()) {
        offer(name, way(scene));
    }
    if let Some(seat) = seat.cloned() {
        offer("manager", Box::new(move || seat.tell(Break)));
    }
}

fn way<A>(mailbox: &Mailbox<A>) -> Box<dyn Fn() + Send>
where
    A: Actor<Context = Context<A>> + Handler<Break>,
{
    let mailbox = mailbox.clone();
    Box::new(move || mailbox.tell(Break))
}

fn go(node: &str, actor: &str) {
    let ways = WAYS.lock().expect("nobody panics while it is held");
    let found = ways.iter().rev().find(|way| way.node == node && way.actor == actor);
    (found.unwrap_or_else(|| panic!("expected a way to break the {actor} of {node}")).go)();
}

/// Two nodes, the first of which has the manager and two threads with a scene each. Leases are short: the test waits for a verdict.
async fn cluster(first: &str, second: &str) -> Cluster {
    let types = Types::builder().entity::<Walker>().build().expect("the walker is a type");
    let builder = Cluster::builder().node(first, ["forest", "mine"]).node(second, ["harbor", "pier"]).types(types);
    let builder = builder.set("node.arbiters", "2").set("manager.lease", "1s").set("manager.margin", "200ms");
    builder.start().await.expect("a cluster")
}

/// Threads of this process that are of a node.
fn threads_of(node: &str) -> usize {
    let all = std::fs::read_dir("/proc/self/task").expect("threads");
    let names = all.flatten().filter_map(|thread| std::fs::read_to_string(thread.path().join("comm")).ok());
    // The system keeps fifteen letters of a name.
    names.filter(|name| name.trim_end() == format!("node {node}")).count()
}

#[test]
fn whichever_actor_breaks_its_node_ends_wholly_the_program_hears_why_and_the_others_go_on() {
    let actors =
        ["chronicle", "directory", "keeper", "member", "router here", "router there", "scene here", "scene there"];
    for (number, actor) in actors.into_iter().enumerate() {
        let (whole, broken) = (format!("w{number}"), format!("b{number}"));
        block_on(async {
            let cluster = cluster(&whole, &broken).await;
            let ann = cluster.scene("harbor").spawn_named("walker").await.expect("spawned");
            let node = cluster.node(&broken).expect("declared");
            go(&broken, actor);
            let fault = timeout(LONG, node.fault()).await.expect("the program hears of it");
            assert!(
                fault.what.starts_with("expected the ") && fault.what.ends_with(" to be whole"),
                "{actor}: {fault}"
            );
            let place = fault.place.as_deref().expect("it says where");
            assert!(place.contains("fault_tests.rs"), "{actor}: {fault}");
            let gone = async {
                while threads_of(&broken) > 0 || TcpStream::connect(node.admin()).is_ok() {
                    tokio::time::sleep(LOOK).await;
                }
            };
            timeout(LONG, gone).await.unwrap_or_else(|_| panic!("{actor}: a thread or a port of the node is left"));
            let asked = node.find(&ann.id().to_string()).await.expect_err("nobody is there to answer");
            assert_eq!(asked.reason, "fault", "{actor}: {asked:?}");
            // The one that is whole takes turns, and the lease of the other ends with a verdict.
            let bob = cluster.scene("forest").spawn_named("walker").await.expect("spawned");
            let other = cluster.node(&whole).expect("declared");
            let bob = other.attach(&bob);
            bob.show().await.expect("it lives");
            let lost = async {
                while !is_lost(other, &ann.id().to_string()).await {
                    tokio::time::sleep(LOOK).await;
                }
            };
            timeout(LONG, lost).await.unwrap_or_else(|_| panic!("{actor}: no verdict on the node that broke"));
            let Err(NodeError::Fault(told)) = cluster.stop().await else { panic!("{actor}: expected the fault") };
            assert_eq!(told, fault, "{actor}");
        });
    }
}

async fn is_lost(node: &crate::Node, entity: &str) -> bool {
    node.find(entity).await.is_err_and(|problem| problem.reason == "dead")
}

#[test]
fn a_manager_that_breaks_ends_its_node_and_none_takes_its_place_there() {
    block_on(async {
        let cluster = cluster("m1", "m2").await;
        let node = cluster.node("m1").expect("declared");
        go("m1", "manager");
        let fault = timeout(LONG, node.fault()).await.expect("the program hears of it");
        assert_eq!(fault.what, "expected the ManagerActor to be whole");
        let gone = async {
            while threads_of("m1") > 0 {
                tokio::time::sleep(LOOK).await;
            }
        };
        timeout(LONG, gone).await.expect("all of it ends");
        assert!(matches!(cluster.stop().await, Err(NodeError::Fault(told)) if told == fault));
    });
}

#[derive(Clone, Debug)]
struct Broken;

impl Oracle for Broken {
    async fn ask(&self, _: Question) -> Result<Answer, Problem> {
        panic!("expected an oracle that answers")
    }
}

#[test]
fn a_thread_that_answers_http_is_the_nodes_too() {
    telemetry::watch_panics();
    actix_rt::System::new().block_on(async {
        let alarm = Alarm::of_a_program();
        let _set = alarm.set();
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let metrics = PrometheusBuilder::new().build_recorder().handle();
        let settings = Settings::new("n1".to_owned(), None, metrics, "{}".into());
        let serving = admin::serve(listener, Broken, settings).expect("a listener");
        let (address, handle) = (serving.address(), serving.handle());
        actix_rt::spawn(serving.run());
        let mut caller = TcpStream::connect(address).expect("it listens");
        caller.write_all(b"GET /api/v1/nodes HTTP/1.1\r\nHost: localhost\r\n\r\n").expect("it reads");
        let fault = timeout(LONG, alarm.raised()).await.expect("it is heard");
        assert_eq!(fault.what, "expected an oracle that answers");
        handle.stop(false).await;
    });
}

/// How long anything may take.
const LONG: Duration = Duration::from_secs(60);
/// Between two looks.
const LOOK: Duration = Duration::from_millis(10);
