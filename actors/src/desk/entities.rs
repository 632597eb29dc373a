//! Questions that one question to one node does not answer: they are asked around, or followed after an entity.

use std::collections::VecDeque;
use std::rc::Rc;
use std::time::Duration;

use slipgate_cluster::Own;
use slipgate_cluster::view::{Member, SceneStage, View};
use slipgate_entity::SceneId;
use slipgate_proto::admin::{
    Answer, ClusterReport, Cursor, EntityRow, Event, LostRow, MoveReport, NodeReport, PartialList, Problem,
    ProblemKind, Question, Rows,
};

use super::resolve::{self, Named, member_of};
use super::spawning::check_spawn;
use super::{Office, PEER_WAIT};
use crate::labels::Labels;

impl Office {
    /// Answers for the whole cluster.
    pub(super) async fn answer(self: &Rc<Self>, question: Question) -> Result<Answer, Problem> {
        let view = self.around.post.view();
        match question {
            Question::Node => self.answer_here(Question::Node).await,
            Question::Nodes => Ok(Answer::Nodes(self.nodes().await)),
            Question::Scenes => Ok(Answer::Scenes(self.scenes().await)),
            Question::Entities { scene: Some(text), type_name, limit } => {
                let placement = resolve::scene(&text, &view)?;
                let member = member_of(&view, self.host_of(placement.id)?)?;
                let question = Question::Entities { scene: Some(placement.id.to_string()), type_name, limit };
                self.ask_node(&member, question, PEER_WAIT).await
            }
            Question::Entities { scene: None, type_name, limit } => {
                self.check_type(type_name.as_deref())?;
                let entities = |_: &Member| Question::Entities { scene: None, type_name: type_name.clone(), limit };
                let gathered = self.gather(entities, entities_in).await;
                Ok(gathered.first(limit).into_answer(Answer::Entities, Rows::Entities))
            }
            Question::Lost { limit } => {
                let gathered = self.gather(|_| Question::Lost { limit }, lost_in).await;
                Ok(gathered.first(limit).into_answer(Answer::Lost, Rows::Lost))
            }
            Question::Find { text, limit } => {
                let gathered = self.gather(|_| Question::Find { text: text.clone(), limit }, entities_in).await;
                Ok(gathered.first(limit).into_answer(Answer::Entities, Rows::Entities))
            }
            Question::Labelled { label, count, limit } => {
                let labelled = |_: &Member| Question::Labelled { label: label.clone(), count, limit };
                let gathered = self.gather(labelled, entities_in).await;
                Ok(gathered.first(limit).into_answer(Answer::Entities, Rows::Entities))
            }
            Question::Show { entity } => self.show_anywhere(&entity).await,
            Question::Spawn { type_name, scene, label, count, data, persist, player } => {
                let nothing = |problem| Problem { state: Some("nothing was spawned".to_owned()), ..problem };
                let placement = resolve::scene(&scene, &view).map_err(nothing)?;
                let own = self.own_of(placement.id).map_err(nothing)?;
                let member = member_of(&view, own).map_err(nothing)?;
                check_spawn(label.as_deref(), count, persist)?;
                if let Some(label) = label.clone() {
                    self.check_labels(&Labels { label, count }).await?;
                }
                let scene = placement.id.to_string();
                let question = Question::Spawn { type_name, scene, label, count, data, persist, player };
                self.ask_node(&member, question, SPAWN).await
            }
            Question::Send { via, messages, wait, timeout_ms } => self.send(via, messages, wait, timeout_ms).await,
            Question::Ask { via, message, raw, timeout_ms } => self.ask(via, message, raw, timeout_ms).await,
            Question::Migrate { entity, to, timeout_ms } => self.migrate(&entity, &to, timeout_ms).await,
            Question::Despawn { entity, timeout_ms } => {
                let named = self.resolve(&entity).await?;
                let wait = Duration::from_millis(timeout_ms);
                self.follow(&named, wait, |entity, timeout_ms| Question::Despawn { entity, timeout_ms }).await
            }
            Question::Unpark { entity, timeout_ms } => {
                let named = self.resolve(&entity).await?;
                let wait = Duration::from_millis(timeout_ms);
                self.follow(&named, wait, |entity, timeout_ms| Question::Unpark { entity, timeout_ms }).await
            }
            Question::OpenScene { name, node, capacity, timeout_ms } => {
                self.open_scene(&name, node.as_deref(), capacity, Duration::from_millis(timeout_ms)).await
            }
            Question::CloseScene { scene, clearing, wait, timeout_ms } => {
                self.close_scene(&scene, clearing, wait, Duration::from_millis(timeout_ms)).await
            }
            Question::Drain { node, order } => self.drain(&node, order).await,
            Question::Moves { limit } => {
                let mut gathered = self.gather(|_| Question::Moves { limit }, moves_in).await;
                gathered.rows.sort_by_key(|report| std::cmp::Reverse(report.began_ms));
                Ok(gathered.first(limit).into_answer(Answer::Moves, Rows::Moves))
            }
            Question::Events { after, limit } => Ok(Answer::Events(self.events(&after, limit).await)),
        }
    }

