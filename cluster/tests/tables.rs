//! A million messages over a hundred thousand streams and a hundred thousand moves, and what is left of it all.
//!
//! Three nodes with two scenes each, their homes and routers, as they ship, on a network that loses nothing. In each of
//! a hundred rounds a thousand pairs talk, tools among them, while nearly everybody moves, some are born and some die.
//! Then all rest for longer than a stream may. What the machines remember is what the living need, after every round:
//! nothing of a stream, at most one number for each scene and router that ever opened some, and at the homes one record for
//! each who lives, of twenty who were born.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

use slipgate_cluster::directory::{self, Directory};
use slipgate_cluster::message::{Control, Identity, Message, Payload};
use slipgate_cluster::moves::{MoveId, Outcome};
use slipgate_cluster::router::{self, Router, ToSend};
use slipgate_cluster::scene::{
    Answer, Destination, Input, MoveRequest, OnPanic, Output, Scene, Settings, Tables, Ticket,
    answer_for_a_missing_scene,
};
use slipgate_cluster::schema::Schema;
use slipgate_cluster::stream::StreamId;
use slipgate_cluster::{Envelope, Limits, Now, Own, Place, Port, Session};
use slipgate_entity::{OnlineId, PersistId, PlayerId, RangeId, SceneId, TypeName};
use uuid::Uuid;

const NODES: u16 = 3;
const SCENES: u16 = 6;
const ROUNDS: usize = 100;
/// Who lives at a time, and how many of them are others in the next round.
const PEOPLE: usize = 1_200;
const BORN: usize = 200;
/// Who moves in a round.
const MOVES: usize = 1_000;
/// Streams of entities and of tools that are begun in a round, and what is said on each.
const FRIENDS: usize = 700;
const TOOLS: usize = 300;
const SAID: usize = 10;

#[test]
fn after_a_million_messages_over_as_many_streams_and_moves_as_a_tenth_only_what_the_living_need_is_kept() {
    let mut town = Town::new();
    town.spawn(PEOPLE - BORN);
    for round in 0..ROUNDS {
        town.spawn(BORN);
        town.talk(round);
        town.move_about();
        town.bury(BORN);
        town.rest(Duration::from_secs(7));
        town.check_that_streams_are_forgotten();
        town.check_that_the_dead_are_forgotten();
    }
    town.rest(Duration::from_secs(60));
    let Town { said, applied, moved, streams, .. } = &town;
    assert_eq!((*said, *applied), (1_000_000, 1_000_000));
    assert_eq!((*moved, streams.len()), (ROUNDS * MOVES, ROUNDS * (FRIENDS + TOOLS)));
    let openers = usize::from(NODES + SCENES);
    for (own, scene) in &town.scenes {
        let Tables { entities, floors, .. } = scene.tables();
        assert!(floors <= entities * openers, "{own:?}: {floors} floors for {entities} entities");
        let needed = Tables { entities, floors, ..Tables::default() };
        assert_eq!(scene.tables(), needed, "{own:?}");
    }
    for router in &town.routers {
        assert_eq!(router.tables(), router::Tables::default());
    }
}

/// Everybody in one process, with the network in the test's hand.
struct Town {
    now: Now,
    scenes: BTreeMap<Own, Scene>,
    homes: Vec<Directory>,
    routers: Vec<Router>,
    wire: VecDeque<Envelope>,
    /// Who lives where, eldest first.
    people: VecDeque<(OnlineId, Own)>,
    issued: u32,
    said: u64,
    applied: u64,
    moved: usize,
    streams: BTreeSet<StreamId>,
}

impl Town {
    fn new() -> Self {
        let limits = Limits::default();
        let schema: Schema = [(TypeName("walker".into()), 1, 1)].into_iter().collect();
        let scene = |number| {
            let me = Own::new(session(1 + number % NODES), SceneId::from(number));
            let settings = Settings {
                me,
                capacity: 10_000,
                schema: schema.clone(),
                limits: limits.clone(),
                on_panic: OnPanic::Park,
            };
            (me, Scene::new(settings))
        };
        let home = |node| {
            let mut home = Directory::new(session(node));
            home.handle(directory::Input::Opened { range: range(node) }, Now(0), &mut Vec::new());
            home
        };
        let place = |node| Place { session: session(node), port: Port::Router(0) };
        Self {
            now: Now(1),
            scenes: (0..SCENES).map(scene).collect(),
            homes: (1..=NODES).map(home).collect(),
            routers: (1..=NODES).map(|node| Router::new(place(node), limits.clone())).collect(),
            wire: VecDeque::new(),
            people: VecDeque::new(),
            issued: 0,
            said: 0,
            applied: 0,
            moved: 0,
            streams: BTreeSet::new(),
        }
    }

