//! What is kept of what has happened.

use slipgate_entity::game::{Data, Identity, Types};
use slipgate_entity::{OnlineId, PersistId, PlayerId, RangeId};
use slipgate_macros::{Entity, handlers};
use uuid::Uuid;

use super::*;

#[derive(Debug, Default, Entity)]
#[entity(crate = "slipgate_entity")]
struct Rat {}

#[handlers(crate = "slipgate_entity")]
impl Rat {}

fn happened(event: usize) -> Happening {
    let event = event.to_string();
    Happening::Else(Event { node: String::new(), number: 0, ts: String::new(), event, fields: String::new() })
}

fn numbers(chronicle: &Chronicle, after: u64) -> Vec<(u64, String)> {
    chronicle.events_after(after, usize::MAX).into_iter().map(|event| (event.number, event.event)).collect()
}

#[test]
fn events_are_numbered_from_one_and_read_after_any_number() {
    let mut chronicle = Chronicle::new("n1".to_owned());
    assert_eq!(numbers(&chronicle, 0), []);
    (1..=3).for_each(|event| chronicle.note(happened(event)));
    assert_eq!(numbers(&chronicle, 1), [(2, "2".to_owned()), (3, "3".to_owned())]);
    assert_eq!(numbers(&chronicle, 0).len(), 3);
    for later in [3, 4, u64::MAX] {
        assert_eq!(numbers(&chronicle, later), [], "after {later}");
    }
}

#[test]
fn many_spawns_push_out_each_other_and_nothing_else_and_all_is_read_in_order() {
    let types = Types::builder().entity::<Rat>().build().expect("a rat is a type");
    let (online, persist) = (OnlineId::new(RangeId(1), 1), PersistId(Uuid::nil()));
    let identity = Identity { online, persist, player: PlayerId::NONE, label: None };
    let rat = types.create("rat", identity, &Data::default()).expect("a rat").shared_description();
    let mut chronicle = Chronicle::new("n1".to_owned());
    chronicle.note(happened(1));
    for _ in 0..LIVES_MAX + 7 {
        chronicle.note(Happening::Life(Episode::spawned(rat.clone(), "forest@n1".into(), 0)));
    }
    chronicle.note(happened(2));
    let kept = numbers(&chronicle, 0);
    assert_eq!((kept.len(), kept[0].clone(), kept[1].0), (LIVES_MAX + 2, (1, "1".to_owned()), 9));
    assert!(kept.is_sorted() && kept.last().is_some_and(|(_, event)| event == "2"));
    assert_eq!(chronicle.events_after(8, 3).len(), 3);
}

#[test]
fn a_reader_that_comes_too_late_sees_a_gap_in_the_numbers() {
    let mut chronicle = Chronicle::new("n1".to_owned());
    (1..=EVENTS_MAX + 2).for_each(|event| chronicle.note(happened(event)));
    let kept = numbers(&chronicle, 1);
    assert_eq!((kept.len(), kept[0].clone()), (EVENTS_MAX, (3, "3".to_owned())));
}
