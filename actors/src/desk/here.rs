//! What this node answers for itself.

use std::time::Duration;

use slipgate_cluster::Own;

use slipgate_cluster::moves::MoveError;
use slipgate_entity::{OnlineId, SceneId};
use slipgate_proto::admin::{Answer, Cursor, EntityRow, LostRow, Problem, ProblemKind, Question};
use tokio::sync::oneshot;
use tokio::time::timeout;

use super::entities::NOT_HERE;
use super::resolve::Named;
use super::scenes::only_the_manager;
use super::spawning::Wanted;
use super::{Office, cut_short};
use crate::chronicle::{Latest, Since};
use crate::directory::{AskLost, LostEntity};
use crate::labels::Labels;
use crate::mailbox::Mailbox;
use crate::scene::{self, AskScene, Despawn, MoveOrder, SceneActor, SceneEntity, Which};

impl Office {
    pub(super) async fn answer_here(&self, question: Question) -> Result<Answer, Problem> {
        if wants_a_turn(&question) && !self.around.post.lease().is_held() {
            return Err(paused());
        }
        match question {
            Question::Node | Question::Nodes => Ok(Answer::Nodes(self.report().await)),
            Question::Scenes => Ok(Answer::Scenes(self.scene_reports().await)),
            Question::Entities { scene, type_name, limit } => {
                self.check_type(type_name.as_deref())?;
                self.list(scene, type_name.map_or(Which::All, Which::OfType), limit).await
            }
            Question::Lost { limit } => self.lost_here(limit).await,
            Question::Find { text, limit } => self.list(None, Which::Matching(text), limit).await,
            Question::Labelled { label, count, limit } => {
                self.list(None, Which::Labelled(Labels { label, count }), limit).await
            }
            Question::Show { entity } => self.show(parse(&entity)?).await,
            Question::Spawn { type_name, scene, label, count, data, persist, player } => {
                self.spawn(&type_name, &scene, Wanted { label, count, data, persist, player }).await
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

    async fn list(&self, scene: Option<String>, which: Which, limit: u32) -> Result<Answer, Problem> {
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        let only = match scene {
            Some(text) => Some(text.parse::<SceneId>().map_err(|_| no_scene_here(&text))?),
            None => None,
        };
        let mut rows = Vec::new();
        let scenes = self.around.scenes.present();
        for (id, mailbox) in scenes.into_iter().filter(|(id, _)| only.is_none_or(|only| only == *id)) {
            let (reply, answer) = oneshot::channel();
            let which = which.clone();
            mailbox.tell(AskScene(scene::Question::List { which, limit: limit - rows.len(), reply }));
            rows.extend(answer.await.unwrap_or_default().iter().map(|entity| self.row(id, entity)));
        }
        Ok(Answer::Entities(rows))
    }

    pub(super) fn row(&self, scene: SceneId, entity: &SceneEntity) -> EntityRow {
        scene::entity_row(Own::new(self.around.post.me(), scene), entity, &self.around.post.view())
    }

    async fn show(&self, entity: OnlineId) -> Result<Answer, Problem> {
        let (scene, mailbox) = self.scene_of(entity).await?;
        let (reply, answer) = oneshot::channel();
        mailbox.tell(AskScene(scene::Question::Show { entity, reply }));
        let (found, body) = answer.await.ok().flatten().ok_or_else(|| not_here(entity))?;
        let at = Own::new(self.around.post.me(), scene);
        Ok(Answer::Entity(scene::entity_report(at, &found, body, &self.around.post.view())))
    }

    async fn migrate_here(&self, entity: OnlineId, to: &str, wait: Duration) -> Result<Answer, Problem> {
        let (scene, mailbox) = self.scene_of(entity).await?;
        let number = to.parse::<SceneId>().map_err(|_| no_scene_here(to))?;
        let to = self.around.post.view().own_of(number).ok_or(number);
        let label = look(&mailbox, entity).await.and_then(|found| found.stand.identity.label);
        let (reply, answer) = oneshot::channel();
        mailbox.tell(AskScene(scene::Question::Migrate(MoveOrder { entity, to, reply })));
        let from = Own::new(self.around.post.me(), scene);
        let view = self.around.post.view();
        let (here, named) = (view.own_text(from), Named { entity, label: label.clone() });
        match timeout(wait, answer).await {
            Err(_) => Err(still_moving(&named, wait)),
            Ok(Err(_)) => Err(cut_short()),
            Ok(Ok(Ok(done))) => {
                let unix_ms = self.around.clock.unix_ms();
                Ok(Answer::Move(scene::move_report((from, label), &done, unix_ms, &self.around.post.view())))
            }
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
            Ok(Err(_)) => Err(cut_short()),
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
            Ok(Err(_)) => Err(cut_short()),
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
        | Question::Labelled { .. }
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
            text: format!("{named} does not set out: {error}"),
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
