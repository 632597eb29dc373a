//! The shape of a seed's cluster, and the script of what befalls it: both drawn from the seed, so that each size, bound and
//! fault gets its turn.
//!
//! An act draws its victims from a seed of its own, so that a script may be cut short, and the acts that are left do
//! what they can.

use std::time::Duration;

use slipgate_cluster::manager::Waits;
use slipgate_cluster::{Limits, Rules};

use crate::dice::Dice;
use crate::mutant::Mutant;
use crate::network::Faults;

/// What a cluster is made of.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub(crate) seed: u64,
    pub(crate) nodes: u16,
    pub(crate) scenes_per_node: u16,
    pub(crate) capacity: u32,
    pub(crate) limits: Limits,
    pub(crate) waits: Waits,
    pub(crate) faults: Faults,
    /// How many ticks the faults last.
    pub(crate) ticks: u64,
    pub(crate) script: Vec<Act>,
    /// A rule that is broken.
    pub(crate) mutant: Option<Mutant>,
}

/// Something that happens at a tick.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Act {
    pub(crate) tick: u64,
    pub(crate) what: Mischief,
    pub(crate) seed: u64,
}

/// What may happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mischief {
    Talk,
    Flood,
    Move,
    MoveAll,
    Spawn,
    Despawn,
    Cancel,
    LosePeer,
    Cut,
    CutOneWay,
    Stop,
    JumpClock,
    SlowDisk,
    Crash,
    CrashManager,
    Retire,
    Stay,
}

impl Plan {
    /// The rules that the machines keep.
    pub(crate) fn rules(&self) -> Rules {
        self.mutant.map_or(Rules::default(), Mutant::rules)
    }

    pub(crate) fn drawn(seed: u64) -> Self {
        let mut dice = Dice::new(seed ^ 0x5117_9a7e_5117_9a7e);
        let mut one_of = |values: &[u64]| *dice.pick(values).expect("there are values");
        let mut small = |values: &[u64]| usize::try_from(one_of(values)).expect("a small number");
        let limits = Limits {
            stream_window: small(&[1, 4, 16]),
            stream_queue: small(&[2, 20]),
            held_messages: small(&[2, 8, 4096]),
            hops: u8::try_from(small(&[0, 1, 8])).expect("a small number"),
            router_queue: small(&[30, 1000]),
            state_bytes: one_of(&[1_000, 1 << 20, 1 << 20]),
            moves_per_scene: u32::try_from(one_of(&[2, 100])).expect("a small number"),
            reserve: Duration::from_millis(one_of(&[30, 200, 1_000])),
            transfer: Duration::from_millis(one_of(&[5, 30, 300])),
            decide: Duration::from_millis(one_of(&[30, 300])),
            settle: Duration::from_millis(one_of(&[50, 200])),
            reservation: Duration::from_millis(one_of(&[100, 1_000])),
            // Longer than any verdict takes, or the copy that a tombstone alone names would be lost.
            tombstone: Duration::from_secs(30),
            stream_idle: Duration::from_millis(one_of(&[15, 100, 1_000, 5_000])),
            resend_first: Duration::from_millis(20),
            resend_max: Duration::from_millis(200),
            ..Limits::default()
        };
        let lease = Duration::from_millis(one_of(&[300, 600, 1_000]));
        let waits =
            Waits { lease, margin: lease / 5, probe: Duration::from_millis(100), welcomed: Duration::from_millis(200) };
        let faults = Faults::drawn(&mut dice);
        let nodes = u16::try_from(dice.within(1..5)).expect("a few");
        let ticks = dice.within(100..400);
        let dangers = dice.within(0..4);
        let script = (1..=ticks).flat_map(|tick| script(tick, dangers, &mut dice)).collect();
        Self {
            seed,
            nodes,
            scenes_per_node: u16::try_from(dice.within(1..3)).expect("a few"),
            capacity: u32::try_from(dice.within(2..9)).expect("a few"),
            limits,
            waits,
            faults,
            ticks,
            script,
            mutant: None,
        }
    }

    /// Of a cluster that is directed: nothing is left to chance, and bounds and deadlines are those of a node that is
    /// not told others.
    pub(crate) fn directed(nodes: u16, scenes_per_node: u16, capacity: u32) -> Self {
        Self {
            seed: 0,
            nodes,
            scenes_per_node,
            capacity,
            limits: Limits::default(),
            waits: Waits::default(),
            faults: Faults { is_steady: true, ..Faults::default() },
            ticks: 0,
            script: Vec::new(),
            mutant: None,
        }
    }
}

/// Up to three acts in a tick; what ends lives is rare, and in a quarter of the clusters nothing does.
fn script(tick: u64, dangers: u64, dice: &mut Dice) -> Vec<Act> {
    let count = dice.within(0..4);
    let mut act = || {
        let what = match dice.within(0..1000) {
            0..400 => Mischief::Talk,
            400..405 => Mischief::Flood,
            405..640 => Mischief::Move,
            640..670 => Mischief::MoveAll,
            670..740 => Mischief::Spawn,
            740..770 => Mischief::Despawn,
            770..830 => Mischief::Cancel,
            830..870 => Mischief::LosePeer,
            870..890 => Mischief::Cut,
            890..900 => Mischief::CutOneWay,
            900..915 if dangers > 0 => Mischief::Retire,
            915..925 => Mischief::Stay,
            925..930 => Mischief::SlowDisk,
            930..934 if dangers > 0 => Mischief::Stop,
            934..937 if dangers > 1 => Mischief::JumpClock,
            937..942 if dangers > 1 => Mischief::Crash,
            942..944 if dangers > 2 => Mischief::CrashManager,
            _ => Mischief::Talk,
        };
        Act { tick, what, seed: dice.roll() }
    };
    (0..count).map(|_| act()).collect()
}
