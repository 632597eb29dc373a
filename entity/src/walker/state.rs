//! A walker and its ledger as they arrive from outside: shaped right, not yet believed.
//!
//! A peer's bytes may decode into anything that the fields can hold, a position of NaN or ten
//! thousand senders among it. Decoding therefore goes through the types here, and what a walker
//! promises is checked on the way out of them.

use std::collections::BTreeMap;

use serde::Deserialize;
use thiserror::Error;

use super::{Entry, Ledger, LedgerError, Walker};
use crate::OnlineId;

/// The fields of a walker, in the order in which they are written.
#[derive(Deserialize)]
pub(super) struct WalkerState {
    id: OnlineId,
    x: f32,
    y: f32,
    hp: i32,
    ledger: Ledger,
}

/// The fields of a ledger, in the order in which they are written.
#[derive(Deserialize)]
pub(super) struct LedgerState {
    senders: BTreeMap<String, Entry>,
    others: u64,
}

/// Why decoded fields are no walker.
#[derive(Debug, Error)]
#[error("the position ({x}, {y}) is not finite")]
pub(super) struct NotFinite {
    x: f32,
    y: f32,
}

/// Why decoded fields are no ledger.
#[derive(Debug, Error)]
pub(super) enum NoLedger {
    #[error("{senders} senders are more than {}", Ledger::SENDERS_MAX)]
    TooMany { senders: usize },
    #[error(transparent)]
    Sender(#[from] LedgerError),
}

impl TryFrom<WalkerState> for Walker {
    type Error = NotFinite;

    fn try_from(WalkerState { id, x, y, hp, ledger }: WalkerState) -> Result<Self, NotFinite> {
        if x.is_finite() && y.is_finite() { Ok(Self { id, x, y, hp, ledger }) } else { Err(NotFinite { x, y }) }
    }
}

impl TryFrom<LedgerState> for Ledger {
    type Error = NoLedger;

    fn try_from(LedgerState { senders, others }: LedgerState) -> Result<Self, NoLedger> {
        if senders.len() > Self::SENDERS_MAX {
            return Err(NoLedger::TooMany { senders: senders.len() });
        }
        senders.keys().try_for_each(|sender| Self::check_sender(sender))?;
        Ok(Self::from_entries(senders, others))
    }
}

#[cfg(test)]
impl WalkerState {
    pub(super) fn forged(x: f32) -> Self {
        let id = OnlineId::new(crate::RangeId(3), 7);
        Self { id, x, y: 0.0, hp: 1, ledger: Ledger::default() }
    }
}
