//! Rules switched off, one at a time: an explorer that finds nothing wrong then proves nothing.
//!
//! The machines stay as they are; what they hear and say is bent on the way.

use slipgate_cluster::directory::Directory;
use slipgate_cluster::message::{Control, Message, Prepare};
use slipgate_cluster::scene::{Input, Route};
use slipgate_cluster::stream::Received;
use slipgate_cluster::{Envelope, Record};

use super::cue::Effects;
use super::stage::Stage;

/// The rule that is switched off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mutant {
    None,
    /// The table of what was applied does not move with the entity.
    TableLeftBehind,
    /// What an entity has sent does not move with it.
    OutboxLeftBehind,
    /// A scene acknowledges what it only holds.
    AcknowledgesWhatItHolds,
    /// The target takes over without the home's word.
    TakesOverByItself,
    /// The source takes its entity back without the home's word.
    ResumesByItself,
    /// A staged copy takes the answer to any question for its own, also to an older copy's.
    AnyNonceWillDo,
    /// The home looks at the owner alone, not at the epoch.
    EpochDoesNotCount,
    /// A despawn does not ask the home.
    DespawnsByItself,
    /// The router sends nothing twice.
    RouterNeverRepeats,
    /// The target asks the home to name it only when a copy comes in.
    TargetAsksOnce,
    /// Verdicts reach no home.
    NobodyIsSentenced,
}

impl Mutant {
    /// A scene is about to hear something.
    pub(crate) fn hears(self, stage: &mut Stage, message: &Message, effects: &mut Effects) {
        if let (Self::AcknowledgesWhatItHolds, Message::Data(data)) = (self, message)
            && stage.scene.route(data.entity) == Route::Hold
        {
            let (owner, epoch) = (stage.scene.me(), stage.scene.stand(data.entity).map(|stand| stand.epoch));
            let Some(epoch) = epoch else { return };
            let (entity, stream, upto, base) = (data.entity, data.stream, data.seq, data.base);
            let message = Message::Control(Control::Ack { entity, stream, upto, owner, epoch, base });
            effects.says.push(Envelope { from: owner.into(), to: data.reply_to, message });
        }
    }

    /// A scene is about to say something. Returns what it says instead, if anything.
    pub(crate) fn says(self, stage: &mut Stage, message: Message, effects: &mut Effects) -> Option<Message> {
        match (self, message) {
            (Self::TableLeftBehind, Message::Prepare(prepare)) => {
                let mut prepare = Prepare::clone(&prepare);
                prepare.image.received = Received::default();
                Some(Message::Prepare(prepare.into()))
            }
            (Self::OutboxLeftBehind, Message::Prepare(prepare)) => {
                let mut prepare = Prepare::clone(&prepare);
                prepare.image.sending.clear();
                Some(Message::Prepare(prepare.into()))
            }
            (_, Message::Control(Control::Cas { entity, owner, epoch, new, nonce })) => {
                let me = stage.scene.me();
                if self == Self::TargetAsksOnce && owner != me && stage.prompted {
                    return None;
                }
                let taken_on_trust = if owner != me {
                    Self::TakesOverByItself
                } else if new.owner == Some(me) {
                    Self::ResumesByItself
                } else {
                    Self::DespawnsByItself
                };
                if self != taken_on_trust {
                    return Some(Message::Control(Control::Cas { entity, owner, epoch, new, nonce }));
                }
                let nonce = stage.nonces.get(&entity).map(|latest| latest.0);
                let message = Message::Control(Control::RecordIs { entity, record: new, nonce });
                stage.step(Input::Heard { from: me.into(), message }, effects);
                None
            }
            (_, message) => Some(message),
        }
    }

    /// A home is about to be asked for a change.
    pub(crate) fn asked(self, directory: &Directory, control: Control) -> Control {
        let Control::Cas { entity, owner, mut epoch, mut new, nonce } = control else { return control };
        if let Some(Record { owner: Some(_), epoch: latest, data, .. }) = directory.record(entity)
            && self == Self::EpochDoesNotCount
        {
            epoch = latest;
            let copy = if new.data == new.epoch { latest.next() } else { data };
            new = Record { epoch: latest.next(), data: copy, ..new };
        }
        Control::Cas { entity, owner, epoch, new, nonce }
    }
}
