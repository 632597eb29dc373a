//! A scene that is opened under the number of an earlier one: nothing that was meant for the earlier comes to the later
//! one.

use std::sync::Arc;

use slipgate_actors::mailbox::Mailbox;
use slipgate_actors::post::Post;
use slipgate_actors::scene::{Question, SceneActor, SceneCensus};
use slipgate_cluster::manager::SceneNews;
use slipgate_cluster::message::{Control, Data, Identity, Image, Message, Nonce, Prepare, Reserve, Sender};
use slipgate_cluster::moves::{MoveId, Refusal};
use slipgate_cluster::schema::{Part, Parts};
use slipgate_cluster::stream::{Received, StreamId};
use slipgate_cluster::view::{Clearing, SceneStage};
use slipgate_cluster::{Envelope, Epoch, Own, Record};
use slipgate_entity::{OnlineId, PersistId, PlayerId, RangeId, SceneId, TypeName};
use uuid::Uuid;

use crate::alone::{Alone, asker};
use crate::node::{ask, me, spawn};

#[actix_rt::test]
async fn nothing_that_was_meant_for_a_scene_comes_to_the_next_one_of_its_number() {
    let mut node = Alone::start();
    let (first, second) = (SceneId::of(40_000, 1), SceneId::of(40_000, 2));
    node.show(Some((first, SceneStage::Opening)));
    node.await_news(first, SceneNews::Opened).await;
    node.show(Some((first, SceneStage::Open)));
    let scene = node.scene(first);
    let ann = spawn(&scene, "walker").await;
    let old_handle = handle(&scene, ann).await.expect("she lives there");
    assert_eq!(old_handle, "40000:0/gen1");

    node.show(Some((first, SceneStage::Closing(Clearing::Despawn))));
    node.await_news(first, SceneNews::Cleared).await;
    assert!(node.scenes.get(first).is_none(), "nobody is in it any more");
    node.show(Some((first, SceneStage::Over)));
    node.await_news(first, SceneNews::Forgotten).await;
    assert!(node.scenes.get_even_if_over(first).is_none(), "its actor has ended");
    node.show(None);

    node.show(Some((second, SceneStage::Opening)));
    node.await_news(second, SceneNews::Opened).await;
    node.show(Some((second, SceneStage::Open)));
    let scene = node.scene(second);
    let bob = spawn(&scene, "walker").await;
    assert_eq!(handle(&scene, bob).await.as_deref(), Some("40000:0/gen2"), "the old handle names nobody");

    say_late_things_to(&node.post, first, ann);
    let answers = node.answers.taken();
    let refusals = answers.iter().filter(|answer| {
        let refused = |reason: &Refusal| *reason == Refusal::NoScene { scene: first };
        matches!(answer, Message::Control(Control::Refused { reason, .. }) if refused(reason))
    });
    assert_eq!(refusals.count(), 2, "{answers:?}");
    let not_owner = |answer: &&Message| matches!(answer, Message::Control(Control::NotOwner { .. }));
    assert_eq!(answers.iter().filter(not_owner).count(), 1, "{answers:?}");
    let nothing = |answer: &&Message| matches!(answer, Message::Control(Control::Claims { claims, more: false, .. }) if claims.is_empty());
    assert_eq!((answers.iter().filter(nothing).count(), answers.len()), (1, 4), "{answers:?}");
    let SceneCensus { entities, arriving, applied, .. } = ask(&scene, Question::Census).await;
    assert_eq!((entities, arriving, applied), (1, 0, 0), "the later scene has heard nothing of it");
    assert_eq!(handle(&scene, ann).await, None);
}

/// All that somebody may have had on its way to a scene, and to somebody in it.
fn say_late_things_to(post: &Post, scene: SceneId, entity: OnlineId) {
    let (to, from) = (Own::new(me(), scene), asker());
    let (id, label) = (MoveId(Uuid::nil()), Epoch::FIRST.next().next());
    let (type_name, eve) = (TypeName("walker".to_owned()), OnlineId::new(RangeId(1), 77));
    let parts = Parts::new(Part { name: type_name.clone(), version: 1 }, Vec::new()).expect("one part");
    let reserve = Reserve { entity: eve, id, label, parts, bytes: 3 };
    let identity =
        Identity { type_name, type_version: 1, label: None, persist: PersistId(Uuid::nil()), player: PlayerId::NONE };
    let (body, received, sending) = (Vec::new(), Received::default(), Vec::new());
    let image = Image { identity, body, received, sending, base: Epoch::ZERO, parked: None };
    let data = Data {
        entity,
        stream: StreamId { opened_at: from.into(), generation: 1 },
        seq: 1,
        sender: Sender::Tool(me()),
        reply_to: from.into(),
        hops: 0,
        epoch: Epoch::ZERO,
        base: Epoch::ZERO,
        payload: Arc::from([0u8].as_slice()),
    };
    let record = Record::handed_to(to, label, Epoch::ZERO);
    let letters = [
        Message::Control(Control::Reserve(reserve)),
        Message::Prepare(Arc::new(Prepare { entity: eve, id, from, label, image })),
        Message::Data(data),
        Message::Control(Control::RecordIs { entity: eve, record, nonce: Some(Nonce(1)) }),
        Message::Control(Control::AskClaims { range: RangeId(1), term: 0, after: None }),
    ];
    let letter = |message| Envelope { from: from.into(), to: to.into(), message };
    post.send(letters.map(letter).into());
}

async fn handle(scene: &Mailbox<SceneActor>, entity: OnlineId) -> Option<String> {
    ask(scene, |reply| Question::Show { entity, reply }).await.map(|(shown, _)| shown.handle)
}
