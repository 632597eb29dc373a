//! Streams that are over: closed by their senders, followed by others, buried with the dead.

use std::sync::Arc;

use slipgate_entity::{OnlineId, RangeId, SceneId};

use super::super::*;
use crate::bounds::{FLOOR_MAX, FLOORS_PER_SESSION, NUMBER_MAX, STREAMS_PER_ENTITY};
use crate::message::Sender;
use crate::{Epoch, Incarnation, NodeId, Port, Session, View};

/// Something that sender `who` says: an entity with that number, or a tool of that session.
#[derive(Clone, Copy)]
struct Saying {
    sender: Sender,
    stream: StreamId,
    epoch: u32,
}

fn place(node: u16) -> Place {
    Place { session: Session::new(node, 1), port: Port::Router(0) }
}

fn stream(node: u16, generation: u64) -> StreamId {
    StreamId { opened_at: place(node), generation }
}

fn entity(who: u32) -> Sender {
    Sender::Entity(OnlineId::new(RangeId(7), who))
}

fn tool(node: u16) -> Sender {
    Sender::Tool(Session::new(node, 1))
}

fn says(sender: Sender, stream: StreamId) -> Saying {
    Saying { sender, stream, epoch: 1 }
}

impl Saying {
    fn at(self, epoch: u32) -> Self {
        Self { epoch, ..self }
    }

    fn data(self, seq: u64) -> Data {
        Data {
            entity: OnlineId::new(RangeId(1), 1),
            stream: self.stream,
            seq,
            sender: self.sender,
            reply_to: place(u16::try_from(self.epoch).expect("small")),
            hops: 0,
            payload: Arc::from([0u8; 10].as_slice()),
            base: Epoch::ZERO,
            epoch: Epoch::new(0, self.epoch),
        }
    }
}

/// What becomes of message `seq`: how many are applied, or a word.
fn hear(inbox: &mut Inbox, saying: Saying, seq: u64) -> &'static str {
    hear_under(inbox, saying, seq, &Verdicts::default())
}

fn hear_under(inbox: &mut Inbox, saying: Saying, seq: u64, verdicts: &Verdicts) -> &'static str {
    match inbox.accept(saying.data(seq), &Limits::default(), verdicts) {
        Verdict::Apply { .. } => "applied",
        Verdict::Repeat => "repeat",
        Verdict::Ahead => "ahead",
        Verdict::NoRoom => "no room",
        Verdict::Over(Over { doubt: false, .. }) => "over",
        Verdict::Over(Over { doubt: true, .. }) => "over, in doubt",
    }
}

fn close(inbox: &mut Inbox, sender: Sender, stream: StreamId) -> bool {
    inbox.close(sender, stream, &Verdicts::default())
}

fn verdict_on(node: u16) -> Verdicts {
    let mut verdicts = Verdicts::default();
    verdicts.take(&View { version: 9, dead: [(NodeId(node), Incarnation(1))].into(), ..View::default() });
    verdicts
}

#[test]
fn a_closed_stream_is_forgotten_and_what_still_comes_of_it_is_not_applied() {
    let mut inbox = Inbox::default();
    let saying = says(entity(1), stream(1, 5));
    assert_eq!([hear(&mut inbox, saying, 1), hear(&mut inbox, saying, 2)], ["applied"; 2]);
    assert!(close(&mut inbox, saying.sender, saying.stream));
    assert_eq!((inbox.received().streams(), inbox.received().floors()), (0, 1));
    for seq in 1..5 {
        assert_eq!(hear(&mut inbox, saying, seq), "over");
    }
    assert_eq!(inbox.received().applied(), 2);
}

#[test]
fn a_stream_that_is_closed_before_anything_of_it_came_cannot_begin_any_more() {
    let mut inbox = Inbox::default();
    assert!(close(&mut inbox, entity(1), stream(1, 5)));
    assert_eq!(hear(&mut inbox, says(entity(1), stream(1, 5)), 1), "over");
}

#[test]
fn a_stream_not_seen_yet_that_falls_below_the_floor_is_told_so_and_begins_under_a_higher_number() {
    let mut inbox = Inbox::default();
    close(&mut inbox, entity(1), stream(1, 5));
    assert_eq!(hear(&mut inbox, says(entity(2), stream(1, 4)), 1), "over");
    assert_eq!(hear(&mut inbox, says(entity(2), stream(1, 6)), 1), "applied");
    assert_eq!(hear(&mut inbox, says(entity(3), stream(2, 4)), 1), "applied", "another session has its own floor");
}

