//! What nodes and the manager say to each other.

use std::sync::Arc;

use slipgate_cluster::manager::{
    Counter, JoinRefusal, JoinReply, JoinRequest, ManagerReply, ManagerRequest, SceneDeclaration, SceneNews,
    SceneRefusal,
};
use slipgate_cluster::message::ManagerMessage;
use slipgate_cluster::view::{Clearing, Home, Made, Member, ScenePlacement, SceneStage};
use slipgate_cluster::{Incarnation, NodeId, Now, Session, View};
use slipgate_entity::{RangeId, SceneId};

use super::{Vector, check, check_variants, sample, vector};

pub(super) fn view() -> View {
    let member = Member {
        session: sample::n1(),
        name: sample::name("n1"),
        address: "n1:7700".to_owned(),
        admin: "n1:7780".to_owned(),
    };
    let forest = ScenePlacement::declared(SceneId(7), sample::name("forest"), NodeId(1), 100);
    let made = Some(Made { by: sample::n2(), request: 3 });
    let stage = SceneStage::Closing(Clearing::Move);
    let dungeon = ScenePlacement { id: dungeon(), name: sample::name("dungeon"), stage, made, ..forest.clone() };
    let home = Home { range: RangeId(3), session: sample::n1(), term: 2, before: Some(Session::new(3, 1)) };
    View {
        version: 5,
        members: [(NodeId(1), member)].into(),
        scenes: [(forest.id, forest), (dungeon.id, dungeon)].into(),
        homes: [(RangeId(3), home)].into(),
        dead: [(NodeId(2), Incarnation(1))].into(),
        draining: [(NodeId(1), Incarnation(1))].into(),
    }
}

/// A scene made at run time.
fn dungeon() -> SceneId {
    SceneId::of(32_768, 2)
}

pub(super) fn join_request() -> JoinRequest {
    JoinRequest {
        name: sample::name("n2"),
        address: "n2:7700".to_owned(),
        admin: "n2:7780".to_owned(),
        scenes: vec![SceneDeclaration { id: SceneId(8), name: sample::name("harbor"), capacity: 100 }],
        seen: Some(RangeId(3)),
    }
}

pub(super) fn welcome() -> JoinReply {
    JoinReply::Welcome { session: sample::n2(), view: Arc::new(view()), lease_ms: 10_000 }
}

#[test]
fn every_request_to_the_manager_has_its_bytes() {
    let session = sample::n2();
    let requests = [
        ("request.renew", ManagerRequest::Renew { session, sent: Now(2_000_000), version: 5 }),
        ("request.range", ManagerRequest::Range { session, request: 1, counter: Counter::Online }),
        ("request.drain", ManagerRequest::Drain { session }),
        ("request.resume", ManagerRequest::Resume { session }),
        ("request.retire", ManagerRequest::Retire { session }),
        (
            "request.open_scene",
            ManagerRequest::OpenScene {
                session,
                request: 3,
                name: sample::name("dungeon"),
                node: Some(NodeId(1)),
                capacity: 100,
            },
        ),
        (
            "request.close_scene",
            ManagerRequest::CloseScene { session, request: 4, scene: dungeon(), clearing: Clearing::Move },
        ),
        ("request.scene_is", ManagerRequest::SceneIs { session, scene: dungeon(), news: SceneNews::Opened }),
    ];
    let vectors = requests.map(|(name, request)| vector(name, &request));
    check_variants::<ManagerRequest>(&vectors);
    let stages = [
        vector("request.scene_opening", &SceneStage::Opening),
        vector("request.scene_open", &SceneStage::Open),
        vector("request.scene_closing", &SceneStage::Closing(Clearing::Despawn)),
        vector("request.scene_over", &SceneStage::Over),
    ];
    check_variants::<SceneStage>(&stages);
    check("request", &vectors.into_iter().chain(stages).collect::<Vec<_>>());
    assert_eq!((super::variants::<Counter>(), super::variants::<Clearing>()), (1, 2));
    assert_eq!(super::variants::<SceneNews>(), 4);
}

#[test]
fn every_reply_of_the_manager_has_its_bytes() {
    let session = sample::n2();
    let (counter, range) = (Counter::Online, RangeId(4));
    let vectors = [
        vector("reply.renewed", &ManagerReply::Renewed { session, sent: Now(2_000_000) }),
        vector("reply.range", &ManagerReply::Range { session, request: 1, counter, range }),
        vector("reply.not_member", &ManagerReply::NotMember { session }),
        vector("reply.view", &ManagerReply::View(Arc::new(view()))),
        vector("reply.scene", &ManagerReply::Scene { session, request: 3, result: Ok(dungeon()) }),
    ];
    check("reply", &vectors);
    check_variants::<ManagerReply>(&vectors);
    assert_eq!(super::variants::<ManagerMessage>(), 2);
}

#[test]
fn every_reason_not_to_make_or_close_a_scene_has_its_bytes() {
    let (name, node) = (sample::name("dungeon"), sample::name("n1"));
    let vectors = [
        vector("scene.name_taken", &SceneRefusal::NameTaken { name: name.clone(), node: node.clone() }),
        vector("scene.node_gone", &SceneRefusal::NodeGone { node: "n1".to_owned() }),
        vector("scene.node_drains", &SceneRefusal::NodeDrains { node: node.clone() }),
        vector("scene.no_node", &SceneRefusal::NoNode),
        vector("scene.too_many", &SceneRefusal::TooMany { scenes: 8_192 }),
        vector("scene.no_capacity", &SceneRefusal::NoCapacity),
        vector("scene.no_scene", &SceneRefusal::NoScene { scene: dungeon() }),
        vector("scene.declared", &SceneRefusal::Declared { name, node }),
    ];
    check_variants::<SceneRefusal>(&vectors);
    check("scene", &vectors);
}

#[test]
fn a_join_and_every_reason_to_refuse_one_have_their_bytes() {
    let (name, node, scene) = (sample::name("n2"), sample::name("n1"), SceneId(7));
    let refusals = [
        vector("join.name_taken", &JoinRefusal::NameTaken { name: name.clone(), address: "n2:7700".to_owned() }),
        vector("join.scene_taken", &JoinRefusal::SceneTaken { scene, node: node.clone() }),
        vector("join.scene_name_taken", &JoinRefusal::SceneNameTaken { name: sample::name("forest"), scene }),
        vector("join.not_manager", &JoinRefusal::NotManager { manager: node }),
        vector("join.busy", &JoinRefusal::Busy { name: name.clone(), waiting: 8 }),
        vector("join.exhausted", &JoinRefusal::Exhausted { name }),
        vector("join.scene_reserved", &JoinRefusal::SceneReserved { scene: SceneId(32_768) }),
        vector("join.store_is_old", &JoinRefusal::StoreIsOld { seen: RangeId(7), next: RangeId(1) }),
    ];
    check_variants::<JoinRefusal>(&refusals);
    let refused = JoinReply::Refused(JoinRefusal::NotManager { manager: sample::name("n1") });
    let replies = [vector("join.welcome", &welcome()), vector("join.refused", &refused)];
    check_variants::<JoinReply>(&replies);
    let request = [vector("join.request", &join_request())];
    let all: Vec<Vector> = request.into_iter().chain(replies).chain(refusals).collect();
    check("join", &all);
}
