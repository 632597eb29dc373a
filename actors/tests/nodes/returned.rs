//! Messages that an entity sends in vain, and that come back to it.

use std::cell::RefCell;

use slipgate_actors::scene::Question;
use slipgate_cluster::manager::SceneNews;
use slipgate_cluster::message::{Data, Message, Sender};
use slipgate_cluster::stream::StreamId;
use slipgate_cluster::view::SceneStage;
use slipgate_cluster::{Envelope, Epoch, Limits, Own};
use slipgate_entity::game::{Context, ReturnedMessage, Types, payload};
use slipgate_entity::{OnlineId, RangeId, Returned, SceneId};
use slipgate_macros::{Entity, Message, handlers};
use tokio::sync::mpsc;
use tokio::time::timeout;

use crate::alone::{Alone, asker};
use crate::node::{LIMIT, ask, me, spawn};

#[actix_rt::test]
async fn an_entity_hears_which_of_its_messages_came_back_and_why() {
    let (told, mut heard) = mpsc::channel(8);
    let (node, scene, _) = write_in_vain(told).await;
    for expected in [(true, Returned::TooLarge), (false, Returned::Dead)] {
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
    TOLD.set(Some(told));
    let mut node = Alone::start_with(Types::builder().entity::<Writer>().build().expect("a writer is a type"));
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
        payload: payload(&Write {}).into(),
    };
    let to = Own::new(me(), scene).into();
    node.post.send(vec![Envelope { from: asker().into(), to, message: Message::Data(data) }]);
    (node, scene, writer)
}

/// Somebody who is not there.
fn nobody() -> OnlineId {
    OnlineId::new(RangeId(1), 4_000)
}

/// Is told of each message that comes back whether it was too much, and why it came.
type Told = mpsc::Sender<(bool, Returned)>;

thread_local! {
    /// The scene runs on the thread of its test.
    static TOLD: RefCell<Option<Told>> = const { RefCell::new(None) };
}

/// Writes to nobody when it is told to, and first too much.
#[derive(Debug, Default, Entity)]
#[entity(crate = "slipgate_entity")]
struct Writer {}

#[derive(Debug, Message)]
#[message(crate = "slipgate_entity")]
struct Write {}

#[derive(Debug, Message)]
#[message(crate = "slipgate_entity")]
struct Letter {
    text: Vec<u8>,
}

#[handlers(crate = "slipgate_entity")]
impl Writer {
    #[from(cluster)]
    fn write(&mut self, _: Write, cx: &mut Context<'_>) {
        for bytes in [Limits::default().message_bytes, 1] {
            cx.send(nobody(), Letter { text: vec![0; bytes] });
        }
    }

    #[hook]
    fn returned(&mut self, back: &ReturnedMessage) {
        assert_eq!((back.to, back.message), (nobody(), "?"), "nobody takes letters");
        let is_too_much = back.payload.len() > Limits::default().message_bytes;
        let told = TOLD.with_borrow(|told| told.clone().expect("the test listens"));
        told.try_send((is_too_much, back.why)).expect("room for what the test expects");
    }
}
