//! Rows of `Frozen`.

use slipgate_entity::{OnlineId, Returned};

use super::super::{Answer, Departure, Destination, Input, Output, Route, Ticket};
use super::driver::{
    Driver, acks, answers, applied, cas, controls, copies, data, ended, entity, epoch, given_back, identity, messages,
    move_id, own, reserved, router, taken_over, to, tool_stream,
};
use crate::message::{Control, Message};
use crate::moves::{Outcome, Refusal, Step};
use crate::{Epoch, Limits, Record};

#[test]
fn frozen_data_is_held_and_never_acknowledged() {
    let mut driver = Driver::frozen();
    assert!(driver.data(1).is_empty());
    assert!(driver.tell(Input::Flush).is_empty());
    assert_eq!(driver.scene.stand(entity(1)).expect("it lives here").applied, 0);
}

#[test]
fn frozen_data_is_held_within_bounds() {
    let mut driver = Driver::active_with(Limits { held_messages: 2, ..Limits::default() });
    driver.migrate(1, Ok(own(2)));
    driver.hear(reserved());
    for seq in 1..=3 {
        driver.data(seq);
    }
    let out = driver.record(1, taken_over(), None);
    assert_eq!(messages(&out).len(), 2);
}

#[test]
fn a_tick_repeats_the_copy_and_asks_the_home() {
    let mut driver = Driver::frozen();
    assert!(driver.pass(99).is_empty());
    for wait in [1, 200, 400] {
        let out = driver.pass(wait);
        assert_eq!(copies(&out), [(to(own(2)), epoch(2))]);
        let asked = controls(&out);
        assert!(matches!(asked[..], [(Destination::Home(_), Control::Query { .. })]), "{asked:?}");
    }
}

#[test]
fn past_the_deadline_the_source_asks_the_home_to_name_it_again() {
    let mut driver = Driver::frozen();
    assert_eq!(cas(&driver.pass(2_999)), []);
    assert_eq!(cas(&driver.pass(1)), [((own(1), epoch(1)), given_back())]);
    assert_eq!(driver.phase(1), Some("deciding"));
    assert_eq!(ended(&driver.record(1, given_back(), None)), [Outcome::Timeout { step: Step::Transfer }]);
}

#[test]
fn a_lost_target_and_a_refusal_and_a_cancel_give_up_in_the_same_way() {
    let id = move_id(1);
    let reason = Refusal::Full { capacity: 4 };
    let refused = Control::Refused { entity: entity(1), id, label: epoch(2), reason: reason.clone() };
    let heard = Input::Heard { from: own(2).into(), message: Message::Control(refused) };
    let inputs = [
        (Input::PeerLost(own(2).session), Outcome::NodeLost),
        (heard, Outcome::Refused(reason)),
        (Input::Cancel { ticket: Ticket(9), id }, Outcome::Cancelled),
    ];
    for (input, outcome) in inputs {
        let mut driver = Driver::frozen();
        let out = driver.tell(input);
        assert_eq!(cas(&out), [((own(1), epoch(1)), given_back())]);
        assert!(ended(&out).is_empty());
        assert_eq!(ended(&driver.record(1, given_back(), None)), [outcome]);
    }
}

#[test]
fn a_refusal_of_another_label_and_the_loss_of_another_node_do_not_give_up() {
    let mut driver = Driver::frozen();
    let (id, reason) = (move_id(1), Refusal::Draining);
    assert!(driver.hear(Control::Refused { entity: entity(1), id, label: epoch(7), reason }).is_empty());
    assert!(driver.tell(Input::PeerLost(own(3).session)).is_empty());
    assert_eq!(driver.phase(1), Some("frozen"));
}

