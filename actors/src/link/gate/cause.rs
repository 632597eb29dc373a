//! Why a connection came to nothing, as the log tells it: a line for the first, a sum for the rest.

use std::cell::RefCell;

use slipgate_proto::handshake::{HandshakeError, Refusal};

use crate::clock::NodeClock;
use crate::link::text::TextError;
use crate::restraint::Restraint;

/// Kinds of reasons. Whoever is refused for the moment comes again, and is not worth a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Cause {
    NotAccepted,
    Broken,
    Silent,
    TooLong,
    NotSlipgate,
    Unreadable,
    CrowdedOut,
    Impossible,
    Unanswered,
    OtherCluster,
    OtherVersion,
    OldIncarnation,
    Dead,
}

impl Cause {
    pub(super) fn of_text(error: &TextError) -> Self {
        match error {
            TextError::Broken(_) => Self::Broken,
            TextError::Silent => Self::Silent,
            TextError::TooLong { .. } => Self::TooLong,
            TextError::Unreadable(HandshakeError::NotSlipgate) => Self::NotSlipgate,
            TextError::Unreadable(HandshakeError::OtherVersion { .. }) => Self::OtherVersion,
            TextError::Unreadable(HandshakeError::Unreadable(_)) => Self::Unreadable,
        }
    }

    pub(super) fn of_refusal(refusal: &Refusal) -> Option<Self> {
        match refusal {
            Refusal::OtherCluster { .. } => Some(Self::OtherCluster),
            Refusal::OtherVersion { .. } => Some(Self::OtherVersion),
            Refusal::OldIncarnation { .. } => Some(Self::OldIncarnation),
            Refusal::Dead { .. } => Some(Self::Dead),
            Refusal::NotKnown { .. } | Refusal::NotMe { .. } | Refusal::Joining | Refusal::Stopping => None,
        }
    }

    fn word(self) -> &'static str {
        match self {
            Self::NotAccepted => "not_accepted",
            Self::Broken => "broken",
            Self::Silent => "silent",
            Self::TooLong => "too_long",
            Self::NotSlipgate => "not_slipgate",
            Self::Unreadable => "unreadable",
            Self::CrowdedOut => "crowded_out",
            Self::Impossible => "impossible",
            Self::Unanswered => "unanswered",
            Self::OtherCluster => "other_cluster",
            Self::OtherVersion => "other_version",
            Self::OldIncarnation => "old_incarnation",
            Self::Dead => "dead",
        }
    }

    /// Whether the system takes no more, or somebody meant to be part of this cluster and is not; a port that is only looked at (a health
    /// check, a scanner) is nothing to warn about.
    fn is_a_warning(self) -> bool {
        match self {
            Self::NotAccepted | Self::OtherCluster | Self::OtherVersion | Self::OldIncarnation | Self::Dead => true,
            Self::Broken
            | Self::Silent
            | Self::TooLong
            | Self::NotSlipgate
            | Self::Unreadable
            | Self::CrowdedOut
            | Self::Impossible
            | Self::Unanswered => false,
        }
    }
}

/// The gate's lines in the log.
#[derive(Debug)]
pub(super) struct Words {
    restraint: RefCell<Restraint<Cause>>,
    clock: NodeClock,
}

impl Words {
    pub(super) fn new() -> Self {
        Self { restraint: RefCell::default(), clock: NodeClock::start() }
    }

    /// Tells of a connection that came to nothing, unless one of its kind was told just now.
    pub(super) fn refused(&self, cause: Cause, from: &str, text: &dyn std::fmt::Display) {
        if !self.restraint.borrow_mut().tells(cause, self.clock.now()) {
            return;
        }
        let word = cause.word();
        if cause.is_a_warning() {
            tracing::warn!(event = "gate.refused", from, cause = word, "a connection is refused: {text}");
        } else {
            tracing::info!(
                event = "gate.refused",
                from,
                cause = word,
                "a connection ended before it had begun: {text}"
            );
        }
    }

    /// Tells how many were not told of.
    pub(super) fn sum_up(&self) {
        for (cause, left_out) in self.restraint.borrow_mut().sums(self.clock.now()) {
            let word = cause.word();
            if cause.is_a_warning() {
                tracing::warn!(
                    event = "gate.refused",
                    cause = word,
                    left_out,
                    "{left_out} more connections are refused: {word}"
                );
            } else {
                tracing::info!(
                    event = "gate.refused",
                    cause = word,
                    left_out,
                    "{left_out} more connections ended before they had begun: {word}"
                );
            }
        }
    }
}