#[test]
fn what_is_open_stays_known_whatever_the_floor() {
    let mut inbox = Inbox::default();
    let saying = says(entity(2), stream(1, 4));
    hear(&mut inbox, saying, 1);
    close(&mut inbox, entity(1), stream(1, 5));
    assert_eq!([hear(&mut inbox, saying, 1), hear(&mut inbox, saying, 2)], ["repeat", "applied"]);
}

#[test]
fn a_senders_next_stream_ends_the_one_before_wherever_it_was_opened() {
    let mut inbox = Inbox::default();
    let (before, next) = (says(entity(1), stream(1, 5)), says(entity(1), stream(2, 3)).at(2));
    hear(&mut inbox, before, 1);
    assert_eq!(hear(&mut inbox, next, 1), "applied");
    assert_eq!(inbox.received().streams(), 1);
    let moved = before.at(2);
    assert_eq!([hear(&mut inbox, moved, 1), hear(&mut inbox, moved, 2)], ["over"; 2], "it moved before it was left");
    assert_eq!([hear(&mut inbox, before, 1), hear(&mut inbox, before, 2)], ["over"; 2]);
    assert!(close(&mut inbox, before.sender, before.stream), "late, and about the one before");
    assert_eq!(hear(&mut inbox, next, 2), "applied");
}

#[test]
fn what_a_sender_said_before_it_was_reset_does_not_replace_what_it_says_since() {
    let mut inbox = Inbox::default();
    let (before, since) = (says(entity(1), stream(3, 99)).at(4), says(entity(1), stream(1, 7)).at(5));
    hear(&mut inbox, since, 1);
    assert_eq!(hear(&mut inbox, before, 1), "over");
    assert_eq!(hear(&mut inbox, since, 1), "repeat");
    close(&mut inbox, since.sender, since.stream);
    assert_eq!(hear(&mut inbox, before, 1), "over", "for good");
}

#[test]
fn where_a_sender_was_last_heard_from_is_where_its_epoch_was_highest() {
    let mut inbox = Inbox::default();
    let saying = says(entity(1), stream(1, 5));
    hear(&mut inbox, saying, 1);
    hear(&mut inbox, saying.at(3), 1);
    assert_eq!(hear(&mut inbox, saying, 2), "applied", "late from where it was before");
    assert_eq!(inbox.received().open(saying.sender).expect("open").reply_to, place(3));
}

#[test]
fn what_waits_ahead_of_a_gap_goes_with_its_stream_and_with_those_that_cannot_begin_any_more() {
    let mut inbox = Inbox::default();
    for generation in 4..8 {
        let sender = entity(u32::try_from(generation).expect("small"));
        assert_eq!(hear(&mut inbox, says(sender, stream(1, generation)), 3), "ahead");
    }
    close(&mut inbox, entity(6), stream(1, 6));
    assert_eq!(inbox.waiting(), Load::one(10));
    assert_eq!(hear(&mut inbox, says(entity(7), stream(1, 7)), 1), "applied");
    close(&mut inbox, entity(7), stream(1, 7));
    assert_eq!(inbox.waiting(), Load::default());
}

#[test]
fn more_senders_than_an_entity_remembers_at_a_time_all_get_through_one_after_the_other() {
    let mut inbox = Inbox::default();
    for who in 1..=3 * u32::try_from(STREAMS_PER_ENTITY).expect("small") {
        let saying = says(entity(who), stream(1, who.into()));
        assert_eq!(hear(&mut inbox, saying, 1), "applied");
        assert!(close(&mut inbox, saying.sender, saying.stream));
    }
    assert_eq!((inbox.received().streams(), inbox.received().floors()), (0, 1));
}

#[test]
fn a_table_that_is_full_takes_nothing_more_until_a_stream_is_closed_and_grows_by_no_floor() {
    let mut inbox = Inbox::default();
    let full = u32::try_from(STREAMS_PER_ENTITY).expect("small");
    for who in 0..full {
        assert_eq!(hear(&mut inbox, says(entity(who), stream(1, 1)), 1), "applied");
    }
    assert_eq!(hear(&mut inbox, says(entity(full), stream(1, 1)), 1), "no room");
    assert_eq!(hear(&mut inbox, says(entity(0), stream(2, 9)).at(2), 1), "no room", "it would leave a floor");
    assert!(!close(&mut inbox, entity(full), stream(3, 1)), "a floor more");
    assert_eq!(hear(&mut inbox, says(entity(0), stream(4, 9)).at(0), 1), "over");
    assert_eq!(inbox.received().len(), STREAMS_PER_ENTITY);
    assert!(close(&mut inbox, entity(0), stream(1, 1)));
    assert!(close(&mut inbox, entity(1), stream(1, 1)));
    assert_eq!(hear(&mut inbox, says(entity(full), stream(1, 2)), 1), "applied");
}

