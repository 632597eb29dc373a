//! Scenes as a whole: which there are, making one, closing one.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::time::Duration;

use slipgate_cluster::manager::{ManagerRequest, SceneRefusal};
use slipgate_cluster::message::{ManagerMessage, Message as Said};
use slipgate_cluster::view::{self, Member, ScenePlacement, SceneStage, View};
use slipgate_cluster::{NodeName, Now, Place, Port, Session};
use slipgate_entity::SceneId;
use slipgate_proto::admin::{Answer, Clearing, CloseReport, Problem, ProblemKind, Question, SceneReport};
use tokio::sync::oneshot;
use tokio::time::timeout;

use super::here::no_scene_here;
use super::resolve::{self, member_of};
use super::{Office, PEER_WAIT};
use crate::scene::{self, AskScene, HowFar, Remaining};
use crate::scenes::keeper::Await;

impl Office {
    /// Every scene of the cluster that is not over, by number.
    pub(super) async fn scenes(self: &Rc<Self>) -> Vec<SceneReport> {
        let view = self.around.post.view();
        let (mut known, mut heard) = (BTreeMap::new(), BTreeSet::new());
        for (member, answer) in self.ask_all(|_| Question::Scenes).await {
            if let Ok(Answer::Scenes(scenes)) = answer {
                heard.insert(member.session.node);
                let by_id = |report: SceneReport| (SceneId::of(report.id, report.generation), report);
                known.extend(scenes.into_iter().map(by_id));
            }
        }
        let is_dead = |node| view.members.get(&node).is_some_and(|member: &Member| view.is_dead(member.session));
        let report = |placement: &ScenePlacement| {
            let absent = match placement.stage {
                _ if is_dead(placement.node) => "dead",
                _ if !heard.contains(&placement.node) => "silent",
                SceneStage::Opening => "opening",
                SceneStage::Closing(_) => "closing",
                SceneStage::Open | SceneStage::Over => "silent",
            };
            let Some(told) = known.remove(&placement.id) else { return nobody_in(placement, absent, &view) };
            match placement.stage {
                SceneStage::Closing(_) => SceneReport { state: "closing".to_owned(), ..told },
                SceneStage::Opening | SceneStage::Open | SceneStage::Over => told,
            }
        };
        view.present_scenes().map(report).collect()
    }

    /// Makes a scene, and waits until it is open.
    pub(super) async fn open_scene(
        self: &Rc<Self>,
        name: &str,
        node: Option<&str>,
        capacity: u32,
        wait: Duration,
    ) -> Result<Answer, Problem> {
        let nothing = |problem| or_state(problem, "nothing was opened");
        let view = self.around.post.view();
        let name = NodeName::of_scene(name).map_err(|error| nothing(no_name(&error)))?;
        let node = match node {
            Some(node) => Some(resolve::node(node, &view).map_err(nothing)?.session.node),
            None => None,
        };
        let until = self.around.clock.now() + wait;
        let me = self.around.post.me();
        let wish = |request| {
            let name = name.clone();
            ManagerRequest::OpenScene { session: me, request, name, node, capacity }
        };
        let scene = self.ask_manager(wish, wait, "opened").await.map_err(nothing)?;
        let mut was_seen = false;
        let told = self.around.post.await_view(|view| match view.scenes.get(&scene) {
            Some(placement) if placement.is_open() => Some(Ok(nobody_in(placement, "open", view))),
            Some(placement) if placement.stage == SceneStage::Opening => {
                was_seen = true;
                None
            }
            None if !was_seen => None,
            // It was there and is not, or somebody else has closed it already.
            Some(_) | None => Some(Err(not_opened(&name))),
        });
        let told = timeout(self.left_until(until), told).await;
        told.unwrap_or_else(|_| Err(not_open_yet(&name, wait))).map(Answer::Opened)
    }

    /// Closes a scene that was made at run time.
    pub(super) async fn close_scene(
        self: &Rc<Self>,
        text: &str,
        clearing: Clearing,
        wait: bool,
        patience: Duration,
    ) -> Result<Answer, Problem> {
        let nothing = |problem| or_state(problem, "nothing was closed");
        let until = self.around.clock.now() + patience;
        let placement = resolve::scene(text, &self.around.post.view()).map_err(nothing)?.clone();
        let (me, scene) = (self.around.post.me(), placement.id);
        let way = match clearing {
            Clearing::Move => view::Clearing::Move,
            Clearing::Despawn => view::Clearing::Despawn,
        };
        let wish = |request| ManagerRequest::CloseScene { session: me, request, scene, clearing: way };
        self.ask_manager(wish, patience, "closed").await.map_err(nothing)?;
        let ends = format!("{} takes nobody in any more, and ends as soon as nobody is left in it", placement.name);
        let view = self.around.post.view();
        let Some(host) = view.host_of(scene) else { return Ok(Answer::Closed(closed(&placement, &view))) };
        let member = member_of(&view, host).map_err(|problem| or_state(problem, &ends))?;
        let left = self.left_until(until);
        let timeout_ms = u64::try_from(left.as_millis()).unwrap_or(u64::MAX);
        let question = Question::CloseScene { scene: scene.to_string(), clearing, wait, timeout_ms };
        let answer = self.ask_node(&member, question, if wait { left + PEER_WAIT } else { PEER_WAIT }).await;
        let answer = answer.map_err(|problem| Problem { state: Some(ends), ..problem })?;
        let Answer::Closed(mut report) = answer else { return Ok(answer) };
        // Where nobody is left, only the manager's word is missing; the name is not free before.
        let patience_left = if wait { self.left_until(until) } else { Duration::ZERO };
        let is_over = report.left == 0 && self.is_over_within(scene, patience_left).await;
        if wait && report.left == 0 && !is_over {
            return Err(not_over_yet(&report.scene, patience));
        }
        if is_over { CloseReport::CLOSED } else { CloseReport::CLOSING }.clone_into(&mut report.state);
        Ok(Answer::Closed(report))
    }

