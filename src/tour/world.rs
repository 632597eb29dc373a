//! A cluster in memory for tests of tours: it does everything at once, and one thing wrong if told to.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Map, Value, json};
use slipgate_proto::admin::{
    Answer, ClusterReport, EntityReport, EntityRow, LostRow, MoveReport, NodeReport, Outgoing, Problem, ProblemKind,
    Question, SceneReport, SendReport,
};
use slipgate_walker::{Entry, Ledger};

use crate::admin::canned::{self, Canned};

/// What goes wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// Nothing.
    None,
    /// The 100th note is accepted and forgotten.
    Loses,
    /// The 100th note is applied twice.
    Doubles,
    /// The 100th note is applied after the next one for the same walker.
    Swaps,
    /// A walker that has moved stays active at its source as well.
    Twins,
    /// Every third message is busy, and what follows it for the same walker.
    Busy,
    /// Every fifth answer to notes is lost, though they were applied.
    AnswersLost,
    /// Every third move is refused, and every fourth fails.
    SaysNo,
    /// The answer to every second move is lost, though it was made.
    MoveAnswersLost,
    /// A walker that has moved twice vanishes from the lists.
    Vanishes,
    /// After the tenth move n3 stops as planned: nobody sends through it or goes there any more.
    Stops,
    /// Moves are never answered with an end.
    Hangs,
    /// Nothing is accepted at all.
    NeverTakes,
    /// At the 200th note, or as soon after it as a walker is there, n2 dies and comes back at once: its walkers are lost,
    /// and so are the last three notes that
    /// were accepted there for walkers elsewhere.
    NodeDies,
}

#[derive(Clone, Debug)]
struct Walker {
    scene: usize,
    epoch: u64,
    ledger: BTreeMap<String, Vec<u64>>,
    ghost: Option<usize>,
}

#[derive(Debug)]
struct World {
    fault: Fault,
    scenes: usize,
    walkers: BTreeMap<String, Walker>,
    moves: Vec<MoveReport>,
    notes: u64,
    requests: u64,
    late: Option<(String, String, u64)>,
    spawned: u64,
    /// Walkers that were lost, and the life that n2 is in.
    lost: BTreeMap<String, usize>,
    life: u32,
}

/// An oracle over a new world with so many scenes, two on each node.
pub(crate) fn oracle(scenes: usize, fault: Fault) -> Canned {
    let world = World {
        fault,
        scenes,
        walkers: BTreeMap::new(),
        moves: Vec::new(),
        notes: 0,
        requests: 0,
        late: None,
        spawned: 0,
        lost: BTreeMap::new(),
        life: 1,
    };
    let world = Arc::new(Mutex::new(world));
    Canned::by(move |question| world.lock().unwrap_or_else(PoisonError::into_inner).answer(question))
}

fn problem(kind: ProblemKind, text: &str) -> Problem {
    Problem { kind, reason: "planted".into(), text: text.into(), state: None, hint: None }
}

fn because(reason: &str) -> Problem {
    let kind = match reason {
        "stopping" => ProblemKind::Unavailable,
        _ => ProblemKind::Refused,
    };
    Problem { reason: reason.into(), ..problem(kind, reason) }
}

fn node_of(scene: usize) -> String {
    format!("n{}", scene / 2 + 1)
}

fn scene_of(scene: usize) -> String {
    format!("scene{scene}")
}

impl World {
    fn answer(&mut self, question: &Question) -> Result<Answer, Problem> {
        match question {
            Question::Node | Question::Nodes => Ok(Answer::Nodes(self.cluster())),
            Question::Scenes => Ok(Answer::Scenes((0..self.scenes).map(scene_report).collect())),
            Question::Entities { .. } | Question::Find { .. } | Question::Labelled { .. } => {
                Ok(Answer::Entities(self.rows()))
            }
            Question::Show { entity } => self.show(entity),
            Question::Spawn { scene, count, .. } => Ok(Answer::Spawned(self.spawn(scene, *count))),
            Question::Send { via, .. } if via.as_deref() == Some("n3") && self.has_stopped() => {
                Err(because("stopping"))
            }
            Question::Send { messages, via, .. } => self.send(messages, via.as_deref()),
            Question::Migrate { entity, to, .. } => self.migrate(entity, to),
            Question::Despawn { entity, .. } => match self.walkers.remove(entity) {
                Some(walker) => Ok(Answer::Despawned(row(entity, &walker, walker.scene))),
                None => Err(problem(ProblemKind::NotFound, "no such walker")),
            },
            Question::Moves { limit } => {
                Ok(Answer::Moves(self.moves.iter().rev().take(*limit as usize).cloned().collect()))
            }
            Question::Drain { .. } => Err(problem(ProblemKind::Refused, "nobody drains here")),
            Question::Ask { .. } => Err(problem(ProblemKind::Refused, "nobody answers here")),
            Question::Unpark { .. } => Err(problem(ProblemKind::Refused, "nobody is parked here")),
            Question::OpenScene { .. } | Question::CloseScene { .. } => {
                Err(problem(ProblemKind::Refused, "no scene comes or goes here"))
            }
            Question::Lost { .. } => {
                Ok(Answer::Lost(self.lost.iter().map(|(id, scene)| lost_row(id, *scene)).collect()))
            }
            Question::Events { .. } => Ok(Answer::Events(Vec::new())),
        }
    }

