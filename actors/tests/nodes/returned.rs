//! Messages that an entity sends in vain, and that come back to it.

use std::sync::Arc;

use slipgate_actors::scene::Question;
use slipgate_actors::types::{EntityType, MessageKind, Types};
use slipgate_cluster::manager::SceneNews;
use slipgate_cluster::message::{Data, Message, Sender};
use slipgate_cluster::stream::StreamId;
use slipgate_cluster::view::SceneStage;
use slipgate_cluster::{Envelope, Epoch, Limits, Own};
use slipgate_entity::body::ApplyError;
use slipgate_entity::{Body, Effect, OnlineId, RangeId, Returned, SceneId, TypeName};
use tokio::sync::mpsc;
use tokio::time::timeout;

use crate::alone::{Alone, asker};
use crate::node::{LIMIT, ask, me, spawn};

#[actix_rt::test]
async fn an_entity_hears_which_of_its_messages_came_back_and_why() {
    let (told, mut heard) = mpsc::channel(8);
    let (node, scene, _) = write_in_vain(told).await;
    for expected in [(1 + Limits::default().message_bytes, Returned::TooLarge), (1, Returned::Dead)] {
        let returned = timeout(LIMIT, heard.recv()).await.expect("it comes back");
        assert_eq!(returned, Some(expected));
    }
    drop((node, scene));
}

#[actix_rt::test]
async fn an_entity_that_panics_over_a_message_that_came_back_is_parked_and_hears_of_no_other() {
    let (told, mut heard) = mpsc::channel(1);
    let (node, scene, writer) = write_in_vain(told).await;
    // There is no room for a second one: the handler panics.
    let state = async {
        loop {
            let shown = ask(&node.scene(scene), |reply| Question::Show { entity: writer, reply }).await;
            let (shown, _) = shown.expect("it lives there");
            if shown.stand.parked.is_some() {
                return;
            }
            tokio::task::yield_now().await;
        }
    };
    timeout(LIMIT, state).await.expect("it is parked");
    assert_eq!(heard.recv().await.map(|(_, why)| why), Some(Returned::TooLarge));
}

/// A writer that was told to write to nobody, in its scene.
async fn write_in_vain(told: Told) -> (Alone, SceneId, OnlineId) {
    let mut node = Alone::start_with(Types::new(vec![Arc::new(WriterType(told))]));
    let scene = SceneId::of(40_000, 1);
    node.show(Some((scene, SceneStage::Opening)));
    node.await_news(scene, SceneNews::Opened).await;
    node.show(Some((scene, SceneStage::Open)));
    let writer = spawn(&node.scene(scene), "writer").await;
    let data = Data {
        entity: writer,
        stream: StreamId { opened_at: asker().into(), generation: 1 },
        seq: 1,
        sender: Sender::Tool(me()),
        reply_to: asker().into(),
        hops: 0,
        epoch: Epoch::ZERO,
        base: Epoch::ZERO,
        payload: Arc::from([7u8].as_slice()),
    };
    let to = Own::new(me(), scene).into();
    node.post.send(vec![Envelope { from: asker().into(), to, message: Message::Data(data) }]);
    (node, scene, writer)
}

/// Somebody who is not there.
fn nobody() -> OnlineId {
    OnlineId::new(RangeId(1), 4_000)
}

/// Tells of each message that comes back its length, and why.
type Told = mpsc::Sender<(usize, Returned)>;

/// Whoever is of it writes to nobody what it is told, and then too much.
#[derive(Debug)]
struct WriterType(Told);

#[derive(Debug)]
struct Writer(Told);

impl EntityType for WriterType {
    fn name(&self) -> TypeName {
        TypeName("writer".to_owned())
    }

    fn version(&self) -> u16 {
        1
    }

    fn create(&self, _: OnlineId) -> Box<dyn Body> {
        Box::new(Writer(self.0.clone()))
    }

    fn decode(&self, _: &[u8]) -> Result<Box<dyn Body>, String> {
        Ok(Box::new(Writer(self.0.clone())))
    }

    fn messages(&self) -> &'static [MessageKind] {
        &[]
    }

    fn parse(&self, name: &str, _: &str) -> Result<Vec<u8>, String> {
        Err(format!("no writer takes {name}"))
    }

    fn kind_of(&self, _: &[u8]) -> Option<&'static str> {
        None
    }
}

impl Body for Writer {
    fn type_name(&self) -> TypeName {
        TypeName("writer".to_owned())
    }

    fn apply(&mut self, payload: &[u8], effects: &mut Vec<Effect>) -> Result<(), ApplyError> {
        let too_much = vec![0; payload.len() + Limits::default().message_bytes];
        effects.extend([payload.to_vec(), too_much].map(|payload| Effect::Send { to: nobody(), payload }));
        Ok(())
    }

    fn returned(&mut self, to: OnlineId, payload: &[u8], why: Returned) {
        assert_eq!(to, nobody());
        self.0.try_send((payload.len(), why)).expect("room for what the test expects");
    }

    fn encode(&self, _: &mut Vec<u8>) {}

    fn describe(&self) -> String {
        String::new()
    }
}
