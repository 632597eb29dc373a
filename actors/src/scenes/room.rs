//! How much room the open scenes of the cluster have: asks every node through this one's desk.
//!
//! Leaves out: which of them are targets (`slipgate_cluster::evacuation::targets`).

use std::collections::BTreeMap;

use slipgate_cluster::evacuation::{Offer, Target, targets};
use slipgate_cluster::{Session, View};
use slipgate_entity::SceneId;
use slipgate_proto::admin::{Answer, Question, SceneReport};

use crate::desk::Desk;
use crate::post::Post;

/// The scenes that may take those who leave, on any node but `left`; without room where nobody has told it.
pub async fn find_targets(post: Post, desk: Option<Desk>, left: Option<Session>) -> Vec<Target> {
    let is_out = |session: Session| left == Some(session) || post.is_gone(session);
    let find = |offers: &BTreeMap<SceneId, Offer>| targets(&post.view(), offers, is_out);
    let blank = find(&BTreeMap::new());
    let Some(desk) = desk.filter(|_| !blank.is_empty()) else { return blank };
    match desk.ask(Question::Scenes).await {
        Ok(Answer::Scenes(reports)) => find(&offers(&post.view(), &reports)),
        // The targets themselves say when they are full.
        Ok(_) | Err(_) => blank,
    }
}

fn offers(view: &View, reports: &[SceneReport]) -> BTreeMap<SceneId, Offer> {
    let offer = |report: &SceneReport| {
        let taken = u32::try_from(report.entities + report.arriving).unwrap_or(u32::MAX);
        let offer = Offer { is_open: report.state == "open", room: report.capacity.saturating_sub(taken) };
        Some((view.scene_named(&report.scene)?.id, offer))
    };
    reports.iter().filter_map(offer).collect()
}