    fn spawn(&mut self, scene: &str, count: u32) -> Vec<EntityRow> {
        let scene = (0..self.scenes).find(|&at| scene_of(at) == scene).expect("a scene of the list");
        let spawned = (0..count).map(|_| {
            self.spawned += 1;
            let walker = Walker { scene, epoch: 1, ledger: BTreeMap::new(), ghost: None };
            let id = format!("1.{}", self.spawned);
            self.walkers.insert(id.clone(), walker.clone());
            row(&id, &walker, scene)
        });
        spawned.collect()
    }

    fn rows(&self) -> Vec<EntityRow> {
        let mut rows = Vec::new();
        for (id, walker) in &self.walkers {
            if self.fault != Fault::Vanishes || walker.epoch < 3 {
                rows.push(row(id, walker, walker.scene));
            }
            if let Some(ghost) = walker.ghost {
                rows.push(EntityRow { epoch: walker.epoch - 1, ..row(id, walker, ghost) });
            }
        }
        rows
    }

    fn show(&self, entity: &str) -> Result<Answer, Problem> {
        let walker = self.walkers.get(entity).ok_or_else(|| self.gone(entity))?;
        let entries = walker.ledger.iter().map(|(sender, numbers)| (sender.clone(), entry(sender, numbers)));
        let senders: Map<String, Value> = entries.collect();
        let body = json!({"own": {"hp": 100, "ledger": {"senders": senders, "others": 0}}}).to_string();
        let EntityRow { entity, label, scene, node, epoch, .. } = row(entity, walker, walker.scene);
        Ok(Answer::Entity(EntityReport { entity, label, scene, node, epoch, body, ..canned::entity() }))
    }

    fn send(&mut self, messages: &[Outgoing], via: Option<&str>) -> Result<Answer, Problem> {
        self.requests += 1;
        let somebody_is_there = || self.walkers.values().any(|walker| node_of(walker.scene) == "n2");
        if self.fault == Fault::NodeDies && self.life == 1 && self.notes >= 200 && somebody_is_there() {
            self.die();
        }
        let incarnation = if via == Some("n2") { self.life } else { 1 };
        let mut report = SendReport { incarnation, ..SendReport::default() };
        let mut busy: Vec<&str> = Vec::new();
        for (at, message) in (0..).zip(messages) {
            let is_busy = busy.contains(&message.entity.as_str())
                || self.fault == Fault::NeverTakes
                || (self.fault == Fault::Busy && (self.requests + u64::from(at)).is_multiple_of(3));
            if is_busy {
                busy.push(&message.entity);
                report.busy += 1;
                report.busy_at.push(at);
            } else {
                report.accepted += 1;
                self.note(message);
            }
        }
        if self.fault == Fault::AnswersLost && self.requests.is_multiple_of(5) {
            return Err(problem(ProblemKind::Timeout, "the answer was lost"));
        }
        Ok(Answer::Sent(report))
    }

