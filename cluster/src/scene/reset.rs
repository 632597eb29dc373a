//! The home has named this scene's copy of an entity, and reset its streams: the copy may have missed what
//! another one applied and said.
//!
//! What it has applied of anybody's stream, and the numbers under which it spoke, are worth nothing then: they
//! may lie behind those of the other copy. So it begins anew on both sides. Its senders learn the new base from
//! the home and answer what has left and is unacknowledged as unknown; so does it for what it has said itself, all of
//! it, for the other copy may have said the same.
//!
//! Keeps: nothing numbered from an older base is applied, acknowledged or sent again.

use std::sync::Arc;

use slipgate_entity::OnlineId;

use super::phase::{Deciding, Frozen, Phase};
use super::talk::bounce;
use super::{Output, Scene};
use crate::Epoch;
use crate::message::{Image, Prepare};
use crate::stream::{End, Received};

impl Scene {
    pub(super) fn reset_streams(&mut self, entity: OnlineId, base: Epoch, out: &mut Vec<Output>) {
        self.acks.retain(|&((receiver, _), _)| receiver != entity);
        let live = self.live.get_mut(&entity).expect("the caller holds a live entity");
        live.base = base;
        live.inbox.reset();
        let held = match &mut live.phase {
            Phase::Active | Phase::Reserving(_) => None,
            Phase::Frozen(Frozen { held, prepare, .. }) => {
                *prepare = prepare.as_deref().map(|prepare| Arc::new(without_streams(prepare, base)));
                Some(std::mem::take(held))
            }
            Phase::Deciding(Deciding { held, .. }) => Some(std::mem::take(held)),
        };
        let epoch = live.epoch;
        for mut stream in std::mem::take(&mut live.outbox).into_values() {
            self.receivers.remove(stream.entity(), stream.id());
            self.waiting.take_sent(stream.load());
            bounce(entity, stream.entity(), stream.fail(), End::Unknown, out);
            self.leave(entity, epoch, stream);
        }
        if let Some(held) = held {
            self.return_to_senders(held, out);
        }
    }
}

/// A copy on its way, as it is after a reset.
fn without_streams(prepare: &Prepare, base: Epoch) -> Prepare {
    let Image { identity, body, parked, .. } = &prepare.image;
    let (received, sending) = (Received::default(), Vec::new());
    let (identity, body, parked) = (identity.clone(), body.clone(), parked.clone());
    let image = Image { identity, body, received, sending, base, parked };
    Prepare { image, ..*prepare }
}
