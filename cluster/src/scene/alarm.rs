//! What wants to be looked at when. An alarm may ring for nothing: whatever it names tells its own time.

use slipgate_entity::OnlineId;

use super::arrive::Reservation;
use super::{Output, Scene};
use crate::Now;
use crate::moves::MoveId;
use crate::stream::{End, StreamOutput};

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

impl Scene {
    pub(super) fn tick(&mut self, now: Now, out: &mut Vec<Output>) {
        self.forget_graves(now);
        if self.waiting.wants_sum(now) {
            self.waiting.set_sum(self.sum_of_waiting(), now);
        }
        while let Some(&(due, alarm)) = self.alarms.first() {
            if due > now {
                return;
            }
            self.alarms.pop_first();
            self.ring(alarm, now, out);
        }
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
                let Some(Reservation { until }) = self.reserved.get(&entity) else { return };
                if *until <= now {
                    self.reserved.remove(&entity);
                } else {
                    // It was asked for again, or used and made anew.
                    self.alarms.insert((*until, Alarm::Reservation(entity)));
                }
            }
            Alarm::Settling(id) => self.settle_tick(id, now, out),
            Alarm::Outdated => self.outdated_tick(now, out),
        }
    }

    fn stream_tick(&mut self, sender: OnlineId, to: OnlineId, now: Now, out: &mut Vec<Output>) {
        let reply_to = self.place();
        let Some(live) = self.live.get_mut(&sender).filter(|live| live.is_active()) else { return };
        let Some(stream) = live.outbox.get_mut(&to) else { return };
        if let Some(known) = self.receivers.known(to) {
            if stream.is_reset_by(known.base) {
                return self.end_stream(sender, to, End::Unknown, out);
            }
            stream.learn(known);
        }
        let mut sends: Vec<StreamOutput> = Vec::new();
        // What was learnt from others goes out at once; else it is time to repeat.
        stream.tick(reply_to, now, &self.limits, &mut sends);
        stream.transmit(reply_to, now, &self.limits, &mut sends);
        if let Some(due) = stream.due() {
            self.alarms.insert((due, Alarm::Stream(sender, to)));
        }
        self.put_on_the_way(to, sends, now, out);
    }
}
