//! Messages that decode and are nonsense all the same, from a peer that belongs to the cluster.
//!
//! | module | holds |
//! |---|---|
//! | `homes` | what is said to homes, those that work and those that come to be |
//! | `members` | what is said to the manager, and by it |
//! | `speaker` | a peer that says anything, with values at the ends of what they can be |
//! | `stage` | a scene with honest entities, as its shell would run it |
//!
//! Keeps: no machine panics; what a peer can make them keep is bounded; an honest entity stays active and its
//! stream goes on, whatever is said by others than its home. A home is believed (a link lets nobody else
//! speak as one), so its words are only held to the first two.

#[path = "nonsense/homes.rs"]
mod homes;
#[path = "nonsense/members.rs"]
mod members;
#[path = "hostile/meter.rs"]
mod meter;
#[path = "nonsense/speaker.rs"]
mod speaker;
#[path = "nonsense/stage.rs"]
mod stage;

use std::collections::BTreeSet;
use std::sync::Arc;

use slipgate_cluster::message::{Control, Data, Message, Reserve, Sender};
use slipgate_cluster::moves::MoveId;
use slipgate_cluster::router::{self, Router, ToSend};
use slipgate_cluster::scene::{Input, MoveRequest};
use slipgate_cluster::schema::{Part, Parts};
use slipgate_cluster::stream::StreamId;
use slipgate_cluster::{Epoch, Limits, Now, Own, Place, Port, Record, Session, bounds};
use slipgate_entity::{OnlineId, RangeId, SceneId, TypeName};
use uuid::Uuid;

use meter::peak;
use speaker::Speaker;
use stage::{CAPACITY, HONEST, ME, Stage, friend, honest};

const SEEDS: u64 = 20;
const STEPS: usize = 3_000;

#[test]
fn honest_entities_stay_active_and_their_streams_go_on_whatever_peers_say() {
    for seed in 0..SEEDS {
        let mut speaker = Speaker::new(seed);
        let mut stage = Stage::new(Limits::default());
        for step in 0..STEPS as u64 {
            stage.hear(speaker.place(), speaker.message());
            if step % 10 == 0 {
                stage.pass(1_000);
                stage.talk();
            }
        }
        let talks = STEPS as u64 / 10;
        assert_eq!(stage.applied, [talks; HONEST as usize], "seed {seed}");
        assert_eq!(stage.acknowledged, [talks; HONEST as usize], "seed {seed}");
        for counter in 0..HONEST {
            let stand = stage.scene.stand(honest(counter)).unwrap_or_else(|| panic!("seed {seed}: {counter} is gone"));
            assert_eq!((stand.phase, stand.epoch), ("active", Epoch::FIRST), "seed {seed}");
        }
        assert!(stage.scene.len() + stage.scene.arriving() <= CAPACITY as usize, "seed {seed}");
    }
}

#[test]
fn nobody_is_silenced_by_a_stream_of_a_number_that_was_never_given_out() {
    let mut stage = Stage::new(Limits::default());
    let mut speaker = Speaker::new(6);
    for generation in [bounds::NUMBER_MAX + 1, u64::MAX - 1, u64::MAX] {
        for counter in 0..HONEST {
            let (entity, stream) = (honest(counter), StreamId { opened_at: friend(), generation });
            for sender in [Sender::Entity(invented(1)), Sender::Tool(friend().session)] {
                stage.hear(speaker.place(), Message::Control(Control::Close { entity, stream, sender }));
                let data = Data { entity, stream, seq: 1, sender, base: Epoch::ZERO, ..speaker.data() };
                stage.hear(speaker.place(), Message::Data(data));
            }
        }
    }
    assert_eq!(stage.scene.take_left_out(), 3 * u64::from(HONEST) * 4);
    stage.talk();
    assert_eq!((stage.applied, stage.acknowledged), ([1; HONEST as usize], [1; HONEST as usize]));
}

#[test]
fn a_move_under_way_ends_with_an_answer_whatever_peers_say() {
    for seed in 0..SEEDS {
        let mut speaker = Speaker::new(seed);
        let mut stage = Stage::new(Limits::default());
        for round in 0..200u64 {
            let to = Own::new(Session::new(2, 1), SceneId(2));
            let id = MoveId(Uuid::from_u128(u128::from(round % 4)));
            let request = MoveRequest { body_bytes: 10, ..MoveRequest::new(None, id, honest(2), Ok(to)) };
            stage.give(Input::Migrate(Box::new(request)));
            for _ in 0..20 {
                let message = match speaker.below(4) {
                    0 => Message::Control(speaker.word_of_a_home()),
                    _ => speaker.message(),
                };
                stage.hear(speaker.place(), message);
                stage.pass(50_000);
            }
        }
        stage.give(Input::Stop);
        assert_eq!(stage.scene.moves_under_way(), 0, "seed {seed}");
    }
}

