//! Questions between admin desks, and their answers.

use slipgate_cluster::message::ToolMessage;
use slipgate_cluster::moves::Cost;
use slipgate_entity::game::Fate;
use slipgate_entity::{PersistId, PlayerId};
use uuid::Uuid;

use super::{Vector, check, check_variants, sample, variants, vector};
use crate::admin::{
    Answer, AskReport, Clearing, CloseReport, ClusterReport, CompanionRow, Cursor, DrainOrder, DrainReport,
    EntityReport, EntityRow, Event, KeptRow, LinkReport, LostRow, MoveReport, NodeReport, NotTaken, Outgoing, Panicked,
    ParkedReport, PartialList, PauseReport, Problem, ProblemKind, Question, Rows, SceneReport, SendReport, SomeSpawned,
};

fn text(text: &str) -> String {
    text.to_owned()
}

#[test]
fn every_question_has_its_bytes() {
    let (limit, timeout_ms) = (10, 10_000);
    let entity = text("3.5");
    let outgoing = Outgoing { entity: entity.clone(), name: text("hit"), arguments: text(r#"{"hp":5}"#) };
    let (type_name, scene, label, data) =
        (text("walker"), text("7"), Some(text("ann")), Some(text(r#"{"walker":{}}"#)));
    let spawn = Question::Spawn {
        type_name,
        scene,
        label,
        count: 1,
        data,
        persist: Some(PersistId(Uuid::from_u128(7))),
        player: PlayerId(9),
    };
    let (name, node, capacity) = (text("dungeon"), Some(text("n2")), 100);
    let open = Question::OpenScene { name, node, capacity, timeout_ms };
    let close = Question::CloseScene { scene: text("32768.2"), clearing: Clearing::Despawn, wait: true, timeout_ms };
    let vectors = [
        vector("question.nodes", &Question::Nodes),
        vector("question.node", &Question::Node),
        vector("question.scenes", &Question::Scenes),
        vector(
            "question.entities",
            &Question::Entities { scene: Some(text("7")), type_name: Some(text("walker")), limit },
        ),
        vector("question.find", &Question::Find { text: text("ann"), limit }),
        vector("question.show", &Question::Show { entity: entity.clone() }),
        vector("question.spawn", &spawn),
        vector(
            "question.send",
            &Question::Send { via: None, messages: vec![outgoing.clone()], wait: true, timeout_ms },
        ),
        vector("question.migrate", &Question::Migrate { entity: entity.clone(), to: text("8"), timeout_ms }),
        vector("question.despawn", &Question::Despawn { entity, timeout_ms }),
        vector("question.moves", &Question::Moves { limit }),
        vector("question.events", &Question::Events { after: vec![Cursor { node: text("n1"), number: 7 }], limit }),
        vector("question.lost", &Question::Lost { limit }),
        vector(
            "question.drain",
            &Question::Drain { node: text("n2"), order: DrainOrder::Begin { timeout_ms: Some(9) } },
        ),
        vector("question.open_scene", &open),
        vector("question.close_scene", &close),
        vector("question.unpark", &Question::Unpark { entity: text("3.5"), timeout_ms }),
        vector("question.ask", &Question::Ask { via: None, message: outgoing, raw: false, timeout_ms }),
        vector("question.labelled", &Question::Labelled { label: text("orc"), count: 3, limit }),
    ];
    check("question", &vectors);
    check_variants::<Question>(&vectors);
    assert_eq!(variants::<ToolMessage>(), 2);
}

#[test]
fn every_answer_has_its_bytes_and_so_has_every_kind_of_problem() {
    let answers = [
        Answer::Nodes(cluster()),
        Answer::Scenes(vec![scene()]),
        Answer::Entities(vec![row()]),
        Answer::Entity(entity()),
        Answer::Spawned(vec![row()]),
        Answer::Sent(SendReport {
            accepted: 2,
            busy: 1,
            applied: 1,
            dead: 0,
            open: 1,
            busy_at: vec![2],
            unknown: 0,
            incarnation: 3,
            failed: 4,
            parked: 5,
            refused: 1,
            refusals: vec![NotTaken { at: 1, why: "no".into() }],
            passed: 6,
            failures: vec![Panicked { at: 2, why: "ow".into(), fate: Fate::Parked }],
            lost: 7,
        }),
        Answer::Move(one_move()),
        Answer::Despawned(row()),
        Answer::Moves(vec![one_move()]),
        Answer::Events(vec![event()]),
        Answer::Lost(vec![lost()]),
        Answer::Drain(drained()),
        Answer::Opened(scene()),
        Answer::Closed(closed()),
        Answer::Unparked(row()),
        Answer::Partial(PartialList { rows: Rows::Entities(vec![row()]), silent: vec!["n2".into()] }),
        Answer::Asked(AskReport {
            entity: "3.5".into(),
            message: "hit".into(),
            sent: SendReport { accepted: 1, applied: 1, ..SendReport::default() },
            answered: true,
            answer: "7".into(),
            why: None,
        }),
        Answer::SomeSpawned(SomeSpawned { rows: vec![row()], problem: problem(ProblemKind::Refused) }),
    ];
    let names = [
        "nodes",
        "scenes",
        "entities",
        "entity",
        "spawned",
        "sent",
        "move",
        "despawned",
        "moves",
        "events",
        "lost",
        "drain",
        "opened",
        "closed",
        "unparked",
        "partial",
        "asked",
        "some_spawned",
    ];
    assert_eq!(answers.len(), usize::from(variants::<Answer>()));
    let answered = answers.into_iter().zip(names).map(|(answer, name)| named(name, &Ok(answer)));
    let kinds = [
        ("usage", ProblemKind::Usage),
        ("not_found", ProblemKind::NotFound),
        ("refused", ProblemKind::Refused),
        ("timeout", ProblemKind::Timeout),
        ("unavailable", ProblemKind::Unavailable),
        ("unauthorized", ProblemKind::Unauthorized),
    ];
    assert_eq!(kinds.len(), usize::from(variants::<ProblemKind>()));
    let refused = kinds.map(|(name, kind)| named(name, &Err(problem(kind))));
    check("answer", &answered.chain(refused).collect::<Vec<_>>());
}

fn lost() -> LostRow {
    LostRow {
        entity: sample::entity().to_string(),
        label: Some(text("ann")),
        scene: text("harbor"),
        node: text("n2"),
        incarnation: 1,
    }
}

fn kept() -> KeptRow {
    KeptRow {
        entity: text("3.5"),
        label: Some(text("ann")),
        scene: text("forest"),
        reason: text("no_place"),
        text: text("no room"),
    }
}

fn closed() -> CloseReport {
    CloseReport {
        scene: text("forest"),
        node: text("n2"),
        state: text(CloseReport::CLOSING),
        moved: 2,
        gone: 3,
        left: 1,
        kept_first: vec![kept()],
    }
}

fn drained() -> DrainReport {
    DrainReport {
        node: text("n2"),
        state: text(DrainReport::KEPT),
        step: Some(text("moving")),
        entities: 3,
        moved: 2,
        kept: 1,
        kept_first: vec![kept()],
        homes: 4,
        unanswered: 9,
        unanswered_first: vec![text("3.7")],
        took_ms: 5,
        pause_us: PauseReport { p50: 6, p99: 7, max: 8 },
    }
}

fn named(name: &str, answer: &Result<Answer, Problem>) -> Vector {
    let name: &'static str = Box::leak(format!("answer.{name}").into_boxed_str());
    vector(name, answer)
}

fn problem(kind: ProblemKind) -> Problem {
    Problem { kind, reason: text("full"), text: text("no room"), state: Some(text("it stays")), hint: None }
}

fn cluster() -> ClusterReport {
    let link =
        LinkReport { peer: text("n2"), state: text("up"), reason: None, bytes_out: 20, bytes_in: 21, waiting: 22 };
    let node = NodeReport {
        node: text("n1"),
        state: text("ready"),
        id: 1,
        incarnation: 3,
        address: text("n1:7700"),
        admin: text("n1:7780"),
        scenes: 2,
        entities: 4,
        moves: 5,
        moves_ok: 6,
        moves_refused: 7,
        moves_failed: 8,
        applied: 9,
        waiting: 10,
        ranges: 11,
        lease_left_ms: 12,
        uptime_s: 13,
        version: text("0.1.0"),
        links: vec![link],
        not_ready: vec![],
        drain_percent: Some(71),
        lost: 3,
    };
    ClusterReport { cluster: text("demo"), view: 5, manager: text("n1"), nodes: vec![node] }
}

fn scene() -> SceneReport {
    SceneReport {
        id: 7,
        scene: text("forest"),
        node: text("n1"),
        state: text("open"),
        entities: 2,
        capacity: 100,
        arriving: 3,
        leaving: 4,
        generation: 2,
        made: true,
    }
}

fn row() -> EntityRow {
    EntityRow {
        entity: text("3.5"),
        type_name: text("walker"),
        label: Some(text("ann")),
        scene: text("forest"),
        node: text("n1"),
        state: text("active"),
        epoch: 9,
    }
}

fn entity() -> EntityReport {
    EntityReport {
        entity: text("3.5"),
        type_name: text("walker"),
        label: Some(text("ann")),
        scene: text("forest"),
        node: text("n1"),
        state: text("active"),
        epoch: 9,
        handle: text("7:0/gen1"),
        persist: text("01920000-0000-7000-8000-000000000002"),
        home: text("n1"),
        data: 9,
        senders: 1,
        applied: 2,
        unacknowledged: 3,
        body: text("{}"),
        reset: 4,
        parked: Some(ParkedReport { why: text("ow"), since_ms: 5 }),
    }
}

fn one_move() -> MoveReport {
    MoveReport {
        id: text("9f310000-0000-4000-8000-000000000001"),
        entity: text("3.5"),
        label: None,
        from: text("forest@n1"),
        to: text("harbor@n2"),
        result: text("refused"),
        reason: Some(text("full")),
        text: Some(text("no room")),
        at: Some(text("forest@n1")),
        epoch: 9,
        cost: Cost { total_us: 1, pause_us: 2, held: 3, delivered: 4, bytes: 5 },
        began_ms: 6,
        companions: vec![CompanionRow {
            id: text("2"),
            entity: text("3.6"),
            result: text("ok"),
            reason: None,
            text: None,
            at: Some(text("harbor@n2")),
        }],
    }
}

fn event() -> Event {
    Event {
        node: text("n1"),
        number: 7,
        ts: text("2026-01-01T12:00:05.111Z"),
        event: text("move.ok"),
        fields: text("{}"),
    }
}
