//! Rules switched off, one at a time: an explorer that finds nothing wrong then proves nothing.
//!
//! The machines stay as they are; what they hear and say is bent on the way.

use slipgate_cluster::claim::Stake;
use slipgate_cluster::directory;
use slipgate_cluster::legacy::Legacy;
use slipgate_cluster::message::{Control, Data, Message, Prepare};
use slipgate_cluster::scene::{Input, Route};
use slipgate_cluster::stream::Received;
use slipgate_cluster::{Envelope, Epoch, Place, Record};

use super::cue::Effects;
use super::desks::Home;
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
    /// Views reach no home.
    NobodyIsSentenced,
    /// A home that is rebuilt decides by the first scene's claims alone.
    FirstClaimDecides,
    /// Scenes do not claim that an entity has left them.
    GoneIsNotClaimed,
    /// Scenes do not claim copies that wait.
    StagedIsNotClaimed,
    /// Scenes claim whoever is frozen as active.
    LeavingIsClaimedAsActive,
    /// The next home of a range is in the same term.
    TermsStay,
    /// Scenes take a former home's word for the present one's.
    FormerHomeIsBelieved,
    /// Scenes stage copies under labels of a former term.
    OldCopiesAreStaged,
    /// A home that retires hands an empty page over.
    LegacyIsEmpty,
}

impl Mutant {
    /// A scene is about to hear something. Returns what it hears instead.
    pub(crate) fn hears(self, stage: &mut Stage, message: Message, effects: &mut Effects) -> Message {
        match (self, message) {
            (Self::AcknowledgesWhatItHolds, Message::Data(data)) => {
                acknowledge_if_held(stage, &data, effects);
                Message::Data(data)
            }
            (Self::FormerHomeIsBelieved, Message::Control(Control::RecordIs { entity, mut record, nonce })) => {
                let term = stage.view.term_of(entity.range());
                if record.epoch.term() < term {
                    record = record.in_term(term);
                }
                Message::Control(Control::RecordIs { entity, record, nonce })
            }
            (Self::OldCopiesAreStaged, Message::Prepare(prepare)) => {
                let term = stage.view.term_of(prepare.entity.range());
                let label = if prepare.label.term() < term { Epoch::new(term, 1) } else { prepare.label };
                Message::Prepare(Prepare { label, ..Prepare::clone(&prepare) }.into())
            }
            (_, message) => message,
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
            (_, Message::Control(Control::Claims { range, term, after, mut claims, more })) => {
                claims.retain(|claim| match claim.stake {
                    Stake::Gone(_) => self != Self::GoneIsNotClaimed,
                    Stake::Staged { .. } => self != Self::StagedIsNotClaimed,
                    Stake::Active(_) | Stake::Leaving { .. } | Stake::Despawning(_) => true,
                });
                for claim in &mut claims {
                    if let (Self::LeavingIsClaimedAsActive, Stake::Leaving { title, .. }) = (self, &claim.stake) {
                        claim.stake = Stake::Active(*title);
                    }
                }
                Some(Message::Control(Control::Claims { range, term, after, claims, more }))
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

    /// A home is about to hear something. Returns what it hears instead.
    pub(crate) fn asked(
        self,
        home: &mut Home,
        from: Place,
        control: Control,
        out: &mut Vec<directory::Output>,
    ) -> Control {
        match (self, control) {
            (Self::FirstClaimDecides, Control::Claims { range, term, after, claims, more }) => {
                let first = Control::Claims { range, term, after, claims, more };
                let input = directory::Input::Heard { from, control: first.clone() };
                home.directory.handle(input, home.now, out);
                for &other in home.scenes.iter().filter(|&&place| place != from) {
                    let control = Control::Claims { range, term, after, claims: Vec::new(), more: false };
                    home.directory.handle(directory::Input::Heard { from: other, control }, home.now, out);
                }
                first
            }
            (Self::EpochDoesNotCount, Control::Cas { entity, owner, epoch, new, nonce }) => {
                let Some(Record { owner: Some(_), epoch: latest, data, .. }) = home.directory.record(entity) else {
                    return Control::Cas { entity, owner, epoch, new, nonce };
                };
                let data = if new.data == new.epoch { latest.next() } else { data };
                let new = Record { epoch: latest.next(), data, ..new };
                Control::Cas { entity, owner, epoch: latest, new, nonce }
            }
            (Self::LegacyIsEmpty, Control::Bequest { range, term, after, legacy: Legacy::Page { more, .. } }) => {
                let legacy = Legacy::Page { records: Vec::new(), more, absent_is_lost: false };
                Control::Bequest { range, term, after, legacy }
            }
            (_, control) => control,
        }
    }
}

fn acknowledge_if_held(stage: &Stage, data: &Data, effects: &mut Effects) {
    let Some(stand) = stage.scene.stand(data.entity) else { return };
    if stage.scene.route(data.entity) == Route::Hold {
        let (owner, epoch) = (stage.scene.me(), stand.epoch);
        let (entity, stream, upto, base) = (data.entity, data.stream, data.seq, data.base);
        let message = Message::Control(Control::Ack { entity, stream, upto, owner, epoch, base });
        effects.says.push(Envelope { from: owner.into(), to: data.reply_to, message });
    }
}
