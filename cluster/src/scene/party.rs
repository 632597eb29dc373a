//! Those who set out together: an entity and its companions.
//!
//! ```text
//!   request --> each asks the target for room --> the last one has it --> all freeze in one step --> each by itself
//!                     |
//!                     | one is refused, late, lost, cancelled
//!                     v
//!               nobody freezes: each of the others is refused with that, and lets its room go
//! ```
//!
//! A party is a row: who has room already, and how each attempt has ended. It couples its members until they freeze;
//! from then on it only gathers their ends for whoever asked. Who has room goes on asking, which keeps it. It is
//! asked for anew where the home of the entity's range is another by now: the new record comes first.
//!
//! Room that was promised to a party which stays is let go by name ([`Control::Release`]): seventeen places for ten
//! seconds would shut others out, and a party that tries again and again would for ever. A release that is lost costs
//! what a reservation costs that nobody uses: it ends by itself. A single entity that stays releases nothing: that is
//! one place, and most of its refusals come from the target, which has reserved none.
//!
//! Keeps: nobody of a party is frozen before all have room; every attempt ends by itself, told and answered once; the
//! row is gone with the last of them.
//! Leaves out: what becomes of each after the freeze, which is its own affair (`leave`, `decide`).

use std::collections::BTreeSet;

use slipgate_entity::{OnlineId, SceneId};

use super::leave::table_bytes;
use super::phase::{Leaving, Phase, Reserving};
use super::talk::send;
use super::{Answer, Companion, CompanionDone, Destination, Doors, MoveDone, MoveRequest, Output, Scene, Ticket};
use crate::bounds::COMPANIONS;
use crate::message::{Control, Identity};
use crate::moves::{MoveError, MoveId, NoCompany, Outcome, Refusal};
use crate::schema::{Part, Parts};
use crate::{Now, Own, Rule};

/// Who hears how an attempt ends, beside people.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Asker {
    Nobody,
    Tool(Ticket),
    /// The party that is named like the attempt of the one whom the others accompany.
    Party(MoveId),
}

/// Those who set out together.
#[derive(Clone, Debug)]
pub(super) struct Party {
    ticket: Option<Ticket>,
    /// First the one whom the others accompany.
    members: Vec<Member>,
}

#[derive(Clone, Debug)]
struct Member {
    entity: OnlineId,
    has_room: bool,
    done: Option<MoveDone>,
}

impl Party {
    fn member(&mut self, entity: OnlineId) -> Option<&mut Member> {
        self.members.iter_mut().find(|member| member.entity == entity)
    }
}

/// An entity that is about to ask for room, or why it will not.
pub(super) struct Mover {
    pub(super) entity: OnlineId,
    pub(super) id: MoveId,
    pub(super) bytes: u64,
    pub(super) ready: Result<(Own, Parts), Refusal>,
}

impl Scene {
    /// Whether nothing keeps a party from being taken up.
    pub(super) fn may_set_out(&self, request: &MoveRequest) -> Result<(), MoveError> {
        self.is_free(request.entity)?;
        let companions = request.companions.len();
        if companions > COMPANIONS {
            return Err(MoveError::TooManyCompanions { companions });
        }
        let mut named = BTreeSet::from([request.entity]);
        for &Companion { entity: who, .. } in &request.companions {
            let why = match self.is_free(who) {
                _ if !named.insert(who) => NoCompany::Twice,
                Ok(()) => continue,
                Err(_) if self.live.contains_key(&who) => NoCompany::Migrating,
                Err(_) => NoCompany::NotHere,
            };
            return Err(MoveError::NoCompany { who, why });
        }
        Ok(())
    }

    /// Whether an entity lives here, and nothing is under way with it.
    #[must_use]
    pub fn is_still(&self, entity: OnlineId) -> bool {
        self.is_free(entity).is_ok()
    }

    /// The same, or what speaks against it.
    pub(super) fn is_free(&self, entity: OnlineId) -> Result<(), MoveError> {
        let live = self.live.get(&entity).ok_or(MoveError::NotOwner { entity })?;
        if !matches!(live.phase, Phase::Active) || self.is_doomed(entity) {
            return Err(MoveError::Migrating { entity });
        }
        Ok(())
    }

    /// One among `count`, and what speaks against its move before anybody else is asked.
    pub(super) fn look_at(&self, mover: Companion, to: Result<Own, SceneId>, count: usize) -> Mover {
        let live = &self.live[&mover.entity];
        let bytes = mover.body_bytes + table_bytes(live.inbox.received(), live.outbox.values());
        let (entity, id) = (mover.entity, mover.id);
        Mover { entity, id, bytes, ready: self.may_move(mover, bytes, to, count) }
    }

    fn may_move(
        &self,
        mover: Companion,
        bytes: u64,
        to: Result<Own, SceneId>,
        count: usize,
    ) -> Result<(Own, Parts), Refusal> {
        let to = to.map_err(|scene| Refusal::NoScene { scene })?;
        if to == self.me {
            return Err(Refusal::AlreadyThere);
        }
        if self.doors == Doors::Shut {
            // A scene that ends settles what it has begun, and begins nothing more.
            return Err(Refusal::Draining);
        }
        if let Some(objection) = mover.objection {
            return Err(objection.bounded());
        }
        let bytes_max = self.limits.state_bytes;
        if bytes > bytes_max {
            return Err(Refusal::TooLarge { bytes, bytes_max });
        }
        let under_way = self.moves_under_way();
        if under_way + count > self.limits.moves_per_scene as usize {
            return Err(Refusal::Busy { under_way: u32::try_from(under_way).unwrap_or(u32::MAX) });
        }
        let Identity { type_name, type_version, .. } = &self.live[&mover.entity].identity;
        let own = Part { name: type_name.clone(), version: *type_version };
        match Parts::new(own, mover.components) {
            Ok(parts) => Ok((to, parts)),
            Err(error) => Err(Refusal::Unreadable { reason: error.to_string() }),
        }
    }

