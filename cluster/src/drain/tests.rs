//! A drain step by step, by order and by signal.

use super::*;
use crate::evacuation::Target;
use crate::{Own, Session};
use slipgate_entity::SceneId;

struct Node {
    drain: Drain,
    now: Now,
}

const TIMEOUT: Duration = Duration::from_secs(25);

impl Node {
    fn new() -> Self {
        Self { drain: Drain::new(TIMEOUT), now: Now(1_000_000) }
    }

    fn give(&mut self, input: Input) -> Vec<Output> {
        let mut out = Vec::new();
        self.drain.handle(input, self.now, &mut out);
        out
    }

    /// Time passes, tick by tick, while something can get on or not. What came of it.
    fn pass_ms(&mut self, ms: u64, may_get_on: bool) -> Vec<Output> {
        let mut out = Vec::new();
        for _ in 0..ms / 50 {
            self.now = self.now + Duration::from_millis(50);
            out.extend(self.give(Input::Tick { may_get_on }));
        }
        out
    }

    fn order(&mut self) -> Vec<Output> {
        self.give(Input::Begin { timeout: None })
    }

    fn order_within(&mut self, seconds: u64) -> Vec<Output> {
        self.give(Input::Begin { timeout: Some(Duration::from_secs(seconds)) })
    }

    /// Up to the moves; ten entities live here.
    fn reach_moving(&mut self) {
        self.give(Input::Counted(10));
        self.give(Input::Targets(targets()));
        self.give(far(0, 0, 10, 10));
        assert_eq!(self.step(), Step::Moving);
    }

    /// Up to the homes: all ten have moved.
    fn reach_homes(&mut self) {
        self.reach_moving();
        assert_eq!(self.give(far(10, 0, 0, 0)), [Output::AskLeft]);
        assert_eq!(self.give(left(10, 0)), [Output::GiveHomesAway]);
    }

    /// From the end of the homes to the end of all.
    fn reach_end(&mut self) {
        assert_eq!(self.give(Input::Shut { unsettled: 0 }), [Output::AwaitAnswers]);
        assert_eq!(self.give(Input::Answered), [Output::AskLeft]);
    }

    fn step(&self) -> Step {
        self.drain.report(self.now).step
    }
}

fn targets() -> Vec<Target> {
    vec![Target { own: Own::new(Session::new(2, 1), SceneId(2)), capacity: 100, room: Some(90) }]
}

fn far(moved: u64, kept: u64, open: u64, unsettled: usize) -> Input {
    Input::Far(Far { moved, kept, open, unsettled, is_over: open == 0 })
}

fn left(moved: u64, count: u64) -> Input {
    Input::Left(Left { moved, count, is_sure: true })
}

fn homes(given: u64, left: u64) -> Input {
    Input::Homes(Homes { given, left, is_done: left == 0 })
}

fn stopping() -> [Output; 2] {
    [Output::Event(Event::Stopping), Output::Shut]
}

fn drained() -> [Output; 2] {
    [Output::Event(Event::Drained), Output::End]
}

#[test]
fn an_order_takes_an_empty_node_step_by_step_to_its_end() {
    let mut node = Node::new();
    assert_eq!(node.order(), [Output::CloseDoors]);
    let begun = [Output::Event(Event::Begun), Output::TakenUp, Output::FindTargets];
    assert_eq!(node.give(Input::Counted(10)), begun);
    let deadline = node.now + TIMEOUT / 5 * 4;
    assert_eq!(node.give(Input::Targets(targets())), [Output::MoveOut { targets: targets(), deadline }]);
    assert_eq!(node.give(far(4, 0, 6, 6)), []);
    assert_eq!(node.give(far(10, 0, 0, 2)), [], "two are not told yet");
    assert_eq!(node.give(far(10, 0, 0, 0)), [Output::AskLeft]);
    assert_eq!(node.give(left(10, 0)), [Output::GiveHomesAway]);
    assert_eq!(node.give(homes(1, 1)), []);
    assert_eq!(node.give(homes(2, 0)), stopping());
    assert!(!node.drain.stops());
    node.reach_end();
    assert_eq!(node.give(left(10, 0)), drained());
    let Report { step, entities, moved, kept, homes, homes_left, .. } = node.drain.report(node.now);
    assert_eq!((step, entities, moved, kept, homes, homes_left), (Step::Drained, 10, 10, 0, 2, 0));
    assert!(node.drain.stops());
    assert_eq!(node.pass_ms(60_000, true), [], "nothing follows the end");
}

