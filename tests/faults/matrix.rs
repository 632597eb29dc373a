//! The matrix: who is hit, at which step of a move, by what.
//!
//! | party | node | its link in a cell is the one to |
//! |---|---|---|
//! | source | n2 | the target |
//! | target | n3 | the home |
//! | home | n4 | the source |
//! | sender's node | n5 | the owner: the source, and from `taken_over` on the target |
//! | manager | n1 | whoever has reached the step |

use std::fmt;

/// Whose process or link is hit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Party {
    Source,
    Target,
    Home,
    Sender,
    Manager,
}

/// A step of a move, by the name of its fail point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Step {
    pub(crate) name: &'static str,
    /// Who is held there.
    pub(crate) reached_by: Party,
    /// Who owns the entity, as far as anybody could know.
    owner: Party,
}

/// What happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Fault {
    /// SIGKILL; the process is started again after the verdict.
    Kill,
    /// SIGSTOP past the lease, SIGCONT before the verdict.
    Nap,
    /// SIGSTOP past the verdict, then SIGCONT.
    Sleep,
    /// The link passes nothing on, for longer than its silence may last.
    Cut,
    /// It passes on nothing of what the party says.
    Mute,
    /// It passes everything on late.
    Slow,
}

/// One cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cell {
    pub(crate) party: Party,
    pub(crate) step: Step,
    pub(crate) fault: Fault,
}

pub(crate) const PARTIES: [Party; 5] = [Party::Source, Party::Target, Party::Home, Party::Sender, Party::Manager];

pub(crate) const STEPS: [Step; 11] = [
    step("reserve.sent", Party::Source, Party::Source),
    step("reserve.arrived", Party::Target, Party::Source),
    step("reserved.arrived", Party::Source, Party::Source),
    step("frozen", Party::Source, Party::Source),
    step("prepare.arrived", Party::Target, Party::Source),
    step("staged", Party::Target, Party::Source),
    step("cas.arrived", Party::Home, Party::Source),
    step("decided", Party::Home, Party::Source),
    step("taken_over", Party::Target, Party::Target),
    step("handed_on", Party::Source, Party::Target),
    step("settled", Party::Source, Party::Target),
];

pub(crate) const FAULTS: [Fault; 6] = [Fault::Kill, Fault::Nap, Fault::Sleep, Fault::Cut, Fault::Mute, Fault::Slow];

const fn step(name: &'static str, reached_by: Party, owner: Party) -> Step {
    Step { name, reached_by, owner }
}

/// Every cell.
pub(crate) fn all() -> Vec<Cell> {
    let of = |party| STEPS.into_iter().flat_map(move |step| FAULTS.map(|fault| Cell { party, step, fault }));
    PARTIES.into_iter().flat_map(of).collect()
}

/// Cells in which every party, step and fault is found: a diagonal, as the three counts have no factor in common.
pub(crate) fn diagonal(cells: usize) -> Vec<Cell> {
    let cell = |at: usize| Cell {
        party: PARTIES[at % PARTIES.len()],
        step: STEPS[at % STEPS.len()],
        fault: FAULTS[at % FAULTS.len()],
    };
    (0..cells).map(cell).collect()
}

impl Party {
    /// Its node.
    pub(crate) fn node(self) -> &'static str {
        match self {
            Self::Manager => "n1",
            Self::Source => "n2",
            Self::Target => "n3",
            Self::Home => "n4",
            Self::Sender => "n5",
        }
    }

    /// The party whose node this is.
    pub(crate) fn of(node: &str) -> Option<Self> {
        PARTIES.into_iter().find(|party| party.node() == node)
    }
}

impl Cell {
    /// The other end of the party's link.
    pub(crate) fn peer(self) -> Party {
        match self.party {
            Party::Source => Party::Target,
            Party::Target => Party::Home,
            Party::Home => Party::Source,
            Party::Sender => self.step.owner,
            Party::Manager => self.step.reached_by,
        }
    }

    /// Somebody to whom nothing happens, and who is asked meanwhile.
    pub(crate) fn bystander(self) -> Party {
        if self.party == Party::Manager { Party::Sender } else { Party::Manager }
    }
}

impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {}", self.party, self.step.name, self.fault)
    }
}

impl fmt::Display for Party {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Source => "source",
            Self::Target => "target",
            Self::Home => "home",
            Self::Sender => "sender",
            Self::Manager => "manager",
        })
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Kill => "kill",
            Self::Nap => "nap",
            Self::Sleep => "sleep",
            Self::Cut => "cut",
            Self::Mute => "mute",
            Self::Slow => "slow",
        })
    }
}

#[test]
fn the_ordinary_cells_have_every_party_step_and_fault_and_none_twice() {
    let cells = diagonal(super::ORDINARY);
    for party in PARTIES {
        assert!(cells.iter().any(|cell| cell.party == party), "{party}");
    }
    for step in STEPS {
        assert!(cells.iter().any(|cell| cell.step == step), "{}", step.name);
    }
    for fault in FAULTS {
        assert!(cells.iter().any(|cell| cell.fault == fault), "{fault}");
    }
    let all = all();
    let places: std::collections::BTreeSet<_> =
        cells.iter().map(|cell| all.iter().position(|known| known == cell)).collect();
    assert_eq!((places.len(), all.len()), (cells.len(), 330));
}
