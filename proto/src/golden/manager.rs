//! What nodes and the manager say to each other.

use std::sync::Arc;

use slipgate_cluster::manager::{
    Counter, JoinRefusal, JoinReply, JoinRequest, ManagerReply, ManagerRequest, SceneDeclaration,
};
use slipgate_cluster::message::ManagerMessage;
use slipgate_cluster::view::{Home, Member, ScenePlacement};
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
    let scene = ScenePlacement { id: SceneId(7), name: sample::name("forest"), node: NodeId(1), capacity: 100 };
    let home = Home { range: RangeId(3), session: sample::n1(), term: 2, before: Some(Session::new(3, 1)) };
    View {
        version: 5,
        members: [(NodeId(1), member)].into(),
        scenes: [(SceneId(7), scene)].into(),
        homes: [(RangeId(3), home)].into(),
        dead: [(NodeId(2), Incarnation(1))].into(),
        draining: [(NodeId(1), Incarnation(1))].into(),
    }
}

pub(super) fn join_request() -> JoinRequest {
    JoinRequest {
        name: sample::name("n2"),
        address: "n2:7700".to_owned(),
        admin: "n2:7780".to_owned(),
        scenes: vec![SceneDeclaration { id: SceneId(8), name: sample::name("harbor"), capacity: 100 }],
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
    ];
    let vectors = requests.map(|(name, request)| vector(name, &request));
    check("request", &vectors);
    check_variants::<ManagerRequest>(&vectors);
    assert_eq!(super::variants::<Counter>(), 1);
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
    ];
    check("reply", &vectors);
    check_variants::<ManagerReply>(&vectors);
    assert_eq!(super::variants::<ManagerMessage>(), 2);
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
    ];
    check_variants::<JoinRefusal>(&refusals);
    let refused = JoinReply::Refused(JoinRefusal::NotManager { manager: sample::name("n1") });
    let replies = [vector("join.welcome", &welcome()), vector("join.refused", &refused)];
    check_variants::<JoinReply>(&replies);
    let request = [vector("join.request", &join_request())];
    let all: Vec<Vector> = request.into_iter().chain(replies).chain(refusals).collect();
    check("join", &all);
}