    /// Who hears how these attempts end: a party, unless there is but one.
    pub(super) fn gather(&mut self, ticket: Option<Ticket>, movers: &[Mover]) -> Asker {
        let [leader, _, ..] = movers else { return ticket.map_or(Asker::Nobody, Asker::Tool) };
        let member = |mover: &Mover| Member { entity: mover.entity, has_room: false, done: None };
        let party = Party { ticket, members: movers.iter().map(member).collect() };
        self.parties.insert(leader.id, party);
        Asker::Party(leader.id)
    }

    /// The target has room for an entity. Returns who is to freeze: it alone, its whole party, or nobody yet.
    pub(super) fn note_room(&mut self, entity: OnlineId, asker: Asker) -> Vec<OnlineId> {
        let Asker::Party(id) = asker else { return vec![entity] };
        if let Some(member) = self.party_member(id, entity) {
            member.has_room = true;
        }
        if !self.rules.keep(Rule::PartiesWaitForRoom) {
            return vec![entity];
        }
        let everybody = self.members_of(id);
        if everybody.iter().any(|member| self.is_in_the_way(id, *member)) { Vec::new() } else { everybody }
    }

    /// The room that an entity has is asked for anew.
    pub(super) fn forget_room(&mut self, entity: OnlineId, asker: Asker) {
        if let Asker::Party(id) = asker
            && let Some(member) = self.party_member(id, entity)
        {
            member.has_room = false;
        }
    }

    /// For whom an entity waits whose time is over: itself, unless another of its party has no room.
    pub(super) fn who_is_late(&self, entity: OnlineId, asker: Asker) -> OnlineId {
        let Asker::Party(id) = asker else { return entity };
        self.members_of(id).into_iter().find(|member| self.is_in_the_way(id, *member)).unwrap_or(entity)
    }

    /// Whether the others of a party wait for this one.
    fn is_in_the_way(&self, id: MoveId, entity: OnlineId) -> bool {
        let members = self.parties.get(&id).map_or(&[][..], |party| &party.members);
        let has_room = members.iter().any(|member| member.entity == entity && member.has_room);
        !has_room || self.must_hear_first(entity)
    }

    fn party_member(&mut self, id: MoveId, entity: OnlineId) -> Option<&mut Member> {
        self.parties.get_mut(&id)?.member(entity)
    }

    fn members_of(&self, id: MoveId) -> Vec<OnlineId> {
        self.parties.get(&id).map_or(Vec::new(), |party| party.members.iter().map(|member| member.entity).collect())
    }

    /// One of a party that has not set out does not come: nobody does.
    pub(super) fn break_up(&mut self, id: MoveId, who: OnlineId, outcome: &Outcome, now: Now, out: &mut Vec<Output>) {
        // They all go to one scene, from one scene.
        let concerns_all = matches!(outcome, Outcome::NodeLost | Outcome::SceneStopped);
        for entity in self.members_of(id) {
            let Some(leaving) = self.asks_for_room(entity, Asker::Party(id)) else { continue };
            self.set_phase(entity, Phase::Active);
            let release = Control::Release { entity, id: leaving.id };
            out.push(send(Destination::Place(leaving.to.into()), release));
            let outcome = if entity == who || concerns_all {
                outcome.clone()
            } else {
                Outcome::Refused(Refusal::Companion { who, why: Box::new(outcome.clone()) })
            };
            self.end_leaving(entity, &leaving, outcome, 0, now, out);
        }
    }

    fn asks_for_room(&self, entity: OnlineId, asker: Asker) -> Option<Leaving> {
        match &self.live.get(&entity)?.phase {
            Phase::Reserving(Reserving { leaving, .. }) if leaving.asker == asker => Some(leaving.clone()),
            Phase::Active | Phase::Reserving(_) | Phase::Frozen(_) | Phase::Deciding(_) => None,
        }
    }

    /// An attempt of a party has ended. With the last one whoever asked has the answer.
    pub(super) fn member_done(&mut self, id: MoveId, done: MoveDone, out: &mut Vec<Output>) {
        if let Some(member) = self.party_member(id, done.entity) {
            member.done = Some(done);
        }
        if self.parties.get(&id).is_none_or(|party| party.members.iter().any(|member| member.done.is_none())) {
            return;
        }
        let Some(Party { ticket, members }) = self.parties.remove(&id) else { return };
        let mut ends = members.into_iter().filter_map(|member| member.done);
        if let (Some(ticket), Some(leader)) = (ticket, ends.next()) {
            let companions =
                ends.map(|MoveDone { id, entity, outcome, .. }| CompanionDone { id, entity, outcome }).collect();
            out.push(Output::Answer { ticket, answer: Answer::Moved(Box::new(MoveDone { companions, ..leader })) });
        }
    }

    /// At the target: room that was kept for a move is not needed.
    pub(super) fn release(&mut self, entity: OnlineId, id: MoveId) {
        if let Some(reservation) = self.reserved.get(&entity).filter(|reservation| reservation.id == id) {
            self.alarms.remove(reservation.alarm(entity));
            self.reserved.remove(&entity);
        }
    }
}