#[test]
fn a_record_that_names_the_target_ends_it_and_hands_on_what_was_held_in_order() {
    let mut driver = Driver::frozen();
    for seq in [1, 2, 3] {
        driver.data(seq);
    }
    let out = driver.record(1, taken_over(), None);
    assert_eq!(out[0], Output::Remove { entity: entity(1), why: Departure::Moved(own(2)) });
    assert_eq!(messages(&out), [1, 2, 3].map(|seq| (to(own(2)), entity(1), seq)));
    assert_eq!(driver.scene.route(entity(1)), Route::Owner(own(2)));
    let out = driver.data(4);
    let redirect = Control::Redirect { entity: entity(1), stream: tool_stream(), owner: own(2), epoch: epoch(2) };
    assert_eq!(controls(&out), [(Destination::Place(router()), &redirect)]);
}

#[test]
fn a_message_at_the_limit_of_hops_is_not_handed_on_and_its_sender_is_told() {
    let mut driver = Driver::frozen();
    let tired = crate::message::Data { hops: Limits::default().hops, ..data(1) };
    driver.tell(Input::Heard { from: router(), message: Message::Data(tired) });
    let out = driver.record(1, taken_over(), None);
    assert!(messages(&out).is_empty());
    assert!(controls(&out).iter().any(|(at, control)| {
        *at == Destination::Place(router()) && matches!(control, Control::Redirect { owner, .. } if *owner == own(2))
    }));
}

#[test]
fn a_target_that_handed_the_entity_on_has_taken_it_over_all_the_same() {
    let mut driver = Driver::frozen();
    driver.data(1);
    let out = driver.record(1, Record::handed_to(own(3), epoch(3), Epoch::ZERO), None);
    assert_eq!(messages(&out), [(to(own(3)), entity(1), 1)]);
    let out = driver.pass(1_000);
    assert_eq!(ended(&out), [Outcome::Moved { epoch: epoch(2) }]);
    assert!(matches!(&answers(&out)[..], [(Ticket(1), Answer::Moved(done))] if done.to == Ok(own(2))));
}

#[test]
fn a_target_where_the_entity_has_died_since_took_it_over_all_the_same() {
    let mut driver = Driver::active();
    driver.sends(1, 8);
    driver.migrate(1, Ok(own(2)));
    driver.hear(reserved());
    driver.data(1);
    let out =
        driver.record(1, Record { owner: None, epoch: epoch(3), data: epoch(2), lost: false, base: Epoch::ZERO }, None);
    assert_eq!(ended(&out), [Outcome::Moved { epoch: epoch(2) }]);
    assert!(!out.iter().any(|output| matches!(output, Output::Adopt(_))), "its windows are the target's to pass on");
    assert!(controls(&out).iter().any(|(_, control)| matches!(control, Control::NotOwner { .. })));
}

#[test]
fn a_record_that_still_names_the_source_at_a_higher_epoch_sends_the_copy_under_the_next_label() {
    let mut driver = Driver::frozen();
    let out = driver.record(1, given_back(), None);
    assert_eq!(copies(&out), [(to(own(2)), epoch(3))]);
    assert_eq!(driver.phase(1), Some("frozen"));
    let out = driver.record(1, Record::handed_to(own(2), epoch(3), Epoch::ZERO), None);
    assert!(matches!(out[0], Output::Remove { .. }));
}

#[test]
fn a_copy_too_large_once_encoded_thaws_at_once_and_nothing_has_left() {
    let mut driver = Driver::active_with(Limits { state_bytes: 100, ..Limits::default() });
    driver.migrate(1, Ok(own(2)));
    driver.body = Some(vec![0; 200]);
    let out = driver.hear(reserved());
    assert_eq!(ended(&out), [Outcome::Refused(Refusal::TooLarge { bytes: 200, bytes_max: 100 })]);
    assert!(copies(&out).is_empty() && cas(&out).is_empty());
    assert_eq!(driver.phase(1), Some("active"));
    assert_eq!(applied(&driver.data(1)), [1]);
    assert_eq!(acks(&driver.tell(Input::Flush)), [1]);
}

