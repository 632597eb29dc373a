//! What waits in a scene: bounds of an entity and of the node, and that nothing is left of any count.

use std::sync::Arc;

use slipgate_entity::Returned;

use super::super::{Amount, Input, Output};
use super::driver::{Driver, data, entity, epoch, given_back, image, messages, own, reserved, sending, taken_over};
use crate::bounds::WAITING_FIXED_BYTES;
use crate::message::{Control, Data, Image, Message, Payload};
use crate::stream::StreamId;
use crate::{Epoch, Limits, Record};

/// A message of the tool counts so much: eight bytes of payload.
const TOOLS: usize = WAITING_FIXED_BYTES + 8;

/// What counts against the node's budget, and is really there.
fn waits(driver: &mut Driver) -> (usize, usize) {
    driver.pass(100);
    let (held, sent) = driver.scene.audit();
    let Amount { accepted, held: counted } = driver.scene.waits();
    assert_eq!((held.weight(), sent.weight()), (counted, accepted), "after a moment nothing more is counted");
    (accepted, counted)
}

fn frozen_with(limits: Limits, held: usize) -> Driver {
    let mut driver = Driver::active_with(limits);
    driver.tell(Input::Allow(Amount { accepted: 0, held }));
    driver.migrate(1, Ok(own(2)));
    driver.hear(reserved());
    driver
}

#[test]
fn exactly_the_bound_of_an_entity_or_what_the_node_allows_is_held_and_the_rest_is_left_out_and_counted() {
    let wide = Limits::default();
    for (limits, allowed) in [
        (Limits { held_messages: 3, ..wide.clone() }, usize::MAX),
        (Limits { held_bytes: 24, ..wide.clone() }, usize::MAX),
        (wide.clone(), 3 * TOOLS),
        (wide, 4 * TOOLS - 1),
    ] {
        let mut driver = frozen_with(limits, allowed);
        for seq in 1..=30 {
            assert!(driver.data(seq).is_empty());
        }
        assert_eq!(driver.scene.take_left_out(), 27);
        assert_eq!(waits(&mut driver), (0, 3 * TOOLS));
        let out = driver.record(1, taken_over(), None);
        assert_eq!(messages(&out).len(), 3, "what was held goes on in order: {out:?}");
        assert_eq!(waits(&mut driver), (0, 0));
    }
}

#[test]
fn what_was_left_out_is_taken_again_once_the_wait_drains() {
    let mut driver = frozen_with(Limits::default(), 3 * TOOLS);
    (1..=5).for_each(|seq| drop(driver.data(seq)));
    driver.pass(3_000);
    let out = driver.record(1, given_back(), None);
    assert_eq!(super::driver::applied(&out), [1, 2, 3]);
    assert_eq!(super::driver::applied(&driver.data(4)), [4], "an active entity holds nothing");
    assert_eq!(waits(&mut driver), (0, 0));
    assert!(driver.data(6).is_empty(), "behind a gap");
    assert_eq!(waits(&mut driver), (0, TOOLS));
    assert_eq!(super::driver::applied(&driver.data(5)), [5, 6]);
    assert_eq!(waits(&mut driver), (0, 0));
}

#[test]
fn what_waits_behind_a_gap_is_bounded_by_the_entity_and_by_the_node() {
    for (limits, allowed) in [
        (Limits { held_messages: 3, ..Limits::default() }, usize::MAX),
        (Limits { held_bytes: 24, ..Limits::default() }, usize::MAX),
        (Limits::default(), 3 * TOOLS),
    ] {
        let mut driver = Driver::active_with(limits);
        driver.tell(Input::Allow(Amount { accepted: 0, held: allowed }));
        (2..=31).for_each(|seq| drop(driver.data(seq)));
        assert_eq!(driver.scene.take_left_out(), 27);
        assert_eq!(super::driver::applied(&driver.data(1)), [1, 2, 3, 4]);
        assert_eq!(waits(&mut driver), (0, 0));
    }
}

#[test]
fn a_flood_to_a_frozen_entity_does_not_reach_another_that_is_active() {
    let mut driver = frozen_with(Limits::default(), 3 * TOOLS);
    driver.spawn(2);
    for seq in 1..=30 {
        driver.data(seq);
        let to_another = Data { entity: entity(2), ..data(seq) };
        let out = driver.tell(Input::Heard { from: own(3).into(), message: Message::Data(to_another) });
        assert_eq!(super::driver::applied(&out), [seq], "at once");
    }
}

