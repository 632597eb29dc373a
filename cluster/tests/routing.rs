//! Ownership, migration and routing as one whole: two scenes, a home and a router, with the network in
//! the test's hand.
//!
//! What is promised: one owner at any time; a move leads from the owner over a hold to the other owner;
//! only the owner's scene starts one, and only one at a time; what is sent meanwhile is held, then applied
//! in order and exactly once, also if it is sent between the decision and the replay; an entity that nobody
//! knows is unknown.

use std::collections::{BTreeMap, VecDeque};

use slipgate_cluster::directory::{self, Directory};
use slipgate_cluster::message::{Control, Identity, Message, Sender};
use slipgate_cluster::moves::{MoveError, MoveId, Outcome};
use slipgate_cluster::router::{self, Router, ToSend};
use slipgate_cluster::scene::{
    Answer, Destination, Input, MoveRequest, OnPanic, Output, Route, Scene, Settings, Ticket,
};
use slipgate_cluster::schema::Schema;
use slipgate_cluster::{Envelope, Limits, Now, Own, Place, Port, Session};
use slipgate_entity::{OnlineId, PersistId, PlayerId, RangeId, SceneId, TypeName};
use uuid::Uuid;

const HOME: Place = Place { session: SESSION, port: Port::Directory };
const ROUTER: Place = Place { session: SESSION, port: Port::Router(0) };
const SESSION: Session = Session { node: slipgate_cluster::NodeId(1), incarnation: slipgate_cluster::Incarnation(1) };
const A: Own = Own { session: SESSION, scene: SceneId(1) };
const B: Own = Own { session: SESSION, scene: SceneId(2) };

#[test]
fn assign_and_retire() {
    let mut cluster = Cluster::new();
    let (first, second) = (cluster.spawn(A), cluster.spawn(A));
    assert_eq!(cluster.home.ownership().owner_of(first), Some(A));
    assert_eq!((cluster.count(A), cluster.count(B)), (2, 0));
    cluster.migrate(A, first, B);
    cluster.settle();
    assert_eq!(cluster.home.ownership().owner_of(first), Some(B));
    assert_eq!((cluster.count(A), cluster.count(B)), (1, 1));
    cluster.tell(A, Input::Despawn { ticket: Some(Ticket(9)), entity: second });
    cluster.settle();
    assert_eq!(cluster.home.ownership().owner_of(second), None);
    assert_eq!((cluster.count(A), cluster.count(B)), (0, 1));
}

#[test]
fn migration_handshake() {
    let mut cluster = Cluster::new();
    let entity = cluster.spawn(A);
    assert_eq!(cluster.route(A, entity), Route::Owner(A));
    let ticket = cluster.migrate(A, entity, B);
    assert_eq!((cluster.route(A, entity), cluster.scenes[&A].moves_under_way()), (Route::Owner(A), 1));
    cluster.deliver_until(|cluster| cluster.route(A, entity) == Route::Hold);
    assert_ne!(cluster.route(B, entity), Route::Owner(B), "the target is not active while the record names the source");
    cluster.settle();
    assert_eq!((cluster.route(A, entity), cluster.route(B, entity)), (Route::Owner(B), Route::Owner(B)));
    assert_eq!(cluster.scenes[&A].moves_under_way(), 0);
    let Some(Answer::Moved(done)) = cluster.answers.get(&ticket) else { panic!("the move is answered") };
    assert!(matches!(done.outcome, Outcome::Moved { .. }));
}

#[test]
fn begin_requires_ownership() {
    let mut cluster = Cluster::new();
    let entity = cluster.spawn(A);
    let ticket = cluster.migrate(B, entity, A);
    assert_eq!(cluster.answers.get(&ticket), Some(&Answer::Rejected(MoveError::NotOwner { entity })));
    assert_eq!(cluster.route(A, entity), Route::Owner(A));
}