#[test]
fn no_word_of_a_false_home_ends_a_scene_or_keeps_it_from_spawning() {
    for seed in 0..SEEDS {
        let mut speaker = Speaker::new(seed);
        let mut stage = Stage::new(Limits::default());
        for step in 0..STEPS {
            let message = match speaker.below(3) {
                0 => Message::Control(speaker.word_of_a_home()),
                _ => speaker.message(),
            };
            stage.hear(speaker.place(), message);
            if let Some(granted) = stage.granted.take_if(|_| step % 2 == 0) {
                // Copies with any numbers take over, and go on with them.
                stage.hear(friend(), Message::Control(granted));
            }
            if step % 50 == 0 {
                stage.pass(100_000);
                // The directory gives ids that somebody may have brought here before they were given out.
                stage.spawn(5 + u32::try_from(step / 50).expect("small"));
            }
        }
        assert!(stage.scene.len() + stage.scene.arriving() <= CAPACITY as usize, "seed {seed}");
        stage.give(Input::Stop);
    }
}

#[test]
fn an_epoch_at_its_end_is_refused_by_the_home_and_by_scenes() {
    let near = Epoch::new(0, u32::MAX - 1);
    assert!(near.next().is_last() && !near.is_last());
    let mut stage = Stage::new(Limits::default());
    let to = Own::new(Session::new(2, 1), SceneId(2));
    let id = MoveId(Uuid::from_u128(1));
    stage
        .give(Input::Migrate(Box::new(MoveRequest { body_bytes: 1, ..MoveRequest::new(None, id, honest(0), Ok(to)) })));
    for epoch in [Epoch::new(0, u32::MAX), Epoch::new(u32::MAX, u32::MAX)] {
        let record = Record { owner: Some(ME), epoch, data: Epoch::FIRST, lost: false, base: Epoch::ZERO };
        let control = Control::RecordIs { entity: honest(0), record, nonce: None };
        stage.hear(friend(), Message::Control(control));
    }
    assert_eq!(stage.scene.stand(honest(0)).map(|stand| stand.epoch), Some(Epoch::FIRST));
}

#[test]
fn a_router_keeps_what_it_accepted_and_nothing_that_peers_invent() {
    let mut speaker = Speaker::new(2);
    let me = Place { session: Session::new(1, 1), port: Port::Router(0) };
    let mut router = Router::new(me, Limits::default());
    let mut out = Vec::new();
    let batch = (0..HONEST).map(|counter| ToSend {
        ticket: router::Ticket(u64::from(counter)),
        entity: honest(counter),
        payload: Arc::from(b"hi".as_slice()),
    });
    router.handle(router::Input::Send(batch.collect()), Now(0), &mut out);
    let mut answered = BTreeSet::new();
    for step in 0..100_000 {
        out.clear();
        router.handle(
            router::Input::Heard { from: speaker.place(), control: speaker.control() },
            Now(step * 100),
            &mut out,
        );
        router.handle(router::Input::Tick, Now(step * 100), &mut out);
        assert!(out.len() < 100);
        answered.extend(out.iter().filter_map(|output| match output {
            router::Output::Applied(ticket)
            | router::Output::Dead(ticket)
            | router::Output::Unknown(ticket)
            | router::Output::Lost(ticket)
            | router::Output::Failed(ticket)
            | router::Output::Parked(ticket) => Some(*ticket),
            router::Output::Data { .. }
            | router::Output::AskHome { .. }
            | router::Output::Close { .. }
            | router::Output::Accepted(_)
            | router::Output::Busy(_) => None,
        }));
        assert_eq!(router.waiting() + answered.len(), HONEST as usize);
    }
    for step in 0..10_000 {
        router.handle(
            router::Input::Heard { from: speaker.place(), control: speaker.word_of_a_home() },
            Now(step),
            &mut out,
        );
        out.clear();
    }
}

/// An id that nobody ever gave out.
fn invented(number: u32) -> OnlineId {
    OnlineId::new(RangeId(77), number)
}

fn peer() -> Place {
    Place { session: Session::new(2, 1), port: Port::Scene(SceneId(2)) }
}

#[test]
fn room_asked_for_a_hundred_thousand_invented_entities_again_and_again_is_bounded_and_given_back() {
    let mut stage = Stage::new(Limits::default());
    let held = peak(|| {
        for round in 0..3 {
            for number in 0..100_000 {
                let (entity, id) = (invented(number), MoveId(Uuid::from_u128(1)));
                let own = Part { name: TypeName("walker".to_owned()), version: 1 };
                let parts = Parts::new(own, Vec::new()).expect("one part");
                let reserve = Reserve { entity, id, label: Epoch::new(0, 2), parts, bytes: 9 };
                stage.hear(peer(), Message::Control(Control::Reserve(reserve)));
            }
            stage.pass(1_000 * round);
        }
    });
    assert!(held < 1 << 20, "{held}");
    assert!(stage.scene.arriving() < CAPACITY as usize);
    stage.pass(60_000_000);
    assert_eq!(stage.scene.arriving(), 0);
    stage.talk();
    assert_eq!(stage.applied, [1; HONEST as usize]);
}

