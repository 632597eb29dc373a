//! A scene that is not there: what its node says for it.

use crate::message::{Control, Message, Prepare, Reserve};
use crate::moves::Refusal;
use crate::{Envelope, Port};

/// What a node says for a scene that it does not have: the sender asks the home, the source stays, and a home that is
/// rebuilt has nothing to learn. That is true for ever: a scene that is over never comes again in this session, and
/// one that is not open yet has staged nothing that a former home could have decided.
#[must_use]
pub fn answer_for_a_missing_scene(envelope: Envelope) -> Option<Envelope> {
    let Envelope { from, to, message } = envelope;
    let Port::Scene(scene) = to.port else { return None };
    let (back, control) = match message {
        Message::Data(data) => (data.reply_to, Control::NotOwner { entity: data.entity, stream: data.stream }),
        Message::Control(Control::Close { entity, stream, .. }) => (from, Control::NotOwner { entity, stream }),
        Message::Control(Control::Reserve(reserve)) => {
            let Reserve { entity, id, label, .. } = reserve;
            (from, Control::Refused { entity, id, label, reason: Refusal::NoScene { scene } })
        }
        Message::Prepare(prepare) => {
            let Prepare { entity, id, label, .. } = *prepare;
            (from, Control::Refused { entity, id, label, reason: Refusal::NoScene { scene } })
        }
        Message::Control(Control::AskClaims { range, term, after }) => {
            (from, Control::Claims { range, term, after, claims: Vec::new(), more: false })
        }
        Message::Control(_) | Message::Manager(_) | Message::Tool(_) => return None,
    };
    Some(Envelope { from: to, to: back, message: Message::Control(control) })
}