#[test]
fn begin_twice_is_migrating() {
    let mut cluster = Cluster::new();
    let entity = cluster.spawn(A);
    cluster.migrate(A, entity, B);
    let migrating = Answer::Rejected(MoveError::Migrating { entity });
    let second = cluster.migrate(A, entity, B);
    assert_eq!(cluster.answers.get(&second), Some(&migrating));
    cluster.deliver_until(|cluster| cluster.route(A, entity) == Route::Hold);
    let third = cluster.migrate(A, entity, B);
    assert_eq!(cluster.answers.get(&third), Some(&migrating));
    cluster.settle();
    assert_eq!(cluster.route(A, entity), Route::Owner(B), "the first move is not disturbed");
}

#[test]
fn an_unknown_migration_cannot_be_ended() {
    let mut cluster = Cluster::new();
    let id = MoveId(Uuid::from_u128(404));
    cluster.tell(A, Input::Cancel { ticket: Ticket(9), id });
    assert_eq!(cluster.answers.get(&Ticket(9)), Some(&Answer::Rejected(MoveError::NoMigration { id })));
}

#[test]
fn messages_during_a_migration_are_held_then_delivered_in_order_exactly_once() {
    let mut cluster = Cluster::new();
    let entity = cluster.spawn(A);
    cluster.say(entity, 1);
    cluster.settle();
    cluster.migrate(A, entity, B);
    cluster.deliver_until(|cluster| cluster.route(A, entity) == Route::Hold);
    let mut moving = std::mem::take(&mut cluster.wire);
    for number in 2..=4 {
        cluster.say(entity, number);
    }
    cluster.deliver_until(|cluster| cluster.wire.is_empty());
    assert_eq!(cluster.applied(entity), [1], "held by the source, not applied and not acknowledged");
    assert_eq!(cluster.router.waiting(), 3);
    cluster.wire.append(&mut moving);
    cluster.settle();
    assert_eq!(cluster.route(B, entity), Route::Owner(B));
    assert_eq!(cluster.applied(entity), [1, 2, 3, 4]);
    assert_eq!(cluster.router.waiting(), 0);
}

#[test]
fn a_message_sent_between_the_decision_and_the_replay_does_not_overtake() {
    let mut cluster = Cluster::new();
    let entity = cluster.spawn(A);
    cluster.say(entity, 1);
    cluster.settle();
    cluster.migrate(A, entity, B);
    cluster.deliver_until(|cluster| cluster.route(A, entity) == Route::Hold);
    cluster.say(entity, 2);
    cluster.say(entity, 3);
    cluster.deliver(|envelope| matches!(envelope.message, Message::Data(_)));
    cluster.deliver_until(|cluster| cluster.route(B, entity) == Route::Owner(B));
    cluster.deliver(|envelope| matches!(&envelope.message, Message::Control(Control::RecordIs { .. })));
    let replay = std::mem::take(&mut cluster.wire);
    cluster.say(entity, 4);
    cluster.router_learns(entity);
    cluster.wire.retain(|envelope| {
        envelope.to == Place::from(B) && matches!(&envelope.message, Message::Data(data) if data.seq == 4)
    });
    assert_eq!(cluster.wire.len(), 1, "4 alone arrives before the replay");
    cluster.deliver(|_| true);
    assert_eq!(cluster.applied(entity), [1], "it waits for those before it");
    cluster.wire.extend(replay);
    cluster.settle();
    assert_eq!(cluster.applied(entity), [1, 2, 3, 4]);
}

#[test]
fn an_unknown_entity_is_unknown() {
    let mut cluster = Cluster::new();
    let entity = OnlineId::new(RangeId(1), 77);
    assert_eq!(cluster.route(A, entity), Route::Unknown);
    cluster.say(entity, 1);
    cluster.settle();
    assert_eq!(
        cluster.verdicts,
        [router::Output::Accepted(router::Ticket(1)), router::Output::Dead(router::Ticket(1))]
    );
}

