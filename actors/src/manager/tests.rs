//! The manager as an actor: what it tells, and what survives it.

use std::sync::atomic::Ordering;
use std::time::Duration;

use actix::Addr;
use slipgate_cluster::manager::{Counter, JoinRefusal, ManagerRequest};
use slipgate_entity::RangeId;
use tokio::sync::mpsc;

use super::store::tests::{breaking_store, join};
use super::*;

#[actix_rt::test]
async fn a_manager_restarted_on_the_same_file_continues_ranges_and_incarnations() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("data/manager.redb");
    for life in 1..=3u32 {
        let (out, mut heard) = recorder();
        let actor = ManagerActor::open(&path, Waits::default(), out, clock()).expect("a store");
        let manager = ManagerThread::start(actor);
        let session = welcomed(ask(manager.addr(), "a", true).await);
        assert_eq!(session, Session::new(1, life));
        manager.addr().send(range_requests(session, &[1, 1, 2])).await.expect("alive");
        let ranges = [next_range(&mut heard).await, next_range(&mut heard).await, next_range(&mut heard).await];
        let first = RangeId(life * 2 - 1);
        assert_eq!(ranges, [first, first, RangeId(life * 2)]);
        manager.stop().await;
    }
}

#[actix_rt::test]
async fn a_stopped_manager_has_closed_its_store_and_drops_the_joins_that_wait() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("manager.redb");
    let manager = ManagerActor::open(&path, Waits::default(), recorder().0, clock()).expect("a store").start();
    let session = welcomed(ask(&manager, "a", false).await);
    manager.send(Link { session, up: true }).await.expect("alive");
    let (reply, answer) = oneshot::channel();
    manager.send(JoinAsked { request: join("a", &[]), own_node: false, reply }).await.expect("alive");
    manager.send(Stop).await.expect("alive");
    assert!(answer.await.is_err());
    ManagerActor::open(&path, Waits::default(), recorder().0, clock()).expect("the store is free");
}

#[actix_rt::test]
async fn a_write_that_fails_answers_nothing_and_stops_the_manager() {
    let (store, breaks) = breaking_store();
    let (out, mut heard) = recorder();
    let manager = ManagerThread::start(ManagerActor::on(store, Waits::default(), out, clock()).expect("a store"));
    let session = welcomed(ask(manager.addr(), "a", false).await);
    while !matches!(heard.recv().await, Some(Heard::Event(ManagerEvent::Joined { .. }))) {}
    breaks.store(true, Ordering::SeqCst);
    manager.addr().send(range_requests(session, &[1])).await.expect("the request was taken");
    assert!(manager.addr().send(Link { session, up: true }).await.is_err(), "the manager has stopped");
    manager.stop().await;
    assert_eq!(heard.recv().await, None, "nothing was told after the failed write");
}

#[actix_rt::test]
async fn a_probe_goes_out_and_its_answer_refuses_the_join() {
    let (out, mut heard) = recorder();
    let manager = ManagerActor::on(breaking_store().0, Waits::default(), out, clock()).expect("a store").start();
    let session = welcomed(ask(&manager, "a", false).await);
    manager.send(Link { session, up: true }).await.expect("alive");
    let (reply, answer) = oneshot::channel();
    manager.send(JoinAsked { request: join("a", &[]), own_node: false, reply }).await.expect("alive");
    while heard.recv().await != Some(Heard::Probe(session)) {}
    manager.send(ProbeAnswered { session }).await.expect("alive");
    assert!(matches!(answer.await, Ok(JoinReply::Refused(JoinRefusal::NameTaken { .. }))));
}

#[actix_rt::test]
async fn a_join_that_nobody_waits_for_is_withdrawn_before_it_is_decided() {
    let manager = ManagerActor::on(breaking_store().0, Waits::default(), recorder().0, clock());
    let manager = manager.expect("a store").start();
    let session = welcomed(ask(&manager, "a", false).await);
    manager.send(Link { session, up: true }).await.expect("alive");
    let (reply, gone) = oneshot::channel();
    manager.send(JoinAsked { request: join("a", &[]), own_node: false, reply }).await.expect("alive");
    drop(gone);
    manager.send(Left { session }).await.expect("alive");
    assert_eq!(welcomed(ask(&manager, "a", false).await), Session::new(1, 2), "no life was spent on it");
}

#[actix_rt::test]
async fn a_welcome_that_reaches_nobody_makes_room_for_the_next_join() {
    let manager = ManagerActor::on(breaking_store().0, Waits::default(), recorder().0, clock());
    let manager = manager.expect("a store").start();
    let (reply, gone) = oneshot::channel();
    drop(gone);
    manager.send(JoinAsked { request: join("a", &[]), own_node: false, reply }).await.expect("alive");
    assert_eq!(welcomed(ask(&manager, "a", false).await), Session::new(1, 2));
}

/// What the manager told.
#[derive(Debug, PartialEq, Eq)]
enum Heard {
    Told(ManagerReply),
    ToldAll(ManagerReply),
    Probe(Session),
    Event(ManagerEvent),
}

/// Hears what the manager tells.
struct Recorder(mpsc::Sender<Heard>);

impl Recorder {
    fn hear(&self, heard: Heard) {
        // A test that is over hears no more.
        let _ = self.0.try_send(heard);
    }
}

impl ManagerOut for Recorder {
    fn tell(&self, _to: Session, reply: ManagerReply) {
        self.hear(Heard::Told(reply));
    }

    fn tell_all(&self, reply: ManagerReply) {
        self.hear(Heard::ToldAll(reply));
    }

    fn probe(&self, session: Session) {
        self.hear(Heard::Probe(session));
    }

    fn event(&self, event: ManagerEvent) {
        self.hear(Heard::Event(event));
    }
}

fn recorder() -> (Box<dyn ManagerOut>, mpsc::Receiver<Heard>) {
    let (sender, receiver) = mpsc::channel(64);
    (Box::new(Recorder(sender)), receiver)
}

/// A clock that stands still: nothing in these tests waits for time to pass.
fn clock() -> Clock {
    Box::new(|| Now(0) + Duration::from_secs(1))
}

async fn ask(manager: &Addr<ManagerActor>, node: &str, own_node: bool) -> JoinReply {
    let (reply, answer) = oneshot::channel();
    manager.send(JoinAsked { request: join(node, &[]), own_node, reply }).await.expect("alive");
    answer.await.expect("an answer")
}

fn welcomed(reply: JoinReply) -> Session {
    let JoinReply::Welcome { session, .. } = reply else { panic!("{reply:?}") };
    session
}

fn range_requests(session: Session, numbers: &[u64]) -> FromNodes {
    let request = |&request| ManagerRequest::Range { session, request, counter: Counter::Online };
    FromNodes(numbers.iter().map(request).map(|request| FromNode { from: session, request }).collect())
}

async fn next_range(heard: &mut mpsc::Receiver<Heard>) -> RangeId {
    loop {
        if let Heard::Told(ManagerReply::Range { range, .. }) = heard.recv().await.expect("more to hear") {
            return range;
        }
    }
}
