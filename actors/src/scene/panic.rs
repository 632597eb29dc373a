//! Messages on their way into game code, and game code that panics: what the machine is told, and what people are.

use slipgate_cluster::Now;
use slipgate_cluster::message::{Parked, Payload, Sender};
use slipgate_cluster::scene::{Input, OnPanic, Route};
use slipgate_cluster::stream::StreamId;
use slipgate_entity::{OnlineId, Returned};

use super::SceneActor;
use super::bodies::NotApplied;
use crate::panic::Panic;

/// A message on its way into a body.
#[derive(Debug)]
pub(super) struct Delivery {
    pub(super) entity: OnlineId,
    pub(super) sender: Sender,
    /// Its stream and its number there; none if it came directly.
    pub(super) message: Option<(StreamId, u64)>,
    pub(super) payload: Payload,
}

impl SceneActor {
    /// Runs a handler; the machine hears what it sends, or that it did not come to its end.
    pub(super) fn apply(&mut self, Delivery { entity, sender, message, payload }: Delivery, now: Now) {
        let why = match self.bodies.apply(entity, sender, &payload) {
            Ok(sends) => {
                self.applied += 1;
                for (to, payload) in sends {
                    self.step(Input::Sends { entity, to, payload }, now);
                }
                return;
            }
            Err(why) => why,
        };
        let panic = match why {
            NotApplied::Parked => None,
            NotApplied::Panicked { type_name, message, panic } => {
                Some(self.note_panic(entity, (&type_name.0, message), &panic))
            }
        };
        self.step(Input::NotApplied { entity, sender, message, payload, panic }, now);
    }

    /// A message that an entity sent came back: it is counted, and its sender hears of it.
    pub(super) fn give_back(&mut self, entity: OnlineId, message: (OnlineId, &[u8]), why: Returned, now: Now) {
        let name = match why {
            Returned::Dead => "dead",
            Returned::Unknown => "unknown",
            Returned::Busy => "busy",
            Returned::TooLarge => "too_large",
            Returned::Failed => "failed",
            Returned::Parked => "parked",
        };
        metrics::counter!("slipgate_messages_bounced_total", "why" => name).increment(1);
        // The copy of an entity that is leaving is under way, and would not know of it.
        if !matches!(self.machine.route(entity), Route::Owner(_)) {
            return;
        }
        if let Err(NotApplied::Panicked { type_name, message, panic }) = self.bodies.give_back(entity, message, why) {
            let panic = self.note_panic(entity, (&type_name.0, message), &panic);
            self.step(Input::Panicked { entity, panic }, now);
        }
    }

    fn note_panic(&self, entity: OnlineId, (type_name, message): (&str, &str), panic: &Panic) -> Parked {
        let why = format!("the handler of {message} panicked: {}", panic.text);
        self.tell_people(entity, (type_name, message), &why, panic.place.as_deref());
        Parked { why, since_ms: self.around.clock.unix_ms() }
    }

    fn tell_people(&self, entity: OnlineId, (type_name, message): (&str, &str), why: &str, place: Option<&str>) {
        let stand = self.machine.stand(entity);
        let label = stand.and_then(|stand| stand.identity.label);
        let next = match self.on_panic {
            OnPanic::Park => format!("it is parked and takes no messages until: slipgate unpark {entity}"),
            OnPanic::Despawn => "it is despawned, as [entities] on_panic says".to_owned(),
        };
        tracing::error!(
            event = "entity.panicked", entity = %entity, label, r#type = type_name, message_kind = message,
            r#where = place,
            "{why}; {next}"
        );
    }
}
