//! New entities of this node's scenes, in the words of the admin interface.
//!
//! A label is for people, who call an entity by it: a spawn whose label somebody wears already is refused. The desk that is
//! asked looks around first, and nothing is locked meanwhile. So two of one label there may still be: of two spawns at one
//! moment, where a node was silent, or by game code, which is not asked. Then commands by that label are refused, and name all
//! who wear it.
//!
//! Keeps: whoever came into being is told of, whatever became of the others.

use std::rc::Rc;
use std::time::Duration;

use futures_util::future::join_all;
use slipgate_cluster::Epoch;
use slipgate_cluster::scene::SpawnRefusal;
use slipgate_entity::game::{Data, Types};
use slipgate_entity::{OnlineId, PersistId, PlayerId, SceneId};
use slipgate_proto::admin::{Answer, EntityRow, Problem, ProblemKind, Question, SomeSpawned};
use tokio::sync::oneshot;

use super::entities::entities_in;
use super::here::no_scene_here;
use super::{Office, cut_short};
use crate::labels::Labels;
use crate::scene::{self, AskScene, SpawnError, SpawnOrder};

/// New entities of one type.
pub(super) struct Wanted {
    pub(super) label: Option<String>,
    pub(super) count: u32,
    /// What their parts begin with, as JSON.
    pub(super) data: Option<String>,
    /// Its number over restarts, if it has one and is one.
    pub(super) persist: Option<PersistId>,
    /// Whose they are.
    pub(super) player: PlayerId,
}

impl Office {
    /// Fails where a type is asked for that this program does not have.
    pub(super) fn check_type(&self, type_name: Option<&str>) -> Result<(), Problem> {
        match type_name.filter(|name| self.around.types.entity(name).is_none()) {
            None => Ok(()),
            Some(unknown) => Err(unknown_type(unknown, &self.around.types)),
        }
    }

    /// Fails where somebody is known to wear a label of a spawn.
    pub(super) async fn check_labels(self: &Rc<Self>, labels: &Labels) -> Result<(), Problem> {
        let Labels { label, count } = labels.clone();
        let question = Question::Labelled { label, count, limit: WEARERS };
        let view = self.around.post.view();
        let asking = view.members.values().map(|member| self.ask_node(member, question.clone(), LOOK_AROUND));
        let answers = join_all(asking).await;
        let mut wearers: Vec<_> =
            answers.into_iter().filter_map(|answer| entities_in(answer.ok()?)).flatten().collect();
        wearers.sort_by(|a, b| a.entity.cmp(&b.entity));
        wearers.dedup_by(|a, b| a.entity == b.entity);
        if wearers.is_empty() { Ok(()) } else { Err(label_taken(&wearers)) }
    }

    pub(super) async fn spawn(&self, type_name: &str, scene: &str, wanted: Wanted) -> Result<Answer, Problem> {
        let Wanted { label, count, data, persist, player } = wanted;
        check_spawn(label.as_deref(), count, persist)?;
        self.check_type(Some(type_name))?;
        let data = data.as_deref().map_or(Ok(Data::default()), Data::from_json);
        let data = data.map_err(|error| unfit(type_name, &error.to_string()))?;
        let id = scene.parse::<SceneId>().map_err(|_| no_scene_here(scene))?;
        let mailbox = self.around.scenes.get(id).ok_or_else(|| no_scene_here(scene))?;
        let labels = label.map(|label| Labels { label, count });
        let order = |number: u32| {
            let label = labels.as_ref().map(|labels| labels.nth(number));
            let (reply, spawned) = oneshot::channel();
            mailbox.tell(AskScene(scene::Question::Spawn(SpawnOrder {
                type_name: type_name.to_owned(),
                data: data.clone(),
                label: label.clone(),
                persist,
                player,
                reply,
            })));
            (label, spawned)
        };
        let orders: Vec<_> = (1..=count).map(order).collect();
        let mut outcomes = Vec::with_capacity(orders.len());
        for (label, spawned) in orders {
            outcomes.push(match spawned.await {
                Ok(Ok(entity)) => Ok(EntityRow {
                    entity: entity.to_string(),
                    type_name: type_name.to_owned(),
                    label,
                    scene: self.scene_name(id),
                    node: self.around.name.to_string(),
                    state: "active".to_owned(),
                    epoch: Epoch::FIRST.as_u64(),
                }),
                Ok(Err(SpawnError::Refused(refusal))) => Err(not_spawned(refusal, &self.scene_name(id))),
                Ok(Err(taken @ SpawnError::Taken { by, .. })) => Err(persist_taken(&taken, by)),
                Ok(Err(SpawnError::Unfit { reason })) => Err(unfit(type_name, &reason)),
                Err(_) => Err(cut_short()),
            });
        }
        summed_up(outcomes)
    }
}

