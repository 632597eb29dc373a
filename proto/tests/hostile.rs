//! Hostile bytes: every decoder with junk and with valid bytes that were tampered with.
//!
//! | module | holds |
//! |---|---|
//! | `corpus` | valid bytes of every type, and what can be done to them |
//! | `decoders` | every decoder of the crate, behind one name |
//! | `meter` | an allocator that counts |
//!
//! Keeps: no decoder panics, and none holds more than [`allowed`] at any moment, whatever lengths are claimed.

#[path = "hostile/corpus.rs"]
mod corpus;
#[path = "hostile/decoders.rs"]
mod decoders;
#[path = "hostile/meter.rs"]
mod meter;

use proptest::collection::vec;
use proptest::prelude::{ProptestConfig, any, prop_assert, proptest};

use slipgate_proto::assembly::{Assembly, OPEN_BYTES_MAX};
use slipgate_proto::frame::packed::ITEMS_MAX;
use slipgate_proto::frame::{self, CHUNK_BYTES_MAX, Chunk, Frame, Wire};
use slipgate_proto::lanes::{LaneLimits, Lanes};
use slipgate_proto::{codec, handshake};

use corpus::{Change, changes, tampered, vectors};
use meter::peak;

/// Bytes that reading `length` bytes may hold at once: a list takes at most 1 MiB before its elements come, and
/// none is deeper than three lists; an element takes at most 256 bytes of memory for one byte on the wire, while
/// its list grows to three times that. A text takes what it claims, which few bytes may not do in large.
fn allowed(length: usize) -> usize {
    let text = if length <= 4 << 10 { 64 << 10 } else { codec::BYTES_MAX };
    (4 << 20) + text + 3 * 256 * length
}

fn config(cases: u32) -> ProptestConfig {
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

/// Feeds bytes to every decoder.
fn feed(bytes: &[u8]) {
    for (name, decode) in decoders::ALL {
        let held = peak(|| decode(bytes));
        assert!(held <= allowed(bytes.len()), "{name} held {held} bytes for {} bytes {bytes:02x?}", bytes.len());
    }
}

proptest! {
    #![proptest_config(config(2_000))]

    #[test]
    fn junk_panics_in_no_decoder_and_costs_little(bytes in vec(any::<u8>(), 0..300)) {
        feed(&bytes);
    }

    #[test]
    fn junk_behind_a_right_beginning_panics_in_no_decoder_and_costs_little(
        start in 0..7usize, bytes in vec(any::<u8>(), 0..300),
    ) {
        let starts: [&[u8]; 7] = [&[1], &[1, 1], &[2, 1], &[3], &[8, 0, 9, 63], &[9, 0, 9, 31], b"SLPG\x00\x01\x01"];
        feed(&[starts[start], &bytes].concat());
    }

    #[test]
    fn valid_bytes_that_were_tampered_with_panic_in_no_decoder_and_cost_little(
        pick in any::<proptest::sample::Index>(), changes in changes(),
    ) {
        feed(&tampered(pick.get::<Vec<u8>>(&vectors()), &changes));
    }

    #[test]
    fn whatever_decodes_can_be_queued_and_leaves_in_frames_that_a_peer_can_read(
        picks in vec((any::<proptest::sample::Index>(), changes()), 1..20),
    ) {
        let mut lanes = Lanes::new(LaneLimits::default());
        let vectors = vectors();
        for (pick, changes) in &picks {
            for wire in decoders::wires(&tampered(pick.get::<Vec<u8>>(&vectors), changes)) {
                let _ = lanes.push(wire);
            }
        }
        let mut bytes = Vec::new();
        while lanes.next_frame(&mut bytes) {
            prop_assert!(bytes.len() <= frame::BYTES_MAX, "a frame of {} bytes", bytes.len());
            prop_assert!(Frame::decode(&bytes).is_ok());
            bytes.clear();
        }
        prop_assert!(lanes.waiting() == 0);
    }

    #[test]
    fn chunks_in_any_order_are_taken_or_refused_and_held_within_the_bound(
        chunks in vec((0..3u64, 0..40u32, 0..40u32, vec(any::<u8>(), 1..40)), 0..60),
    ) {
        let held = peak(|| {
            let mut assembly = Assembly::default();
            for (transfer, total, offset, bytes) in chunks.clone() {
                let _ = assembly.take(Chunk { transfer, total, offset, bytes: bytes.into() });
            }
        });
        prop_assert!(held <= allowed(60 * 40), "{held}");
    }
}

#[test]
fn every_vector_is_fed_as_it_is_cut_everywhere_and_with_every_bit_turned() {
    for bytes in vectors() {
        feed(&bytes);
        for at in 0..bytes.len() {
            feed(&tampered(&bytes, &[Change::Cut(at)]));
            for bit in 0..8 {
                feed(&tampered(&bytes, &[Change::Flip { at, bit }]));
            }
        }
    }
}

/// A list of values without bytes would be as long as it claims, at no cost for its sender: this would not end.
#[test]
fn every_length_in_every_vector_may_claim_anything_and_is_soon_refused() {
    for bytes in vectors() {
        for at in 0..bytes.len() {
            for claim in corpus::CLAIMS {
                feed(&tampered(&bytes, &[Change::Claim { at, claim }]));
            }
        }
    }
}

#[test]
fn a_list_of_lists_that_claim_the_most_is_refused_before_it_is_there() {
    // A batch that claims 2^40 messages, the first of which claims to list as many streams.
    let huge = [&[253][..], &(1u64 << 40).to_le_bytes()].concat();
    let handed_on = [&[0, 1, 0, 1, 0, 13][..], &[7, 16], &[9; 16], &huge].concat();
    let bytes = [&[1, codec::VERSION][..], &huge, &handed_on].concat();
    feed(&bytes);
    assert!(Frame::decode(&bytes).is_err());
}

#[test]
fn a_peer_that_opens_transfers_and_finishes_none_is_stopped_at_the_bound() {
    let piece = CHUNK_BYTES_MAX;
    let total = u32::try_from(codec::BYTES_MAX).expect("16 MiB fit");
    let held = peak(|| {
        let mut assembly = Assembly::default();
        'all: for offset in (0..codec::BYTES_MAX - piece).step_by(piece) {
            for transfer in 0..64 {
                let offset = u32::try_from(offset).expect("within 16 MiB");
                if assembly.take(Chunk { transfer, total, offset, bytes: vec![0; piece].into() }).is_err() {
                    break 'all;
                }
            }
        }
    });
    // What a vector holds may be half of what it has room for, and it grows by copying.
    assert!(held <= 3 * OPEN_BYTES_MAX, "{held}");
}

