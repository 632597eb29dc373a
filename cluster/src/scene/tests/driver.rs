//! A scene under test: inputs in, outputs collected, the shell's answers given at once.
//!
//! The scene is `own(1)`; moves lead to `own(2)`. Bodies are three bytes; those of a type the shell
//! "cannot read" are empty.

use std::sync::Arc;

use slipgate_entity::{OnlineId, PersistId, PlayerId, RangeId, SceneId, TypeName};
use uuid::Uuid;

use super::super::{Answer, Destination, Event, Input, MoveRequest, OnPanic, Output, Scene, Settings, Ticket};
use crate::message::{Control, Data, Identity, Image, Message, Nonce, Prepare, Reserve, Sender};
use crate::moves::{MoveError, MoveId, Outcome};
use crate::schema::{Part, Parts};
use crate::stream::{Received, SendStream, StreamId};
use crate::{Epoch, Limits, Now, Own, Place, Port, Record, Session};

pub(super) struct Driver {
    pub(super) scene: Scene,
    pub(super) now: Now,
    /// What `Encode` is answered with; nothing if the body cannot be encoded.
    pub(super) body: Option<Vec<u8>>,
    /// To whom an entity says something while it is encoded.
    pub(super) last_words: Vec<u32>,
}

impl Driver {
    pub(super) fn new(limits: Limits) -> Self {
        Self::of_size(4, limits)
    }

    /// With room for so many.
    pub(super) fn with_capacity(capacity: u32) -> Self {
        Self::of_size(capacity, Limits::default())
    }

    fn of_size(capacity: u32, limits: Limits) -> Self {
        let schema = [(TypeName("walker".into()), 1, 1)].into_iter().collect();
        let scene = Scene::new(Settings { me: own(1), capacity, schema, limits, on_panic: OnPanic::Park });
        Self { scene, now: Now(0), body: Some(vec![1, 2, 3]), last_words: Vec::new() }
    }

    /// With entity 1 active.
    pub(super) fn active() -> Self {
        Self::active_with(Limits::default())
    }

    pub(super) fn active_with(limits: Limits) -> Self {
        let mut driver = Self::new(limits);
        driver.spawn(1);
        driver
    }

    /// With entity 1 asking `own(2)` for room, as move 1 under ticket 1.
    pub(super) fn reserving() -> Self {
        let mut driver = Self::active();
        driver.migrate(1, Ok(own(2)));
        driver
    }

    /// With entity 1 frozen on its way to `own(2)`.
    pub(super) fn frozen() -> Self {
        let mut driver = Self::reserving();
        driver.hear(reserved());
        driver
    }

    /// With entity 1 frozen and its move cancelled.
    pub(super) fn deciding() -> Self {
        let mut driver = Self::frozen();
        driver.tell(Input::Cancel { ticket: Ticket(9), id: move_id(1) });
        driver
    }

    /// With entity 1 staged under `label`; and the nonce of its compare-and-set.
    pub(super) fn staged(label: Epoch) -> (Self, Nonce) {
        let mut driver = Self::new(Limits::default());
        let nonce = cas_nonce(&driver.prepare(label));
        (driver, nonce)
    }

    /// Tells the scene something and looks after every step whether what is counted is what waits.
    pub(super) fn tell(&mut self, input: Input) -> Vec<Output> {
        let mut out = Vec::new();
        self.scene.handle(input, self.now, &mut out);
        self.scene.audit();
        let mut all = Vec::new();
        for output in out {
            let answer = if let &Output::Encode { entity: leaver } = &output {
                for to in self.last_words.clone() {
                    all.extend(self.tell(Input::Sends { entity: leaver, to: entity(to), payload: [7u8].into() }));
                }
                Some(match self.body.clone() {
                    Some(body) => Input::Encoded { entity: leaver, body },
                    None => Input::NotEncoded { entity: leaver, reason: "it panicked".into() },
                })
            } else if let Output::Decode { entity, prepare } = &output {
                let result = if prepare.image.body.is_empty() { Err("empty".into()) } else { Ok(()) };
                Some(Input::Decoded { entity: *entity, label: prepare.label, result })
            } else {
                None
            };
            all.push(output);
            if let Some(answer) = answer {
                all.extend(self.tell(answer));
            }
        }
        all
    }

    pub(super) fn hear(&mut self, control: Control) -> Vec<Output> {
        self.tell(Input::Heard { from: own(2).into(), message: Message::Control(control) })
    }

