//! What the scene knows of the entities of a range, for its new home.
//!
//! It speaks only to the home that the view names, in the term that it has taken up with that view: so nothing of
//! what it says is changed any more by anything that a former home has said.

use slipgate_entity::{OnlineId, RangeId};

use super::phase::{Deciding, Frozen, GiveUp, Live, Phase, Why};
use super::population::ids_of;
use super::talk::send;
use super::{Destination, Output, Scene};
use crate::claim::{Claim, Stake, Title};
use crate::message::{Control, Nonce};
use crate::{Now, Place, Port, Rule};

impl Scene {
    /// The home of a range asks; with an older view than its own it is not known to be the home, and asks again.
    pub(super) fn ask_claims(
        &self,
        from: Place,
        (range, term, after): (RangeId, u32, Option<OnlineId>),
        now: Now,
        out: &mut Vec<Output>,
    ) {
        let home = self.view.homes.get(&range).filter(|home| home.term == term);
        let is_home = home.is_some_and(|home| from == Place { session: home.session, port: Port::Directory });
        if !is_home && self.rules.keep(Rule::ClaimsAreForTheHome) {
            return;
        }
        let mut ids = self.known_ids(range, after).peekable();
        let mut claims = Vec::new();
        while claims.len() < PAGE
            && let Some(entity) = ids.next()
        {
            self.claim(entity, now, &mut claims);
        }
        let more = ids.peek().is_some();
        out.push(send(Destination::Place(from), Control::Claims { range, term, after, claims, more }));
    }

    /// Whoever lives here, is staged here, or has left, by id.
    fn known_ids(&self, range: RangeId, after: Option<OnlineId>) -> impl Iterator<Item = OnlineId> + '_ {
        let live = self.live.ids_of(range, after);
        let staged = self.staged.range(ids_of(range, after)).map(|(entity, _)| *entity);
        let gone = self.gone.range(ids_of(range, after)).map(|(entity, _)| *entity);
        merge(merge(live, staged), gone)
    }

    /// All that is known of an entity: what it says stands or falls together.
    fn claim(&self, entity: OnlineId, now: Now, claims: &mut Vec<Claim>) {
        if let Some(live) = self.live.get(&entity) {
            let stake = if live.is_active() || self.rules.keep(Rule::TheFrozenAreClaimedAsSuch) {
                stake(live, |frozen| now >= frozen + self.limits.tombstone / 2)
            } else {
                Stake::Active(title(live))
            };
            claims.push(Claim { entity, label: live.identity.label.clone(), stake });
        }
        if let Some(staged) = self.staged.get(&entity).filter(|_| self.rules.keep(Rule::CopiesAreClaimed)) {
            let (label, source) = (staged.prepare.label, staged.prepare.from);
            let nonce = staged.nonce.unwrap_or(Nonce(0));
            let name = staged.prepare.image.identity.label.clone();
            claims.push(Claim { entity, label: name, stake: Stake::Staged { label, source, nonce } });
        }
        if let Some(tombstone) = self.gone.get(&entity).filter(|_| self.rules.keep(Rule::TheGoneAreClaimed)) {
            claims.push(Claim { entity, label: None, stake: Stake::Gone(tombstone.record) });
        }
    }
}

/// How the scene stands to an entity that lives here. Frozen since `is_late`: half as long as scenes remember who has left,
/// for the others may answer later than this one.
fn stake(live: &Live, is_late: impl Fn(Now) -> bool) -> Stake {
    let title = title(live);
    match &live.phase {
        Phase::Active | Phase::Reserving(_) => Stake::Active(title),
        Phase::Frozen(Frozen { leaving, at, .. })
        | Phase::Deciding(Deciding { why: Why::GiveUp(GiveUp { leaving, frozen: at, .. }), .. }) => {
            Stake::Leaving { title, target: leaving.to, is_late: is_late(*at) }
        }
        Phase::Deciding(Deciding { why: Why::Despawn(_), .. }) => Stake::Despawning(title),
    }
}

fn title(live: &Live) -> Title {
    Title { epoch: live.epoch, data: live.data, base: live.base }
}

/// Two rising sequences as one; what is in both comes once.
fn merge(one: impl Iterator<Item = OnlineId>, other: impl Iterator<Item = OnlineId>) -> impl Iterator<Item = OnlineId> {
    let (mut one, mut other) = (one.peekable(), other.peekable());
    std::iter::from_fn(move || match (one.peek(), other.peek()) {
        (Some(a), Some(b)) if a == b => {
            other.next();
            one.next()
        }
        (Some(a), Some(b)) if b < a => other.next(),
        (Some(_), _) => one.next(),
        (None, _) => other.next(),
    })
}

/// Claims in a page, at least: the last entity's are all in it. Some 10 KiB.
const PAGE: usize = 128;
