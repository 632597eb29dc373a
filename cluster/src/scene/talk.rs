//! Messages to entities of the scene, and messages that they send.

use slipgate_entity::{OnlineId, Returned};

use super::alarm::Alarm;
use super::phase::{Live, Phase};
use super::{Destination, Output, Scene};
use crate::bounds::RECEIVERS_PER_ENTITY;
use crate::budget::Load;
use crate::message::{Control, Data, Message, Payload, Sender};
use crate::stream::{Busy, End, Known, Open, Over, SendStream, Stopped, StreamId, StreamOutput, Verdict, Waiting};
use crate::{Epoch, Now, Own, Place, Record, Rule};

impl Scene {
    pub(super) fn data(&mut self, data: Data, out: &mut Vec<Output>) {
        let entity = data.entity;
        if !data.stream.is_possible() {
            self.left_out += 1;
            return;
        }
        if self.is_late(&data) {
            return;
        }
        let held = if let Some(live) = self.live.get_mut(&entity) {
            match &mut live.phase {
                Phase::Active | Phase::Reserving(_) => return self.apply(data, out),
                Phase::Frozen(frozen) => &mut frozen.held,
                Phase::Deciding(deciding) => &mut deciding.held,
            }
        } else if let Some(staged) = self.staged.get_mut(&entity) {
            &mut staged.held
        } else {
            return self.send_elsewhere(&data, out);
        };
        let has_room = held.has_room(&data, &self.limits) || !self.rules.keep(Rule::HeldIsBounded);
        if has_room && self.waiting.admit(entity, data.payload.len()) {
            if !self.rules.keep(Rule::HeldIsNotAcknowledged) {
                let Data { stream, seq: upto, base, reply_to, .. } = data;
                let (owner, epoch) = (self.me, Epoch::ZERO);
                out.push(send(Destination::Place(reply_to), Control::Ack { entity, stream, upto, owner, epoch, base }));
            }
            held.hold(data);
        } else {
            self.left_out += 1;
        }
    }

    /// Whether a message was said in a session that is dead. If its sender lives on elsewhere, it is said again from there.
    fn is_late(&self, data: &Data) -> bool {
        self.verdicts.is_dead(data.reply_to.session) && self.rules.keep(Rule::TheDeadAreNotHeard)
    }

    /// What waited for an entity that begins to take turns now, in order. A message may have become late while it waited,
    /// or its sender may have died elsewhere: who has a stream open here was looked through before.
    pub(super) fn apply_held(&mut self, entity: OnlineId, held: Vec<Data>, now: Now, out: &mut Vec<Output>) {
        for data in held {
            if self.is_late(&data) {
                continue;
            }
            let (sender, stream) = (data.sender, data.stream);
            let was_open = self.live[&entity].inbox.received().last(sender, stream) > 0;
            self.apply(data, out);
            if !was_open {
                self.look_for_latecomer(sender, entity, now);
            }
        }
    }

    /// The rule for an active entity: the next number is applied, and what was waiting behind it.
    fn apply(&mut self, data: Data, out: &mut Vec<Output>) {
        let entity = data.entity;
        let live = self.live.get_mut(&entity).expect("the caller holds a live entity");
        if data.base != live.base && self.rules.keep(Rule::NumbersCountFromOneReset) {
            return self.refuse_base(&data, out);
        }
        if live.parked.is_some() {
            return self.turn_away(&data, out);
        }
        let (stream, sender, reply_to) = (data.stream, data.sender, data.reply_to);
        if live.inbox.is_ahead(&data) && !self.waiting.admit(entity, data.payload.len()) {
            self.left_out += 1;
            return;
        }
        match live.inbox.accept(data, &self.limits, &self.verdicts) {
            Verdict::Apply { next, behind } => {
                self.owe_ack(entity, sender, reply_to);
                let apply = |Data { sender, stream, seq, payload, .. }| Output::Apply {
                    entity,
                    sender,
                    message: Some((stream, seq)),
                    payload,
                };
                out.push(apply(next));
                out.extend(behind.into_iter().map(apply));
            }
            Verdict::Repeat => self.owe_ack(entity, sender, reply_to),
            Verdict::Ahead => {}
            Verdict::NoRoom => self.left_out += 1,
            Verdict::Over(Over { floor, doubt }) => {
                out.push(send(Destination::Place(reply_to), Control::Closed { entity, stream, floor, doubt }));
            }
        }
    }

    /// The numbers of a message count from another reset than the entity's: one of the two has news to hear.
    fn refuse_base(&mut self, data: &Data, out: &mut Vec<Output>) {
        let (entity, stream) = (data.entity, data.stream);
        if data.base < self.live[&entity].base {
            out.push(send(Destination::Place(data.reply_to), Control::NotOwner { entity, stream }));
        } else {
            self.behind.insert(entity);
        }
    }

