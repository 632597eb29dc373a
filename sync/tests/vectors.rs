//! The bytes of snapshots beside those that another implementation of the format wrote: `vectors/snapshot.json`, or the file of
//! the same form that `SLIPGATE_VECTORS` names.
//!
//! That implementation knows no flags and writes 0 in their place, byte 10: all other bytes must be the same.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use serde::Deserialize;
use slipgate_sync::frame::delta::Delta;
use slipgate_sync::frame::full::Full;
use slipgate_sync::frame::{Encoded, Flags, Seen};
use slipgate_sync::{Alias, EntityState, Receiver, Reel, Snapshot, ViewId};

#[derive(Deserialize)]
struct Case {
    name: String,
    seq: u32,
    base_tick: u32,
    tick: u32,
    base: Vec<Entity>,
    cur: Vec<Entity>,
    full_hex: String,
    delta_hex: String,
}

#[derive(Clone, Deserialize)]
struct Entity {
    id: u32,
    pos_x_bits: u32,
    pos_y_bits: u32,
    vel_x_bits: u32,
    vel_y_bits: u32,
    hp: i16,
    kind: u8,
}

#[test]
fn full_snapshots_are_those_of_the_vectors() {
    for case in cases() {
        case.check(&case.present().full().frame(case.seq), &case.full_hex, Flags::default());
    }
}

#[test]
fn deltas_are_those_of_the_vectors_whether_all_is_compared_or_only_what_has_changed() {
    for case in cases() {
        let frame = case.present().encode_delta_from(&case.base()).frame(case.seq);
        case.check(&frame, &case.delta_hex, Flags::DELTA);
        let Seen::Delta(of_a_reel) = read(&case.delta_of_a_reel().frame(case.seq)) else { panic!("a delta") };
        let of_a_reel = Delta { tick: case.tick, baseline: case.base_tick, ..of_a_reel };
        assert_eq!(Seen::Delta(of_a_reel), read(&frame), "{}", case.name);
    }
}

#[test]
fn who_reads_the_vectors_sees_what_they_say() {
    for case in cases() {
        let Seen::Full(full) = read(&bytes(&case.full_hex)) else { panic!("{}: a full snapshot", case.name) };
        let mut receiver = Receiver::default();
        receiver.take(Seen::Full(Full { tick: 1, ..full })).unwrap_or_else(|error| panic!("{}: {error}", case.name));
        assert_eq!(*receiver.sees(), seen(&case.cur), "{}", case.name);

        let mut delta = bytes(&case.delta_hex);
        delta[FLAGS_AT] = Flags::DELTA.bits();
        let Seen::Delta(delta) = read(&delta) else { panic!("{}: a delta", case.name) };
        let removed = case.gone().map(|entity| Alias(entity.id)).collect();
        let mut receiver = Receiver::default();
        let Seen::Full(base) = read(&case.base().full().frame(0)) else { panic!("{}: a full snapshot", case.name) };
        let frames =
            [Seen::Full(Full { tick: 1, ..base }), Seen::Delta(Delta { tick: 2, baseline: 1, removed, ..delta })];
        for frame in frames {
            receiver.take(frame).unwrap_or_else(|error| panic!("{}: {error}", case.name));
        }
        assert_eq!(*receiver.sees(), seen(&case.cur), "{}", case.name);
    }
}

impl Case {
    fn base(&self) -> Snapshot {
        Snapshot::of(VIEW, self.base_tick, self.base.iter().map(Entity::shown))
    }

    fn present(&self) -> Snapshot {
        Snapshot::of(VIEW, self.tick, self.cur.iter().map(Entity::shown))
    }

    /// Those of the base who are not present: the vectors cannot say so.
    fn gone(&self) -> impl Iterator<Item = &Entity> {
        self.base.iter().filter(|entity| self.cur.iter().all(|present| present.id != entity.id))
    }

    /// Of a view that shows the base and then the present, with everybody in the order of the present.
    fn delta_of_a_reel(&self) -> Encoded {
        let mut reel = Reel::new(VIEW);
        let before: BTreeMap<_, _> = self.base.iter().map(|entity| (entity.id, entity)).collect();
        let newcomers: Vec<_> = self.cur.iter().filter(|entity| !before.contains_key(&entity.id)).collect();
        for entity in self.cur.iter().map(|entity| before.get(&entity.id).copied().unwrap_or(entity)).chain(&self.base)
        {
            reel.show(Alias(entity.id), entity.state());
        }
        // Whoever is hidden last has the place that is taken first.
        for newcomer in newcomers.iter().rev() {
            reel.hide(Alias(newcomer.id));
        }
        let base = reel.tick(1);
        for entity in &self.cur {
            reel.show(Alias(entity.id), entity.state());
        }
        for entity in self.gone() {
            reel.hide(Alias(entity.id));
        }
        reel.tick(2);
        reel.delta_from(&base)
    }

    fn check(&self, frame: &[u8], hex: &str, flags: Flags) {
        let mut expected = bytes(hex);
        assert_eq!(expected[FLAGS_AT], 0, "{}: the vectors know no flags", self.name);
        expected[FLAGS_AT] = flags.bits();
        if self.gone().next().is_none() || flags == Flags::default() {
            assert_eq!(frame, expected, "{}", self.name);
        } else {
            assert!(frame[FLAGS_AT] & REMOVALS != 0 && frame.len() > expected.len(), "{}", self.name);
            assert_eq!(frame[PAYLOAD_AT..expected.len()], expected[PAYLOAD_AT..], "{}", self.name);
        }
    }
}

impl Entity {
    fn shown(&self) -> (Alias, EntityState) {
        (Alias(self.id), self.state())
    }

    fn state(&self) -> EntityState {
        let pair = |x, y| [x, y].map(f32::from_bits);
        EntityState {
            position: pair(self.pos_x_bits, self.pos_y_bits),
            velocity: pair(self.vel_x_bits, self.vel_y_bits),
            hp: self.hp,
            kind: self.kind,
        }
    }
}

fn cases() -> Vec<Case> {
    let path = std::env::var_os("SLIPGATE_VECTORS")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/vectors/snapshot.json"), PathBuf::from);
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let cases: Vec<Case> = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    assert!(!cases.is_empty(), "{} holds no case", path.display());
    cases
}

fn read(frame: &[u8]) -> Seen {
    Seen::read(frame).unwrap_or_else(|error| panic!("{error}: {frame:02x?}"))
}

fn seen(entities: &[Entity]) -> BTreeMap<Alias, EntityState> {
    entities.iter().map(Entity::shown).collect()
}

fn bytes(hex: &str) -> Vec<u8> {
    let digits = hex.as_bytes().chunks_exact(2).map(|pair| std::str::from_utf8(pair).expect("hex digits"));
    digits.map(|pair| u8::from_str_radix(pair, 16).expect("hex digits")).collect()
}

const VIEW: ViewId = ViewId(1);
const FLAGS_AT: usize = 10;
const PAYLOAD_AT: usize = 11;
const REMOVALS: u8 = 2;
