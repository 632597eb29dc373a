//! What this node answers for itself.

use std::time::Duration;

use slipgate_cluster::Own;

use slipgate_cluster::moves::MoveError;
use slipgate_cluster::scene::SpawnRefusal;
use slipgate_entity::game::{Data, Types};
use slipgate_entity::{OnlineId, SceneId};
use slipgate_proto::admin::{Answer, Cursor, EntityRow, LostRow, Problem, ProblemKind, Question};
use tokio::sync::oneshot;
use tokio::time::timeout;

use super::entities::NOT_HERE;
use super::resolve::Named;
use super::scenes::only_the_manager;
use super::{Office, unavailable};
use crate::chronicle::{Latest, Since};
use crate::directory::{AskLost, LostEntity};
use crate::mailbox::Mailbox;
use crate::scene::{self, AskScene, Despawn, MoveOrder, SceneActor, SceneEntity, SpawnError, SpawnOrder};

impl Office {
    pub(super) async fn answer_here(&self, question: Question) -> Result<Answer, Problem> {
        if wants_a_turn(&question) && !self.around.post.lease().is_held() {
            return Err(paused());
        }
        match question {
            Question::Node | Question::Nodes => Ok(Answer::Nodes(self.report().await)),
            Question::Scenes => Ok(Answer::Scenes(self.scene_reports().await)),
            Question::Entities { scene, limit } => self.list(scene, None, limit).await,
            Question::Lost { limit } => self.lost_here(limit).await,
            Question::Find { text, limit } => self.list(None, Some(text), limit).await,
            Question::Show { entity } => self.show(parse(&entity)?).await,
            Question::Spawn { type_name, scene, label, count, data } => {
                self.spawn(&type_name, &scene, Wanted { label, count, data }).await
            }
            Question::Send { messages, wait, timeout_ms, .. } => self.send_here(messages, wait, timeout_ms).await,
            Question::Ask { message, raw, timeout_ms, .. } => self.ask_here(&message, raw, timeout_ms).await,
            Question::Migrate { entity, to, timeout_ms } => {
                self.migrate_here(parse(&entity)?, &to, Duration::from_millis(timeout_ms)).await
            }
            Question::Despawn { entity, timeout_ms } => {
                self.despawn_here(parse(&entity)?, Duration::from_millis(timeout_ms)).await
            }
            Question::Unpark { entity, timeout_ms } => {
                self.unpark_here(parse(&entity)?, Duration::from_millis(timeout_ms)).await
            }
            Question::OpenScene { .. } => Err(only_the_manager()),
            Question::CloseScene { scene, wait, timeout_ms, .. } => {
                self.close_scene_here(&scene, wait, Duration::from_millis(timeout_ms)).await
            }
            Question::Drain { order, .. } => self.drain_here(order).await,
            Question::Moves { limit } => {
                let (reply, moves) = oneshot::channel();
                self.around.chronicle.tell(Latest { limit, reply });
                Ok(Answer::Moves(moves.await.unwrap_or_default()))
            }
            Question::Events { after, limit } => self.events_here(after.first(), limit).await,
        }
    }

    /// Events after the cursor; without one the newest alone, so that the reader learns where it stands.
    async fn events_here(&self, after: Option<&Cursor>, limit: u32) -> Result<Answer, Problem> {
        let (reply, events) = oneshot::channel();
        self.around.chronicle.tell(Since { after: after.map(|cursor| cursor.number), limit, reply });
        Ok(Answer::Events(events.await.unwrap_or_default()))
    }

    async fn lost_here(&self, limit: u32) -> Result<Answer, Problem> {
        let (reply, lost) = oneshot::channel();
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        self.around.directory.tell(AskLost { limit, reply });
        let view = self.around.post.view();
        let row = |LostEntity { lost, scene }: LostEntity| LostRow {
            entity: lost.entity.to_string(),
            label: lost.label,
            scene: scene.to_string(),
            node: view.node_text(lost.session.node),
            incarnation: lost.session.incarnation.0,
        };
        Ok(Answer::Lost(lost.await.unwrap_or_default().into_iter().map(row).collect()))
    }