#[test]
fn who_is_kept_is_counted_when_no_move_is_under_way_any_more() {
    let mut node = Node::new();
    node.order();
    node.reach_moving();
    let out = node.pass_ms(20_000, true);
    assert_eq!(out.last(), Some(&Output::StopMoving));
    assert_eq!(node.give(far(7, 0, 3, 3)), [], "three are on the move");
    assert_eq!(node.give(far(9, 1, 0, 0)), [Output::AskLeft]);
    assert_eq!(node.give(left(9, 1)), [Output::Event(Event::Kept)]);
    let Report { step, entities, moved, kept, took_us, .. } = node.drain.report(node.now);
    assert_eq!((step, entities, moved, kept, took_us), (Step::Kept, 10, 9, 1, 20_000_000));
    assert!(!node.drain.stops());
}

#[test]
fn moves_that_do_not_settle_are_waited_for_a_moment() {
    let mut node = Node::new();
    node.order();
    node.reach_moving();
    node.pass_ms(20_000, true);
    assert_eq!(node.pass_ms(950, true), []);
    assert_eq!(node.pass_ms(50, true), [Output::AskLeft]);
    assert_eq!(node.pass_ms(1_000, true), [Output::Event(Event::Kept)], "whoever does not answer may hold somebody");
}

#[test]
fn an_order_does_not_end_a_node_that_is_not_known_to_be_empty() {
    let mut node = Node::new();
    node.order();
    node.reach_moving();
    node.give(far(10, 0, 0, 0));
    let out = node.give(Input::Left(Left { moved: 10, count: 0, is_sure: false }));
    assert_eq!(out, [Output::Event(Event::Kept)]);
}

#[test]
fn a_signal_ends_the_node_with_whoever_is_left_who_is_counted_at_the_very_end() {
    let mut node = Node::new();
    assert_eq!(node.give(Input::Signal), [Output::CloseDoors]);
    assert!(node.drain.stops());
    node.reach_moving();
    node.give(far(7, 3, 0, 0));
    assert_eq!(node.give(left(7, 3)), [Output::GiveHomesAway]);
    node.give(homes(0, 0));
    node.reach_end();
    assert_eq!(node.give(left(8, 2)), drained(), "one has arrived after all");
    let Report { entities, moved, kept, .. } = node.drain.report(node.now);
    assert_eq!((entities, moved, kept), (10, 8, 2));
}

#[test]
fn a_signal_during_a_long_ordered_drain_leaves_time_to_move() {
    let mut node = Node::new();
    node.order_within(3_600);
    node.reach_moving();
    node.pass_ms(100_000, true);
    assert_eq!(node.give(Input::Signal), []);
    let out = node.pass_ms(19_950, true);
    assert!(!out.contains(&Output::StopMoving), "four fifths of the time that a signal gives");
    assert_eq!(node.pass_ms(50, true).last(), Some(&Output::StopMoving));
    assert!(node.drain.stops());
}

#[test]
fn a_signal_does_not_lengthen_an_ordered_drain() {
    let mut node = Node::new();
    node.order_within(10);
    node.reach_moving();
    node.pass_ms(7_000, true);
    node.give(Input::Signal);
    assert!(node.pass_ms(950, true).iter().all(|output| *output != Output::StopMoving));
    assert_eq!(node.pass_ms(50, true).last(), Some(&Output::StopMoving));
}

