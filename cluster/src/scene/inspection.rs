//! What is looked at before a copy is staged: that it can be an honest entity's.
//!
//! A peer may be of another mind, or broken; what it sends decodes, and is nonsense all the same. A copy
//! whose numbers could overflow, or that is larger than its source said, is refused, and the source goes on with
//! the entity.
//!
//! Leaves out: the body, which the shell reads; whose entity it is, which the record says.

use std::collections::BTreeSet;

use super::leave::table_bytes;
use super::receivers::Receivers;
use crate::Limits;
use crate::bounds::{LABEL_BYTES, NUMBER_MAX, PARKED_BYTES, RECEIVERS_PER_ENTITY, STREAMS_PER_ENTITY};
use crate::message::{Image, Prepare};
use crate::moves::Refusal;
use crate::stream::SendStream;

/// Why a copy cannot be staged, if so, where these are written to already.
pub(super) fn fault(prepare: &Prepare, receivers: &Receivers, limits: &Limits) -> Option<Refusal> {
    let Prepare { entity, image, label, .. } = prepare;
    let bytes = bytes_of(image);
    if bytes > limits.state_bytes {
        return Some(Refusal::TooLarge { bytes, bytes_max: limits.state_bytes });
    }
    let unreadable = |reason: &str| Some(Refusal::Unreadable { reason: reason.to_owned() });
    let Image { identity, received, sending, base, parked, .. } = image;
    if identity.label.as_ref().is_some_and(|label| !is_label(label)) {
        return unreadable("its label is none");
    }
    if base >= label {
        return unreadable("its streams were reset later than it was handed over");
    }
    if parked.as_ref().is_some_and(|parked| parked.why.len() > PARKED_BYTES) {
        return unreadable("it says too much of why it is parked");
    }
    if received.len() > STREAMS_PER_ENTITY || sending.len() > RECEIVERS_PER_ENTITY {
        return unreadable("it has more streams than an entity may have");
    }
    if sending.iter().map(SendStream::entity).collect::<BTreeSet<_>>().len() < sending.len() {
        return unreadable("it has two streams to one receiver");
    }
    if sending.iter().any(|stream| receivers.sender(stream.entity(), stream.id()).is_some_and(|own| own != *entity)) {
        return unreadable("a stream of it is another entity's");
    }
    let can_be_sent = |stream: &SendStream| stream.acked() <= NUMBER_MAX && stream.id().is_possible();
    if !received.is_possible() || !sending.iter().all(can_be_sent) {
        return unreadable("a number in its streams is beyond any that was ever given");
    }
    None
}

/// What a copy takes, encoded; an upper bound.
pub(super) fn bytes_of(image: &Image) -> u64 {
    image.body.len() as u64 + table_bytes(&image.received, image.sending.iter())
}

fn is_label(label: &str) -> bool {
    (1..=LABEL_BYTES).contains(&label.len()) && !label.chars().any(char::is_control)
}
