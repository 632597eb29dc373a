//! Rules that a cluster breaks on purpose, so that it is seen that the breach is found.
//!
//! Those that machines keep are switched off inside them; those that their shells keep are broken here.

use slipgate_cluster::Rules;

use crate::cast::Cast;
use crate::cluster::Cluster;

/// A rule that is broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mutant {
    /// A node without a lease takes turns and speaks.
    ActsWithoutLease,
    /// The manager tells what is not on disk yet.
    TellsBeforeItWrites,
    /// The manager's disk is empty after a crash.
    LosesDisk,
    /// The state of an entity does not come along.
    ForgetsOnTheMove,
    /// A node tells nobody of its global entities.
    KeepsGlobalsToItself,
    /// The machines keep these rules alone: all but one, or but two of which each suffices.
    Only(Rules),
}

impl Mutant {
    /// The rules that the machines keep.
    pub(crate) fn rules(self) -> Rules {
        match self {
            Self::ActsWithoutLease
            | Self::TellsBeforeItWrites
            | Self::LosesDisk
            | Self::ForgetsOnTheMove
            | Self::KeepsGlobalsToItself => Rules::default(),
            Self::Only(rules) => rules,
        }
    }
}

impl<C: Cast> Cluster<C> {
    pub(crate) fn is(&self, mutant: Mutant) -> bool {
        self.plan.mutant == Some(mutant)
    }
}