    fn spawn(&mut self, count: usize) {
        let scenes: Vec<_> = self.scenes.keys().copied().collect();
        for number in 0..count {
            let ticket = Ticket(self.issue().into());
            let identity = Identity {
                type_name: TypeName("walker".into()),
                type_version: 1,
                label: None,
                persist: PersistId(Uuid::nil()),
                player: PlayerId::NONE,
            };
            self.tell(scenes[number % scenes.len()], Input::Spawn { ticket, identity });
        }
    }

    /// Whom somebody talks to differs from round to round; nobody talks to those about to die.
    fn talk(&mut self, round: usize) {
        let people: Vec<_> = self.people.iter().copied().collect();
        let staying = &people[BORN..];
        for pair in 0..FRIENDS {
            let (sender, at) = people[pair * 7 % people.len()];
            // Neighbours begin no stream.
            let after = (pair * 11 + round * 13) % staying.len();
            let apart = staying.iter().cycle().skip(after).find(|(_, elsewhere)| *elsewhere != at);
            let (to, _) = *apart.expect("somebody lives elsewhere");
            for _ in 0..SAID {
                self.said += 1;
                self.tell(at, Input::Sends { entity: sender, to, payload: payload() });
            }
        }
        for number in 0..TOOLS {
            let (entity, _) = staying[(number * 3 + round) % staying.len()];
            let node = number % usize::from(NODES);
            let say = |ticket| ToSend { ticket: router::Ticket(ticket), entity, payload: payload() };
            self.said += SAID as u64;
            self.tell_router(node, router::Input::Send((0..SAID as u64).map(say).collect()));
        }
    }

    fn move_about(&mut self) {
        let scenes: Vec<_> = self.scenes.keys().copied().collect();
        for index in 0..MOVES {
            let (entity, at) = self.people[BORN + index];
            let here = scenes.iter().position(|own| *own == at).expect("one of the scenes");
            let to = scenes[(here + 1 + index % (scenes.len() - 1)) % scenes.len()];
            let number = self.issue();
            let (ticket, id) = (Some(Ticket(number.into())), MoveId(Uuid::from_u128(number.into())));
            self.people[BORN + index].1 = to;
            self.tell(at, Input::Migrate(Box::new(MoveRequest::new(ticket, id, entity, Ok(to)))));
            if index % 50 == 0 {
                // Some have left before others set out, and what was said to them follows.
                self.deliver();
            }
        }
    }

    fn bury(&mut self, count: usize) {
        for _ in 0..count {
            let (entity, at) = self.people.pop_front().expect("enough people");
            let ticket = Ticket(self.issue().into());
            self.tell(at, Input::Despawn { ticket: Some(ticket), entity });
        }
    }

    fn rest(&mut self, time: Duration) {
        let until = self.now + time;
        while self.now < until {
            self.deliver();
            self.now = self.now + Duration::from_millis(100);
            for own in self.scenes.keys().copied().collect::<Vec<_>>() {
                self.tell(own, Input::Tick);
            }
            for node in 0..self.routers.len() {
                self.tell_router(node, router::Input::Tick);
            }
        }
        self.deliver();
    }

    fn check_that_streams_are_forgotten(&self) {
        for (own, scene) in &self.scenes {
            let Tables { open, outboxes, receivers, waiting, .. } = scene.tables();
            assert_eq!((open, outboxes, receivers, waiting), (0, 0, 0, 0), "{own:?}");
        }
        for router in &self.routers {
            assert_eq!(router.tables(), router::Tables::default());
        }
    }

    fn check_that_the_dead_are_forgotten(&self) {
        let records = self.homes.iter().map(|home| home.tables().records);
        assert_eq!(records.sum::<usize>(), self.people.len());
        let kept =
            |home: &Directory| directory::Tables { records: home.tables().records, ranges: 1, ..Default::default() };
        for home in &self.homes {
            assert_eq!(home.tables(), kept(home));
        }
    }

    fn deliver(&mut self) {
        loop {
            for own in self.scenes.keys().copied().collect::<Vec<_>>() {
                self.tell(own, Input::Flush);
            }
            if self.wire.is_empty() {
                return;
            }
            for _ in 0..self.wire.len().min(1_000) {
                let envelope = self.wire.pop_front().expect("as many as counted");
                self.hand_in(envelope);
            }
        }
    }

