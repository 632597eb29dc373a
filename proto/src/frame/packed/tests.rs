//! What packed batches hold, cost and refuse.

use proptest::collection::vec;
use proptest::prelude::{Just, ProptestConfig, Strategy, any, prop_assert_eq, prop_oneof, proptest};

use super::*;

fn place(node: u16, port: Port) -> Place {
    Place { session: Session::new(node, u32::from(node) << 20), port }
}

fn ports() -> impl Strategy<Value = Port> {
    prop_oneof![
        Just(Port::Router(0)),
        Just(Port::Router(u16::MAX)),
        any::<u32>().prop_map(|id| Port::Scene(SceneId(id)))
    ]
}

fn places() -> impl Strategy<Value = Place> {
    (0..3u16, ports()).prop_map(|(node, port)| place(node, port))
}

/// Few different ones, so that items have parts in common; and the ends of what a number may be.
fn numbers() -> impl Strategy<Value = u64> {
    prop_oneof![0..3u64, 249..252u64, 65_534..65_538u64, Just(u64::from(u32::MAX)), Just(u64::MAX), any::<u64>()]
}

fn epochs() -> impl Strategy<Value = Epoch> {
    prop_oneof![Just(Epoch::ZERO), Just(Epoch::FIRST), (any::<u32>(), any::<u32>()).prop_map(|(t, n)| Epoch::new(t, n))]
}

fn entities() -> impl Strategy<Value = OnlineId> {
    (0..3u32, prop_oneof![0..3u32, Just(u32::MAX)]).prop_map(|(range, counter)| OnlineId::new(RangeId(range), counter))
}

fn streams() -> impl Strategy<Value = StreamId> {
    (places(), numbers()).prop_map(|(opened_at, generation)| StreamId { opened_at, generation })
}

fn senders() -> impl Strategy<Value = Sender> {
    prop_oneof![entities().prop_map(Sender::Entity), places().prop_map(|place| Sender::Tool(place.session))]
}

fn messages() -> impl Strategy<Value = Message> {
    let speakers = (senders(), epochs(), places());
    let payloads = vec(any::<u8>(), 0..300);
    let numbers = (entities(), streams(), numbers());
    (numbers, speakers, 0..3u8, epochs(), payloads).prop_map(
        |(numbers, (sender, epoch, reply_to), hops, base, payload)| {
            let (entity, stream, seq) = numbers;
            Message::Data(Data { entity, stream, seq, sender, reply_to, hops, payload: payload.into(), base, epoch })
        },
    )
}

fn acknowledgements() -> impl Strategy<Value = Message> {
    (entities(), streams(), numbers(), places(), epochs(), epochs()).prop_map(
        |(entity, stream, upto, place, epoch, base)| {
            let owner = Own::new(place.session, SceneId(7));
            Message::Control(Control::Ack { entity, stream, upto, owner, epoch, base })
        },
    )
}

/// Batches in which an item may be said again, as the next of its stream would be.
fn batches(items: impl Strategy<Value = Message>) -> impl Strategy<Value = Vec<Wire>> {
    let wires = (ports(), ports(), items, 1..4usize).prop_map(|(from, to, message, times)| {
        let again = (0..times as u64).map(move |more| {
            let mut message = message.clone();
            if let Message::Data(data) = &mut message {
                data.seq = data.seq.wrapping_add(more);
            } else if let Message::Control(Control::Ack { upto, .. }) = &mut message {
                *upto = upto.wrapping_add(more);
            }
            Wire { from, to, message }
        });
        again.collect::<Vec<_>>()
    });
    vec(wires, 1..20).prop_map(|wires| wires.concat())
}

fn packed(batch: &[Wire]) -> Vec<u8> {
    let mut bytes = Vec::new();
    append(batch, &mut bytes);
    bytes
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_batch_of_messages_reads_back_as_it_was_written(batch in batches(messages())) {
        prop_assert_eq!(decode(Family::Messages, &packed(&batch)).expect("bytes of our own"), batch);
    }

    #[test]
    fn a_batch_of_acknowledgements_reads_back_as_it_was_written(batch in batches(acknowledgements())) {
        prop_assert_eq!(decode(Family::Acknowledgements, &packed(&batch)).expect("bytes of our own"), batch);
    }

    #[test]
    fn a_batch_that_is_cut_or_padded_is_an_error(batch in batches(messages()), at in any::<proptest::sample::Index>()) {
        let mut bytes = packed(&batch);
        bytes.push(0);
        prop_assert_eq!(decode(Family::Messages, &bytes).is_err(), true);
        bytes.truncate(at.index(bytes.len() - 1));
        prop_assert_eq!(decode(Family::Messages, &bytes).is_err(), true);
    }
}

fn message(seq: u64) -> Wire {
    let router = place(1, Port::Router(0));
    let data = Data {
        entity: OnlineId::new(RangeId(3), 5),
        stream: StreamId { opened_at: router, generation: 6 },
        seq,
        sender: Sender::Tool(router.session),
        reply_to: router,
        hops: 0,
        payload: Arc::from(b"hi".as_slice()),
        base: Epoch::ZERO,
        epoch: Epoch::ZERO,
    };
    Wire { from: router.port, to: Port::Scene(SceneId(7)), message: Message::Data(data) }
}

#[test]
fn the_next_message_of_a_stream_costs_two_bytes_and_its_payload() {
    let (one, two) = (packed(&[message(1)]), packed(&[message(1), message(2)]));
    assert_eq!(two.len() - one.len(), 2 + b"hi".len());
}

#[test]
fn a_number_of_items_that_the_bytes_cannot_hold_is_refused() {
    let items = |count: u16, bytes: usize| [&count.to_be_bytes()[..], &vec![0; bytes]].concat();
    let most = u16::try_from(ITEMS_MAX).expect("it is written as one");
    for (count, bytes) in [(0, 0), (0, 100), (most + 1, 4 * ITEMS_MAX), (u16::MAX, 1 << 18), (2, 3)] {
        let result = decode(Family::Messages, &items(count, bytes));
        assert!(matches!(result, Err(PackedError::Count { .. })), "{count} in {bytes}: {result:?}");
    }
    // A message without marks and payload: the next of a stream that nobody opened. That is for the scene to judge.
    assert_eq!(decode(Family::Messages, &items(most, 2 * ITEMS_MAX)).expect("a batch").len(), ITEMS_MAX);
}

#[test]
fn marks_that_nobody_gives_are_refused() {
    for (family, marks) in [(Family::Messages, 0x40), (Family::Messages, 0x80), (Family::Acknowledgements, STREAM)] {
        let result = decode(family, &[&[0, 1, marks][..], &[0; 40]].concat());
        assert!(matches!(result, Err(PackedError::Marks { marks: found }) if found == marks), "{result:?}");
    }
}

#[test]
fn a_batch_that_is_mixed_empty_or_too_long_is_not_packed() {
    let ack = Control::NotOwner {
        entity: OnlineId::new(RangeId(3), 5),
        stream: StreamId { opened_at: place(1, Port::Member), generation: 1 },
    };
    let other = Wire { message: Message::Control(ack), ..message(1) };
    assert!(is_of(Family::Messages, &[message(1)]));
    assert!(!is_of(Family::Acknowledgements, &[message(1)]));
    assert!(!is_of(Family::Messages, &[message(1), other]));
    assert!(!is_of(Family::Messages, &[]));
    assert!(is_of(Family::Messages, &vec![message(1); ITEMS_MAX]));
    assert!(!is_of(Family::Messages, &vec![message(1); ITEMS_MAX + 1]));
}