#[test]
fn a_verdict_is_an_infinite_floor_and_what_is_open_stays_known() {
    let mut inbox = Inbox::default();
    let (known, unknown) = (says(entity(1), stream(1, 5)), says(entity(2), stream(1, 6)));
    hear(&mut inbox, known, 1);
    let verdicts = verdict_on(1);
    inbox.sweep(&verdicts);
    assert_eq!(hear_under(&mut inbox, known, 2, &verdicts), "applied", "its sender lives on elsewhere");
    assert_eq!(hear_under(&mut inbox, unknown, 1, &verdicts), "over, in doubt");
    assert_eq!(inbox.received().verdicts(), 9, "whoever takes the entity over must know of it");
}

#[test]
fn with_a_verdict_go_the_streams_of_the_sessions_tools_and_its_floor() {
    let mut inbox = Inbox::default();
    hear(&mut inbox, says(tool(1), stream(1, 1)).at(0), 1);
    hear(&mut inbox, says(tool(2), stream(2, 1)).at(0), 1);
    hear(&mut inbox, says(entity(4), stream(1, 2)), 2);
    close(&mut inbox, entity(3), stream(1, 0));
    close(&mut inbox, entity(3), stream(2, 0));
    assert_eq!((inbox.received().streams(), inbox.received().floors()), (2, 2));
    inbox.sweep(&verdict_on(1));
    assert_eq!((inbox.received().streams(), inbox.received().floors()), (1, 1));
    assert_eq!((inbox.received().verdicts(), inbox.waiting()), (9, Load::default()));
    assert_eq!(hear_under(&mut inbox, says(tool(1), stream(1, 1)).at(0), 1, &verdict_on(1)), "over, in doubt");
}

#[test]
fn what_waits_of_a_stream_that_never_began_goes_with_a_verdict_on_whomever_and_comes_again_if_its_sender_lives() {
    let mut inbox = Inbox::default();
    let (begun, other) = (says(entity(1), stream(1, 5)), says(entity(2), stream(1, 6)));
    assert_eq!([hear(&mut inbox, begun, 1), hear(&mut inbox, begun, 3)], ["applied", "ahead"]);
    assert_eq!(hear(&mut inbox, other, 2), "ahead");
    inbox.sweep(&verdict_on(4));
    assert_eq!(inbox.waiting(), Load::one(10), "its sender may have moved to the node that died");
    assert_eq!([hear(&mut inbox, begun, 2), hear(&mut inbox, other, 1), hear(&mut inbox, other, 2)], ["applied"; 3]);
    assert_eq!(inbox.received().applied(), 5);
}

#[test]
fn a_verdict_that_concerns_nothing_in_the_table_need_not_be_known_elsewhere() {
    let mut inbox = Inbox::default();
    hear(&mut inbox, says(tool(2), stream(2, 1)).at(0), 1);
    inbox.sweep(&verdict_on(1));
    assert_eq!(inbox.received().verdicts(), 0);
}

#[test]
fn the_stream_of_a_sender_that_is_gone_is_over_and_whoever_holds_it_is_told_of_the_doubt() {
    let mut inbox = Inbox::default();
    let saying = says(entity(1), stream(1, 5));
    hear(&mut inbox, saying, 1);
    inbox.bury(saying.sender, &Verdicts::default());
    assert_eq!((inbox.received().streams(), inbox.received().floors()), (0, 1));
    assert_eq!(hear(&mut inbox, saying, 2), "over, in doubt");
    close(&mut inbox, entity(2), stream(1, 8));
    assert_eq!(hear(&mut inbox, says(entity(3), stream(1, 7)), 1), "over");
    assert_eq!(hear(&mut inbox, saying, 1), "over, in doubt");
}