    pub(super) fn record(&mut self, counter: u32, record: Record, nonce: Option<Nonce>) -> Vec<Output> {
        self.hear(Control::RecordIs { entity: entity(counter), record, nonce })
    }

    /// Message `seq` of the tool's stream to entity 1.
    pub(super) fn data(&mut self, seq: u64) -> Vec<Output> {
        self.tell(Input::Heard { from: router(), message: Message::Data(data(seq)) })
    }

    pub(super) fn prepare(&mut self, label: Epoch) -> Vec<Output> {
        self.prepare_image(label, image())
    }

    pub(super) fn prepare_image(&mut self, label: Epoch, image: Image) -> Vec<Output> {
        let prepare = Prepare { entity: entity(1), id: move_id(1), from: own(2), label, image };
        self.tell(Input::Heard { from: own(2).into(), message: Message::Prepare(Arc::new(prepare)) })
    }

    pub(super) fn spawn(&mut self, counter: u32) -> Vec<Output> {
        let ticket = Ticket(100 + u64::from(counter));
        let mut out = self.tell(Input::Spawn { ticket, identity: identity() });
        out.extend(self.tell(Input::Registered { ticket, entity: entity(counter) }));
        out
    }

    /// Move `counter` of entity `counter`, under ticket `counter`.
    pub(super) fn migrate(&mut self, counter: u32, to: Result<Own, SceneId>) -> Vec<Output> {
        self.tell(Input::Migrate(Box::new(MoveRequest { to, ..request(counter, Some(Ticket(counter.into()))) })))
    }

    /// An entity sends to entity `to`.
    pub(super) fn sends(&mut self, counter: u32, to: u32) -> Vec<Output> {
        self.tell(Input::Sends { entity: entity(counter), to: entity(to), payload: Arc::from([7u8].as_slice()) })
    }

    /// Lets time pass, with a tick at its end.
    pub(super) fn pass(&mut self, ms: u64) -> Vec<Output> {
        self.now = Now(self.now.0 + ms * 1000);
        self.tell(Input::Tick)
    }

    pub(super) fn phase(&self, counter: u32) -> Option<&'static str> {
        self.scene.stand(entity(counter)).map(|stand| stand.phase)
    }
}

pub(super) fn own(node: u16) -> Own {
    Own::new(Session::new(node, 1), SceneId::from(node))
}

pub(super) fn router() -> Place {
    Place { session: Session::new(3, 1), port: Port::Router(0) }
}

pub(super) fn entity(counter: u32) -> OnlineId {
    OnlineId::new(RangeId(1), counter)
}

pub(super) fn epoch(count: u32) -> Epoch {
    Epoch::new(0, count)
}

pub(super) fn move_id(number: u32) -> MoveId {
    MoveId(Uuid::from_u128(number.into()))
}

/// Move `counter` of entity `counter` to `own(2)`.
pub(super) fn request(counter: u32, ticket: Option<Ticket>) -> MoveRequest {
    let (id, entity) = (move_id(counter), entity(counter));
    MoveRequest { body_bytes: 3, ..MoveRequest::new(ticket, id, entity, Ok(own(2))) }
}

pub(super) fn identity() -> Identity {
    Identity {
        type_name: TypeName("walker".into()),
        type_version: 1,
        label: Some("ann".into()),
        persist: PersistId(Uuid::nil()),
        player: PlayerId::NONE,
    }
}

pub(super) fn image() -> Image {
    Image {
        identity: identity(),
        body: vec![1, 2, 3],
        received: Received::default(),
        sending: Vec::new(),
        base: Epoch::ZERO,
        parked: None,
    }
}

pub(super) fn tool_stream() -> StreamId {
    StreamId { opened_at: router(), generation: 1 }
}

pub(super) fn data(seq: u64) -> Data {
    Data {
        entity: entity(1),
        stream: tool_stream(),
        seq,
        sender: Sender::Tool(router().session),
        reply_to: router(),
        hops: 0,
        base: Epoch::ZERO,
        epoch: Epoch::ZERO,
        payload: Arc::from(seq.to_le_bytes().as_slice()),
    }
}

/// A stream of entity 1 to entity `to` with one unacknowledged message.
pub(super) fn sending(to: u32) -> SendStream {
    let mut stream = SendStream::open(StreamId { opened_at: own(2).into(), generation: 5 }, entity(to));
    let payload = Arc::from([7u8].as_slice());
    stream.push(payload, &Limits::default()).expect("a stream has room for one");
    stream
}