/// Those who came into being, and why the first of the others did not.
fn summed_up(outcomes: Vec<Result<EntityRow, Problem>>) -> Result<Answer, Problem> {
    let count = outcomes.len();
    let (mut rows, mut first) = (Vec::with_capacity(count), None);
    for outcome in outcomes {
        match outcome {
            Ok(row) => rows.push(row),
            Err(problem) => drop(first.get_or_insert(problem)),
        }
    }
    let Some(problem) = first else { return Ok(Answer::Spawned(rows)) };
    let problem = Problem { state: Some(spawned_so_far(&rows, count)), ..problem };
    if rows.is_empty() { Err(problem) } else { Ok(Answer::SomeSpawned(SomeSpawned { rows, problem })) }
}

pub(super) fn check_spawn(label: Option<&str>, count: u32, persist: Option<PersistId>) -> Result<(), Problem> {
    let wrong = |text: String| Problem {
        kind: ProblemKind::Usage,
        reason: "spawn".to_owned(),
        text,
        state: Some("nothing was spawned".to_owned()),
        hint: Some("slipgate spawn --help".to_owned()),
    };
    if !(1..=SPAWN_MAX).contains(&count) {
        return Err(wrong(format!("count is {count}, it can be 1 to {SPAWN_MAX}")));
    }
    if persist.is_some() && count > 1 {
        return Err(wrong(format!("{count} entities cannot all have one persist id; spawn them one by one")));
    }
    let fits = |label: &str| !label.is_empty() && label.len() <= LABEL_MAX && !label.chars().any(char::is_control);
    let is_like_an_id = |label: &str| label.chars().all(|c| c.is_ascii_digit() || c == '.');
    match label {
        Some(label) if !fits(label) => {
            Err(wrong(format!("a label has 1 to {LABEL_MAX} bytes and no control characters, not {label:?}")))
        }
        Some(label) if is_like_an_id(label) => {
            Err(wrong(format!("the label {label:?} could be taken for an id; it needs a letter")))
        }
        Some(_) | None => Ok(()),
    }
}

fn not_spawned(refusal: SpawnRefusal, scene: &str) -> Problem {
    let (kind, reason, hint) = match refusal {
        SpawnRefusal::Full { .. } => (ProblemKind::Refused, "full", "slipgate scenes"),
        SpawnRefusal::Draining => (ProblemKind::Refused, "draining", "slipgate scenes"),
        SpawnRefusal::Closing => (ProblemKind::Refused, "closing", "slipgate scenes"),
        SpawnRefusal::NoRange => (
            ProblemKind::Unavailable,
            "no_range",
            "try again in a moment; if it stays, look at the manager's node: slipgate nodes",
        ),
    };
    Problem {
        kind,
        reason: reason.to_owned(),
        text: format!("{scene}: {refusal}"),
        state: None,
        hint: Some(hint.to_owned()),
    }
}

fn label_taken(wearers: &[EntityRow]) -> Problem {
    let [first, others @ ..] = wearers else { panic!("expected somebody to wear the label") };
    let label = first.label.as_deref().unwrap_or_default();
    let text = format!("the label {label:?} is worn already, by {} in {}@{}", first.entity, first.scene, first.node);
    // Of a spawn of several they may wear others of its labels.
    let more = match others.iter().filter(|other| other.label == first.label).count() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    Problem {
        kind: ProblemKind::Refused,
        reason: "label_taken".to_owned(),
        text: text + &more,
        state: Some("nothing was spawned".to_owned()),
        hint: Some(format!("another --label      slipgate show {}      slipgate despawn {0}", first.entity)),
    }
}