    /// Looking needs no home: where that does not answer, whoever has the entity shows it.
    async fn show_anywhere(self: &Rc<Self>, entity: &str) -> Result<Answer, Problem> {
        let named = self.resolve(entity).await?;
        match self.follow(&named, FOLLOW, |entity, _| Question::Show { entity }).await {
            Err(problem) if problem.reason == HOME_UNREACHABLE => {
                let Some((member, row)) = self.find(named.entity).await else { return Err(problem) };
                self.ask_node(&member, Question::Show { entity: row.entity }, PEER_WAIT).await
            }
            done => done,
        }
    }

    /// Where an entity is, for people who cannot have what they want with it.
    async fn still_in(self: &Rc<Self>, named: &Named) -> String {
        match self.find(named.entity).await {
            Some((_, row)) => format!("{named} is still in {}@{} and takes messages", row.scene, row.node),
            None => format!("{named} was not found in any scene"),
        }
    }

    async fn migrate(self: &Rc<Self>, entity: &str, to: &str, timeout_ms: u64) -> Result<Answer, Problem> {
        let named = self.resolve(entity).await?;
        let view = self.around.post.view();
        let target = match resolve::target(to, &view) {
            Ok(target) => target,
            Err(problem) => return Err(Problem { state: Some(self.still_in(&named).await), ..problem }),
        };
        if let Err(problem) = self.own_of(target) {
            return Err(Problem { state: Some(self.still_in(&named).await), ..problem });
        }
        let to = target.to_string();
        let wait = Duration::from_millis(timeout_ms);
        self.follow(&named, wait, |entity, timeout_ms| Question::Migrate { entity, to: to.clone(), timeout_ms }).await
    }

    /// Asks the entity's owner; if it has moved on meanwhile, the next one, within the time given.
    async fn follow(
        self: &Rc<Self>,
        named: &Named,
        wait: Duration,
        question: impl Fn(String, u64) -> Question,
    ) -> Result<Answer, Problem> {
        let until = self.around.clock.now() + wait;
        let entity = named.entity;
        loop {
            let own = match self.locate(entity).await {
                Ok(own) => own,
                Err(problem) if problem.reason == HOME_UNREACHABLE => {
                    return Err(Problem { state: Some(self.still_in(named).await), ..problem });
                }
                Err(problem) => return Err(problem),
            };
            let member = member_of(&self.around.post.view(), own)?;
            let left = until.0.saturating_sub(self.around.clock.now().0) / 1000;
            // The owner's own wait ends first, so that it says what it knows.
            let answer = self
                .ask_node(&member, question(entity.to_string(), left), Duration::from_millis(left) + PEER_WAIT)
                .await;
            match answer {
                Err(problem) if problem.reason == NOT_HERE && self.around.clock.now() < until => {
                    tokio::time::sleep(BETWEEN_LOOKS).await;
                }
                Err(problem) if problem.reason == NOT_HERE => return Err(on_the_move(named, own, self)),
                done => return done,
            }
        }
    }

    /// The scene in the life of its node that has it now.
    pub(super) fn host_of(&self, scene: SceneId) -> Result<Own, Problem> {
        let view = self.around.post.view();
        let node = view.scenes.get(&scene).map_or_else(|| "?".to_owned(), |known| view.node_text(known.node));
        view.host_of(scene).ok_or_else(|| Problem {
            kind: ProblemKind::Refused,
            reason: "node_gone".to_owned(),
            text: format!("scene {} is on node {node}, which has stopped or died", self.scene_name(scene)),
            state: None,
            hint: Some("slipgate nodes".to_owned()),
        })
    }

    /// The same, if somebody may be sent there.
    fn own_of(&self, scene: SceneId) -> Result<Own, Problem> {
        let own = self.host_of(scene)?;
        let view = self.around.post.view();
        let (reason, text) = match view.scenes.get(&scene).map(|known| known.stage) {
            Some(SceneStage::Opening) => ("opening", "is not open yet"),
            Some(SceneStage::Closing(_)) => ("closing", "is closing and takes nobody in"),
            Some(SceneStage::Over) => ("closed", "is closed"),
            Some(SceneStage::Open) | None => return Ok(own),
        };
        Err(Problem {
            kind: ProblemKind::Refused,
            reason: reason.to_owned(),
            text: format!("scene {} {text}", view.own_text(own)),
            state: None,
            hint: Some("slipgate scenes".to_owned()),
        })
    }

    async fn nodes(self: &Rc<Self>) -> ClusterReport {
        let mut nodes = Vec::new();
        for (member, answer) in self.ask_all(|_| Question::Nodes).await {
            match answer {
                Ok(Answer::Nodes(report)) => nodes.extend(report.nodes),
                Ok(_) | Err(_) => nodes.push(silent_node(&member, &self.around.post.view())),
            }
        }
        nodes.sort_by(|a, b| a.node.cmp(&b.node));
        ClusterReport { nodes, ..self.cluster_report() }
    }

