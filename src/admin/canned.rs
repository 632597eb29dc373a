//! An oracle for tests: canned answers, and a record of what was asked.

use std::sync::{Arc, Mutex, PoisonError};

use slipgate_proto::admin::{
    Answer, AskReport, CloseReport, ClusterReport, DrainReport, EntityReport, EntityRow, Event, LinkReport, MoveReport,
    NodeReport, PauseReport, Problem, ProblemKind, Question, SceneReport, SendReport,
};

use super::Oracle;

type Script = Arc<dyn Fn(&Question) -> Result<Answer, Problem> + Send + Sync>;

/// Answers by a function and remembers the questions.
#[derive(Clone)]
pub(crate) struct Canned {
    script: Script,
    asked: Arc<Mutex<Vec<Question>>>,
}

impl Canned {
    pub(crate) fn by(script: impl Fn(&Question) -> Result<Answer, Problem> + Send + Sync + 'static) -> Self {
        Self { script: Arc::new(script), asked: Arc::default() }
    }

    /// A cluster of one node with one walker, that says yes to everything.
    pub(crate) fn friendly() -> Self {
        Self::by(|question| Ok(friendly(question)))
    }

    pub(crate) fn asked(&self) -> Vec<Question> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Oracle for Canned {
    async fn ask(&self, question: Question) -> Result<Answer, Problem> {
        let answer = (self.script)(&question);
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).push(question);
        answer
    }
}

fn friendly(question: &Question) -> Answer {
    match question {
        Question::Node | Question::Nodes => Answer::Nodes(cluster()),
        Question::Scenes => Answer::Scenes(vec![scene()]),
        Question::Entities { .. } | Question::Find { .. } | Question::Labelled { .. } => Answer::Entities(vec![row()]),
        Question::Show { .. } => Answer::Entity(entity()),
        Question::Spawn { .. } => Answer::Spawned(vec![row()]),
        Question::Send { messages, .. } => {
            let accepted = u32::try_from(messages.len()).expect("a few");
            Answer::Sent(SendReport { accepted, ..SendReport::default() })
        }
        Question::Ask { message, .. } => Answer::Asked(AskReport {
            entity: row().entity,
            message: message.name.clone(),
            sent: SendReport { accepted: 1, applied: 1, ..SendReport::default() },
            answered: true,
            answer: "7".into(),
            why: None,
        }),
        Question::Migrate { .. } => Answer::Move(moved()),
        Question::Despawn { .. } => Answer::Despawned(row()),
        Question::Unpark { .. } => Answer::Unparked(row()),
        Question::Lost { .. } => Answer::Lost(Vec::new()),
        Question::Moves { .. } => Answer::Moves(vec![moved()]),
        Question::OpenScene { name, .. } => Answer::Opened(SceneReport { scene: name.clone(), made: true, ..scene() }),
        Question::CloseScene { scene, .. } => Answer::Closed(closed(scene)),
        Question::Drain { node, .. } => Answer::Drain(drained(node)),
        Question::Events { after, .. } => {
            let number = after.first().map_or(1, |cursor| cursor.number + 1);
            Answer::Events(vec![event(number)])
        }
    }
}

pub(crate) fn refused() -> Problem {
    Problem {
        kind: ProblemKind::Refused,
        reason: "full".into(),
        text: "keep takes nobody".into(),
        state: Some("ann is still in forest on n1".into()),
        hint: Some("slipgate show ann".into()),
    }
}

pub(crate) fn cluster() -> ClusterReport {
    ClusterReport { cluster: "demo".into(), view: 3, manager: "n1".into(), nodes: vec![node()] }
}

pub(crate) fn node() -> NodeReport {
    NodeReport {
        node: "n1".into(),
        state: "ready".into(),
        id: 1,
        incarnation: 2,
        address: "127.0.0.1:7700".into(),
        admin: "127.0.0.1:7780".into(),
        scenes: 1,
        entities: 1,
        moves: 0,
        moves_ok: 4,
        moves_refused: 1,
        moves_failed: 0,
        applied: 100,
        waiting: 0,
        ranges: 1,
        lease_left_ms: 9000,
        uptime_s: 61,
        version: "0.1.0".into(),
        links: vec![LinkReport {
            peer: "n2".into(),
            state: "up".into(),
            reason: None,
            bytes_out: 10,
            bytes_in: 11,
            waiting: 0,
        }],
        not_ready: Vec::new(),
        drain_percent: None,
        lost: 0,
    }
}

pub(crate) fn scene() -> SceneReport {
    SceneReport {
        id: 1,
        scene: "forest".into(),
        node: "n1".into(),
        state: "open".into(),
        entities: 1,
        capacity: 100,
        arriving: 0,
        leaving: 0,
        generation: 0,
        made: false,
    }
}

pub(crate) fn row() -> EntityRow {
    EntityRow {
        entity: "1.4".into(),
        type_name: "walker".into(),
        label: Some("ann".into()),
        scene: "forest".into(),
        node: "n1".into(),
        state: "active".into(),
        epoch: 7,
    }
}

pub(crate) fn entity() -> EntityReport {
    EntityReport {
        entity: "1.4".into(),
        type_name: "walker".into(),
        label: Some("ann".into()),
        scene: "forest".into(),
        node: "n1".into(),
        state: "active".into(),
        epoch: 7,
        handle: "1:42/gen3".into(),
        persist: "0190".into(),
        home: "n1".into(),
        data: 7,
        senders: 1,
        applied: 5,
        unacknowledged: 0,
        body: r#"{"hp":10}"#.into(),
        reset: 0,
        parked: None,
    }
}

pub(crate) fn moved() -> MoveReport {
    MoveReport {
        id: "9f31".into(),
        entity: "1.4".into(),
        label: Some("ann".into()),
        from: "forest@n1".into(),
        to: "harbor@n2".into(),
        result: "ok".into(),
        reason: None,
        text: None,
        at: Some("harbor@n2".into()),
        epoch: 8,
        cost: slipgate_cluster::moves::Cost { total_us: 6800, pause_us: 1900, held: 3, delivered: 3, bytes: 412 },
        began_ms: 1,
        companions: Vec::new(),
    }
}

pub(crate) fn closed(scene: &str) -> CloseReport {
    let (node, state) = ("n1".into(), CloseReport::CLOSED.into());
    CloseReport { scene: scene.into(), node, state, moved: 3, gone: 1, ..CloseReport::default() }
}

pub(crate) fn drained(node: &str) -> DrainReport {
    DrainReport {
        node: node.into(),
        state: DrainReport::DRAINED.into(),
        step: None,
        entities: 350,
        moved: 350,
        kept: 0,
        kept_first: Vec::new(),
        homes: 2,
        unanswered: 0,
        unanswered_first: Vec::new(),
        took_ms: 2_200,
        pause_us: PauseReport { p50: 1_400, p99: 6_000, max: 6_100 },
    }
}

fn event(number: u64) -> Event {
    Event {
        node: "n1".into(),
        number,
        ts: "2026-01-01T12:00:05.111Z".into(),
        event: "move.ok".into(),
        fields: r#"{"entity":"1.4"}"#.into(),
    }
}
