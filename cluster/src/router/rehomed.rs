//! Receivers whose home is another one by now, until it is asked about them.
//!
//! A home that was named anew may know what the one before could not tell, and whoever waits for it has backed off.
//!
//! Keeps: only receivers that something waits for; of very many, a portion a tick.

use std::collections::BTreeSet;
use std::sync::Arc;

use slipgate_entity::OnlineId;

use crate::View;

#[derive(Clone, Debug, Default)]
pub(super) struct Rehomed {
    view: Arc<View>,
    receivers: BTreeSet<OnlineId>,
}

impl Rehomed {
    /// Takes over a view; messages wait for these receivers.
    pub(super) fn see(&mut self, view: Arc<View>, waited_for: impl Iterator<Item = OnlineId>) {
        let is_new = |entity: &OnlineId| view.home_of(entity.range()) != self.view.home_of(entity.range());
        self.receivers.extend(waited_for.filter(is_new));
        self.view = view;
    }

    /// Those whose home is to be asked now.
    pub(super) fn portion(&mut self) -> BTreeSet<OnlineId> {
        (0..ASKED_PER_TICK).map_while(|_| self.receivers.pop_first()).collect()
    }
}

/// Receivers whose new home is asked in a tick: some 25,000 a second.
const ASKED_PER_TICK: usize = 512;
