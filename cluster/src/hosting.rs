//! A node's side of the scenes that are made at run time: what the view says, and what is there.
//!
//! ```text
//!   View --> Opening, not there     --> Open, Opened to the manager until the view says Open
//!            Closing, open here     --> Close, and an attempt to clear it: Evacuate or Despawn
//!                                                 ... AttemptEnded: somebody is left, and another may begin
//!                                                 ... Cleared --> Over, Cleared until the view says so
//!                                                 ... Forgotten --> End, and Forgotten until the row is gone
//! ```
//!
//! The view is compared with what is there whenever either changes, and what the manager does not know yet is said again
//! as long as it does not. So a step is never lost, and none is taken twice.
//!
//! Keeps: a scene is opened once in a session, whatever old view comes late; its number is not told to be free before
//! the scene has ended; none is opened on a node that is about to stop; a handle of a later scene is never one that an
//! earlier scene of its number gave out here; a scene that is cleared by moving everybody out learns of the room that
//! others have while it is.
//! Leaves out: declared scenes, which are there from start to stop; who moves where (`evacuation`).

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use slipgate_entity::SceneId;

use crate::bounds::SCENES;
use crate::evacuation::Target;
use crate::manager::{ManagerRequest, SceneNews};
use crate::view::{Clearing, ScenePlacement, SceneStage};
use crate::{Now, Session, View};

/// What happens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Input {
    /// The cluster has changed.
    View(Arc<View>),
    /// The scenes that take newcomers, as they were counted on request.
    Room(Vec<Target>),
    /// An attempt to clear a scene is over, and somebody is left.
    AttemptEnded(SceneId),
    /// Somebody waits for the end of a scene, or for that of an attempt to clear it. Where none is under way, another
    /// one begins.
    Awaited(SceneId),
    /// Nobody is left in a scene that was to be closed.
    Cleared {
        /// Which scene.
        scene: SceneId,
        /// The highest generation of a handle that it gave out.
        highest_generation: u32,
    },
    /// Nor does it know any more where everybody went.
    Forgotten(SceneId),
    /// The node is about to stop: no scene is opened any more.
    Drain,
    /// It goes on after all.
    Resume,
    /// Time passes.
    Tick,
}

/// What is to be done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Output {
    /// Open a scene.
    Open {
        /// What the view says of it.
        placement: ScenePlacement,
        /// The generation that its first handles have.
        first_generation: u32,
    },
    /// Tell people that a scene is not opened: there are as many as there may be, or its number is used up here.
    CannotOpen(ScenePlacement),
    /// Let nobody into a scene any more.
    Close(SceneId),
    /// Find out which scenes take newcomers, and how much room they have.
    CountRoom,
    /// Begin to move everybody out of a scene.
    Evacuate {
        /// Which scene.
        scene: SceneId,
        /// Where they can go.
        targets: Vec<Target>,
        /// When the attempt is over at the latest.
        deadline: Now,
    },
    /// Tell a scene that moves everybody out where they can go now.
    Retarget {
        /// Which scene.
        scene: SceneId,
        /// Where they can go.
        targets: Vec<Target>,
    },
    /// Begin to despawn everybody in a scene.
    Despawn {
        /// Which scene.
        scene: SceneId,
        /// When the attempt is over at the latest.
        deadline: Now,
    },
    /// Tell whoever waits for a scene that an attempt is over.
    Wake(SceneId),
    /// Nobody is in a scene any more: it is told of as over, and so is whoever waits for it.
    Over(SceneId),
    /// End a scene: nothing is left of it.
    End(SceneId),
    /// Tell the manager.
    Ask(ManagerRequest),
}

/// The scenes of a session that are made at run time.
#[derive(Clone, Debug)]
pub struct Hosting {
    me: Session,
    view: Arc<View>,
    scenes: BTreeMap<SceneId, Hosted>,
    /// By number: the highest generation of a handle that a scene of it gave out here.
    generations: BTreeMap<u16, u32>,
    /// When those that move everybody out hear of room again.
    count_at: Now,
    /// Whether the node is about to stop.
    drains: bool,
}

/// A scene that the view has placed here.
#[derive(Clone, Debug)]
struct Hosted {
    state: State,
    /// When the manager is told again, while the view says otherwise.
    tell_at: Now,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Open,
    NotOpened,
    Closing {
        clearing: Clearing,
        attempt: Attempt,
    },
    Cleared,
    /// Not there any more; remembered until the view agrees.
    Forgotten,
}