#[test]
fn copies_of_a_hundred_thousand_invented_entities_are_bounded_in_number_and_in_bytes() {
    let mut stage = Stage::new(Limits::default());
    let mut speaker = Speaker::new(5);
    let mut model = speaker.prepare();
    model.image.received = slipgate_cluster::stream::Received::default();
    model.image.sending.clear();
    model.image.identity.label = None;
    model.image.body = vec![0; 256 << 10];
    model.label = Epoch::new(0, 2);
    let held = peak(|| {
        for number in 0..100_000 {
            let mut prepare = model.clone_without_body_if(number >= 1_000);
            prepare.entity = invented(number);
            stage.hear(peer(), Message::Prepare(Arc::new(prepare)));
        }
    });
    assert!(held < bounds::STAGED_BYTES + (4 << 20), "{held}");
    assert!(stage.scene.arriving() < CAPACITY as usize);
    assert!(stage.scene.take_left_out() > 0);
}

trait Thrift {
    /// A copy; without its body, where making many would take the time of the test.
    fn clone_without_body_if(&self, thrifty: bool) -> Self;
}

impl Thrift for slipgate_cluster::message::Prepare {
    fn clone_without_body_if(&self, thrifty: bool) -> Self {
        if !thrifty {
            return self.clone();
        }
        let (identity, received) = (self.image.identity.clone(), self.image.received.clone());
        let image = slipgate_cluster::message::Image {
            identity,
            body: Vec::new(),
            received,
            sending: Vec::new(),
            base: Epoch::ZERO,
            parked: None,
        };
        Self { image, ..*self }
    }
}

fn data(entity: OnlineId, generation: u64, seq: u64, bytes: usize) -> Message {
    let stream = StreamId { opened_at: peer(), generation };
    let sender = Sender::Tool(peer().session);
    let payload = Arc::from(vec![0; bytes]);
    Message::Data(Data {
        entity,
        stream,
        seq,
        sender,
        reply_to: peer(),
        hops: 0,
        payload,
        base: Epoch::ZERO,
        epoch: Epoch::ZERO,
    })
}

#[test]
fn invented_streams_to_one_entity_are_bounded_and_known_ones_go_on() {
    let mut stage = Stage::new(Limits::default());
    stage.talk();
    for invented in 1..=100_000 {
        let Message::Data(data) = data(honest(0), invented, 1, 0) else { panic!("expected a message to an entity") };
        let sender = Sender::Entity(OnlineId::new(RangeId(9), u32::try_from(invented).expect("small")));
        stage.hear(peer(), Message::Data(Data { sender, ..data }));
    }
    let stand = stage.scene.stand(honest(0)).expect("it lives");
    assert_eq!(stand.senders, bounds::STREAMS_PER_ENTITY as u64);
    assert_eq!(stage.scene.take_left_out(), 100_001 - bounds::STREAMS_PER_ENTITY as u64);
    let held = peak(|| {
        for node in 1..=100_000 {
            let opened_at = Place { session: Session::new(7, node), ..peer() };
            let (stream, sender) = (StreamId { opened_at, generation: 1 }, Sender::Tool(opened_at.session));
            stage.hear(peer(), Message::Control(Control::Close { entity: honest(0), stream, sender }));
        }
    });
    assert!(held < 1 << 20, "{held}");
    assert_eq!(stage.scene.take_left_out(), 100_000);
    stage.talk();
    assert_eq!(stage.applied, [2; HONEST as usize]);
}

#[test]
fn what_waits_for_gaps_in_many_entities_is_bounded_over_all_of_them_and_counted_anew() {
    let mut stage = Stage::new(Limits::default());
    for counter in HONEST..200 {
        stage.spawn(counter);
    }
    let flood = |stage: &mut Stage| {
        for counter in 0..200 {
            for seq in 2..60 {
                stage.hear(peer(), data(honest(counter), 1, seq, 16 << 10));
            }
        }
    };
    let held = peak(|| flood(&mut stage));
    assert!(held < bounds::WAITING_BYTES + (8 << 20), "{held}");
    assert!(stage.scene.take_left_out() > 0);
    // The gaps close, so there is room again once the sum is taken anew.
    for counter in 0..200 {
        stage.hear(peer(), data(honest(counter), 1, 1, 0));
    }
    stage.pass(1_000_000);
    stage.hear(peer(), data(honest(0), 2, 2, 10));
    assert_eq!(stage.scene.take_left_out(), 0);
}

#[test]
fn an_entity_that_is_made_to_write_to_invented_ones_is_told_busy_at_a_bound() {
    let mut stage = Stage::new(Limits::default());
    let held = peak(|| {
        for number in 0..20_000 {
            let payload = Arc::from(b"hi".as_slice());
            stage.give(Input::Sends { entity: honest(0), to: invented(number), payload });
        }
    });
    assert!(held < 16 << 20, "{held}");
    let stand = stage.scene.stand(honest(0)).expect("it lives");
    assert_eq!(stand.unacknowledged, bounds::RECEIVERS_PER_ENTITY as u64);
}
