//! A home that died, rebuilt from what every scene says.

use super::super::{HomeEvent, Input, Output, Standing, Tally};
use super::town::{RANGE, Town, active, asked, claim, entity, events, lost, member, own, passed, session, title, told};
use crate::claim::{Claim, Stake};
use crate::message::{Control, Nonce};
use crate::{Epoch, Incarnation, NodeId, Record, Session};

fn rebuilt(out: &[Output]) -> Option<Tally> {
    events(out).into_iter().find_map(|event| match event {
        HomeEvent::Rebuilt { tally, .. } => Some(tally),
        HomeEvent::Rebuilding { .. }
        | HomeEvent::Inherited { .. }
        | HomeEvent::Bequeathed { .. }
        | HomeEvent::Named { .. } => None,
    })
}

#[test]
fn the_new_home_asks_every_scene_of_every_living_session_its_own_among_them() {
    let (_, out) = Town::of_a_dead_home();
    assert_eq!(asked(&out), [(own(2).into(), None), (own(3).into(), None)]);
    assert_eq!(events(&out), [HomeEvent::Rebuilding { range: RANGE, term: 1, scenes: 2 }]);
}

#[test]
fn a_scene_that_does_not_answer_is_asked_again_at_growing_waits() {
    let (mut town, _) = Town::of_a_dead_home();
    town.claims(2, vec![]);
    let asks: Vec<_> = (0..40).map(|_| asked(&town.pass(50)).len()).collect();
    assert_eq!(asks.iter().sum::<usize>(), 6, "{asks:?}");
}

#[test]
fn until_everybody_has_spoken_nothing_is_answered_then_whoever_asked_hears() {
    let (mut town, _) = Town::of_a_dead_home();
    assert_eq!(town.directory.standing(RANGE), Standing::Incomplete);
    assert_eq!(town.query(1), []);
    let new = Record { owner: None, epoch: Epoch::new(0, 5), ..Record::registered(own(3)) };
    let despawn = Control::Cas { entity: entity(2), owner: own(3), epoch: Epoch::new(0, 4), new, nonce: Nonce(8) };
    assert_eq!(town.hear(own(3).into(), despawn), []);
    assert_eq!(town.directory.record(entity(1)), None);
    assert!(rebuilt(&town.claims(3, vec![active(1, 4), active(2, 4)])).is_none());
    let out = town.claims(2, vec![]);
    assert_eq!(rebuilt(&out), Some(Tally { kept: 2, ..Tally::default() }));
    let records = [passed(3, 4, 1), passed(3, 4, 1)];
    let expected = [
        (own(3).into(), 1, records[0], None),
        (own(3).into(), 2, records[1], None),
        (own(3).into(), 1, records[0], Some(Nonce(7))),
        (own(3).into(), 2, records[1], Some(Nonce(8))),
    ];
    assert_eq!(told(&out), expected, "what was asked of the former home misses, and says how things are");
    assert_eq!(town.directory.standing(RANGE), Standing::Complete);
}

#[test]
fn a_rebuilt_record_is_changed_by_whoever_has_heard_of_it_and_by_nobody_else() {
    let (mut town, _) = Town::of_a_dead_home();
    town.claims(2, vec![]);
    town.claims(3, vec![active(1, 4)]);
    let cas = |epoch: Epoch| {
        let new = Record::handed_to(own(2), epoch.next(), Epoch::ZERO);
        Control::Cas { entity: entity(1), owner: own(3), epoch, new, nonce: Nonce(9) }
    };
    let out = town.hear(own(2).into(), cas(Epoch::new(0, 4)));
    assert_eq!(told(&out), [(own(2).into(), 1, passed(3, 4, 1), Some(Nonce(9)))]);
    town.hear(own(2).into(), cas(Epoch::new(1, 0)));
    assert_eq!(town.directory.record(entity(1)).and_then(|record| record.owner), Some(own(2)));
}

