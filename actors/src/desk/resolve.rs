//! From what people type to what it names: entities, scenes, targets.

use std::fmt;
use std::rc::Rc;
use std::time::Duration;

use slipgate_cluster::view::{Member, ScenePlacement, View};
use slipgate_cluster::{NodeName, Own, Record};
use slipgate_entity::{OnlineId, SceneId};
use slipgate_proto::admin::{Answer, EntityRow, LostRow, Problem, ProblemKind, Question};
use tokio::sync::oneshot;
use tokio::time::timeout;

use super::Office;
use super::entities::{Gathered, entities_in, lost_in};
use crate::member::CatchUp;

/// An entity, and how to speak of it. Prints as `ann (1.4)`, or `1.4` where only the id is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Named {
    pub(super) entity: OnlineId,
    pub(super) label: Option<String>,
}

impl fmt::Display for Named {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.label {
            Some(label) => write!(f, "{label} ({})", self.entity),
            None => self.entity.fmt(f),
        }
    }
}

impl Office {
    /// The entity that a text names: its id, a label that only one has, or a prefix that only one has.
    ///
    /// A whole id names that entity alone, also where it is gone and is the beginning of another's id: what is
    /// meant for the dead must not reach the living.
    pub(super) async fn resolve(self: &Rc<Self>, text: &str) -> Result<Named, Problem> {
        if let Ok(entity) = text.parse::<OnlineId>() {
            self.check_granted(entity).await?;
            return match self.record(entity).await {
                Ok(Some(Record { owner: Some(_), .. })) => Ok(Named { entity, label: None }),
                Ok(Some(record)) if record == Record::never() => Err(not_born(entity)),
                Ok(Some(record)) => Err(dead(entity, &record)),
                Ok(None) => Err(unknown_entity(text)),
                Err(problem) => match self.find(entity).await {
                    Some((_, row)) => Ok(Named { entity, label: row.label }),
                    None => Err(problem),
                },
            };
        }
        let find = |_: &Member| Question::Find { text: text.to_owned(), limit: CANDIDATES };
        let Gathered { mut rows, silent } = self.gather(find, entities_in).await;
        rows.sort_by(|a, b| a.entity.cmp(&b.entity));
        rows.dedup_by(|a, b| a.entity == b.entity);
        let labelled: Vec<_> = rows.iter().filter(|row| row.label.as_deref() == Some(text)).collect();
        let candidates = if labelled.is_empty() { rows.iter().collect() } else { labelled };
        match candidates[..] {
            [row] => {
                let entity = row.entity.parse().map_err(|_| unknown_entity(text))?;
                Ok(Named { entity, label: row.label.clone() })
            }
            [] if silent.is_empty() => {
                let lost = self.gather(|_| Question::Lost { limit: LOST_MAX }, lost_in).await.rows;
                let labelled = lost.into_iter().find(|row| row.label.as_deref() == Some(text));
                Err(labelled.map_or_else(|| unknown_entity(text), |row| lost_by_name(text, &row)))
            }
            [] => Err(perhaps_elsewhere(text, &silent)),
            _ => Err(ambiguous(text, &candidates)),
        }
    }

    /// Fails where nobody can ever have had an id, because its range was never granted; the manager is asked once.
    pub(super) async fn check_granted(&self, entity: OnlineId) -> Result<(), Problem> {
        let post = &self.around.post;
        if post.home_of(entity).is_some() {
            return Ok(());
        }
        let (reply, caught_up) = oneshot::channel();
        self.around.member.tell(CatchUp { reply });
        let is_told = matches!(timeout(MANAGER_WAIT, caught_up).await, Ok(Ok(())));
        match post.home_of(entity) {
            Some(_) => Ok(()),
            None if is_told => Err(never_granted(entity)),
            None => Err(manager_silent(entity, &self.around.manager)),
        }
    }