    /// What every node has to say. Of one that is dead nothing is missing: there is nothing any more.
    pub(super) async fn gather<T>(
        self: &Rc<Self>,
        question: impl Fn(&Member) -> Question,
        rows_in: impl Fn(Answer) -> Option<Vec<T>>,
    ) -> Gathered<T> {
        let mut gathered = Gathered { rows: Vec::new(), silent: Vec::new() };
        for (member, answer) in self.ask_all(question).await {
            match answer.ok().and_then(&rows_in) {
                Some(rows) => gathered.rows.extend(rows),
                None if self.around.post.view().is_dead(member.session) => {}
                None => gathered.silent.push(member.name.to_string()),
            }
        }
        gathered
    }

    async fn events(self: &Rc<Self>, after: &[Cursor], limit: u32) -> Vec<Event> {
        let question = |member: &Member| {
            let own = after.iter().filter(|cursor| cursor.node == member.name.as_str()).cloned().collect();
            Question::Events { after: own, limit }
        };
        let mut told = Vec::new();
        for (_, answer) in self.ask_all(question).await {
            if let Ok(Answer::Events(some)) = answer {
                told.push(VecDeque::from(some));
            }
        }
        merge(told)
    }
}

/// Rows of all who answered, and the names of those who did not.
pub(super) struct Gathered<T> {
    pub(super) rows: Vec<T>,
    pub(super) silent: Vec<String>,
}

impl<T> Gathered<T> {
    fn first(mut self, limit: u32) -> Self {
        self.rows.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
        self
    }

    fn into_answer(self, whole: fn(Vec<T>) -> Answer, partial: fn(Vec<T>) -> Rows) -> Answer {
        let Self { rows, silent } = self;
        if silent.is_empty() { whole(rows) } else { Answer::Partial(PartialList { rows: partial(rows), silent }) }
    }
}

pub(super) fn entities_in(answer: Answer) -> Option<Vec<EntityRow>> {
    if let Answer::Entities(rows) = answer { Some(rows) } else { None }
}

pub(super) fn lost_in(answer: Answer) -> Option<Vec<LostRow>> {
    if let Answer::Lost(rows) = answer { Some(rows) } else { None }
}

fn moves_in(answer: Answer) -> Option<Vec<MoveReport>> {
    if let Answer::Moves(rows) = answer { Some(rows) } else { None }
}

/// Lays the nodes' events into one order, by their clocks; those of one node stay as they are.
fn merge(mut told: Vec<VecDeque<Event>>) -> Vec<Event> {
    let mut events = Vec::with_capacity(told.iter().map(VecDeque::len).sum());
    loop {
        let heads = told.iter_mut().filter(|events| !events.is_empty());
        let Some(earliest) =
            heads.min_by(|a, b| a.front().map(|event| &event.ts).cmp(&b.front().map(|event| &event.ts)))
        else {
            return events;
        };
        events.extend(earliest.pop_front());
    }
}

fn silent_node(member: &Member, view: &View) -> NodeReport {
    let (state, reason) = if view.is_dead(member.session) {
        ("dead", "that life of it is over: it stopped, or did not renew its lease")
    } else {
        ("silent", "it does not answer")
    };
    NodeReport {
        node: member.name.to_string(),
        state: state.to_owned(),
        id: member.session.node.0,
        incarnation: member.session.incarnation.0,
        address: member.address.clone(),
        admin: member.admin.clone(),
        scenes: 0,
        entities: 0,
        moves: 0,
        moves_ok: 0,
        moves_refused: 0,
        moves_failed: 0,
        applied: 0,
        waiting: 0,
        ranges: 0,
        lease_left_ms: 0,
        uptime_s: 0,
        version: String::new(),
        links: Vec::new(),
        not_ready: vec![reason.to_owned()],
        drain_percent: None,
        lost: 0,
    }
}

fn on_the_move(named: &Named, own: Own, office: &Office) -> Problem {
    Problem {
        kind: ProblemKind::Timeout,
        reason: "on_the_move".to_owned(),
        text: format!("{named} was on the move for all of the time given"),
        state: Some(format!("its home names {}", office.around.post.view().own_text(own))),
        hint: Some("try again, or allow more time: --timeout 30s".to_owned()),
    }
}

/// The reason of a problem that means: ask the home again.
pub(super) const NOT_HERE: &str = "not_here";

/// The reason of a problem that means: the home does not answer.
const HOME_UNREACHABLE: &str = "home_unreachable";
/// How long a look at an entity may follow it.
const FOLLOW: Duration = Duration::from_secs(3);
/// How long ten thousand spawns may take.
const SPAWN: Duration = Duration::from_secs(10);
/// Between two looks at the home of an entity on the move: nobody tells a desk that one has arrived.
const BETWEEN_LOOKS: Duration = Duration::from_millis(5);