#[test]
fn a_signal_while_homes_are_handed_over_bounds_that_too() {
    let mut node = Node::new();
    node.order_within(3_600);
    node.reach_homes();
    node.give(Input::Signal);
    assert_eq!(node.pass_ms(23_950, true), []);
    assert_eq!(node.pass_ms(50, true), stopping());
}

#[test]
fn a_second_signal_ends_a_drain_within_a_moment_wherever_it_is() {
    let cut = [Output::StopMoving, Output::Event(Event::Stopping), Output::Shut];
    let steps: [fn(&mut Node); 4] =
        [|_| {}, |node| drop(node.give(Input::Counted(10))), Node::reach_moving, Node::reach_homes];
    for to_step in steps {
        let mut node = Node::new();
        node.give(Input::Signal);
        to_step(&mut node);
        assert_eq!(node.give(Input::Signal), cut);
        assert_eq!(node.step(), Step::Settling);
        let mut out = node.pass_ms(1_000, true);
        assert_eq!(out.pop(), Some(Output::EndMoves));
        assert_eq!(node.give(Input::Shut { unsettled: 3 }), [Output::AwaitAnswers], "they are ended by force");
        assert_eq!(node.pass_ms(50, true), [Output::AskLeft], "there is no time to wait for answers");
        assert_eq!(node.give(left(4, 6)), drained());
    }
    let mut node = Node::new();
    node.give(Input::Signal);
    node.reach_homes();
    node.give(homes(1, 0));
    assert_eq!(node.give(Input::Signal), []);
    node.give(Input::Shut { unsettled: 0 });
    assert_eq!(node.pass_ms(1_000, true), [Output::AskLeft]);
}

#[test]
fn where_nothing_can_get_on_a_step_is_given_up_after_a_second() {
    let mut node = Node::new();
    node.give(Input::Signal);
    node.reach_moving();
    assert_eq!(node.pass_ms(1_000, false), []);
    assert_eq!(node.pass_ms(50, false), [Output::StopMoving]);
    assert_eq!(node.pass_ms(1_000, false), [Output::AskLeft]);
    assert_eq!(node.give(left(0, 10)), [Output::GiveHomesAway]);
    assert_eq!(node.pass_ms(1_050, false), stopping());
    node.give(Input::Shut { unsettled: 0 });
    assert_eq!(node.pass_ms(1_050, false), [Output::AskLeft]);

    let mut node = Node::new();
    node.order();
    node.give(Input::Counted(10));
    assert_eq!(node.pass_ms(1_050, false), [], "without targets nobody has begun to move");
    assert_eq!(node.pass_ms(1_000, false), [Output::AskLeft]);
}

#[test]
fn where_only_undecided_copies_are_left_it_is_given_up_after_a_second() {
    let mut node = Node::new();
    node.order();
    node.reach_moving();
    node.give(Input::Far(Far { moved: 10, unsettled: 1, ..Far::default() }));
    assert_eq!(node.pass_ms(1_050, true), [Output::StopMoving]);
    node.pass_ms(1_000, true);
    assert_eq!(node.give(left(10, 1)), [Output::Event(Event::Kept)], "whoever may yet come is not left behind");
}

#[test]
fn room_is_counted_anew_while_somebody_moves() {
    let mut node = Node::new();
    node.order();
    node.reach_moving();
    assert_eq!(node.pass_ms(4_000, true), [Output::FindTargets, Output::FindTargets]);
    assert_eq!(node.give(Input::Targets(vec![])), [Output::Retarget(vec![])]);
    node.give(far(10, 0, 0, 0));
    assert_eq!(node.give(Input::Targets(targets())), [], "nobody is to move any more");
}