    /// Where an entity lives, by asking everybody: for when its home does not answer.
    pub(super) async fn find(self: &Rc<Self>, entity: OnlineId) -> Option<(Member, EntityRow)> {
        let text = entity.to_string();
        let find = |_: &Member| Question::Find { text: text.clone(), limit: CANDIDATES };
        self.ask_all(find).await.into_iter().find_map(|(member, answer)| {
            let Ok(Answer::Entities(rows)) = answer else { return None };
            let row = rows.into_iter().find(|row| row.entity == text)?;
            Some((member, row))
        })
    }

    /// The scene of its latest owner, as the home says.
    pub(super) async fn locate(&self, entity: OnlineId) -> Result<Own, Problem> {
        let owner = match self.record(entity).await? {
            Some(Record { owner: Some(owner), .. }) => owner,
            Some(record) => return Err(dead(entity, &record)),
            None => return Err(home_unknown(entity)),
        };
        let view = self.around.post.view();
        if view.is_latest(owner.session) {
            return Ok(owner);
        }
        Err(Problem {
            kind: ProblemKind::NotFound,
            reason: "owner_gone".to_owned(),
            text: format!("{entity} was in {}, and that life of the node is over", view.own_text(owner)),
            state: Some("its state was in memory only, and is lost".to_owned()),
            hint: Some("slipgate nodes".to_owned()),
        })
    }
}

/// The member that runs a session.
pub(super) fn member_of(view: &View, own: Own) -> Result<Member, Problem> {
    view.members.get(&own.session.node).cloned().ok_or_else(|| unknown_node(&view.node_text(own.session.node), view))
}

/// The scene that a text names: its name, or its number with or without the generation.
pub(super) fn scene<'a>(text: &str, view: &'a View) -> Result<&'a ScenePlacement, Problem> {
    let by_number = || view.scene_numbered(text.parse().ok()?);
    view.scene_named(text).or_else(by_number).ok_or_else(|| Problem {
        kind: ProblemKind::NotFound,
        reason: "unknown_scene".to_owned(),
        text: format!("there is no scene {text:?}; there are {}", list(view.present_scenes().map(|s| s.name.as_str()))),
        state: None,
        hint: Some("slipgate scenes".to_owned()),
    })
}

/// The target that a text names: `SCENE` or `SCENE@NODE`.
pub(super) fn target(text: &str, view: &View) -> Result<SceneId, Problem> {
    let (name, node) = match text.split_once('@') {
        Some((name, node)) => (name, Some(node)),
        None => (text, None),
    };
    if let Some(node) = node {
        view.member_named(node).ok_or_else(|| unknown_node(node, view))?;
    }
    let placement = scene(name, view)?;
    let placed = view.node_text(placement.node);
    match node {
        Some(node) if node != placed => Err(Problem {
            kind: ProblemKind::Refused,
            reason: "scene_elsewhere".to_owned(),
            text: format!("scene {} is on node {placed}, not on {node}", placement.name),
            state: None,
            hint: Some(format!("--to {}@{placed}", placement.name)),
        }),
        Some(_) | None => Ok(placement.id),
    }
}

/// The member with this name.
pub(super) fn node(name: &str, view: &View) -> Result<Member, Problem> {
    view.member_named(name).cloned().ok_or_else(|| unknown_node(name, view))
}

fn unknown_node(name: &str, view: &View) -> Problem {
    let mut names: Vec<_> = view.members.values().map(|member| member.name.as_str()).collect();
    names.sort_unstable();
    Problem {
        kind: ProblemKind::NotFound,
        reason: "unknown_node".to_owned(),
        text: format!("there is no node {name:?}; there are {}", list(names.into_iter())),
        state: None,
        hint: Some("slipgate nodes".to_owned()),
    }
}

fn unknown_entity(text: &str) -> Problem {
    Problem {
        kind: ProblemKind::NotFound,
        reason: "unknown_entity".to_owned(),
        text: format!("no entity has the id or label {text:?}, or an id that begins so"),
        state: None,
        hint: Some("slipgate entities".to_owned()),
    }
}