    async fn list(&self, scene: Option<String>, matching: Option<String>, limit: u32) -> Result<Answer, Problem> {
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        let only = match scene {
            Some(text) => Some(text.parse::<SceneId>().map_err(|_| no_scene_here(&text))?),
            None => None,
        };
        let mut rows = Vec::new();
        let scenes = self.around.scenes.present();
        for (id, mailbox) in scenes.into_iter().filter(|(id, _)| only.is_none_or(|only| only == *id)) {
            let (reply, answer) = oneshot::channel();
            let matching = matching.clone();
            mailbox.tell(AskScene(scene::Question::List { matching, limit: limit - rows.len(), reply }));
            rows.extend(answer.await.unwrap_or_default().iter().map(|entity| self.row(id, entity)));
        }
        Ok(Answer::Entities(rows))
    }

    pub(super) fn row(&self, scene: SceneId, entity: &SceneEntity) -> EntityRow {
        EntityRow {
            entity: entity.entity.to_string(),
            type_name: entity.stand.identity.type_name.to_string(),
            label: entity.stand.identity.label.clone(),
            scene: self.scene_name(scene),
            node: self.around.name.to_string(),
            state: entity.stand.phase.to_owned(),
            epoch: entity.stand.epoch.as_u64(),
        }
    }

    async fn show(&self, entity: OnlineId) -> Result<Answer, Problem> {
        let (scene, mailbox) = self.scene_of(entity).await?;
        let (reply, answer) = oneshot::channel();
        mailbox.tell(AskScene(scene::Question::Show { entity, reply }));
        let (found, body) = answer.await.ok().flatten().ok_or_else(|| not_here(entity))?;
        Ok(Answer::Entity(self.entity_report(scene, &found, body)))
    }

    async fn spawn(&self, type_name: &str, scene: &str, wanted: Wanted) -> Result<Answer, Problem> {
        let Wanted { label, count, data } = wanted;
        check_spawn(label.as_deref(), count)?;
        if self.around.types.entity(type_name).is_none() {
            return Err(unknown_type(type_name, &self.around.types));
        }
        let data = data.as_deref().map_or(Ok(Data::default()), Data::from_json);
        let data = data.map_err(|error| unfit(type_name, &error.to_string()))?;
        let id = scene.parse::<SceneId>().map_err(|_| no_scene_here(scene))?;
        let mailbox = self.around.scenes.get(id).ok_or_else(|| no_scene_here(scene))?;
        let order = |number: u32| {
            let label = label.as_ref().map(|label| if count > 1 { format!("{label}{number}") } else { label.clone() });
            let (reply, spawned) = oneshot::channel();
            mailbox.tell(AskScene(scene::Question::Spawn(SpawnOrder {
                type_name: type_name.to_owned(),
                data: data.clone(),
                label: label.clone(),
                reply,
            })));
            (label, spawned)
        };
        let orders: Vec<_> = (1..=count).map(order).collect();
        let mut rows = Vec::new();
        for (label, spawned) in orders {
            let entity = match spawned.await.map_err(|_| unavailable("stopping", "the node is stopping"))? {
                Ok(entity) => entity,
                Err(SpawnError::Refused(refusal)) => {
                    return Err(not_spawned(refusal, &self.scene_name(id), &rows, count));
                }
                Err(SpawnError::Unfit { reason }) => {
                    return Err(Problem { state: Some(spawned_so_far(&rows, count)), ..unfit(type_name, &reason) });
                }
            };
            rows.push(EntityRow {
                entity: entity.to_string(),
                type_name: type_name.to_owned(),
                label,
                scene: self.scene_name(id),
                node: self.around.name.to_string(),
                state: "active".to_owned(),
                epoch: slipgate_cluster::Epoch::FIRST.as_u64(),
            });
        }
        Ok(Answer::Spawned(rows))
    }

    async fn migrate_here(&self, entity: OnlineId, to: &str, wait: Duration) -> Result<Answer, Problem> {
        let (scene, mailbox) = self.scene_of(entity).await?;
        let number = to.parse::<SceneId>().map_err(|_| no_scene_here(to))?;
        let to = self.around.post.view().own_of(number).ok_or(number);
        let label = look(&mailbox, entity).await.and_then(|found| found.stand.identity.label);
        let (reply, answer) = oneshot::channel();
        mailbox.tell(AskScene(scene::Question::Migrate(MoveOrder { entity, to, reply })));
        let from = Own::new(self.around.post.me(), scene);
        let here = self.around.post.view().own_text(from);
        let named = Named { entity, label: label.clone() };
        match timeout(wait, answer).await {
            Err(_) => Err(still_moving(&named, wait)),
            Ok(Err(_)) => Err(unavailable("stopping", "the node is stopping")),
            Ok(Ok(Ok(done))) => Ok(Answer::Move(self.move_report(from, label, &done))),
            Ok(Ok(Err(error))) => Err(rejected(&named, &here, &error)),
        }
    }