#[test]
fn a_batch_of_the_smallest_messages_costs_no_more_than_is_stated() {
    let smallest = vectors()
        .into_iter()
        .flat_map(|bytes| decoders::wires(&bytes))
        .min_by_key(|wire| codec::encode(wire).expect("a vector is small").len());
    let smallest: Wire = smallest.expect("some vector is a message");
    let one = codec::encode(&smallest).expect("a vector is small").len() - 1;
    let batch = vec![smallest; (frame::BYTES_MAX - 10) / one];
    let bytes = Frame::Control(batch).encode();
    assert!(bytes.len() <= frame::BYTES_MAX);
    let held = peak(|| drop(Frame::decode(&bytes)));
    assert!(held <= allowed(bytes.len()), "{held}");
}

/// Two bytes an item, with everything as in the one before it: what comes of it is bounded by their number.
#[test]
fn a_packed_batch_of_the_smallest_items_costs_little_however_many_it_claims() {
    for kind in [8, 9] {
        for count in [ITEMS_MAX, ITEMS_MAX + 1, usize::from(u16::MAX)] {
            let count = u16::try_from(count).expect("as it is written");
            let bytes = [&[kind][..], &count.to_be_bytes(), &vec![0; frame::BYTES_MAX - 3]].concat();
            let held = peak(|| drop(Frame::decode(&bytes)));
            assert!(held <= ITEMS_MAX * 256, "kind {kind}, {count} items: {held} bytes");
        }
    }
}

#[test]
fn a_hello_that_claims_a_long_name_is_refused_for_little() {
    let mut bytes = b"SLPG\x00\x01\x01".to_vec();
    bytes.extend([252, 255, 255, 255, 0]);
    let held = peak(|| drop(handshake::decode::<handshake::Hello>(&bytes)));
    assert!(held <= 128 << 10, "{held} bytes for {}", bytes.len());
}
