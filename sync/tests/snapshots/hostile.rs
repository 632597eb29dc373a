//! Bytes from whoever: a value or an error that says what is wrong; never a panic, and no room taken for what is only claimed.

use proptest::prelude::*;
use slipgate_sync::frame::{FrameError, Header, Seen};
use slipgate_sync::{Alias, EntityState, Receiver, Reel, TakeError, ViewId};

use super::play::{acts, show_and_hide};

proptest! {
    #![proptest_config(ProptestConfig { cases: 5_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_are_a_frame_or_an_error(bytes in prop::collection::vec(any::<u8>(), 0..80)) {
        read_twice(&bytes);
    }

    #[test]
    fn any_payload_behind_a_header_is_a_snapshot_or_an_error(flags in 0..10u8, payload in prop::collection::vec(any::<u8>(), 0..80)) {
        if let Ok(seen) = Seen::read_payload(flags, &payload) {
            let _ = Receiver::default().take(seen);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_frame_that_is_cut_or_bent_anywhere_is_another_frame_or_an_error(
        acts in acts(), later in acts(), at in any::<prop::sample::Index>(), bits in 1..=255u8,
    ) {
        let mut reel = Reel::new(ViewId(1));
        show_and_hide(&mut reel, &acts);
        let base = reel.tick(1);
        show_and_hide(&mut reel, &later);
        reel.tick(2);
        for frame in [base.full().frame(1), reel.delta_from(&base).frame(2)] {
            let cut = at.index(frame.len());
            prop_assert!(Seen::read(&frame[..cut]).is_err());
            prop_assert!(Seen::read(&[&frame[..], &[0]].concat()).is_err());
            let mut bent = frame;
            let at = at.index(bent.len());
            bent[at] ^= bits;
            read_twice(&bent);
        }
    }
}

#[test]
fn what_is_wrong_is_said() {
    let full = |flags: u8, payload: &[u8]| Seen::read_payload(flags, payload);
    let cases = [
        (Seen::read(&[0; 5]), FrameError::Short { needed: 11, found: 5 }),
        (Seen::read(&[0; 11]), FrameError::Length { claimed: 0 }),
        (Seen::read(&[&[0xff; 4][..], &[0; 7]].concat()), FrameError::Length { claimed: u32::MAX }),
        (Seen::read(&framed(0x0103, 0, &[0; 6])[..16]), FrameError::Whole { claimed: 13, found: 12 }),
        (Seen::read(&framed(0x0104, 0, &[0; 6])), FrameError::Command { found: 0x0104 }),
        (full(8, &[]), FrameError::Flags { found: 8 }),
        (full(2, &[0; 8]), FrameError::Flags { found: 2 }),
        (full(0, &[0; 3]), FrameError::Short { needed: 4, found: 3 }),
        (full(0, &[0, 0, 0, 1, 0xff, 0xff]), FrameError::Count { count: 0xffff, offset: 4, found: 0 }),
        (full(4, &[0, 0, 0, 1, 0xff, 0xff, 0xff, 0xff, 9]), FrameError::Count { count: u32::MAX, offset: 4, found: 1 }),
        (full(0, &[0, 0, 0, 1, 0, 0, 9, 9]), FrameError::Trailing { trailing: 2 }),
        (full(1, &[0, 0, 0, 2, 0, 0, 0, 1, 0, 1, 0, 0, 0, 7, 16, 0]), FrameError::Mask { found: 16, offset: 14 }),
        (full(1, &[0, 0, 0, 2, 0, 0, 0, 1, 0, 1, 0, 0, 0, 7, 0, 0]), FrameError::Mask { found: 0, offset: 14 }),
        (full(1, &[0, 0, 0, 2, 0, 0, 0, 1, 0, 1, 0, 0, 0, 7, 4, 0]), FrameError::Short { needed: 2, found: 1 }),
        (
            full(3, &[0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 1]),
            FrameError::Count { count: 2, offset: 10, found: 4 },
        ),
    ];
    for (read, expected) in cases {
        assert_eq!(read, Err(expected));
    }
}

#[test]
fn a_delta_that_does_not_fit_what_is_seen_changes_nothing() {
    let mut receiver = Receiver::default();
    let mut reel = Reel::new(ViewId(1));
    reel.show(Alias(1), EntityState::default());
    receiver.take(Seen::read(&reel.tick(5).full().frame(1)).expect("a frame")).expect("the first one");
    let before = receiver.clone();

    let entry = |alias: u8, mask: u8| [&[0, 0, 0, alias, mask][..], &vec![0; slots(mask)]].concat();
    let delta = |base: u8, entries: &[Vec<u8>], removed: &[u8]| {
        let mut payload = vec![0, 0, 0, 6, 0, 0, 0, base, 0, u8::try_from(entries.len()).expect("few")];
        payload.extend(entries.concat());
        payload.extend([0, u8::try_from(removed.len()).expect("few")]);
        payload.extend(removed.iter().flat_map(|&alias| [0, 0, 0, alias]));
        Seen::read_payload(3, &payload).expect("a delta")
    };
    let cases = [
        (delta(4, &[], &[]), TakeError::NoBaseline { baseline: 4 }),
        (delta(0, &[], &[]), TakeError::NoBaseline { baseline: 0 }),
        (delta(5, &[entry(2, 4)], &[]), TakeError::Unseen { alias: Alias(2) }),
        (delta(5, &[], &[2]), TakeError::Unseen { alias: Alias(2) }),
        (delta(5, &[], &[1, 1]), TakeError::Unseen { alias: Alias(1) }),
        (delta(5, &[entry(1, 4), entry(1, 8)], &[]), TakeError::Twice { alias: Alias(1) }),
        (delta(5, &[entry(1, 4)], &[1]), TakeError::Unseen { alias: Alias(1) }),
    ];
    for (seen, expected) in cases {
        assert_eq!(receiver.take(seen), Err(expected));
        assert_eq!((receiver.tick(), receiver.sees()), (before.tick(), before.sees()));
    }
    assert!(receiver.take(delta(5, &[entry(1, 15)], &[1])).is_ok());
}

/// What can be read is what is written for it, and a client takes it or says why not.
fn read_twice(bytes: &[u8]) {
    if let Ok(seen) = Seen::read(bytes) {
        if let Seen::Delta(delta) = &seen {
            let again = delta.encode();
            assert_eq!(Seen::read(&again.frame(1)), Ok(seen.clone()));
        }
        let _ = Receiver::default().take(seen);
    }
}

fn framed(command: u16, flags: u8, payload: &[u8]) -> Vec<u8> {
    [&Header { command, number: 1, flags }.bytes(payload.len())[..], payload].concat()
}

fn slots(mask: u8) -> usize {
    [8, 8, 2, 1].iter().enumerate().filter(|(bit, _)| mask & (1 << bit) != 0).map(|(_, bytes)| bytes).sum()
}