    async fn despawn_here(&self, entity: OnlineId, wait: Duration) -> Result<Answer, Problem> {
        let (scene, mailbox) = self.scene_of(entity).await?;
        let found = look(&mailbox, entity).await.ok_or_else(|| not_here(entity))?;
        let (named, here) = (named(&found), self.own_text(scene));
        let (reply, answer) = oneshot::channel();
        mailbox.tell(AskScene(scene::Question::Despawn { entity, reply }));
        match timeout(wait, answer).await {
            Err(_) => Err(still_moving(&named, wait)),
            Ok(Err(_)) => Err(unavailable("stopping", "the node is stopping")),
            Ok(Ok(Ok(Despawn::Undecided))) => Err(undecided(&named, &here)),
            Ok(Ok(Ok(Despawn::Done))) => {
                let row = EntityRow { state: "despawned".to_owned(), ..self.row(scene, &found) };
                Ok(Answer::Despawned(row))
            }
            Ok(Ok(Err(error))) => Err(rejected(&named, &here, &error)),
        }
    }

    async fn unpark_here(&self, entity: OnlineId, wait: Duration) -> Result<Answer, Problem> {
        let (scene, mailbox) = self.scene_of(entity).await?;
        let found = look(&mailbox, entity).await.ok_or_else(|| not_here(entity))?;
        let (named, here) = (named(&found), self.own_text(scene));
        let (reply, answer) = oneshot::channel();
        mailbox.tell(AskScene(scene::Question::Unpark { entity, reply }));
        match timeout(wait, answer).await {
            Err(_) => Err(still_moving(&named, wait)),
            Ok(Err(_)) => Err(unavailable("stopping", "the node is stopping")),
            Ok(Ok(Ok(true))) => {
                Ok(Answer::Unparked(EntityRow { state: "active".to_owned(), ..self.row(scene, &found) }))
            }
            Ok(Ok(Ok(false))) => Err(not_parked(&named, &here)),
            Ok(Ok(Err(error))) => Err(rejected(&named, &here, &error)),
        }
    }

    fn own_text(&self, scene: SceneId) -> String {
        self.around.post.view().own_text(Own::new(self.around.post.me(), scene))
    }

    /// The scene of this node that the entity lives in.
    async fn scene_of(&self, entity: OnlineId) -> Result<(SceneId, Mailbox<SceneActor>), Problem> {
        let asked = self.around.scenes.present().into_iter().map(|(id, mailbox)| {
            let (reply, answer) = oneshot::channel();
            mailbox.tell(AskScene(scene::Question::Has { entity, reply }));
            (id, mailbox, answer)
        });
        for (id, mailbox, answer) in asked.collect::<Vec<_>>() {
            if answer.await.unwrap_or(false) {
                return Ok((id, mailbox));
            }
        }
        Err(not_here(entity))
    }
}

/// New entities of one type.
struct Wanted {
    label: Option<String>,
    count: u32,
    /// What their parts begin with, as JSON.
    data: Option<String>,
}

/// How an entity stands in a scene, if it lives there.
async fn look(mailbox: &Mailbox<SceneActor>, entity: OnlineId) -> Option<SceneEntity> {
    let (reply, answer) = oneshot::channel();
    mailbox.tell(AskScene(scene::Question::Show { entity, reply }));
    Some(answer.await.ok().flatten()?.0)
}

fn named(found: &SceneEntity) -> Named {
    Named { entity: found.entity, label: found.stand.identity.label.clone() }
}

/// Whether a question is for a scene or a router to act on, which takes a lease; the others only look.
fn wants_a_turn(question: &Question) -> bool {
    match question {
        Question::Spawn { .. }
        | Question::Send { .. }
        | Question::Ask { .. }
        | Question::Migrate { .. }
        | Question::Despawn { .. }
        | Question::Unpark { .. } => true,
        Question::Node
        | Question::Nodes
        | Question::Scenes
        | Question::Entities { .. }
        | Question::Find { .. }
        | Question::Show { .. }
        | Question::Moves { .. }
        | Question::Lost { .. }
        | Question::Drain { .. }
        | Question::OpenScene { .. }
        | Question::CloseScene { .. }
        | Question::Events { .. } => false,
    }
}