#[test]
fn what_is_in_doubt_of_one_opener_is_not_of_others_though_one_number_is_for_all_of_them() {
    let opened_at = |scene: u32| Place { session: Session::new(1, 1), port: Port::Scene(SceneId(scene)) };
    let id = |scene, generation| StreamId { opened_at: opened_at(scene), generation };
    for is_wide_before in [false, true] {
        let mut inbox = Inbox::default();
        let widen = |inbox: &mut Inbox| {
            for scene in 10..200 {
                assert!(close(inbox, entity(scene), id(scene, 3)));
            }
        };
        let gone = says(entity(1), id(1, 50));
        if is_wide_before {
            widen(&mut inbox);
        }
        assert_eq!(hear(&mut inbox, gone, 1), "applied");
        inbox.bury(gone.sender, &Verdicts::default());
        widen(&mut inbox);
        assert_eq!(inbox.received().floors(), 2, "one for all, and whose stream is buried");
        assert_eq!(hear(&mut inbox, gone, 1), "over, in doubt");
        let other = hear(&mut inbox, says(entity(2), id(7_000, 4)), 1);
        assert!(["over", "applied"].contains(&other), "{other}: it is applied, now or when it is said again");
        inbox.sweep(&verdict_on(1));
        assert_eq!(inbox.received().floors(), 0);
    }
}

#[test]
fn nobody_is_moved_on_to_numbers_that_are_not_heard() {
    let mut latest = 1;
    let next = stream(1, 1).after(u64::MAX, place(1), &mut latest);
    assert_eq!((next, latest), (stream(1, 2), 2), "no honest receiver says so");
    let next = stream(1, 1).after(FLOOR_MAX, place(1), &mut latest);
    assert!(next.generation > FLOOR_MAX && next.is_possible());
    assert!(!stream(1, NUMBER_MAX + 1).is_possible());
}

#[test]
fn a_reset_forgets_streams_and_floors_but_not_how_much_was_applied() {
    let mut inbox = Inbox::default();
    hear(&mut inbox, says(entity(1), stream(1, 5)), 1);
    close(&mut inbox, entity(2), stream(2, 3));
    inbox.reset();
    assert!(inbox.received().is_empty());
    assert_eq!(inbox.received().applied(), 1);
}

#[test]
fn where_very_many_scenes_come_and_go_one_number_is_for_all_of_a_session_and_its_senders_are_told_it() {
    let mut inbox = Inbox::default();
    let opened_at = |scene: u32| Place { session: Session::new(1, 1), port: Port::Scene(SceneId(scene)) };
    let id = |scene, generation| StreamId { opened_at: opened_at(scene), generation };
    for scene in 0..1_000 {
        assert!(close(&mut inbox, entity(1), id(scene, 1_000 - u64::from(scene))));
        assert!(inbox.received().floors() <= FLOORS_PER_SESSION);
    }
    assert_eq!(inbox.received().floors(), 1);
    let lagging = says(entity(2), id(7_000, 3));
    let verdict = inbox.accept(lagging.data(1), &Limits::default(), &Verdicts::default());
    let Verdict::Over(Over { floor, doubt: false }) = verdict else {
        panic!("expected it to be over, got {verdict:?}")
    };
    let mut latest = 3;
    let next = id(7_000, 3).after(floor, opened_at(7_000), &mut latest);
    assert_eq!(hear(&mut inbox, says(entity(2), next), 1), "applied");
    assert_eq!(hear(&mut inbox, says(entity(3), stream(2, 3)), 1), "applied", "other sessions are not concerned");
}

#[test]
fn what_is_over_of_a_session_with_a_verdict_needs_no_row_whenever_it_ends() {
    let verdicts = verdict_on(1);
    let mut inbox = Inbox::default();
    for who in 1..=3 {
        hear(&mut inbox, says(entity(who), stream(1, 4)), 1);
    }
    inbox.sweep(&verdicts);
    assert_eq!((inbox.received().streams(), inbox.received().floors()), (3, 0), "they live on elsewhere");
    inbox.close(entity(1), stream(1, 4), &verdicts);
    inbox.bury(entity(2), &verdicts);
    hear_under(&mut inbox, says(entity(3), stream(2, 1)).at(2), 1, &verdicts);
    inbox.close(entity(9), stream(1, 8), &verdicts);
    assert_eq!((inbox.received().streams(), inbox.received().floors()), (1, 0));
    assert_eq!(inbox.received().verdicts(), 9, "its next scene must know of the verdict");
    for (who, generation) in [(1, 4), (2, 4), (3, 4), (9, 8)] {
        assert_eq!(hear_under(&mut inbox, says(entity(who), stream(1, generation)), 1, &verdicts), "over, in doubt");
    }
}