#[test]
fn an_entity_is_decided_once_everybody_has_spoken_of_its_id() {
    let (mut town, _) = Town::of_a_dead_home();
    assert_eq!(told(&town.page(3, None, vec![active(1, 1), active(9, 1)], true)), []);
    let out = town.page(2, None, vec![active(4, 2)], true);
    assert_eq!(told(&out).iter().map(|told| told.1).collect::<Vec<_>>(), [1, 4]);
    assert_eq!(asked(&out), [(own(2).into(), Some(entity(4)))], "of scene 3 something is left to decide");
    let out = town.page(2, Some(4), vec![], false);
    assert_eq!(told(&out).iter().map(|told| told.1).collect::<Vec<_>>(), [9]);
    assert_eq!(asked(&out), [(own(3).into(), Some(entity(9)))]);
    assert_eq!(town.directory.standing(RANGE), Standing::Incomplete);
    assert!(rebuilt(&town.page(3, Some(9), vec![], false)).is_some());
}

#[test]
fn a_copy_that_waits_is_answered_under_its_own_nonce() {
    let (mut town, _) = Town::of_a_dead_home();
    let staged = Stake::Staged { label: Epoch::new(0, 5), source: own(3), nonce: Nonce(77) };
    town.claims(2, vec![claim(1, staged)]);
    let out = town.claims(3, vec![claim(1, Stake::Gone(Record::handed_to(own(2), Epoch::new(0, 5), Epoch::ZERO)))]);
    assert_eq!(told(&out), [(own(2).into(), 1, passed(2, 5, 1), Some(Nonce(77)))], "whoever has left is not told");
}

#[test]
fn an_id_that_nobody_claims_is_lost_and_above_all_that_the_former_home_said() {
    let (mut town, _) = Town::of_a_dead_home();
    town.claims(2, vec![]);
    town.claims(3, vec![]);
    let record = town.directory.record(entity(1)).expect("the home is complete");
    assert_eq!(record, Record::absent(1, true));
    assert!(record.epoch > Epoch::new(0, 1_000_000));
}

#[test]
fn whoever_dies_meanwhile_is_not_waited_for_and_what_it_said_stays() {
    let (mut town, _) = Town::of_a_dead_home();
    town.page(3, None, vec![active(1, 4)], true);
    town.claims(2, vec![claim(2, Stake::Leaving { title: title(4), target: own(3), is_late: false })]);
    town.dies(3);
    let out = town.see();
    assert_eq!(rebuilt(&out), Some(Tally { kept: 1, reset: 1, ..Tally::default() }));
    assert_eq!(lost(&out), [(1, Some("e1".to_owned()), own(3))], "decided before, and buried now");
    let base = Epoch::new(1, 0);
    let record = town.directory.record(entity(2)).expect("complete");
    assert_eq!((record.owner, record.base), (Some(own(2)), base), "scene 3 had not spoken of 2");
}

#[test]
fn a_life_that_was_replaced_may_still_run_and_is_waited_for_until_its_verdict() {
    let mut town = Town::new(2);
    town.dies(1);
    town.named(2);
    town.view.members.insert(NodeId(3), member(Session::new(3, 2)));
    town.see();
    town.claims(2, vec![active(1, 4)]);
    let later = crate::Own::new(Session::new(3, 2), slipgate_entity::SceneId::from(3));
    let claims = Control::Claims { range: RANGE, term: 1, after: None, claims: vec![], more: false };
    assert_eq!(town.hear(later.into(), claims), []);
    town.view.dead.insert(NodeId(3), Incarnation(1));
    assert!(rebuilt(&town.see()).is_some());
}

#[test]
fn what_was_not_asked_for_is_ignored() {
    let (mut town, _) = Town::of_a_dead_home();
    let page = |term, after| Control::Claims { range: RANGE, term, after, claims: vec![active(1, 4)], more: false };
    assert_eq!(town.hear(own(3).into(), page(2, None)), [], "another term");
    assert_eq!(town.hear(own(3).into(), page(1, Some(entity(0)))), [], "another page");
    assert_eq!(town.hear(own(1).into(), page(1, None)), [], "a dead scene");
    town.claims(3, vec![]);
    assert_eq!(town.hear(own(3).into(), page(1, None)), [], "said already");
    let out = town.claims(2, vec![]);
    assert_eq!(rebuilt(&out), Some(Tally::default()));
}