/// How far it is with clearing a scene.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Attempt {
    /// It is not known yet where there is room.
    Planned,
    UnderWay,
    /// Nothing happens before somebody asks for it.
    Over,
    /// Another one begins then.
    OverUntil(Now),
}

impl Hosting {
    /// Those of a session that has just been welcomed: none.
    #[must_use]
    pub fn new(me: Session) -> Self {
        let (scenes, generations) = (BTreeMap::new(), BTreeMap::new());
        Self { me, view: Arc::default(), scenes, generations, count_at: Now(0), drains: false }
    }

    /// Takes one input and appends what should follow.
    pub fn handle(&mut self, input: Input, now: Now, out: &mut Vec<Output>) {
        match input {
            Input::View(view) => {
                if view.version < self.view.version {
                    return;
                }
                self.view = view;
            }
            Input::Room(targets) => self.spread(&targets, now, out),
            Input::AttemptEnded(scene) => self.attempt_ended(scene, now, out),
            Input::Awaited(scene) => self.begin_again(scene, now, out),
            Input::Cleared { scene, highest_generation } => {
                self.generations.insert(scene.number(), highest_generation);
                self.change(scene, State::Cleared, now);
                out.push(Output::Over(scene));
            }
            Input::Forgotten(scene) => {
                self.change(scene, State::Forgotten, now);
                out.push(Output::End(scene));
            }
            Input::Drain => self.drains = true,
            Input::Resume => self.drains = false,
            Input::Tick => self.tick(now, out),
        }
        self.compare(now, out);
    }

    /// How many are there, those included that are over.
    #[must_use]
    pub fn len(&self) -> usize {
        self.scenes.values().filter(|hosted| !matches!(hosted.state, State::NotOpened | State::Forgotten)).count()
    }

