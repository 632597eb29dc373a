//! Golden bytes: what every type of the wire looks like, byte for byte.
//!
//! The bytes stand in `docs/wire-vectors.txt`, a name and a line of hex each, so that another
//! implementation can read them too. A test per family encodes its values, compares them with the
//! file, and reads them back; and it asks the decoder how many variants there are, so that a new
//! variant fails until it has its line.
//!
//! Keeps: a line that is there never changes within a protocol version; every line is some value's.

mod control;
mod handshake;
mod manager;
mod moving;
mod part;
mod payload;
mod sample;
mod session;
mod tool;

use std::collections::BTreeSet;
use std::fmt::{Debug, Write};

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::codec::{self, DecodeError, VERSION};

const FILE: &str = include_str!("../../docs/wire-vectors.txt");

const FAMILIES: [&str; 19] = [
    "codec", "part", "port", "sender", "refusal", "message", "control", "data", "image", "request", "reply", "scene",
    "join", "hello", "welcome", "frame", "question", "answer", "payload",
];

/// A value's name in the file, and its bytes.
#[derive(Debug)]
struct Vector {
    name: &'static str,
    bytes: Vec<u8>,
}

/// The vector of a value that the codec writes.
fn vector<T>(name: &'static str, value: &T) -> Vector
where
    T: Serialize + DeserializeOwned + PartialEq + Debug,
{
    let bytes = codec::encode(value).expect("a sample is small");
    assert_eq!(&codec::decode::<T>(&bytes).expect("bytes of our own"), value, "{name}");
    Vector { name, bytes }
}

/// The vector of what is no value of the codec's.
fn vector_of(name: &'static str, bytes: Vec<u8>) -> Vector {
    Vector { name, bytes }
}

/// Compares a family with its lines in the file, both ways and in order.
fn check(family: &str, vectors: &[Vector]) {
    let written: Vec<_> = lines().filter(|(name, _)| family_of(name) == family).collect();
    let hexes: Vec<_> = vectors.iter().map(|vector| hex(&vector.bytes)).collect();
    let ours: Vec<_> = vectors.iter().map(|vector| vector.name).zip(hexes.iter().map(String::as_str)).collect();
    let should = ours.iter().map(|(name, hex)| format!("{name} {hex}\n")).collect::<String>();
    assert!(written == ours, "docs/wire-vectors.txt differs; the family {family} is encoded as\n{should}");
}

/// Checks that the vectors hold every variant of an enum, at the top of the value.
fn check_variants<T: DeserializeOwned + Debug>(vectors: &[Vector]) {
    let held: BTreeSet<_> = vectors.iter().map(|vector| vector.bytes[1]).collect();
    assert_eq!(held, (0..variants::<T>()).collect(), "variants of {}", std::any::type_name::<T>());
}

/// How many variants an enum has, as its decoder tells whoever asks for one too many.
fn variants<T: DeserializeOwned + Debug>() -> u8 {
    let refusal = match codec::decode::<T>(&[VERSION, 250]) {
        Err(DecodeError::Malformed(refusal)) => refusal.to_string(),
        other => panic!("expected variant 250 to be refused, found {other:?}"),
    };
    let (_, count) = refusal.rsplit_once("< ").unwrap_or_else(|| panic!("no count in {refusal:?}"));
    let digits: String = count.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().unwrap_or_else(|_| panic!("no count in {refusal:?}"))
}

fn lines() -> impl Iterator<Item = (&'static str, &'static str)> {
    let lines = FILE.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines.map(|line| line.split_once(' ').unwrap_or_else(|| panic!("{line:?} is no name and bytes")))
}

fn family_of(name: &str) -> &str {
    name.split_once('.').map_or(name, |(family, _)| family)
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").expect("text takes everything");
        text
    })
}

#[test]
fn every_line_of_the_file_belongs_to_a_family_that_is_checked_and_no_name_stands_twice() {
    let mut names = BTreeSet::new();
    for (name, _) in lines() {
        assert!(FAMILIES.contains(&family_of(name)), "{name}");
        assert!(names.insert(name), "{name} stands twice");
    }
}

#[test]
fn the_decoder_tells_how_many_variants_an_enum_has() {
    assert_eq!(variants::<slipgate_cluster::Port>(), 6);
}