/// What does not answer may have what is sought; it must not be said to be nowhere.
fn perhaps_elsewhere(text: &str, silent: &[String]) -> Problem {
    let names = list(silent.iter().map(String::as_str));
    Problem {
        kind: ProblemKind::Timeout,
        reason: "not_found_yet".to_owned(),
        text: format!("no node that answers has an entity with the id or label {text:?}, or an id that begins so"),
        state: Some(format!("it may be on {names}, where nothing answers")),
        hint: Some("slipgate nodes".to_owned()),
    }
}

fn home_unknown(entity: OnlineId) -> Problem {
    Problem {
        kind: ProblemKind::Unavailable,
        reason: "home_unknown".to_owned(),
        text: format!("this node has not been told yet which node is the home of {entity}"),
        state: Some("nothing has changed; the entity goes on wherever it is".to_owned()),
        hint: Some("try again in a moment".to_owned()),
    }
}

/// Known to the first home of its range alone.
fn not_born(entity: OnlineId) -> Problem {
    Problem {
        kind: ProblemKind::NotFound,
        reason: "unknown_entity".to_owned(),
        text: format!("no entity has had the id {entity} yet"),
        state: None,
        hint: Some("slipgate entities".to_owned()),
    }
}

fn never_granted(entity: OnlineId) -> Problem {
    Problem {
        kind: ProblemKind::NotFound,
        reason: "never_granted".to_owned(),
        text: format!("no entity has ever had the id {entity}: no node was given ids of range {}", entity.range().0),
        state: Some("nothing was done".to_owned()),
        hint: Some("slipgate entities".to_owned()),
    }
}

fn manager_silent(entity: OnlineId, manager: &NodeName) -> Problem {
    Problem {
        kind: ProblemKind::Unavailable,
        reason: "manager_silent".to_owned(),
        text: format!(
            "this node has not heard of range {} yet, and the manager on {manager} does not say whether there is an \
             entity {entity}",
            entity.range().0
        ),
        state: Some("nothing was done".to_owned()),
        hint: Some("try again once the manager answers      slipgate nodes".to_owned()),
    }
}

fn dead(entity: OnlineId, record: &Record) -> Problem {
    let (how, hint) = match (record.lost, record.epoch.term()) {
        (true, _) => ("lost with its node", "slipgate entities --lost"),
        (false, 0) => ("despawned", "slipgate entities"),
        // What a later home says of absence.
        (false, _) => ("despawned, or lost with its node", "slipgate entities --lost"),
    };
    Problem {
        kind: ProblemKind::NotFound,
        reason: "dead".to_owned(),
        text: format!("{entity} is gone: it was {how}"),
        state: Some("it is nowhere, and its id is never given out again".to_owned()),
        hint: Some(hint.to_owned()),
    }
}

fn lost_by_name(text: &str, row: &LostRow) -> Problem {
    Problem {
        kind: ProblemKind::NotFound,
        reason: "dead".to_owned(),
        text: format!("{text} ({}) is gone: it was lost with {}", row.entity, row.node),
        state: Some("it is nowhere, and its id is never given out again".to_owned()),
        hint: Some("slipgate entities --lost".to_owned()),
    }
}

fn ambiguous(text: &str, candidates: &[&EntityRow]) -> Problem {
    let some = candidates.iter().take(5).map(|row| match &row.label {
        Some(label) => format!("{} ({label})", row.entity),
        None => row.entity.clone(),
    });
    let more = if candidates.len() > 5 { ", and more" } else { "" };
    Problem {
        kind: ProblemKind::Usage,
        reason: "ambiguous".to_owned(),
        text: format!("{text:?} names several entities: {}{more}", some.collect::<Vec<_>>().join(", ")),
        state: Some("nothing was done".to_owned()),
        hint: Some("use a whole id: slipgate entities".to_owned()),
    }
}

fn list<'a>(names: impl Iterator<Item = &'a str>) -> String {
    names.collect::<Vec<_>>().join(", ")
}

/// How long the manager may take: it answers from memory, over one link.
const MANAGER_WAIT: Duration = Duration::from_secs(2);
/// Entities that a node names for a text that is no id.
const CANDIDATES: u32 = 8;
/// Lost entities that are looked through for a label: the latest of each home.
const LOST_MAX: u32 = 1_000;