    /// Waits until the view says that a scene is over. One look is taken in any case.
    async fn is_over_within(&self, scene: SceneId, wait: Duration) -> bool {
        let is_over = self.around.post.await_view(|view| {
            let placement = view.scenes.get(&scene);
            placement.is_none_or(|placement| placement.stage == SceneStage::Over).then_some(())
        });
        timeout(wait, is_over).await.is_ok()
    }

    fn left_until(&self, until: Now) -> Duration {
        Duration::from_micros(until.since(self.around.clock.now()))
    }

    /// Tells how the closing of a scene of this node goes; waits for its end, or for the end of an attempt, if wanted.
    pub(super) async fn close_scene_here(&self, text: &str, wait: bool, patience: Duration) -> Result<Answer, Problem> {
        let id: SceneId = text.parse().map_err(|_| no_scene_here(text))?;
        let (reply, ended) = oneshot::channel();
        self.around.keeper.tell(Await { scene: id, reply });
        let in_time = !wait || timeout(patience, ended).await.is_ok();
        let report = self.close_report(id).await;
        if in_time || report.state == CloseReport::CLOSED {
            return Ok(Answer::Closed(report));
        }
        Err(Problem {
            kind: ProblemKind::Timeout,
            reason: "still_closing".to_owned(),
            text: format!(
                "{} is not closed after {} ms: {} have moved, {} are left",
                report.scene,
                patience.as_millis(),
                report.moved,
                report.left
            ),
            state: None,
            hint: Some(format!("slipgate scenes close {} --wait --timeout 60s", report.scene)),
        })
    }

    async fn close_report(&self, scene: SceneId) -> CloseReport {
        let view = self.around.post.view();
        let mut report = CloseReport {
            scene: self.scene_name(scene),
            node: self.around.name.to_string(),
            state: CloseReport::CLOSED.to_owned(),
            ..CloseReport::default()
        };
        let Some(mailbox) = self.around.scenes.get_even_if_over(scene) else { return report };
        let (reply, far) = oneshot::channel();
        mailbox.tell(AskScene(scene::Question::HowFar(reply)));
        let (reply, remaining) = oneshot::channel();
        mailbox.tell(AskScene(scene::Question::Remaining { limit: KEPT_TOLD, reply }));
        let HowFar { progress, is_over, .. } = far.await.unwrap_or_default();
        let Remaining { count, first, .. } = remaining.await.unwrap_or_default();
        (report.moved, report.gone, report.left) = (progress.moved, progress.gone, count);
        let is_closing = view.scenes.get(&scene).is_some_and(|placement| placement.stage != SceneStage::Over);
        if self.around.scenes.get(scene).is_some() && is_closing {
            CloseReport::CLOSING.clone_into(&mut report.state);
            // None has begun yet, or all may still move.
            if is_over && progress.kept > 0 {
                report.kept_first = first;
            }
        }
        report
    }

    /// Whether this is the manager's answer to a request of this life.
    pub(super) fn is_manager_speaking_to(&self, from: Place, session: Session) -> bool {
        session == self.around.post.me() && self.around.post.is_of_node(from, self.around.manager.as_str())
    }

    /// Asks the manager, again and again until it answers: it knows a repeat by its number. `done` is what a scene is
    /// then.
    async fn ask_manager(
        &self,
        request: impl Fn(u64) -> ManagerRequest,
        wait: Duration,
        done: &str,
    ) -> Result<SceneId, Problem> {
        let number = self.nonce().0;
        let (asker, mut answer) = oneshot::channel();
        self.wishes.borrow_mut().insert(number, asker);
        let asking = async {
            loop {
                if let Some(manager) = self.around.post.manager(self.around.manager.as_str()) {
                    let message = Said::Manager(ManagerMessage::Request(request(number)));
                    self.around.post.send_one(Port::Admin, manager, message);
                }
                if let Ok(answered) = timeout(REPEAT_EVERY, &mut answer).await {
                    return answered.ok();
                }
            }
        };
        let answered = timeout(wait, asking).await;
        self.wishes.borrow_mut().remove(&number);
        match answered {
            Ok(Some(Ok(scene))) => Ok(scene),
            Ok(Some(Err(refusal))) => Err(refused(&refusal)),
            Ok(None) | Err(_) => Err(Problem {
                kind: ProblemKind::Timeout,
                reason: "manager_silent".to_owned(),
                text: format!(
                    "the manager on node {} did not answer within {} ms",
                    self.around.manager,
                    wait.as_millis()
                ),
                state: Some(format!("whether it is {done} is not known: the manager may still take the request up")),
                hint: Some("look before you ask again: slipgate scenes      slipgate nodes".to_owned()),
            }),
        }
    }
}