    /// Messages of one stream mostly come one behind the other; what slips through is put right by `flush`.
    pub(super) fn owe_ack(&mut self, entity: OnlineId, sender: Sender, reply_to: Place) {
        let owed = ((entity, sender), reply_to);
        match self.acks.last_mut() {
            Some(last) if last.0 == owed.0 => *last = owed,
            Some(_) | None => self.acks.push(owed),
        }
    }

    /// Absent: the tombstone tells where the entity went; without one the sender asks the home.
    fn send_elsewhere(&self, data: &Data, out: &mut Vec<Output>) {
        out.push(send(Destination::Place(data.reply_to), self.elsewhere(data.entity, data.stream)));
    }

    pub(super) fn elsewhere(&self, entity: OnlineId, stream: StreamId) -> Control {
        let record = self.gone.get(&entity).map(|tombstone| tombstone.record);
        match record.and_then(|record| Some((record.owner?, record.epoch))) {
            Some((owner, epoch)) => Control::Redirect { entity, stream, owner, epoch },
            None => Control::NotOwner { entity, stream },
        }
    }

    /// The turn ends: one acknowledgement per stream that had something applied or repeated.
    pub(super) fn flush(&mut self, out: &mut Vec<Output>) {
        let mut acks = std::mem::take(&mut self.acks);
        // Stable: of what is owed to one sender, the place last heard from stays last.
        acks.sort_by_key(|&(key, _)| key);
        for (at, &((entity, sender), reply_to)) in acks.iter().enumerate() {
            if acks.get(at + 1).is_some_and(|next| next.0 == (entity, sender)) {
                continue;
            }
            let Some(live) = self.live.get(&entity).filter(|live| live.is_active()) else { continue };
            let Some(&Open { stream, number: upto, stopped, .. }) = live.inbox.received().open(sender) else {
                continue;
            };
            let (owner, epoch, base) = (self.me, live.epoch, live.base);
            let control = match stopped {
                None => Control::Ack { entity, stream, upto, owner, epoch, base },
                Some(why) => {
                    let failed = why == Stopped::Failed;
                    Control::Stopped { entity, stream, upto, failed, owner, epoch, base }
                }
            };
            out.push(send(Destination::Place(reply_to), control));
        }
        acks.clear();
        self.acks = acks;
        for entity in std::mem::take(&mut self.behind) {
            let nonce = self.nonce();
            out.push(send(Destination::Home(entity), Control::Query { entity, nonce }));
        }
    }

    /// Acknowledges every stream that an arrived entity has applied something of: their senders learn
    /// at once where it is.
    pub(super) fn acknowledge_all(&mut self, entity: OnlineId) {
        let Some(live) = self.live.get(&entity) else { return };
        self.acks.extend(live.inbox.received().iter().map(|(sender, open)| ((entity, sender), open.reply_to)));
    }

    pub(super) fn sends(&mut self, entity: OnlineId, to: OnlineId, payload: Payload, now: Now, out: &mut Vec<Output>) {
        let is_here = self.live.get(&to).is_some_and(Live::is_active);
        let Some(live) = self.live.get_mut(&entity) else { return };
        if payload.len() > self.limits.message_bytes {
            out.push(Output::Bounced { entity, to, payload, why: Returned::TooLarge });
            return;
        }
        if !live.may_speak() {
            // The copy under way, or the router that takes the streams over, would never learn of it.
            out.push(Output::Bounced { entity, to, payload, why: Returned::Busy });
            return;
        }
        if live.outbox.len() >= RECEIVERS_PER_ENTITY && !live.outbox.contains_key(&to) {
            out.push(Output::Bounced { entity, to, payload, why: Returned::Busy });
            return;
        }
        if !self.waiting.has_room_for_sent(self.direct.weight(), payload.len()) {
            out.push(Output::Bounced { entity, to, payload, why: Returned::Busy });
            return;
        }
        let is_at_rest =
            |stream: &SendStream| stream.waiting() == 0 || !self.rules.keep(Rule::DirectOnlyBesideEmptyWindows);
        if is_here && live.is_active() && live.outbox.get(&to).is_none_or(is_at_rest) {
            if let Err(payload) = self.direct.say((entity, &mut live.spoken), to, payload, &self.limits) {
                out.push(Output::Bounced { entity, to, payload, why: Returned::Busy });
            }
            return;
        }
        self.send_numbered(entity, to, payload, now, out);
    }

