//! What must be true of every view, and of every network between it and a client.

use proptest::prelude::*;
use slipgate_sync::frame::Seen;
use slipgate_sync::{Alias, EntityState, Mask, Receiver, Reel, Snapshot, Taken, ViewId};

use super::play::{Act, acts, everybody, show_and_hide};

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, failure_persistence: None, ..ProptestConfig::default() })]

    /// `apply(diff(a, b), a) = b`, over the wire; and no byte is sent that did not change.
    #[test]
    fn the_difference_of_two_snapshots_makes_the_one_of_the_other(before in acts(), between in acts(), after in acts()) {
        let mut reel = Reel::new(ViewId(1));
        show_and_hide(&mut reel, &before);
        let base = reel.tick(1);
        show_and_hide(&mut reel, &between);
        reel.tick(2);
        show_and_hide(&mut reel, &after);
        let present = reel.tick(3);

        let delta = present.delta_from(&base);
        prop_assert_eq!(reel.delta_from(&base), delta.encode());
        prop_assert_eq!(present.encode_delta_from(&base), delta.encode());
        let mut receiver = Receiver::default();
        prop_assert_eq!(receiver.take(read(&base.full().frame(1))), Ok(Taken::Sees { tick: 1 }));
        prop_assert_eq!(receiver.take(read(&delta.encode().frame(2))), Ok(Taken::Sees { tick: 3 }));
        prop_assert_eq!(receiver.sees(), &everybody(&present));

        let earlier = everybody(&base);
        for entry in &delta.entries {
            let is_new = delta.removed.contains(&entry.alias) || !earlier.contains_key(&entry.alias);
            let expected = if is_new { Mask::ALL } else { earlier[&entry.alias].differing(&entry.state) };
            prop_assert_eq!(entry.mask, expected);
        }
    }

    /// Whoever looks elsewhere keeps what is to be seen there, too.
    #[test]
    fn the_difference_of_two_views_removes_only_who_is_not_in_the_other(here in acts(), there in acts()) {
        let (mut forest, mut harbor) = (Reel::new(ViewId(1)), Reel::new(ViewId(2)));
        show_and_hide(&mut forest, &here);
        show_and_hide(&mut harbor, &there);
        let (base, present) = (forest.tick(1), harbor.tick(2));
        let delta = present.delta_from(&base);
        prop_assert_eq!(harbor.delta_from(&base), delta.encode());
        let (before, now) = (everybody(&base), everybody(&present));
        prop_assert!(delta.removed.iter().all(|alias| before.contains_key(alias) && !now.contains_key(alias)));
        prop_assert_eq!(delta.removed.len(), before.keys().filter(|alias| !now.contains_key(alias)).count());

        let mut receiver = Receiver::default();
        prop_assert!(receiver.take(read(&base.full().frame(1))).is_ok());
        prop_assert!(receiver.take(read(&delta.encode().frame(2))).is_ok());
        prop_assert_eq!(receiver.sees(), &now);
    }

    /// What is written is read, whatever the floats.
    #[test]
    fn frames_are_read_as_they_were_written(acts in acts(), number in any::<u32>()) {
        let mut reel = Reel::new(ViewId(1));
        let empty: Snapshot = reel.tick(1);
        show_and_hide(&mut reel, &acts);
        let present = reel.tick(2);
        let Seen::Full(full) = read(&present.full().frame(number)) else { panic!("a full snapshot is read as a delta") };
        prop_assert_eq!(full.entities.len(), present.len());
        let delta = present.delta_from(&empty);
        prop_assert_eq!(read(&delta.encode().frame(number)), Seen::Delta(delta));
    }
}

#[test]
fn a_nan_that_stays_is_not_sent_again_and_minus_zero_is() {
    let mut reel = Reel::new(ViewId(1));
    let lost = EntityState { position: [f32::NAN, 0.0], ..EntityState::default() };
    reel.show(Alias(1), lost);
    let base = reel.tick(1);
    reel.show(Alias(1), lost);
    reel.tick(2);
    assert!(reel.present().delta_from(&base).entries.is_empty());

    reel.show(Alias(1), EntityState { position: [f32::NAN, -0.0], ..lost });
    reel.tick(3);
    assert_eq!(reel.present().delta_from(&base).entries[0].mask, Mask::POSITION);
}

#[test]
fn whoever_left_and_came_back_within_a_delta_is_removed_and_new() {
    let mut reel = Reel::new(ViewId(1));
    let [ann, bob] = [Alias(1), Alias(2)];
    reel.show(ann, EntityState::default());
    let base = reel.tick(1);
    reel.hide(ann);
    reel.show(bob, EntityState::default());
    reel.show(ann, EntityState::default());
    reel.tick(2);
    let delta = reel.present().delta_from(&base);
    assert_eq!(read(&reel.delta_from(&base).frame(1)), Seen::Delta(delta.clone()));
    assert_eq!(delta.removed, [ann]);
    let entries: Vec<_> = delta.entries.iter().map(|entry| (entry.alias, entry.mask)).collect();
    assert_eq!(entries, [(bob, Mask::ALL), (ann, Mask::ALL)]);
}

#[test]
fn more_than_65535_entities_are_counted_with_32_bits_in_every_frame() {
    let mut reel = Reel::new(ViewId(1));
    let empty = reel.tick(1);
    let many = 70_000;
    let shown =
        |number: u32| EntityState { hp: i16::try_from(number % 1000).expect("small"), ..EntityState::default() };
    (1..=many).for_each(|number| reel.show(Alias(number), shown(number)));
    let full = reel.tick(2);
    (1..=many).for_each(|number| {
        reel.hide(Alias(number));
    });
    let gone = reel.tick(3);

    let mut receiver = Receiver::default();
    let frames = [empty.full(), full.delta_from(&empty).encode(), gone.delta_from(&full).encode(), full.full()];
    let wide: Vec<_> = frames.iter().map(|encoded| encoded.flags.bits() & 4 != 0).collect();
    assert_eq!(wide, [false, true, true, true]);
    let mut counts = Vec::new();
    for encoded in &frames[..3] {
        receiver.take(read(&encoded.frame(1))).expect("one after the other");
        counts.push(receiver.sees().len());
    }
    assert_eq!(counts, [0, many as usize, 0]);
}

fn read(frame: &[u8]) -> Seen {
    Seen::read(frame).unwrap_or_else(|error| panic!("{error}: {frame:02x?}"))
}

#[test]
fn acts_do_all_that_can_be_done() {
    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;
    let mut runner = TestRunner::deterministic();
    let all: Vec<_> = (0..200).flat_map(|_| acts().new_tree(&mut runner).expect("acts").current()).collect();
    assert!(all.iter().any(|act| matches!(act, Act::Hide(_))));
    assert!(all.iter().any(|act| matches!(act, Act::Show(_, state) if state.position[0].is_nan())));
}
