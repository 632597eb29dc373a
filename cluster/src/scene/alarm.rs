//! What wants to be looked at when. An alarm may ring for nothing: whatever it names tells its own time.

use std::collections::BTreeSet;

use slipgate_entity::OnlineId;

use super::{Output, Scene};
use crate::moves::MoveId;
use crate::stream::{self, StreamOutput};
use crate::{Now, Rule};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Alarm {
    /// A step of leaving.
    Live(OnlineId),
    /// A stream of the first entity to the second.
    Stream(OnlineId, OnlineId),
    Staged(OnlineId),
    Reservation(OnlineId),
    Settling(MoveId),
    /// Entities of which the home has a record of a later term.
    Outdated,
}

/// The alarms that are set.
#[derive(Clone, Debug, Default)]
pub(super) struct Alarms {
    set: BTreeSet<(Now, Alarm)>,
}

impl Alarms {
    pub(super) fn insert(&mut self, (at, alarm): (Now, Alarm)) {
        self.set.insert((at, alarm));
    }

    pub(super) fn remove(&mut self, alarm: (Now, Alarm)) {
        self.set.remove(&alarm);
    }

    /// Sets a stream's alarm, and puts off the one that it had.
    pub(super) fn set(&mut self, wanted: stream::Alarm, alarm: Alarm) {
        if let Some(later) = wanted.instead_of {
            self.set.remove(&(later, alarm));
        }
        self.set.insert((wanted.at, alarm));
    }

    pub(super) fn len(&self) -> usize {
        self.set.len()
    }

    #[cfg(test)]
    pub(super) fn is_empty(&self) -> bool {
        self.set.is_empty()
    }

    fn take_due(&mut self, now: Now) -> Option<Alarm> {
        if self.set.first()?.0 > now {
            return None;
        }
        Some(self.set.pop_first()?.1)
    }
}

impl Scene {
    pub(super) fn tick(&mut self, now: Now, out: &mut Vec<Output>) {
        self.forget_graves(now, out);
        self.sum_up(now);
        while let Some(alarm) = self.alarms.take_due(now) {
            self.ring(alarm, now, out);
        }
        self.search_on(now, out);
    }

    fn ring(&mut self, alarm: Alarm, now: Now, out: &mut Vec<Output>) {
        match alarm {
            Alarm::Live(entity) => {
                if self.live.get(&entity).and_then(|live| live.phase.due()).is_some_and(|due| due <= now) {
                    self.leave_tick(entity, now, out);
                }
            }
            Alarm::Stream(sender, to) => self.stream_tick(sender, to, now, out),
            Alarm::Staged(entity) => self.staged_tick(entity, now, out),
            Alarm::Reservation(entity) => {
                let Some(reservation) = self.reserved.get_mut(&entity) else { return };
                if reservation.until <= now {
                    self.reserved.remove(&entity);
                } else if reservation.looked_at <= now {
                    // It was asked for again.
                    reservation.looked_at = reservation.until;
                    self.alarms.insert(reservation.alarm(entity));
                }
            }
            Alarm::Settling(id) => self.settle_tick(id, now, out),
            Alarm::Outdated => self.outdated_tick(now, out),
        }
    }

    fn stream_tick(&mut self, sender: OnlineId, to: OnlineId, now: Now, out: &mut Vec<Output>) {
        let reply_to = self.place();
        let Some(live) = self.live.get_mut(&sender) else { return };
        let (is_active, speaker) = (live.is_active(), live.speaker(sender, reply_to));
        let Some(stream) = live.outbox.get_mut(&to) else { return };
        stream.rang(now);
        if !is_active {
            // Whoever goes on with the entity sets it anew.
            return;
        }
        if let Some(known) = self.receivers.known(to) {
            if stream.is_reset_by(known.base) {
                return self.begin_stream_anew(sender, to, known, now, out);
            }
            stream.learn(known);
        }
        if stream.is_idle(now, &self.limits) {
            return self.leave_stream(sender, to);
        }
        let mut sends: Vec<StreamOutput> = Vec::new();
        // What was learnt from others goes out at once; else it is time to repeat.
        stream.tick(&speaker, now, &self.limits, &mut sends);
        if !self.rules.keep(Rule::StreamsRepeat) {
            sends.clear();
        }
        stream.transmit(&speaker, now, &self.limits, &mut sends);
        if let Some(alarm) = stream.arm(&self.limits) {
            self.alarms.set(alarm, Alarm::Stream(sender, to));
        }
        self.put_on_the_way(to, sends, now, out);
    }
}
