//! Scenes that are made at run time, and closed again.
//!
//! ```text
//!   OpenScene --> name free? node there? --> Opening --SceneIs(Opened)--> Open
//!                                              | NotOpened                 | CloseScene
//!                                              v                           v
//!                            gone <--Forgotten-- Over <--SceneIs(Cleared)-- Closing
//! ```
//!
//! A scene that is over keeps its row in the view, so that whoever rebuilds a home asks it, too, for as long as it
//! remembers where everybody went; but its name is free.
//!
//! Each step is on disk and in the view before anybody acts on it. The node that has the scene reads the view, and
//! says how far it is until the view agrees; so no step is lost with a message or with the manager's process. A scene
//! ends with the life of its node: what was in it is lost, and the next life knows nothing of it.
//!
//! **Which node**, if none is named: of those that are there and not about to stop, one that declares scenes before one
//! that does not (the manager's node is best kept free), then the one with the fewest scenes, then the lowest number.
//!
//! **Which number**: one of those that are kept for scenes made at run time, used least often so far, then the lowest;
//! in the next generation. So a number comes again only after all the others.
//!
//! Keeps: a name has one scene; a scene's number and generation are given once; a request that is repeated makes
//! nothing twice: the latest ones are remembered with what they made, while a request may still be on its way.
//! Leaves out: moving everybody out (`evacuation`), which is the node's.

use std::collections::{BTreeSet, VecDeque};

use slipgate_entity::SceneId;

use super::{Manager, ManagerEvent, ManagerReply, Output, SceneEnd, SceneNews, SceneRefusal, Write};
use crate::bounds::{SCENE_NUMBERS_MADE, SCENES};
use crate::view::{Clearing, Made, ScenePlacement, SceneStage};
use crate::{NodeId, NodeName, Session};

/// A scene that somebody wants.
#[derive(Debug)]
pub(super) struct SceneWish {
    pub(super) name: NodeName,
    pub(super) node: Option<NodeId>,
    pub(super) capacity: u32,
}

/// The latest requests that made a scene.
#[derive(Clone, Debug, Default)]
pub(super) struct MadeLately(VecDeque<(Made, SceneId)>);

impl MadeLately {
    fn scene(&self, made: Made) -> Option<SceneId> {
        self.0.iter().find(|(known, _)| *known == made).map(|(_, scene)| *scene)
    }

    fn note(&mut self, made: Made, scene: SceneId) {
        self.0.push_back((made, scene));
        if self.0.len() > MADE_LATELY_MAX {
            self.0.pop_front();
        }
    }
}

impl Manager {
    pub(super) fn open_scene(&mut self, made: Made, wanted: SceneWish, out: &mut Vec<Output>) {
        let placement = match self.place_scene(made, wanted) {
            Ok(Placing::Anew(placement)) => placement,
            Ok(Placing::Before(scene)) => return answer(made, Ok(scene), out),
            Err(refusal) => return answer(made, Err(refusal), out),
        };
        self.made_lately.note(made, placement.id);
        let number = Write::SceneNumber { number: placement.id.number(), generation: placement.id.generation() };
        self.change_scene(placement.clone(), vec![number], out);
        answer(made, Ok(placement.id), out);
        out.push(Output::Event(ManagerEvent::SceneOpening { scene: placement }));
    }

    fn place_scene(&self, made: Made, wanted: SceneWish) -> Result<Placing, SceneRefusal> {
        let view = &self.stored.view;
        let SceneWish { name, node, capacity } = wanted;
        let holder = view.scene_named(name.as_str());
        let by_this = holder.filter(|holder| holder.made == Some(made)).map(|holder| holder.id);
        if let Some(scene) = by_this.or_else(|| self.made_lately.scene(made)) {
            return Ok(Placing::Before(scene));
        }
        if let Some(holder) = holder {
            return Err(SceneRefusal::NameTaken { name, node: self.name_of(holder.node) });
        }
        if capacity == 0 {
            return Err(SceneRefusal::NoCapacity);
        }
        let node = match node {
            Some(node) => self.check_node(node)?,
            None => self.choose_node().ok_or(SceneRefusal::NoNode)?,
        };
        let too_many = SceneRefusal::TooMany { scenes: view.scenes.len() };
        let id = self.next_scene().filter(|_| view.scenes.len() < SCENES).ok_or(too_many)?;
        let stage = SceneStage::Opening;
        Ok(Placing::Anew(ScenePlacement { id, name, node, capacity, stage, made: Some(made) }))
    }

    fn check_node(&self, node: NodeId) -> Result<NodeId, SceneRefusal> {
        let view = &self.stored.view;
        let gone = || SceneRefusal::NodeGone { node: view.node_text(node) };
        let member = view.members.get(&node).filter(|member| !view.is_dead(member.session)).ok_or_else(gone)?;
        if view.is_draining(member.session) {
            return Err(SceneRefusal::NodeDrains { node: member.name.clone() });
        }
        Ok(node)
    }

    fn choose_node(&self) -> Option<NodeId> {
        let view = &self.stored.view;
        let there = view.members.keys().copied().filter(|node| self.check_node(*node).is_ok());
        there.min_by_key(|node| {
            let scenes = || view.present_scenes().filter(|scene| scene.node == *node);
            let declares = scenes().any(|scene| scene.made.is_none());
            (!declares, scenes().count(), *node)
        })
    }

