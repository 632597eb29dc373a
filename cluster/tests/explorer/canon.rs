//! When two states of an actor are the same: their texts are, but for what only counts up or only tells time.
//!
//! The machines never ask what time it is, only whether something is due. So a moment is told by what a step of
//! the clock would make of it: past, due at the next tick, a deadline, or the far day on which tombstones are
//! forgotten. Counters that nothing depends on are left out. A nonce counts where a staged copy waits for its
//! answer; there it is the how-many-eth copy, and elsewhere nothing.

use slipgate_cluster::Now;

/// What a tick adds to the clock: everything that repeats is due then, however often it was repeated.
pub(crate) const TICK_US: u64 = 1_000_000;

/// Deadlines: no number of ticks comes near them.
pub(crate) const LATE_US: u64 = 1_000_000_000_000;

/// When a tombstone is forgotten: no number of deadlines comes near it.
pub(crate) const FORGET_US: u64 = 1_000_000_000_000_000_000;

/// Counters on which nothing depends, what a move has cost, and how long somebody waits who is due at the next tick anyway.
const COUNTERS: [&str; 6] = ["nonces", "asked", "left_out", "wait", "total_us", "pause_us"];

/// The text of a state at `now`, in which `nonces` (as the machine gave them out, and as the explorer tells them)
/// are those that count.
pub(crate) fn text(debug: &str, now: Now, nonces: &[(u64, u64)]) -> String {
    let mut canon = String::with_capacity(debug.len());
    let mut rest = debug;
    while let Some(at) = rest.find(['(', ':']) {
        let (before, after) = rest.split_at(at);
        canon.push_str(before);
        let word = before.rsplit(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_').next();
        let opening = if after.starts_with('(') { 1 } else { after.len().min(2) };
        canon.push_str(&after[..opening]);
        rest = &after[opening..];
        let digits = rest.len() - rest.trim_start_matches(|digit: char| digit.is_ascii_digit()).len();
        let Ok(number) = rest[..digits].parse::<u64>() else { continue };
        let mut taken = digits;
        match word {
            Some("Now") => canon.push_str(moment(number, now)),
            Some("Nonce") => {
                let told = nonces.iter().find(|(real, _)| *real == number).map_or(0, |(_, told)| *told);
                canon.push_str(&told.to_string());
            }
            Some(word) if COUNTERS.contains(&word) => {
                taken = rest.find([' ', ',', '}']).unwrap_or(rest.len());
            }
            Some(_) | None => continue,
        }
        rest = &rest[taken..];
    }
    canon.push_str(rest);
    canon
}

fn moment(at: u64, now: Now) -> &'static str {
    match at.saturating_sub(now.0) {
        0 => "past",
        1..=TICK_US => "tick",
        span if span > LATE_US / 2 && span <= LATE_US => "late",
        span if span > FORGET_US / 2 && span <= FORGET_US => "far",
        span => panic!("expected every span to be a tick, a deadline or a tombstone's, found {span} us"),
    }
}

/// 128 bits of a text: two texts that differ have different ones, for all that a test will ever see.
pub(crate) fn digest(text: &str) -> u128 {
    let (mut low, mut high) = (0xcbf2_9ce4_8422_2325u64, 0x9e37_79b9_7f4a_7c15u64);
    for chunk in text.as_bytes().chunks(8) {
        let mut word = [0u8; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        let word = u64::from_le_bytes(word);
        low = mix(low ^ word);
        high = mix(high.rotate_left(23).wrapping_add(word));
    }
    let length = text.len() as u64;
    u128::from(mix(high ^ length)) << 64 | u128::from(mix(low ^ length))
}

/// Scatters a number over 64 bits (splitmix64).
pub(crate) fn mix(number: u64) -> u64 {
    let z = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[test]
fn moments_are_told_by_what_a_step_makes_of_them_and_counters_not_at_all() {
    let state = "S { due: Now(6), wait: 50ms, until: Some(Now(1000000000004)), at: Now(3), nonces: 17, epoch: 4, n: [Nonce(9), Nonce(2)] }";
    let told = "S { due: Now(tick), wait: , until: Some(Now(late)), at: Now(past), nonces: , epoch: 4, n: [Nonce(3), Nonce(0)] }";
    assert_eq!(text(state, Now(5), &[(9, 3)]), told);
    assert_ne!(digest(told), digest(state));
}
