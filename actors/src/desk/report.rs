//! How this node is, and its things, in the words of the admin interface.

use futures_util::future::join_all;
use slipgate_entity::SceneId;
use slipgate_proto::admin::{ClusterReport, LinkReport, NodeReport, SceneReport};
use tokio::sync::oneshot;

use super::here::PAUSED;
use super::{Office, Stage};
use crate::chronicle::Tally;
use crate::directory::Census;
use crate::member::AskStanding;
use crate::router;
use crate::scene::{AskScene, Question, SceneCensus};

impl Office {
    /// The cluster without its nodes.
    pub(super) fn cluster_report(&self) -> ClusterReport {
        ClusterReport {
            cluster: self.around.cluster.clone(),
            view: self.around.post.view().version,
            manager: self.around.manager.to_string(),
            nodes: Vec::new(),
        }
    }

    /// The cluster with this node alone.
    pub(super) async fn report(&self) -> ClusterReport {
        ClusterReport { nodes: vec![self.node_report().await], ..self.cluster_report() }
    }

    async fn node_report(&self) -> NodeReport {
        let around = &self.around;
        let censuses = self.censuses().await;
        let (reply, holdings) = oneshot::channel();
        around.directory.tell(Census { reply });
        let (reply, tally) = oneshot::channel();
        around.chronicle.tell(Tally { reply });
        let waiting = router::backlog(&around.routers).await;
        let (holdings, counts) = (holdings.await.unwrap_or_default(), tally.await.unwrap_or_default());
        let standing = around.member.addr().send(AskStanding).await.ok();
        let lease_left = standing.as_ref().map(|standing| standing.lease_left).unwrap_or_default();
        let links = join_all(standing.map(|standing| standing.links).unwrap_or_default()).await;
        let links: Vec<LinkReport> = links.into_iter().filter_map(Result::ok).collect();
        let view = around.post.view();
        let own = view.member_named(around.name.as_str());
        let sum = |part: fn(&SceneCensus) -> u64| censuses.iter().map(|(_, census)| part(census)).sum();
        let not_ready = self.not_ready(holdings.ids_left);
        NodeReport {
            node: around.name.to_string(),
            state: self.state_word(&not_ready).to_owned(),
            id: around.post.me().node.0,
            incarnation: around.post.me().incarnation.0,
            address: own.map(|own| own.address.clone()).unwrap_or_default(),
            admin: own.map(|own| own.admin.clone()).unwrap_or_default(),
            scenes: u32::try_from(censuses.len()).unwrap_or(u32::MAX),
            entities: sum(|census| census.entities),
            moves: sum(|census| census.leaving),
            moves_ok: counts.ok,
            moves_refused: counts.refused,
            moves_failed: counts.failed,
            applied: sum(|census| census.applied),
            waiting,
            ranges: holdings.ranges,
            lease_left_ms: u64::try_from(lease_left.as_millis()).unwrap_or(u64::MAX),
            uptime_s: around.clock.now().0 / 1_000_000,
            version: around.version.to_owned(),
            links,
            not_ready,
            drain_percent: (self.stage() == Stage::Draining).then(|| around.drain.now().percent()),
            lost: holdings.lost,
        }
    }

    fn stage(&self) -> Stage {
        *self.around.stage.borrow()
    }

    fn not_ready(&self, ids_left: u64) -> Vec<String> {
        let mut reasons = Vec::new();
        match self.stage() {
            Stage::Starting => reasons.push("its scenes are not open yet".to_owned()),
            Stage::Working => {}
            Stage::Draining => reasons.push(self.how_it_drains()),
            Stage::Stopping => reasons.push("it is stopping".to_owned()),
        }
        if !self.around.post.lease().is_held() {
            reasons.push(format!("it is paused: {PAUSED}"));
        }
        if ids_left == 0 && !self.around.scenes.present().is_empty() {
            reasons.push("it has no range of ids yet; the manager gives them".to_owned());
        }
        reasons
    }

    fn state_word(&self, not_ready: &[String]) -> &'static str {
        match self.stage() {
            Stage::Draining => "draining",
            Stage::Stopping => "stopping",
            Stage::Working if !self.around.post.lease().is_held() => "paused",
            Stage::Working if not_ready.is_empty() => "ready",
            Stage::Starting | Stage::Working => "starting",
        }
    }

    async fn censuses(&self) -> Vec<(SceneId, SceneCensus)> {
        let asking = self.around.scenes.present().into_iter().map(|(id, scene)| {
            let (reply, census) = oneshot::channel();
            scene.tell(AskScene(Question::Census(reply)));
            async move { census.await.ok().map(|census| (id, census)) }
        });
        join_all(asking).await.into_iter().flatten().collect()
    }

    pub(super) async fn scene_reports(&self) -> Vec<SceneReport> {
        let view = self.around.post.view();
        let censuses = self.censuses().await;
        let report = |(id, census): (SceneId, SceneCensus)| SceneReport {
            id: id.number(),
            scene: self.scene_name(id),
            node: self.around.name.to_string(),
            state: if census.draining { "draining" } else { "open" }.to_owned(),
            entities: census.entities,
            capacity: view.scenes.get(&id).map_or(0, |known| known.capacity),
            arriving: census.arriving,
            leaving: census.leaving,
            generation: id.generation(),
            made: view.scenes.get(&id).is_some_and(|known| known.made.is_some()),
        };
        censuses.into_iter().map(report).collect()
    }

    pub(super) fn scene_name(&self, scene: SceneId) -> String {
        self.around.post.view().scene_text(scene)
    }
}