    /// The next generation of the number that was used least often and is free.
    fn next_scene(&self) -> Option<SceneId> {
        let taken: BTreeSet<u16> = self.stored.view.scenes.keys().map(|id| id.number()).collect();
        let mut least: Option<(u16, u16)> = None;
        for number in (SCENE_NUMBERS_MADE..=u16::MAX).filter(|number| !taken.contains(number)) {
            let used = self.stored.scene_numbers.get(&number).copied().unwrap_or(0);
            if used == 0 {
                return Some(SceneId::of(number, 1));
            }
            if used < u16::MAX && least.is_none_or(|(generation, _)| used < generation) {
                least = Some((used, number));
            }
        }
        least.map(|(used, number)| SceneId::of(number, used + 1))
    }

    pub(super) fn close_scene(&mut self, asked: Made, scene: SceneId, clearing: Clearing, out: &mut Vec<Output>) {
        let Some(placement) = self.stored.view.scenes.get(&scene) else {
            // Of one that was there once, the wish has come true already.
            let last = self.stored.scene_numbers.get(&scene.number()).copied().unwrap_or(0);
            let was_there = (1..=last).contains(&scene.generation());
            return answer(asked, if was_there { Ok(scene) } else { Err(SceneRefusal::NoScene { scene }) }, out);
        };
        if placement.made.is_none() {
            let (name, node) = (placement.name.clone(), self.name_of(placement.node));
            return answer(asked, Err(SceneRefusal::Declared { name, node }), out);
        }
        // Whoever is to be despawned is not to be moved any more.
        let clearing = match placement.stage {
            SceneStage::Opening | SceneStage::Open => clearing,
            SceneStage::Closing(before) => before.max(clearing),
            SceneStage::Over => return answer(asked, Ok(scene), out),
        };
        let stage = SceneStage::Closing(clearing);
        if placement.stage != stage {
            let placement = ScenePlacement { stage, ..placement.clone() };
            self.change_scene(placement.clone(), Vec::new(), out);
            out.push(Output::Event(ManagerEvent::SceneClosing { scene: placement }));
        }
        answer(asked, Ok(scene), out);
    }

    /// A node tells how far a scene of its own is. What the view says already means that the view was lost on its way.
    pub(super) fn scene_is(&mut self, session: Session, scene: SceneId, news: SceneNews, out: &mut Vec<Output>) {
        let of_this_node = |placement: &&ScenePlacement| placement.node == session.node && placement.made.is_some();
        let known = self.stored.view.scenes.get(&scene).filter(of_this_node).cloned();
        match (known, news) {
            (Some(placement), SceneNews::Opened) if placement.stage == SceneStage::Opening => {
                let placement = ScenePlacement { stage: SceneStage::Open, ..placement };
                self.change_scene(placement.clone(), Vec::new(), out);
                out.push(Output::Event(ManagerEvent::SceneOpened { scene: placement }));
            }
            (Some(placement), SceneNews::NotOpened) => self.forget_scene(placement, out),
            (Some(placement), SceneNews::Cleared) if matches!(placement.stage, SceneStage::Closing(_)) => {
                let placement = ScenePlacement { stage: SceneStage::Over, ..placement };
                self.change_scene(placement.clone(), Vec::new(), out);
                out.push(Output::Event(ManagerEvent::SceneOver { scene: placement, why: SceneEnd::Closed }));
            }
            (Some(placement), SceneNews::Forgotten) => self.forget_scene(placement, out),
            (Some(_) | None, _) => {
                out.push(Output::Tell { to: session, reply: ManagerReply::View(self.told.clone()) });
            }
        }
    }

    /// The scene is not there any more, or never was.
    fn forget_scene(&mut self, scene: ScenePlacement, out: &mut Vec<Output>) {
        self.commit(vec![Write::SceneGone(scene.id)], out);
        out.push(Output::TellAll(ManagerReply::View(self.told.clone())));
        let why = match scene.stage {
            SceneStage::Over => return,
            SceneStage::Opening => SceneEnd::NotOpened,
            SceneStage::Open | SceneStage::Closing(_) => SceneEnd::Closed,
        };
        out.push(Output::Event(ManagerEvent::SceneOver { scene, why }));
    }

    fn change_scene(&mut self, placement: ScenePlacement, mut writes: Vec<Write>, out: &mut Vec<Output>) {
        writes.push(Write::Scene(placement));
        self.commit(writes, out);
        out.push(Output::TellAll(ManagerReply::View(self.told.clone())));
    }

    /// Scenes that were made at run time in lives that are over now.
    pub(super) fn scenes_that_end_with(&self, sessions: &[Session]) -> Vec<ScenePlacement> {
        let view = &self.stored.view;
        let is_over = |node| view.members.get(&node).is_some_and(|member| sessions.contains(&member.session));
        view.scenes.values().filter(|scene| scene.made.is_some() && is_over(scene.node)).cloned().collect()
    }

    fn name_of(&self, node: NodeId) -> NodeName {
        self.stored.view.members.get(&node).expect("a scene is placed on a member").name.clone()
    }
}

/// Where a scene stands that somebody wants.
enum Placing {
    /// It is to be made.
    Anew(ScenePlacement),
    /// This very request has made it already.
    Before(SceneId),
}

/// What is told of scenes that ended with their nodes; of declared ones nothing, for they may come again.
pub(super) fn events_of_lost_scenes(scenes: Vec<ScenePlacement>) -> impl Iterator<Item = Output> {
    let made = scenes.into_iter().filter(|scene| scene.made.is_some() && scene.stage != SceneStage::Over);
    made.map(|scene| Output::Event(ManagerEvent::SceneOver { scene, why: SceneEnd::NodeGone }))
}

fn answer(Made { by, request }: Made, result: Result<SceneId, SceneRefusal>, out: &mut Vec<Output>) {
    out.push(Output::Tell { to: by, reply: ManagerReply::Scene { session: by, request, result } });
}

/// Requests remembered: more than are answered while one of them is on its way.
const MADE_LATELY_MAX: usize = 1024;