fn paused() -> Problem {
    Problem {
        kind: ProblemKind::Unavailable,
        reason: "paused".to_owned(),
        text: format!("this node is paused: {PAUSED}"),
        state: Some("nothing was done; its entities wait, and go on when the manager answers".to_owned()),
        hint: Some("look at the manager's node: slipgate nodes".to_owned()),
    }
}

fn parse(entity: &str) -> Result<OnlineId, Problem> {
    entity.parse().map_err(|_| Problem {
        kind: ProblemKind::Usage,
        reason: "not_an_id".to_owned(),
        text: format!("{entity:?} is no id"),
        state: None,
        hint: None,
    })
}

fn check_spawn(label: Option<&str>, count: u32) -> Result<(), Problem> {
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

fn not_spawned(refusal: SpawnRefusal, scene: &str, spawned: &[EntityRow], count: u32) -> Problem {
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
        state: Some(spawned_so_far(spawned, count)),
        hint: Some(hint.to_owned()),
    }
}

/// What there is must be named, or nobody could take it away again.
fn spawned_so_far(spawned: &[EntityRow], count: u32) -> String {
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

pub(super) fn no_scene_here(text: &str) -> Problem {
    Problem {
        kind: ProblemKind::NotFound,
        reason: "unknown_scene".to_owned(),
        text: format!("this node has no scene {text}"),
        state: None,
        hint: Some("slipgate scenes".to_owned()),
    }
}

fn not_here(entity: OnlineId) -> Problem {
    Problem {
        kind: ProblemKind::NotFound,
        reason: NOT_HERE.to_owned(),
        text: format!("{entity} is not on this node"),
        state: None,
        hint: None,
    }
}

fn rejected(named: &Named, here: &str, error: &MoveError) -> Problem {
    match error {
        MoveError::NotOwner { .. } => not_here(named.entity),
        MoveError::Migrating { .. } => Problem {
            kind: ProblemKind::Refused,
            reason: "migrating".to_owned(),
            text: format!("a move of {named} is under way, and one at a time is made"),
            state: Some(format!("{named} is in {here} until that one ends")),
            hint: Some(format!("slipgate moves      slipgate show {}", named.entity)),
        },
        MoveError::NoCompany { .. } | MoveError::TooManyCompanions { .. } => Problem {
            kind: ProblemKind::Refused,
            reason: "no_company".to_owned(),
            text: error.to_string(),
            state: Some(format!("{named} is in {here}, and nobody has set out")),
            hint: Some(format!("slipgate show {}", named.entity)),
        },
        MoveError::NoMigration { .. } => Problem {
            kind: ProblemKind::NotFound,
            reason: "no_migration".to_owned(),
            text: error.to_string(),
            state: None,
            hint: Some("slipgate moves".to_owned()),
        },
    }
}

fn not_parked(named: &Named, here: &str) -> Problem {
    Problem {
        kind: ProblemKind::Refused,
        reason: "not_parked".to_owned(),
        text: format!("{named} is not parked"),
        state: Some(format!("{named} is in {here} and takes messages")),
        hint: Some(format!("slipgate show {}", named.entity)),
    }
}

fn undecided(named: &Named, here: &str) -> Problem {
    Problem {
        kind: ProblemKind::Timeout,
        reason: "undecided".to_owned(),
        text: format!("the home of {named} has not answered yet, and only it can end an entity"),
        state: Some(format!("{named} takes no turns in {here}; it is gone for good as soon as its home answers")),
        hint: Some(format!("slipgate show {}      slipgate nodes", named.entity)),
    }
}

fn still_moving(named: &Named, wait: Duration) -> Problem {
    Problem {
        kind: ProblemKind::Timeout,
        reason: "timeout".to_owned(),
        text: format!("no outcome within {} ms", wait.as_millis()),
        state: Some(format!("the request about {named} is under way, and its outcome follows")),
        hint: Some("slipgate moves".to_owned()),
    }
}

/// Why a node without a lease does nothing.
pub(super) const PAUSED: &str = "the manager has not answered it for a whole lease";
/// Entities in one spawn.
const SPAWN_MAX: u32 = 10_000;
/// Bytes of a label.
const LABEL_MAX: usize = 64;