/// What there is must be named, or nobody could take it away again.
fn spawned_so_far(spawned: &[EntityRow], count: usize) -> String {
    let ids: Vec<_> = spawned.iter().map(|row| row.entity.as_str()).collect();
    match ids.as_slice() {
        [] => "nothing was spawned".to_owned(),
        [first, .., last] if ids.len() > 8 => format!("{} of {count} were spawned: {first} to {last}", ids.len()),
        some => format!("{} of {count} were spawned: {}", ids.len(), some.join(", ")),
    }
}

fn unknown_type(name: &str, types: &Types) -> Problem {
    let known: Vec<_> = types.entities().filter(|info| !info.is_abstract()).map(|info| info.name()).collect();
    Problem {
        kind: ProblemKind::NotFound,
        reason: "unknown_type".to_owned(),
        text: format!("there is no type {name:?}{}; there is {}", types.meant(name), known.join(", ")),
        state: Some("nothing was spawned".to_owned()),
        hint: Some("slipgate schema export".to_owned()),
    }
}

/// Somebody has its number over restarts.
fn persist_taken(taken: &SpawnError, by: OnlineId) -> Problem {
    Problem {
        kind: ProblemKind::Refused,
        reason: "persist_taken".to_owned(),
        text: format!("it cannot be: {taken}"),
        state: Some("nothing was spawned".to_owned()),
        hint: Some(format!("slipgate show {by}")),
    }
}

/// Such an entity cannot be.
fn unfit(type_name: &str, reason: &str) -> Problem {
    Problem {
        kind: ProblemKind::Usage,
        reason: "unfit".to_owned(),
        text: format!("there can be no such {type_name}: {reason}"),
        state: Some("nothing was spawned".to_owned()),
        hint: Some("slipgate schema export".to_owned()),
    }
}

/// How long the nodes have to say who wears a label: far above a round trip. Whoever is silent is left out, so that one node
/// that hangs does not slow down every spawn.
const LOOK_AROUND: Duration = Duration::from_millis(250);
/// Entities that a node names for the labels of a spawn.
const WEARERS: u32 = 8;
/// Entities in one spawn.
const SPAWN_MAX: u32 = 10_000;
/// Bytes of a label.
const LABEL_MAX: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;

    fn row(number: u32) -> Result<EntityRow, Problem> {
        Ok(EntityRow {
            entity: format!("1.{number}"),
            type_name: "walker".to_owned(),
            label: None,
            scene: "forest".to_owned(),
            node: "n1".to_owned(),
            state: "active".to_owned(),
            epoch: 1,
        })
    }

    fn full() -> Result<EntityRow, Problem> {
        Err(not_spawned(SpawnRefusal::Full { capacity: 2 }, "forest"))
    }

    #[test]
    fn whoever_came_into_being_is_told_of_beside_why_others_did_not() {
        let Ok(Answer::SomeSpawned(some)) = summed_up(vec![row(1), full(), row(2), full()]) else {
            panic!("expected some to be spawned");
        };
        let ids: Vec<_> = some.rows.iter().map(|row| row.entity.as_str()).collect();
        assert_eq!((ids, some.problem.reason.as_str()), (vec!["1.1", "1.2"], "full"));
        assert_eq!(some.problem.state.as_deref(), Some("2 of 4 were spawned: 1.1, 1.2"));
    }

    #[test]
    fn all_or_nobody_is_told_without_the_other() {
        assert_eq!(summed_up(vec![row(1)]), row(1).map(|row| Answer::Spawned(vec![row])));
        let problem = summed_up(vec![full()]).expect_err("nobody was spawned");
        assert_eq!(problem.state.as_deref(), Some("nothing was spawned"));
    }
}