    /// Whether none is there.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn change(&mut self, scene: SceneId, state: State, now: Now) {
        let hosted = self.scenes.get_mut(&scene);
        hosted.expect("only a scene that was opened here has news").change(state, now);
    }

    /// Does what the view asks for, and tells what it does not know yet.
    fn compare(&mut self, now: Now, out: &mut Vec<Output>) {
        let view = self.view.clone();
        if !view.is_live(self.me) {
            // What it says of this node is about another life.
            return;
        }
        let node = self.me.node;
        let is_here = |placement: &&ScenePlacement| placement.node == node && placement.made.is_some();
        for placement in view.scenes.values().filter(is_here) {
            self.compare_one(placement, now, out);
        }
        self.scenes.retain(|scene, hosted| {
            let is_there = !matches!(hosted.state, State::NotOpened | State::Forgotten);
            is_there || view.scenes.contains_key(scene)
        });
    }

    fn compare_one(&mut self, placement: &ScenePlacement, now: Now, out: &mut Vec<Output>) {
        let scene = placement.id;
        let Some(hosted) = self.scenes.get_mut(&scene) else {
            let state = match placement.stage {
                // The manager places none on a node that drains, but may have before it knew.
                SceneStage::Opening if self.drains => State::NotOpened,
                SceneStage::Opening => self.open(placement, out),
                // It was closed before this node had heard of it. An open one is of another mind's view.
                SceneStage::Open | SceneStage::Closing(_) | SceneStage::Over => State::Forgotten,
            };
            self.scenes.insert(scene, Hosted { state, tell_at: now });
            return self.tell(placement, now, out);
        };
        if let SceneStage::Closing(clearing) = placement.stage {
            let begins = match hosted.state {
                State::Open => true,
                State::Closing { clearing: before, .. } => before < clearing,
                State::NotOpened | State::Cleared | State::Forgotten => false,
            };
            if begins {
                hosted.change(State::Closing { clearing, attempt: Attempt::Over }, now);
                out.push(Output::Close(scene));
                self.begin_again(scene, now, out);
            }
        }
        self.tell(placement, now, out);
    }

    fn open(&self, placement: &ScenePlacement, out: &mut Vec<Output>) -> State {
        let placement = placement.clone();
        let highest = self.generations.get(&placement.id.number()).copied().unwrap_or(0);
        match highest.checked_add(1).filter(|_| self.len() < SCENES) {
            Some(first_generation) => {
                out.push(Output::Open { placement, first_generation });
                State::Open
            }
            None => {
                out.push(Output::CannotOpen(placement));
                State::NotOpened
            }
        }
    }

    /// Begins another attempt to clear a scene, unless one is under way.
    fn begin_again(&mut self, scene: SceneId, now: Now, out: &mut Vec<Output>) {
        let Some(Hosted { state: State::Closing { clearing, attempt }, .. }) = self.scenes.get_mut(&scene) else {
            return;
        };
        match (&attempt, clearing) {
            (Attempt::Planned | Attempt::UnderWay, _) => {}
            (Attempt::Over | Attempt::OverUntil(_), Clearing::Move) => {
                *attempt = Attempt::Planned;
                out.push(Output::CountRoom);
            }
            (Attempt::Over | Attempt::OverUntil(_), Clearing::Despawn) => {
                *attempt = Attempt::UnderWay;
                out.push(Output::Despawn { scene, deadline: now + ATTEMPT });
            }
        }
    }

    /// It is known where there is room: for attempts that waited for it, and for those under way.
    fn spread(&mut self, targets: &[Target], now: Now, out: &mut Vec<Output>) {
        for (&scene, hosted) in &mut self.scenes {
            let State::Closing { clearing: Clearing::Move, attempt } = &mut hosted.state else { continue };
            let targets = targets.to_vec();
            match attempt {
                Attempt::Planned => {
                    *attempt = Attempt::UnderWay;
                    out.push(Output::Evacuate { scene, targets, deadline: now + ATTEMPT });
                }
                Attempt::UnderWay => out.push(Output::Retarget { scene, targets }),
                Attempt::Over | Attempt::OverUntil(_) => {}
            }
        }
    }

    /// What was despawned once is not asked for its wish again: a home did not answer in time, and is asked anew.
    fn attempt_ended(&mut self, scene: SceneId, now: Now, out: &mut Vec<Output>) {
        if let Some(Hosted { state: State::Closing { clearing, attempt: attempt @ Attempt::UnderWay }, .. }) =
            self.scenes.get_mut(&scene)
        {
            *attempt = match clearing {
                Clearing::Move => Attempt::Over,
                Clearing::Despawn => Attempt::OverUntil(now + AGAIN),
            };
            out.push(Output::Wake(scene));
        }
    }

    fn tick(&mut self, now: Now, out: &mut Vec<Output>) {
        let attempt = |hosted: &Hosted| match hosted.state {
            State::Closing { clearing, attempt } => Some((clearing, attempt)),
            State::Open | State::NotOpened | State::Cleared | State::Forgotten => None,
        };
        let is_due =
            |hosted: &Hosted| matches!(attempt(hosted), Some((_, Attempt::OverUntil(again_at))) if again_at <= now);
        let due: Vec<_> = self.scenes.iter().filter(|(_, hosted)| is_due(hosted)).map(|(scene, _)| *scene).collect();
        for scene in due {
            self.begin_again(scene, now, out);
        }
        let moves =
            |hosted: &Hosted| matches!(attempt(hosted), Some((Clearing::Move, Attempt::Planned | Attempt::UnderWay)));
        if self.count_at <= now {
            self.count_at = now + COUNT_EVERY;
            out.extend(self.scenes.values().any(moves).then_some(Output::CountRoom));
        }
    }

    /// Tells the manager what the view does not say yet; not more often than makes sense.
    fn tell(&mut self, placement: &ScenePlacement, now: Now, out: &mut Vec<Output>) {
        let hosted = self.scenes.get_mut(&placement.id).expect("the caller has looked");
        let news = match (hosted.state, placement.stage) {
            (State::Open, SceneStage::Opening) => SceneNews::Opened,
            (State::NotOpened, _) => SceneNews::NotOpened,
            (State::Cleared, SceneStage::Closing(_)) => SceneNews::Cleared,
            (State::Forgotten, _) => SceneNews::Forgotten,
            (State::Open | State::Closing { .. } | State::Cleared, _) => return,
        };
        if now < hosted.tell_at {
            return;
        }
        hosted.tell_at = now + TELL_EVERY;
        out.push(Output::Ask(ManagerRequest::SceneIs { session: self.me, scene: placement.id, news }));
    }
}

impl Hosted {
    fn change(&mut self, state: State, now: Now) {
        *self = Self { state, tell_at: now };
    }
}

/// Between two times that the manager is told the same: above a round trip and its write to disk.
const TELL_EVERY: Duration = Duration::from_millis(500);
/// Between two counts of the room that others have.
const COUNT_EVERY: Duration = Duration::from_secs(2);
/// How long one attempt to clear a scene may take: a scene of 100,000 takes some seconds, if others have room.
const ATTEMPT: Duration = Duration::from_secs(60);
/// How long a despawn waits that had no answer in time.
const AGAIN: Duration = Duration::from_secs(1);

#[cfg(test)]
mod tests;