fn says(driver: &mut Driver, bytes: usize) -> Option<Payload> {
    let payload: Payload = Arc::from(vec![7; bytes]);
    let out = driver.tell(Input::Sends { entity: entity(1), to: entity(8), payload: payload.clone() });
    let back = out.into_iter().find_map(|output| {
        let Output::Bounced { payload, why: Returned::Busy, .. } = output else { return None };
        Some(payload)
    })?;
    assert_eq!(back, payload, "it comes back whole");
    Some(back)
}

#[test]
fn what_entities_send_is_bounded_by_the_node_comes_back_whole_and_is_taken_again_once_it_is_acknowledged() {
    let mut driver = Driver::active();
    let weight = WAITING_FIXED_BYTES + 10;
    driver.tell(Input::Allow(Amount { accepted: 4 * weight - 1, held: 0 }));
    driver.record(8, Record::registered(own(2)), None);
    let count = (0..).take_while(|_| says(&mut driver, 10).is_none()).count();
    assert_eq!((count, waits(&mut driver)), (3, (3 * weight, 0)));
    driver.record(8, Record::registered(own(2)), None);
    let (stream, base) = (StreamId { opened_at: own(1).into(), generation: 1 }, Epoch::ZERO);
    let ack = |upto| Control::Ack { entity: entity(8), stream, upto, owner: own(2), epoch: Epoch::FIRST, base };
    driver.hear(ack(2));
    assert_eq!(waits(&mut driver), (weight, 0));
    assert_eq!((says(&mut driver, 10), says(&mut driver, 10)), (None, None));
    assert!(says(&mut driver, 10).is_some());
    driver.hear(ack(5));
    assert_eq!(waits(&mut driver), (0, 0));
}

#[test]
fn what_neighbours_say_to_each_other_counts_until_it_is_applied() {
    let mut driver = Driver::active();
    driver.spawn(2);
    let weight = WAITING_FIXED_BYTES + 1;
    driver.tell(Input::Allow(Amount { accepted: 3 * weight, held: 0 }));
    (0..3).for_each(|_| assert!(driver.sends(1, 2).is_empty()));
    assert!(matches!(driver.sends(1, 2)[..], [Output::Bounced { why: Returned::Busy, .. }]));
    assert_eq!(driver.scene.waits().accepted, 3 * weight);
    let applied = driver.tell(Input::Flush);
    assert_eq!(applied.iter().filter(|output| matches!(output, Output::Apply { .. })).count(), 3);
    assert_eq!(driver.scene.waits().accepted, 0);
    assert!(driver.sends(1, 2).is_empty());
}

#[test]
fn what_an_entity_has_sent_counts_where_it_lives_and_nothing_is_left_however_it_goes() {
    let weight = WAITING_FIXED_BYTES + 1;
    let brings = Image { sending: vec![sending(8), sending(9)], ..image() };
    let arrived = || {
        let mut driver = Driver::new(Limits::default());
        driver.tell(Input::Allow(Amount { accepted: 0, held: 0 }));
        let nonce = super::driver::cas_nonce(&driver.prepare_image(epoch(2), brings.clone()));
        assert_eq!(waits(&mut driver), (0, 0), "it has not arrived");
        let record = Record::handed_to(own(1), epoch(2), Epoch::ZERO);
        driver.record(1, record, Some(nonce));
        assert_eq!(waits(&mut driver), (2 * weight, 0), "beyond what is allowed, for it is accepted");
        assert!(says(&mut driver, 1).is_some());
        (driver, record)
    };
    let (mut driver, record) = arrived();
    driver.record(8, Record::registered(own(2)).changed_to(None), None);
    assert_eq!(waits(&mut driver), (weight, 0), "a receiver is dead");
    driver.record(1, record.changed_to(Some(own(3))), None);
    assert_eq!(waits(&mut driver), (0, 0), "it went on");
    let (mut driver, record) = arrived();
    driver.record(1, record.changed_to(None), None);
    assert_eq!(waits(&mut driver), (0, 0), "it is dead, and a router has what is left");
    let (mut driver, record) = arrived();
    driver.record(1, Record { base: epoch(3), ..record.changed_to(Some(own(1))) }, None);
    assert_eq!(waits(&mut driver), (0, 0), "its streams were reset");
}

#[test]
fn rows_of_tables_are_told_whatever_is_counted_and_an_audit_says_what_is_wrong() {
    let mut driver = Driver::active_with(Limits::default());
    driver.scene.waiting.put_sent(crate::budget::Load::one(8));
    assert_eq!(driver.scene.tables().unacknowledged, 0);
    let audit = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| driver.scene.audit()));
    let said = audit.expect_err("one message is counted and not there");
    let said = said.downcast_ref::<String>().expect("a text");
    assert!(said.contains("to be unacknowledged"), "{said}");
    driver.scene.waiting.take_sent(crate::budget::Load::one(8));
}