    fn note(&mut self, message: &Outgoing) {
        let arguments: Value = serde_json::from_str(&message.arguments).expect("JSON");
        let sender = arguments["sender"].as_str().expect("a sender").to_owned();
        let number = arguments["number"].as_u64().expect("a number");
        self.notes += 1;
        let times = match (self.fault, self.notes) {
            (Fault::Loses, 100) => 0,
            (Fault::Doubles, 100) => 2,
            (Fault::Swaps, 100) => {
                self.late = Some((message.entity.clone(), sender, number));
                return;
            }
            (_, _) => 1,
        };
        if self.lost.contains_key(&message.entity) {
            return;
        }
        let walker = self.walkers.get_mut(&message.entity).expect("a walker of the tour");
        walker.ledger.entry(sender.clone()).or_default().extend(std::iter::repeat_n(number, times));
        if let Some((_, _, late)) = self.late.take_if(|late| late.0 == message.entity && late.1 == sender) {
            walker.ledger.entry(sender).or_default().push(late);
        }
    }

    /// n2 dies and comes back at once.
    fn die(&mut self) {
        self.life += 1;
        let lost = self.walkers.extract_if(.., |_, walker| node_of(walker.scene) == "n2");
        self.lost = lost.map(|(id, walker)| (id, walker.scene)).collect();
        for walker in self.walkers.values_mut() {
            for (_, numbers) in walker.ledger.iter_mut().filter(|(sender, _)| sender.contains("@n2")) {
                numbers.truncate(numbers.len().saturating_sub(3));
            }
        }
    }

    /// The three nodes, each in its latest life.
    fn cluster(&self) -> ClusterReport {
        let node = |name: &str| NodeReport {
            node: name.into(),
            incarnation: if name == "n2" { self.life } else { 1 },
            ..canned::node()
        };
        ClusterReport { nodes: ["n1", "n2", "n3"].map(node).into(), ..canned::cluster() }
    }

    fn gone(&self, entity: &str) -> Problem {
        let reason = if self.lost.contains_key(entity) { "dead" } else { "planted" };
        Problem { reason: reason.into(), ..problem(ProblemKind::NotFound, "no such walker") }
    }

    /// Whether n3 has.
    fn has_stopped(&self) -> bool {
        self.fault == Fault::Stops && self.moves.len() >= 10
    }

    fn migrate(&mut self, entity: &str, to: &str) -> Result<Answer, Problem> {
        if self.lost.contains_key(entity) {
            return Err(self.gone(entity));
        }
        if self.has_stopped() && to.ends_with("@n3") {
            return Err(because("draining"));
        }
        if self.fault == Fault::Hangs {
            return Ok(Answer::Move(MoveReport { entity: entity.into(), result: "open".into(), ..canned::moved() }));
        }
        let scene = (0..self.scenes).find(|&at| format!("{}@{}", scene_of(at), node_of(at)) == to);
        let scene = scene.expect("a place of the list");
        let made = self.moves.len() + 1;
        let walker = self.walkers.get_mut(entity).expect("a walker of the tour");
        let mut report = MoveReport { id: format!("m{made}"), entity: entity.into(), ..canned::moved() };
        if self.fault == Fault::SaysNo && made.is_multiple_of(3) {
            report.result = "refused".into();
        } else if self.fault == Fault::SaysNo && made.is_multiple_of(4) {
            report.result = "failed".into();
        } else {
            walker.ghost = (self.fault == Fault::Twins).then_some(walker.scene);
            walker.epoch += 1;
            walker.scene = scene;
        }
        self.moves.push(report.clone());
        if self.fault == Fault::MoveAnswersLost && made.is_multiple_of(2) {
            return Err(problem(ProblemKind::Timeout, "the answer was lost"));
        }
        Ok(Answer::Move(report))
    }
}

fn scene_report(scene: usize) -> SceneReport {
    SceneReport {
        id: u16::try_from(scene).expect("a few"),
        scene: scene_of(scene),
        node: node_of(scene),
        ..canned::scene()
    }
}

fn row(id: &str, walker: &Walker, scene: usize) -> EntityRow {
    EntityRow {
        entity: id.into(),
        label: None,
        scene: scene_of(scene),
        node: node_of(scene),
        epoch: walker.epoch,
        ..canned::row()
    }
}

fn lost_row(id: &str, scene: usize) -> LostRow {
    LostRow { entity: id.into(), label: None, scene: scene_of(scene), node: node_of(scene), incarnation: 1 }
}

fn entry(sender: &str, numbers: &[u64]) -> Value {
    let mut ledger = Ledger::default();
    for &number in numbers {
        ledger.note(sender.to_owned(), number).expect("a good name");
    }
    let Entry { count, last, gaps, repeats } = ledger.entry(sender).copied().unwrap_or_default();
    json!({"count": count, "last": last, "gaps": gaps, "repeats": repeats})
}
