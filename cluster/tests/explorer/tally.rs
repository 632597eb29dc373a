//! What was met: an exploration in which nobody is ever frozen proves nothing about the frozen.

use std::collections::BTreeSet;

use slipgate_cluster::claim::Stake;
use slipgate_cluster::legacy::Legacy;
use slipgate_cluster::message::{Control, Message};

use super::cue::Cue;
use super::desks::Fate;
use super::ensemble::Ensemble;
use super::sight::{Here, Sight, Stand};

/// What was met.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    met: BTreeSet<&'static str>,
}

impl Tally {
    pub(crate) fn add(&mut self, ensemble: &Ensemble) {
        for sight in ensemble.sights() {
            self.met.extend(seen(sight));
        }
        for cue in ensemble.cues() {
            self.met.extend(heard(cue));
        }
    }

    /// Those of `rare` that never happened.
    pub(crate) fn missing<'a>(&self, rare: &[&'a str]) -> Vec<&'a str> {
        rare.iter().copied().filter(|what| !self.met.contains(what)).collect()
    }
}

fn seen(sight: &Sight) -> Vec<&'static str> {
    match sight {
        Sight::Scene(scene) => {
            let stand = |stand| match stand {
                Stand::Active => "active",
                Stand::Frozen => "frozen",
                Stand::Deciding => "deciding",
                Stand::Staged => "staged",
            };
            let words = |here: &Here| [Some(stand(here.stand)), here.is_parked.then_some("parked")];
            scene.here.iter().flatten().flat_map(words).flatten().collect()
        }
        Sight::Home(records) => {
            let word = |record: &slipgate_cluster::Record| match record.owner {
                None if record.lost => Some("lost"),
                None => Some("dead"),
                Some(_) if record.base > slipgate_cluster::Epoch::ZERO => Some("reset"),
                Some(_) => (record.epoch > record.data).then_some("given up"),
            };
            records.iter().flatten().filter_map(word).collect()
        }
        Sight::Desk(tool) => {
            let word = |fate: &Fate| match fate {
                Fate::Accepted => "accepted",
                Fate::Busy => "told busy",
                Fate::Applied(_) => "applied",
                Fate::Dead => "told dead",
                Fate::Unknown => "told unknown",
                Fate::Lost => "told lost",
                Fate::Failed(_) => "told failed",
                Fate::Parked => "told parked",
            };
            tool.fates.iter().flatten().map(word).collect()
        }
        Sight::Gone => vec!["node dead"],
    }
}

fn heard(cue: &Cue) -> Option<&'static str> {
    match cue {
        Cue::Hear(envelope) => match &envelope.message {
            Message::Control(Control::Redirect { .. }) => Some("redirected"),
            Message::Control(Control::Claims { claims, .. }) => claims.first().map(|claim| match claim.stake {
                Stake::Active(_) => "claimed as active",
                Stake::Leaving { .. } => "claimed as leaving",
                Stake::Despawning(_) => "claimed as despawning",
                Stake::Staged { .. } => "claimed as staged",
                Stake::Gone(_) => "claimed as gone",
            }),
            Message::Control(Control::Bequest { legacy: Legacy::Page { .. }, .. }) => Some("handed over"),
            Message::Control(Control::Bequest { legacy: Legacy::Unknown, .. }) => Some("never known"),
            Message::Control(Control::Release { .. }) => Some("let room go"),
            Message::Data(data) if data.hops > 0 => Some("handed on"),
            Message::Data(data) if matches!(data.sender, slipgate_cluster::message::Sender::Entity(_)) => {
                Some("told on")
            }
            Message::Control(_) | Message::Data(_) | Message::Prepare(_) | Message::Manager(_) | Message::Tool(_) => {
                None
            }
        },
        Cue::Adopt(_) => Some("adopted"),
        Cue::Forget => Some("tombstone forgotten"),
        Cue::View(_) | Cue::Tick | Cue::Late | Cue::PeerLost(_) => None,
        Cue::Unpark { .. } => Some("unparked"),
        Cue::Migrate { .. } | Cue::Despawn { .. } | Cue::Say { .. } => None,
    }
}
