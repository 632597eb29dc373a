//! Valid bytes of every type, and what can be done to them.

use proptest::collection::vec;
use proptest::prelude::{Strategy, any, prop_oneof};

/// One thing done to bytes. Positions count from the start, and wrap.
#[derive(Clone, Debug)]
pub(crate) enum Change {
    /// Turns one bit.
    Flip { at: usize, bit: u8 },
    /// Puts another byte there.
    Set { at: usize, byte: u8 },
    /// Ends there.
    Cut(usize),
    /// Says a part twice.
    Double { at: usize, length: usize },
    /// Puts a number there that may be taken for a length.
    Claim { at: usize, claim: u64 },
}

/// Lengths to claim: below and above every limit there is, and the ends of the numbers.
pub(crate) const CLAIMS: [u64; 8] = [251, 4_096, 65_536, 1 << 20, (16 << 20) - 64, 16 << 20, u32::MAX as u64, u64::MAX];

/// Some changes.
pub(crate) fn changes() -> impl Strategy<Value = Vec<Change>> {
    let at = || 0..400usize;
    let change = prop_oneof![
        (at(), 0..8u8).prop_map(|(at, bit)| Change::Flip { at, bit }),
        (at(), any::<u8>()).prop_map(|(at, byte)| Change::Set { at, byte }),
        at().prop_map(Change::Cut),
        (at(), 1..64usize).prop_map(|(at, length)| Change::Double { at, length }),
        (at(), 0..CLAIMS.len()).prop_map(|(at, claim)| Change::Claim { at, claim: CLAIMS[claim] }),
    ];
    vec(change, 0..4)
}

/// The bytes with the changes made.
pub(crate) fn tampered(bytes: &[u8], changes: &[Change]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for change in changes {
        if bytes.is_empty() {
            break;
        }
        let length = bytes.len();
        match *change {
            Change::Flip { at, bit } => bytes[at % length] ^= 1 << bit,
            Change::Set { at, byte } => bytes[at % length] = byte,
            Change::Cut(at) => bytes.truncate(at % length),
            Change::Double { at, length: part } => {
                let at = at % length;
                let part = bytes[at..length.min(at + part)].to_vec();
                bytes.splice(at..at, part);
            }
            Change::Claim { at, claim } => {
                let at = at % length;
                bytes.splice(at..=at, [&[253][..], &claim.to_le_bytes()].concat());
            }
        }
    }
    bytes
}

/// Every line of the vectors, and every message of them in a frame of its own.
pub(crate) fn vectors() -> Vec<Vec<u8>> {
    let lines = FILE.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    let bytes = |line: &str| {
        let (_, hex) = line.split_once(' ').expect("a name and bytes");
        (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).expect("hex")).collect()
    };
    lines.map(bytes).collect()
}

const FILE: &str = include_str!("../../../docs/wire-vectors.txt");