/// Two scenes, the home of their range and a router; what they say waits until it is delivered.
#[derive(Debug)]
struct Cluster {
    now: Now,
    scenes: BTreeMap<Own, Scene>,
    home: Directory,
    router: Router,
    wire: VecDeque<Envelope>,
    /// What each entity has applied, wherever its body is.
    bodies: BTreeMap<OnlineId, Vec<u64>>,
    answers: BTreeMap<Ticket, Answer>,
    verdicts: Vec<router::Output>,
    issued: u32,
}

impl Cluster {
    fn new() -> Self {
        let limits = Limits::default();
        let schema: Schema = [(TypeName("walker".into()), 1, 1)].into_iter().collect();
        let scene = |me| {
            Scene::new(Settings {
                me,
                capacity: 8,
                schema: schema.clone(),
                limits: limits.clone(),
                on_panic: OnPanic::Park,
            })
        };
        let mut home = Directory::new(SESSION);
        home.handle(directory::Input::Opened { range: RangeId(1) }, Now(0), &mut Vec::new());
        Self {
            now: Now(0),
            scenes: [A, B].map(|me| (me, scene(me))).into(),
            home,
            router: Router::new(ROUTER, limits.clone()),
            wire: VecDeque::new(),
            bodies: BTreeMap::new(),
            answers: BTreeMap::new(),
            verdicts: Vec::new(),
            issued: 0,
        }
    }

    fn issue(&mut self) -> u32 {
        self.issued += 1;
        self.issued
    }

    fn spawn(&mut self, at: Own) -> OnlineId {
        let ticket = Ticket(self.issue().into());
        let identity = Identity {
            type_name: TypeName("walker".into()),
            type_version: 1,
            label: None,
            persist: PersistId(Uuid::nil()),
            player: PlayerId::NONE,
        };
        self.tell(at, Input::Spawn { ticket, identity });
        let Some(Answer::Spawned(entity)) = self.answers.get(&ticket) else { panic!("the spawn is answered") };
        *entity
    }

    fn migrate(&mut self, at: Own, entity: OnlineId, to: Own) -> Ticket {
        let number = self.issue();
        let (ticket, id) = (Ticket(number.into()), MoveId(Uuid::from_u128(number.into())));
        self.tell(at, Input::Migrate(Box::new(MoveRequest::new(Some(ticket), id, entity, Ok(to)))));
        ticket
    }

    fn say(&mut self, entity: OnlineId, number: u64) {
        let payload = number.to_le_bytes().as_slice().into();
        let message = ToSend { ticket: router::Ticket(number), entity, payload };
        self.tell_router(router::Input::Send(vec![message]));
    }

    fn router_learns(&mut self, entity: OnlineId) {
        let record = self.home.record(entity).expect("the home of its range");
        self.tell_router(router::Input::Heard {
            from: HOME,
            control: Control::RecordIs { entity, record, nonce: None },
        });
    }

    /// Delivers in order until everybody has been told and acknowledged everything.
    fn settle(&mut self) {
        for _ in 0..3 {
            self.deliver_until(|cluster| cluster.wire.is_empty());
            for own in [A, B] {
                self.tell(own, Input::Flush);
            }
        }
        self.deliver_until(|cluster| cluster.wire.is_empty());
    }

    fn deliver_until(&mut self, done: impl Fn(&Self) -> bool) {
        while !done(self) {
            let envelope = self.wire.pop_front().expect("there is still something to deliver");
            self.hand_in(envelope);
        }
    }

    /// Delivers those on the wire now that are wanted; the others stay.
    fn deliver(&mut self, wanted: impl Fn(&Envelope) -> bool) {
        let (now, later): (Vec<_>, Vec<_>) = std::mem::take(&mut self.wire).into_iter().partition(wanted);
        self.wire.extend(later);
        for envelope in now {
            self.hand_in(envelope);
        }
    }