#[test]
fn of_a_page_out_of_order_or_of_another_range_the_rest_is_left_out_and_nothing_is_asked_for_ever() {
    let stranger = Claim { entity: slipgate_entity::OnlineId::new(slipgate_entity::RangeId(8), 9), ..active(9, 1) };
    for nonsense in [active(1, 1), stranger] {
        let (mut town, _) = Town::of_a_dead_home();
        town.claims(2, vec![]);
        let out = town.page(3, None, vec![active(4, 1), nonsense, active(6, 1)], true);
        assert_eq!(rebuilt(&out), Some(Tally { kept: 1, ..Tally::default() }));
    }
    let (mut town, _) = Town::of_a_dead_home();
    town.claims(2, vec![]);
    assert!(rebuilt(&town.page(3, None, vec![], true)).is_some(), "an empty page is the last");
}

#[test]
fn a_verdict_after_the_rebuild_buries_what_the_session_owned() {
    let (mut town, _) = Town::of_a_dead_home();
    town.claims(2, vec![]);
    town.claims(3, vec![active(1, 4)]);
    town.dies(3);
    assert_eq!(lost(&town.see()), [(1, Some("e1".to_owned()), own(3))]);
    let record = town.directory.record(entity(1)).expect("complete");
    assert_eq!((record.owner, record.epoch, record.lost), (None, Epoch::new(1, 1), true));
}

#[test]
fn a_home_that_is_named_elsewhere_before_it_is_complete_forgets_what_it_heard() {
    let (mut town, _) = Town::of_a_dead_home();
    town.claims(3, vec![active(1, 4)]);
    town.query(1);
    town.named(3);
    town.see();
    assert_eq!(town.directory.standing(RANGE), Standing::Elsewhere);
    assert_eq!((town.directory.ownership().len(), town.directory.homes()), (0, 0));
    assert_eq!(town.claims(2, vec![]), []);
    assert!(matches!(town.query(1)[..], [Output::Tell { control: Control::NotHome { .. }, .. }]));
}

#[test]
fn a_home_that_is_named_again_begins_anew() {
    let (mut town, _) = Town::of_a_dead_home();
    town.claims(2, vec![]);
    town.claims(3, vec![active(1, 4)]);
    town.named(3);
    town.dies(3);
    town.named(2);
    let out = town.see();
    assert_eq!(asked(&out), [(own(2).into(), None)], "what it knew is of a term that is over");
    let out = town.claims(2, vec![]);
    assert_eq!(rebuilt(&out), Some(Tally::default()));
    assert_eq!(town.directory.record(entity(1)), Some(Record::absent(3, true)));
}

#[test]
fn many_ranges_are_rebuilt_some_at_a_time_and_all_in_the_end() {
    let mut town = Town::new(2);
    town.dies(1);
    town.dies(3);
    for number in 100..300 {
        let range = slipgate_entity::RangeId(number);
        let home = crate::view::Home::first(range, session(1)).passed_to(session(2)).expect("terms are left");
        town.view.homes.insert(range, home);
    }
    let mut waiting = town.see();
    let mut rounds = 0;
    while let Some(at) =
        waiting.iter().position(|output| matches!(output, Output::Tell { control: Control::AskClaims { .. }, .. }))
    {
        let open = waiting.iter().filter(|o| matches!(o, Output::Tell { control: Control::AskClaims { .. }, .. }));
        assert!(open.count() <= 64, "a page for each");
        let Output::Tell { control: Control::AskClaims { range, term, after }, .. } = waiting.swap_remove(at) else {
            unreachable!("it was looked for")
        };
        let control = Control::Claims { range, term, after, claims: vec![], more: false };
        waiting.extend(town.give(Input::Heard { from: own(2).into(), control }));
        rounds += 1;
    }
    assert_eq!((rounds, town.directory.unsettled()), (200, 0));
}