/// The same, with what state is left where nobody knows better.
fn or_state(problem: Problem, state: &str) -> Problem {
    Problem { state: problem.state.or_else(|| Some(state.to_owned())), ..problem }
}

/// A scene in which nobody is, or nobody who is known.
fn nobody_in(placement: &ScenePlacement, state: &str, view: &View) -> SceneReport {
    SceneReport {
        id: placement.id.number(),
        scene: placement.name.to_string(),
        node: view.node_text(placement.node),
        state: state.to_owned(),
        entities: 0,
        capacity: placement.capacity,
        arriving: 0,
        leaving: 0,
        generation: placement.id.generation(),
        made: placement.made.is_some(),
    }
}

fn closed(placement: &ScenePlacement, view: &View) -> CloseReport {
    let (scene, node) = (placement.name.to_string(), view.node_text(placement.node));
    CloseReport { scene, node, state: CloseReport::CLOSED.to_owned(), ..CloseReport::default() }
}

fn no_name(error: &slipgate_cluster::node::SceneNameError) -> Problem {
    Problem {
        kind: ProblemKind::Usage,
        reason: "not_a_name".to_owned(),
        text: error.to_string(),
        state: None,
        hint: Some("slipgate scenes create --help".to_owned()),
    }
}

fn not_opened(name: &NodeName) -> Problem {
    Problem {
        kind: ProblemKind::Refused,
        reason: "not_opened".to_owned(),
        text: format!("scene {name} was not opened: its node could not, or has stopped, or somebody closed it at once"),
        state: Some("there is no such scene".to_owned()),
        hint: Some("slipgate nodes      slipgate scenes".to_owned()),
    }
}

fn not_open_yet(name: &NodeName, wait: Duration) -> Problem {
    Problem {
        kind: ProblemKind::Timeout,
        reason: "opening".to_owned(),
        text: format!("scene {name} is not open after {} ms: its node has not said so yet", wait.as_millis()),
        state: Some("it opens as soon as its node hears of it".to_owned()),
        hint: Some(format!("slipgate scenes      slipgate scenes close {name}")),
    }
}

fn not_over_yet(scene: &str, wait: Duration) -> Problem {
    Problem {
        kind: ProblemKind::Timeout,
        reason: "still_closing".to_owned(),
        text: format!(
            "nobody is left in {scene}, but the manager has not said within {} ms that it is over",
            wait.as_millis()
        ),
        state: Some("it takes nobody in, and its name is free as soon as the manager says so".to_owned()),
        hint: Some("slipgate scenes      slipgate nodes".to_owned()),
    }
}

/// What only the manager can decide is not asked of a desk on behalf of another.
pub(super) fn only_the_manager() -> Problem {
    Problem {
        kind: ProblemKind::Usage,
        reason: "not_here".to_owned(),
        text: "scenes are opened by the manager alone".to_owned(),
        state: Some("nothing was opened".to_owned()),
        hint: None,
    }
}

fn refused(refusal: &SceneRefusal) -> Problem {
    let (kind, reason, hint) = match refusal {
        SceneRefusal::NameTaken { .. } => (ProblemKind::Refused, "name_taken", "slipgate scenes"),
        SceneRefusal::NodeGone { .. } => (ProblemKind::Refused, "node_gone", "slipgate nodes"),
        SceneRefusal::NodeDrains { .. } => (ProblemKind::Refused, "draining", "slipgate nodes"),
        SceneRefusal::NoNode => (ProblemKind::Refused, "no_node", "slipgate nodes"),
        SceneRefusal::TooMany { .. } => (ProblemKind::Refused, "too_many_scenes", "slipgate scenes close ..."),
        SceneRefusal::NoCapacity => (ProblemKind::Usage, "no_capacity", "slipgate scenes create --help"),
        SceneRefusal::NoScene { .. } => (ProblemKind::NotFound, "unknown_scene", "slipgate scenes"),
        SceneRefusal::Declared { .. } => {
            (ProblemKind::Refused, "declared", "take it out of [[scenes]] on all nodes, and restart that node")
        }
    };
    Problem { kind, reason: reason.to_owned(), text: refusal.to_string(), state: None, hint: Some(hint.to_owned()) }
}

/// Between repeats of a request: above a round trip and a write to disk.
const REPEAT_EVERY: Duration = Duration::from_millis(250);
/// Entities named one by one that could not move.
const KEPT_TOLD: usize = 100;
