//! A scene with some honest entities and an honest sender, as its shell would run it.

use std::sync::Arc;

use slipgate_cluster::message::{Control, Data, Identity, Message, Sender};
use slipgate_cluster::scene::{Input, OnPanic, Output, Scene, Settings, Ticket};
use slipgate_cluster::stream::StreamId;
use slipgate_cluster::{Epoch, Limits, Now, Own, Place, Port, Session};
use slipgate_entity::{OnlineId, PersistId, PlayerId, RangeId, SceneId, TypeName};
use uuid::Uuid;

/// The scene's number and session.
pub(crate) const ME: Own = Own {
    session: Session { node: slipgate_cluster::NodeId(1), incarnation: slipgate_cluster::Incarnation(1) },
    scene: SceneId(1),
};

/// Room for entities.
pub(crate) const CAPACITY: u32 = 1_000;

/// The entities that are honestly there.
pub(crate) const HONEST: u32 = 4;

#[derive(Debug)]
pub(crate) struct Stage {
    pub(crate) scene: Scene,
    pub(crate) now: Now,
    /// Messages of the honest sender that were applied, per entity.
    pub(crate) applied: [u64; HONEST as usize],
    /// Highest number acknowledged to the honest sender, per entity.
    pub(crate) acknowledged: [u64; HONEST as usize],
    /// What a home would answer that grants every change it is asked for.
    pub(crate) granted: Option<Control>,
}

impl Stage {
    pub(crate) fn new(limits: Limits) -> Self {
        let schema = [(TypeName("walker".to_owned()), 1, 1)].into_iter().collect();
        let scene = Scene::new(Settings { me: ME, capacity: CAPACITY, schema, limits, on_panic: OnPanic::Park });
        let mut stage = Self { scene, now: Now(1), applied: [0; 4], acknowledged: [0; 4], granted: None };
        for counter in 0..HONEST {
            stage.spawn(counter);
        }
        stage
    }

    /// Spawns an entity under the id that the directory gives next.
    pub(crate) fn spawn(&mut self, counter: u32) {
        let identity = Identity {
            type_name: TypeName("walker".to_owned()),
            type_version: 1,
            label: None,
            persist: PersistId(Uuid::from_u128(u128::from(counter))),
            player: PlayerId::NONE,
        };
        let ticket = Ticket(u64::from(counter));
        self.give(Input::Spawn { ticket, identity });
        self.give(Input::Registered { ticket, entity: honest(counter) });
    }

    /// The honest sender says its next message to each honest entity.
    pub(crate) fn talk(&mut self) {
        for counter in 0..HONEST {
            let seq = self.applied[counter as usize] + 1;
            let data = Data {
                entity: honest(counter),
                stream: stream(),
                seq,
                sender: Sender::Tool(friend().session),
                reply_to: friend(),
                hops: 0,
                payload: Arc::from(b"hi".as_slice()),
                base: Epoch::ZERO,
                epoch: Epoch::ZERO,
            };
            self.hear(friend(), Message::Data(data));
        }
        self.give(Input::Flush);
    }

    pub(crate) fn hear(&mut self, from: Place, message: Message) {
        self.give(Input::Heard { from, message });
    }

    pub(crate) fn pass(&mut self, us: u64) {
        self.now = Now(self.now.0 + us);
        self.give(Input::Tick);
    }

    pub(crate) fn give(&mut self, input: Input) {
        let mut out = Vec::new();
        self.scene.handle(input, self.now, &mut out);
        for output in out {
            self.perform(output);
        }
    }

    fn perform(&mut self, output: Output) {
        match output {
            Output::Encode { entity } => self.give(Input::Encoded { entity, body: vec![1; 10] }),
            Output::Decode { entity, prepare } => {
                let result = if prepare.image.body.len() == 1 { Err("no body".to_owned()) } else { Ok(()) };
                self.give(Input::Decoded { entity, label: prepare.label, result });
            }
            Output::Apply { entity, sender: Sender::Tool(session), .. } if session == friend().session => {
                self.applied[entity.counter() as usize] += 1;
            }
            Output::Send { message: Message::Control(Control::Ack { entity, stream: id, upto, .. }), .. }
                if id == stream() =>
            {
                self.acknowledged[entity.counter() as usize] = upto;
            }
            Output::Send { message: Message::Control(Control::Cas { entity, new, nonce, .. }), .. } => {
                self.granted = Some(Control::RecordIs { entity, record: new, nonce: Some(nonce) });
            }
            Output::Send { .. }
            | Output::Apply { .. }
            | Output::Register { .. }
            | Output::Create { .. }
            | Output::Install { .. }
            | Output::DropStaged { .. }
            | Output::Remove { .. }
            | Output::Adopt(_)
            | Output::Bounced { .. }
            | Output::Park { .. }
            | Output::Unpark { .. }
            | Output::Answer { .. }
            | Output::Event(_) => {}
        }
    }
}

/// An honest entity.
pub(crate) fn honest(counter: u32) -> OnlineId {
    OnlineId::new(RangeId(1), counter)
}

/// The router of a node that is no peer of ill will.
pub(crate) fn friend() -> Place {
    Place { session: Session::new(3, 1), port: Port::Router(0) }
}

fn stream() -> StreamId {
    StreamId { opened_at: friend(), generation: 1 }
}