pub(super) fn part(name: &str, version: u16) -> Part {
    Part { name: TypeName(name.into()), version }
}

pub(super) fn reserve(counter: u32, label: Epoch) -> Reserve {
    let parts = Parts::new(part("walker", 1), Vec::new()).expect("one part");
    Reserve { entity: entity(counter), id: move_id(counter), label, parts, bytes: 3 }
}

pub(super) fn reserved() -> Control {
    Control::Reserved { entity: entity(1), id: move_id(1), label: epoch(2) }
}

/// The record after entity 1 was handed to `own(2)` by its first owner.
pub(super) fn taken_over() -> Record {
    Record::handed_to(own(2), epoch(2), Epoch::ZERO)
}

/// The record after its first owner gave a move up.
pub(super) fn given_back() -> Record {
    Record { owner: Some(own(1)), epoch: epoch(2), data: epoch(1), lost: false, base: Epoch::ZERO }
}

pub(super) fn buried() -> Record {
    Record { owner: None, epoch: epoch(2), data: epoch(1), lost: false, base: Epoch::ZERO }
}

/// Numbers of the tool's messages applied.
pub(super) fn applied(out: &[Output]) -> Vec<u64> {
    let number = |output: &Output| {
        let Output::Apply { payload, .. } = output else { return None };
        Some(u64::from_le_bytes(payload[..].try_into().expect("eight bytes")))
    };
    out.iter().filter_map(number).collect()
}

/// Controls sent, with their destination.
pub(super) fn controls(out: &[Output]) -> Vec<(Destination, &Control)> {
    let control = |output| {
        let &Output::Send { to, message: Message::Control(ref control) } = output else { return None };
        Some((to, control))
    };
    out.iter().filter_map(control).collect()
}

/// Numbers acknowledged to the tool.
pub(super) fn acks(out: &[Output]) -> Vec<u64> {
    let upto = |(_, control)| {
        let &Control::Ack { stream, upto, .. } = control else { return None };
        (stream == tool_stream()).then_some(upto)
    };
    controls(out).into_iter().filter_map(upto).collect()
}

/// Copies sent: where to, and under which label.
pub(super) fn copies(out: &[Output]) -> Vec<(Destination, Epoch)> {
    let copy = |output: &Output| {
        let Output::Send { to, message: Message::Prepare(prepare) } = output else { return None };
        Some((*to, prepare.label))
    };
    out.iter().filter_map(copy).collect()
}

/// Messages to entities sent: to which place, to which entity, which number.
pub(super) fn messages(out: &[Output]) -> Vec<(Destination, OnlineId, u64)> {
    let message = |output: &Output| {
        let Output::Send { to, message: Message::Data(data) } = output else { return None };
        Some((*to, data.entity, data.seq))
    };
    out.iter().filter_map(message).collect()
}

/// Compare-and-sets sent to the home of entity 1: what they expect, and what they want.
pub(super) fn cas(out: &[Output]) -> Vec<((Own, Epoch), Record)> {
    let cas = |(to, control)| {
        let &Control::Cas { entity: subject, owner, epoch, new, .. } = control else { return None };
        assert_eq!(to, Destination::Home(subject));
        Some(((owner, epoch), new))
    };
    controls(out).into_iter().filter_map(cas).collect()
}

pub(super) fn cas_nonce(out: &[Output]) -> Nonce {
    let nonce = |(_, control)| {
        let &Control::Cas { nonce, .. } = control else { return None };
        Some(nonce)
    };
    controls(out).into_iter().find_map(nonce).expect("a compare-and-set was sent")
}

/// How moves ended, as people are told.
pub(super) fn ended(out: &[Output]) -> Vec<Outcome> {
    let outcome = |output: &Output| {
        let Output::Event(Event::MoveEnded { done, .. }) = output else { return None };
        Some(done.outcome.clone())
    };
    out.iter().filter_map(outcome).collect()
}

pub(super) fn answers(out: &[Output]) -> Vec<(Ticket, Answer)> {
    let answer = |output: &Output| {
        let Output::Answer { ticket, answer } = output else { return None };
        Some((*ticket, answer.clone()))
    };
    out.iter().filter_map(answer).collect()
}

pub(super) fn rejected(out: &[Output]) -> Vec<MoveError> {
    let error = |(_, answer)| {
        let Answer::Rejected(error) = answer else { return None };
        Some(error)
    };
    answers(out).into_iter().filter_map(error).collect()
}

pub(super) fn to(own: Own) -> Destination {
    Destination::Place(own.into())
}