#[test]
fn homes_are_handed_over_for_as_long_as_there_is_time_and_what_is_left_is_counted() {
    let mut node = Node::new();
    node.order();
    node.reach_homes();
    node.give(homes(5, 2));
    assert_eq!(node.pass_ms(23_950, true), []);
    assert_eq!(node.pass_ms(50, true), stopping(), "the last second is for what is under way");
    let Report { homes: given, homes_left, .. } = node.drain.report(node.now);
    assert_eq!((given, homes_left), (5, 2));
    assert_eq!(node.give(homes(6, 1)), [], "that is too late");

    let mut node = Node::new();
    node.order_within(1);
    node.reach_homes();
    assert_eq!(node.pass_ms(450, true), []);
    assert_eq!(node.pass_ms(50, true), stopping(), "half of a short time");
}

#[test]
fn an_order_can_be_called_off_at_every_step_and_nothing_of_it_is_left() {
    let resumed = [Output::Resume, Output::Event(Event::Resumed), Output::TakenUp];
    let steps: [fn(&mut Node); 5] = [
        |_| {},
        |node| drop(node.give(Input::Counted(10))),
        Node::reach_moving,
        Node::reach_homes,
        |node| {
            node.reach_homes();
            node.give(homes(2, 0));
        },
    ];
    for to_step in steps {
        let mut node = Node::new();
        node.order();
        to_step(&mut node);
        assert_eq!(node.give(Input::Cancel), resumed);
        assert_eq!(node.step(), Step::Working);
        for late in
            [Input::Counted(1), Input::Targets(vec![]), far(9, 0, 0, 0), left(9, 0), homes(1, 0), Input::Answered]
        {
            assert_eq!(node.give(late), []);
        }
        assert_eq!(node.give(Input::Cancel), [Output::Refused(Refusal::DoesNotDrain)]);
        node.order();
        let Report { moved, homes, .. } = node.drain.report(node.now);
        assert_eq!((moved, homes), (0, 0), "the next one counts from the beginning");
    }
}

#[test]
fn a_signal_is_for_good() {
    let mut node = Node::new();
    node.give(Input::Signal);
    node.reach_moving();
    assert_eq!(node.give(Input::Cancel), [Output::Refused(Refusal::StopsForGood)]);
    assert_eq!(node.step(), Step::Moving);
}

#[test]
fn an_order_during_a_drain_goes_along_with_it() {
    let mut node = Node::new();
    node.order();
    assert_eq!(node.order(), [], "it is told with the count");
    node.reach_moving();
    assert_eq!(node.order_within(1), [Output::TakenUp]);
    assert_eq!(node.pass_ms(1_950, true), [], "and changes nothing");
}

#[test]
fn a_node_that_is_kept_drains_again_or_goes_on_or_stops() {
    let kept = || {
        let mut node = Node::new();
        node.order();
        node.reach_moving();
        node.give(far(7, 3, 0, 0));
        assert_eq!(node.give(left(7, 3)), [Output::Event(Event::Kept)]);
        assert_eq!(node.pass_ms(60_000, true), []);
        node
    };
    assert_eq!(kept().order(), [Output::CloseDoors]);
    assert_eq!(kept().give(Input::Signal), [Output::CloseDoors]);
    let mut node = kept();
    assert_eq!(node.give(Input::Cancel).first(), Some(&Output::Resume));
    assert_eq!(node.step(), Step::Working);
}

#[test]
fn actors_that_do_not_answer_hold_nothing_up() {
    let mut node = Node::new();
    node.give(Input::Signal);
    let out = node.pass_ms(1_000, true);
    assert_eq!(out, [Output::Event(Event::Begun), Output::TakenUp, Output::FindTargets]);
    assert_eq!(node.pass_ms(19_000, true), [], "the moving time is for those who look for targets, too");
    assert_eq!(node.pass_ms(1_000, true), [Output::AskLeft]);
    assert_eq!(node.pass_ms(1_000, true), [Output::GiveHomesAway]);
    let out = node.pass_ms(10_000, true);
    assert_eq!(out[..2], stopping());
    assert_eq!(
        out[2..],
        [Output::EndMoves, Output::AwaitAnswers, Output::AskLeft, Output::Event(Event::Drained), Output::End]
    );
}