    /// Numbers a message of an entity and sends it; that of one that is being encoded where it goes on.
    pub(super) fn send_numbered(
        &mut self,
        entity: OnlineId,
        to: OnlineId,
        payload: Payload,
        now: Now,
        out: &mut Vec<Output>,
    ) {
        let me = self.place();
        let live = self.live.get_mut(&entity).expect("the caller holds a live entity");
        let bytes = payload.len();
        let opened = &mut self.opened;
        let stream = live.outbox.entry(to).or_insert_with(|| SendStream::open(StreamId::next(me, opened), to));
        if let Err(Busy(payload)) = stream.push(payload, &self.limits) {
            if !stream.has_begun() && stream.waiting() == 0 {
                live.outbox.remove(&to);
            }
            out.push(Output::Bounced { entity, to, payload, why: Returned::Busy });
            return;
        }
        self.waiting.put_sent(Load::one(bytes));
        self.receivers.add(to, stream.id(), entity);
        self.transmit(entity, to, now, out);
    }

    /// Sends what a stream of an active entity now may, and sets its alarm.
    pub(super) fn transmit(&mut self, entity: OnlineId, to: OnlineId, now: Now, out: &mut Vec<Output>) {
        let reply_to = self.place();
        let Some(live) = self.live.get_mut(&entity).filter(|live| live.is_active()) else { return };
        let speaker = live.speaker(entity, reply_to);
        let Some(stream) = live.outbox.get_mut(&to) else { return };
        if let Some(known) = self.receivers.known(to) {
            if stream.is_reset_by(known.base) {
                return self.begin_stream_anew(entity, to, known, now, out);
            }
            stream.learn(known);
        }
        let mut sends = Vec::new();
        stream.transmit(&speaker, now, &self.limits, &mut sends);
        if let Some(alarm) = stream.arm(&self.limits) {
            self.alarms.set(alarm, Alarm::Stream(entity, to));
        }
        self.put_on_the_way(to, sends, now, out);
    }

    pub(super) fn put_on_the_way(
        &mut self,
        receiver: OnlineId,
        sends: Vec<StreamOutput>,
        now: Now,
        out: &mut Vec<Output>,
    ) {
        for output in sends {
            match output {
                StreamOutput::Data { to, data } => {
                    out.push(Output::Send { to: Destination::Place(to.into()), message: Message::Data(data) });
                }
                StreamOutput::AskHome => self.ask_home(receiver, now, out),
            }
        }
    }

    /// Asks the home of an entity that is written to from here, unless somebody has just done so.
    fn ask_home(&mut self, receiver: OnlineId, now: Now, out: &mut Vec<Output>) {
        if self.receivers.may_ask(receiver, now, self.limits.resend_first) {
            let nonce = self.nonce();
            out.push(send(Destination::Home(receiver), Control::Query { entity: receiver, nonce }));
        }
    }

    /// Sends everything unacknowledged anew: the sender has just become active here.
    pub(super) fn resume_sending(&mut self, entity: OnlineId, now: Now, out: &mut Vec<Output>) {
        let Some(live) = self.live.get_mut(&entity) else { return };
        let receivers: Vec<_> = live.outbox.keys().copied().collect();
        for to in receivers {
            if let Some(stream) = self.live.get_mut(&entity).and_then(|live| live.outbox.get_mut(&to)) {
                stream.resume();
            }
            self.transmit(entity, to, now, out);
        }
    }

    /// An owner or a scene answers a stream of one of our entities. A frozen sender ignores it: the copy
    /// under way does not know it, and would be told again.
    pub(super) fn stream_heard(&mut self, heard: StreamNews, now: Now, out: &mut Vec<Output>) {
        let to = heard.receiver;
        let Some(sender) = self.receivers.sender(to, heard.stream) else { return };
        let may_hear = |live: &&mut Live| live.is_active() || !self.rules.keep(Rule::FrozenSendersAreDeaf);
        let Some(live) = self.live.get_mut(&sender).filter(may_hear) else { return };
        let Some(stream) = live.outbox.get_mut(&to) else { return };
        match heard.told {
            // It counts from another reset: about numbers that are not these.
            Told::Applied { known: Known { base, .. }, .. } | Told::Stopped { base, .. }
                if stream.base() != Some(base) && self.rules.keep(Rule::AcksCountFromOneReset) =>
            {
                return;
            }
            Told::Applied { upto, known } => {
                let mut done = stream.load();
                stream.acknowledge(upto);
                done -= stream.load();
                self.waiting.take_sent(done);
                stream.learn(known);
                self.receivers.learn(to, known);
            }
            Told::Moved { by, owner, epoch } => {
                let Some(base) = stream.base().filter(|_| stream.leads_to(by)) else { return };
                stream.learn_owner(owner, epoch);
                self.receivers.learn(to, Known { owner, epoch, base });
            }
            Told::Nothing => self.ask_home(to, now, out),
            Told::Closed { by, .. } | Told::Stopped { by, .. }
                if !stream.leads_to(by) && self.rules.keep(Rule::OnlyTheOwnerCloses) =>
            {
                return;
            }
            Told::Closed { floor, .. } => return self.stream_closed(sender, to, floor, now, out),
            Told::Stopped { upto, failed, .. } => return self.stream_stopped(sender, to, (upto, failed), out),
        }
        self.transmit(sender, to, now, out);
    }