    fn hand_in(&mut self, Envelope { from, to, message }: Envelope) {
        match (to.port, message) {
            (Port::Scene(scene), message) => {
                self.tell(Own { session: SESSION, scene }, Input::Heard { from, message });
            }
            (Port::Router(_), Message::Control(control)) => self.tell_router(router::Input::Heard { from, control }),
            (Port::Directory, Message::Control(control)) => {
                let mut out = Vec::new();
                self.home.handle(directory::Input::Heard { from, control }, self.now, &mut out);
                for output in out {
                    let directory::Output::Tell { to, control } = output else { panic!("nobody died: {output:?}") };
                    self.send(HOME, to, Message::Control(control));
                }
            }
            (port, message) => panic!("expected an actor of this cluster, got {message:?} to {port:?}"),
        }
    }

    fn tell(&mut self, at: Own, input: Input) {
        let mut out = Vec::new();
        self.scenes.get_mut(&at).expect("one of the two").handle(input, self.now, &mut out);
        for output in out {
            self.perform(at, output);
        }
    }

    fn perform(&mut self, at: Own, output: Output) {
        match output {
            Output::Apply { entity, sender, payload, .. } => {
                assert_eq!(sender, Sender::Tool(SESSION));
                let number = u64::from_le_bytes(payload[..].try_into().expect("eight bytes"));
                self.bodies.entry(entity).or_default().push(number);
            }
            Output::Register { ticket, label } => {
                let entity = OnlineId::new(RangeId(1), self.issue());
                self.home.handle(directory::Input::Registered { entity, owner: at, label }, self.now, &mut Vec::new());
                self.tell(at, Input::Registered { ticket, entity });
            }
            Output::Encode { entity } => self.tell(at, Input::Encoded { entity, body: Vec::new() }),
            Output::Decode { entity, prepare } => {
                self.tell(at, Input::Decoded { entity, label: prepare.label, result: Ok(()) });
            }
            Output::Send { to, message } => {
                let to = match to {
                    Destination::Place(place) => place,
                    Destination::Home(_) => HOME,
                };
                self.send(at.into(), to, message);
            }
            Output::Answer { ticket, answer } => {
                assert_eq!(self.answers.insert(ticket, answer), None, "one answer for {ticket:?}");
            }
            Output::Create { .. }
            | Output::Install { .. }
            | Output::DropStaged { .. }
            | Output::Remove { .. }
            | Output::Adopt(_)
            | Output::Bounced { .. }
            | Output::Park { .. }
            | Output::Unpark { .. }
            | Output::Event(_) => {}
        }
    }

    fn tell_router(&mut self, input: router::Input) {
        let mut out = Vec::new();
        self.router.handle(input, self.now, &mut out);
        for output in out {
            match output {
                router::Output::Data { to, data } => self.send(ROUTER, to.into(), Message::Data(data)),
                router::Output::Close { to, entity, stream, sender } => {
                    self.send(ROUTER, to.into(), Message::Control(Control::Close { entity, stream, sender }));
                }
                router::Output::AskHome { entity, nonce } => {
                    self.send(ROUTER, HOME, Message::Control(Control::Query { entity, nonce }));
                }
                router::Output::Accepted(_)
                | router::Output::Busy(_)
                | router::Output::Applied(_)
                | router::Output::Dead(_)
                | router::Output::Unknown(_)
                | router::Output::Lost(_)
                | router::Output::Failed(_)
                | router::Output::Parked(_) => self.verdicts.push(output),
            }
        }
    }

    fn send(&mut self, from: Place, to: Place, message: Message) {
        self.wire.push_back(Envelope { from, to, message });
    }

    fn route(&self, at: Own, entity: OnlineId) -> Route {
        self.scenes[&at].route(entity)
    }

    fn count(&self, own: Own) -> usize {
        self.home.ownership().count(own)
    }

    fn applied(&self, entity: OnlineId) -> &[u64] {
        self.bodies.get(&entity).map_or(&[], Vec::as_slice)
    }
}