#[test]
fn prepare_for_an_entity_that_lives_here_is_ignored_in_every_phase() {
    let phases = [Driver::active as fn() -> Driver, Driver::reserving, Driver::frozen, Driver::deciding];
    for driver in phases {
        let mut driver = driver();
        assert!(driver.prepare(epoch(1)).is_empty());
        let out = driver.prepare(epoch(3));
        assert!(matches!(controls(&out)[..], [(Destination::Home(_), Control::Query { .. })]), "the home has news");
        assert_eq!((driver.scene.arriving(), driver.scene.len()), (0, 1));
        assert_eq!(driver.scene.stand(entity(1)).expect("it lives here").identity, identity());
    }
}

#[test]
fn the_targets_word_decides_nothing_and_only_asks_the_home() {
    let mut driver = Driver::frozen();
    let out = driver.hear(Control::Arrived { entity: entity(1), id: move_id(1), epoch: epoch(2) });
    assert!(matches!(controls(&out)[..], [(Destination::Home(_), Control::Query { .. })]));
    assert_eq!(driver.phase(1), Some("frozen"));
}

/// How many messages to whom a copy has with it.
fn sending(out: &[Output]) -> Vec<(OnlineId, usize)> {
    let streams = out.iter().find_map(|output| {
        let Output::Send { message: Message::Prepare(prepare), .. } = output else { return None };
        Some(prepare.image.sending.iter().map(|stream| (stream.entity(), stream.waiting())).collect())
    });
    streams.expect("a copy left")
}

#[test]
fn what_an_entity_says_while_it_is_encoded_goes_with_the_copy_behind_what_it_had_said_and_leaves_from_there() {
    let mut driver = Driver::reserving();
    driver.spawn(2);
    driver.sends(1, 2);
    driver.last_words = vec![2, 9, 9];
    let out = driver.hear(reserved());
    assert_eq!(sending(&out), [(entity(2), 2), (entity(9), 2)]);
    assert_eq!(messages(&out), [], "nobody knows yet where the two are");
    let later = driver.sends(1, 9);
    assert!(matches!(later[..], [Output::Bounced { why: Returned::Busy, .. }]), "{later:?}");
    driver.record(9, Record::registered(own(3)), None);
    let out = [driver.record(1, taken_over(), None), driver.pass(500)].concat();
    assert!(messages(&out).iter().all(|(_, to, _)| *to != entity(9)), "{out:?}");
    assert_eq!(driver.scene.tables().unacknowledged, 0, "it has taken all along");
}

#[test]
fn what_an_entity_says_while_it_is_encoded_leaves_from_here_if_the_move_comes_to_nothing() {
    let mut given_up = Driver::reserving();
    given_up.last_words = vec![9];
    given_up.hear(reserved());
    given_up.tell(Input::Cancel { ticket: Ticket(9), id: move_id(1) });
    given_up.record(1, given_back(), None);

    let mut melted = Driver::reserving();
    (melted.last_words, melted.body) = (vec![9], None);
    let out = melted.hear(reserved());
    assert!(matches!(ended(&out)[..], [Outcome::Refused(Refusal::Unreadable { .. })]), "{out:?}");

    for mut driver in [given_up, melted] {
        let out = driver.record(9, Record::registered(own(3)), None);
        assert_eq!(messages(&out), [(to(own(3)), entity(9), 1)]);
        assert_eq!(driver.scene.tables().unacknowledged, 1);
    }
}

#[test]
fn what_an_entity_says_while_it_is_encoded_is_bounded_as_ever_and_counts_for_the_size_of_the_copy() {
    let mut driver = Driver::active_with(Limits { stream_window: 1, stream_queue: 1, ..Limits::default() });
    driver.migrate(1, Ok(own(2)));
    driver.last_words = vec![9; 3];
    let out = driver.hear(reserved());
    assert_eq!(sending(&out), [(entity(9), 2)]);
    assert_eq!(out.iter().filter(|output| matches!(output, Output::Bounced { .. })).count(), 1);

    let mut driver = Driver::active_with(Limits { state_bytes: 20, ..Limits::default() });
    driver.migrate(1, Ok(own(2)));
    driver.last_words = vec![9];
    let out = driver.hear(reserved());
    assert!(matches!(ended(&out)[..], [Outcome::Refused(Refusal::TooLarge { .. })]), "{out:?}");
}