    /// The home's word on a receiver, for every entity here that writes to it.
    pub(super) fn receiver_record(&mut self, to: OnlineId, record: &Record, now: Now, out: &mut Vec<Output>) {
        // No news, nothing to do: one answer must not cost a walk over everybody who writes there.
        if Known::of(record).is_some_and(|known| !self.receivers.learn(to, known)) {
            return;
        }
        for sender in self.receivers.senders(to) {
            let Some(live) = self.live.get_mut(&sender).filter(|live| live.is_active()) else { continue };
            let Some(stream) = live.outbox.get_mut(&to) else { continue };
            match (stream.is_ended_by(record), Known::of(record)) {
                (Some(End::Unknown), Some(_)) if !self.rules.keep(Rule::ResetsEndWindows) => {}
                (Some(End::Unknown), Some(known)) => self.begin_stream_anew(sender, to, known, now, out),
                (Some(end), _) => self.end_stream(sender, to, end, out),
                (None, _) => {
                    stream.learn_record(record);
                    self.transmit(sender, to, now, out);
                }
            }
        }
    }

    /// Nothing more comes of a stream: what is unacknowledged goes back to its sender.
    pub(super) fn end_stream(&mut self, sender: OnlineId, to: OnlineId, end: End, out: &mut Vec<Output>) {
        let Some(live) = self.live.get_mut(&sender) else { return };
        let Some(mut stream) = live.outbox.remove(&to) else { return };
        self.receivers.remove(to, stream.id());
        self.waiting.take_sent(stream.load());
        bounce(sender, stream.entity(), stream.fail(), end, out);
    }

    /// The receiver counts anew: what may have been applied before that goes back to its sender, and what never left
    /// is sent on another stream.
    pub(super) fn begin_stream_anew(
        &mut self,
        sender: OnlineId,
        to: OnlineId,
        known: Known,
        now: Now,
        out: &mut Vec<Output>,
    ) {
        let me = self.place();
        let Some(live) = self.live.get_mut(&sender) else { return };
        let Some(mut stream) = live.outbox.remove(&to) else { return };
        self.receivers.remove(to, stream.id());
        let mut done = stream.load();
        let left = stream.begin_anew(known, || StreamId::next(me, &mut self.opened));
        done -= stream.load();
        self.waiting.take_sent(done);
        bounce(sender, to, left, End::Unknown, out);
        if stream.waiting() > 0 {
            self.receivers.add(to, stream.id(), sender);
            self.receivers.learn(to, known);
            live.outbox.insert(to, stream);
            self.transmit(sender, to, now, out);
        }
    }
}

/// What an owner or a scene says to the sender of a stream.
#[derive(Clone, Copy, Debug)]
pub(super) struct StreamNews {
    pub(super) receiver: OnlineId,
    pub(super) stream: StreamId,
    pub(super) told: Told,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Told {
    /// Everything up to `upto` is applied, and by whom.
    Applied { upto: u64, known: Known },
    /// The receiver went there.
    Moved { by: Place, owner: Own, epoch: Epoch },
    /// Whoever speaks does not know where the receiver is.
    Nothing,
    /// The receiver has closed the stream, and knows those opened here up to `floor` as closed.
    Closed { by: Place, floor: u64 },
    /// The receiver is parked, and applies nothing beyond `upto`, which may have `failed`.
    Stopped { by: Place, upto: u64, failed: bool, base: Epoch },
}

/// Messages go back to their sender.
pub(super) fn bounce(
    sender: OnlineId,
    to: OnlineId,
    messages: Vec<Waiting>,
    why: impl Into<Returned>,
    out: &mut Vec<Output>,
) {
    let why = why.into();
    out.extend(messages.into_iter().map(|waiting| Output::Bounced {
        entity: sender,
        to,
        payload: waiting.payload,
        why,
    }));
}

pub(super) fn send(to: Destination, control: Control) -> Output {
    Output::Send { to, message: Message::Control(control) }
}