    fn hand_in(&mut self, envelope: Envelope) {
        let Envelope { from, to, message } = envelope;
        let node = usize::from(to.session.node.0 - 1);
        match (to.port, message) {
            (Port::Scene(scene), message) => {
                let own = Own::new(to.session, scene);
                if self.scenes.contains_key(&own) {
                    self.tell(own, Input::Heard { from, message });
                } else if let Some(answer) = answer_for_a_missing_scene(Envelope { from, to, message }) {
                    self.wire.push_back(answer);
                }
            }
            (Port::Router(_), Message::Control(control)) => {
                self.tell_router(node, router::Input::Heard { from, control })
            }
            (Port::Directory, Message::Control(control)) => {
                let mut out = Vec::new();
                self.homes[node].handle(directory::Input::Heard { from, control }, self.now, &mut out);
                for output in out {
                    let directory::Output::Tell { to: back, control } = output else { panic!("nobody died") };
                    self.wire.push_back(Envelope { from: to, to: back, message: Message::Control(control) });
                }
            }
            (port, message) => panic!("expected an actor of the town, got {message:?} to {port:?}"),
        }
    }

    fn tell(&mut self, at: Own, input: Input) {
        let mut out = Vec::new();
        self.scenes.get_mut(&at).expect("one of the scenes").handle(input, self.now, &mut out);
        for output in out {
            self.perform(at, output);
        }
    }

    fn perform(&mut self, at: Own, output: Output) {
        match output {
            Output::Apply { .. } => self.applied += 1,
            Output::Register { ticket, label } => {
                let (node, counter) = (at.session.node.0, self.issue());
                let entity = OnlineId::new(range(node), counter);
                let registered = directory::Input::Registered { entity, owner: at, label };
                self.homes[usize::from(node - 1)].handle(registered, self.now, &mut Vec::new());
                self.people.push_back((entity, at));
                self.tell(at, Input::Registered { ticket, entity });
            }
            Output::Encode { entity } => self.tell(at, Input::Encoded { entity, body: vec![1; 8] }),
            Output::Decode { entity, prepare } => {
                self.tell(at, Input::Decoded { entity, label: prepare.label, result: Ok(()) });
            }
            Output::Send { to, message } => {
                let to = match to {
                    Destination::Place(place) => place,
                    Destination::Home(entity) => home(entity),
                };
                let envelope = self.noted(Envelope { from: at.into(), to, message });
                self.wire.push_back(envelope);
            }
            Output::Adopt(orphans) => {
                self.tell_router(usize::from(at.session.node.0 - 1), router::Input::Adopt(orphans));
            }
            Output::Answer { answer: Answer::Moved(done), .. } => {
                assert!(matches!(done.outcome, Outcome::Moved { .. }), "{done:?}");
                self.moved += 1;
            }
            Output::Bounced { .. } | Output::Park { .. } | Output::Unpark { .. } => {
                panic!("expected everybody to have room, got {output:?}")
            }
            Output::Answer { .. }
            | Output::Create { .. }
            | Output::Install { .. }
            | Output::DropStaged { .. }
            | Output::Remove { .. }
            | Output::Event(_) => {}
        }
    }

    fn tell_router(&mut self, node: usize, input: router::Input) {
        let me = Place { session: session(1 + u16::try_from(node).expect("few nodes")), port: Port::Router(0) };
        let mut out = Vec::new();
        self.routers[node].handle(input, self.now, &mut out);
        for output in out {
            let (to, message) = match output {
                router::Output::Data { to, data } => (to.into(), Message::Data(data)),
                router::Output::Close { to, entity, stream, sender } => {
                    (to.into(), Message::Control(Control::Close { entity, stream, sender }))
                }
                router::Output::AskHome { entity, nonce } => {
                    (home(entity), Message::Control(Control::Query { entity, nonce }))
                }
                router::Output::Accepted(_) | router::Output::Applied(_) => continue,
                router::Output::Busy(_)
                | router::Output::Dead(_)
                | router::Output::Unknown(_)
                | router::Output::Lost(_)
                | router::Output::Failed(_)
                | router::Output::Parked(_) => {
                    panic!("expected everything to be accepted and applied, got {output:?}")
                }
            };
            let envelope = self.noted(Envelope { from: me, to, message });
            self.wire.push_back(envelope);
        }
    }

    fn noted(&mut self, envelope: Envelope) -> Envelope {
        if let Message::Data(data) = &envelope.message
            && data.seq == 1
        {
            self.streams.insert(data.stream);
        }
        envelope
    }

    fn issue(&mut self) -> u32 {
        self.issued += 1;
        self.issued
    }
}

fn payload() -> Payload {
    [0u8; 8].as_slice().into()
}

fn session(node: u16) -> Session {
    Session::new(node, 1)
}

fn range(node: u16) -> RangeId {
    RangeId(node.into())
}

fn home(entity: OnlineId) -> Place {
    let node = u16::try_from(entity.range().0).expect("ranges are numbered like nodes");
    Place { session: session(node), port: Port::Directory }
}
