//! Rules that a cluster breaks on purpose, so that it is seen that the breach is found.

use slipgate_cluster::message::{Control, Data, Message};
use slipgate_cluster::scene::Route;
use slipgate_cluster::{Record, directory};

use crate::cast::Cast;
use crate::cluster::Cluster;
use crate::life::LifeIndex;

/// A rule that is broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mutant {
    /// A node without a lease takes turns and speaks.
    ActsWithoutLease,
    /// The manager tells what is not on disk yet.
    TellsBeforeItWrites,
    /// The manager's disk is empty after a crash.
    LosesDisk,
    /// A manager whose process was stopped takes the silence for that of the others.
    ForgetsThatItSlept,
    /// A scene acknowledges what it only holds for an entity that is on its way.
    AcknowledgesWhatItHolds,
    /// A home compares owners and not epochs.
    ComparesWithoutEpoch,
    /// The state of an entity does not come along.
    ForgetsOnTheMove,
    /// A router sends nothing again.
    NeverSendsAgain,
    /// A node tells nobody of its global entities.
    KeepsGlobalsToItself,
}

impl Mutant {
    /// All, each with the invariants of which one must be seen to be broken.
    pub const ALL: [(Self, &'static [&'static str]); 9] = [
        (Self::ActsWithoutLease, &["one_active_owner"]),
        (Self::TellsBeforeItWrites, &["ids_never_reissued"]),
        (Self::LosesDisk, &["ids_never_reissued", "one_active_owner", "quiet_leaves_nothing_behind"]),
        (Self::ForgetsThatItSlept, &["one_active_owner"]),
        (Self::AcknowledgesWhatItHolds, &["acknowledged_is_kept", "streams_in_order"]),
        (Self::ComparesWithoutEpoch, &["one_active_owner", "acknowledged_is_kept"]),
        (Self::ForgetsOnTheMove, &["streams_in_order", "no_duplicate", "acknowledged_is_kept"]),
        (Self::NeverSendsAgain, &["quiet_leaves_nothing_behind", "progress_after_faults"]),
        (Self::KeepsGlobalsToItself, &["quiet_leaves_nothing_behind", "found_from_everywhere"]),
    ];
}

impl Cluster {
    /// A message came for an entity that may be on its way.
    pub(crate) fn acknowledge_if_held(&mut self, stage: usize, data: &Data) {
        let scene = &self.stages[stage].scene;
        let Some(stand) = scene.stand(data.entity).filter(|_| scene.route(data.entity) == Route::Hold) else { return };
        let (owner, epoch) = (scene.me(), stand.epoch);
        let (entity, stream, upto, base) = (data.entity, data.stream, data.seq, data.base);
        let ack = Control::Ack { entity, stream, upto, owner, epoch, base };
        self.send(owner.into(), data.reply_to, Message::Control(ack));
    }
}

impl<C: Cast> Cluster<C> {
    pub(crate) fn is(&self, mutant: Mutant) -> bool {
        self.plan.mutant == Some(mutant)
    }

    /// What a home hears.
    pub(crate) fn bend(&self, life: LifeIndex, input: directory::Input) -> directory::Input {
        let directory::Input::Heard { from, control: Control::Cas { entity, owner, epoch, new, nonce } } = input else {
            return input;
        };
        let heard = |epoch, new| {
            let control = Control::Cas { entity, owner, epoch, new, nonce };
            directory::Input::Heard { from, control }
        };
        match self.lives[life].directory.record(entity).filter(|_| self.is(Mutant::ComparesWithoutEpoch)) {
            Some(Record { owner: Some(_), epoch: latest, data, .. }) => {
                let data = if new.data == new.epoch { latest.next() } else { data };
                heard(latest, Record { epoch: latest.next(), data, ..new })
            }
            Some(_) | None => heard(epoch, new),
        }
    }
}
