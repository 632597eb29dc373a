//! A node's side of the scenes that are made at run time: what the view says, and what is there.
//!
//! ```text
//!   View --> Opening, not there     --> Open      ... Opened --> Opened, until the view says Open
//!            Closing, open here     --> Close     ... Cleared --> Cleared, until the view says Over
//!                                                 ... Forgotten --> End, and Forgotten until the row is gone
//! ```
//!
//! The view is compared with what is there whenever either changes, and what the manager does not know yet is said again
//! as long as it does not. So a step is never lost, and none is taken twice.
//!
//! Keeps: a scene is opened once in a session, whatever old view comes late; its number is not told to be free before
//! the scene has ended.
//! Leaves out: declared scenes, which are there from start to stop; how a scene is cleared (`evacuation`).

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use slipgate_entity::SceneId;

use crate::manager::{ManagerRequest, SceneNews};
use crate::view::{Clearing, ScenePlacement, SceneStage};
use crate::{Now, Session, View};

/// What happens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Input {
    /// The cluster has changed.
    View(Arc<View>),
    /// A scene that was to be opened is there.
    Opened(SceneId),
    /// A scene that was to be opened cannot be.
    NotOpened(SceneId),
    /// Nobody is left in a scene that was to be closed.
    Cleared(SceneId),
    /// Nor does it know any more where everybody went.
    Forgotten(SceneId),
    /// Time passes.
    Tick,
}

/// What is to be done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Output {
    /// Open a scene. Answer at once.
    Open(ScenePlacement),
    /// Let nobody into a scene any more, and clear it. May come again, with another way.
    Close {
        /// Which scene.
        scene: SceneId,
        /// What becomes of those who are in it.
        clearing: Clearing,
    },
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
    Opening,
    Open,
    NotOpened,
    Closing(Clearing),
    Cleared,
    /// Not there any more; remembered until the view agrees.
    Forgotten,
}

impl Hosting {
    /// Those of a session that has just been welcomed: none.
    #[must_use]
    pub fn new(me: Session) -> Self {
        Self { me, view: Arc::default(), scenes: BTreeMap::new() }
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
            Input::Opened(scene) => self.change(scene, State::Open, now),
            Input::NotOpened(scene) => self.change(scene, State::NotOpened, now),
            Input::Cleared(scene) => self.change(scene, State::Cleared, now),
            Input::Forgotten(scene) => {
                self.change(scene, State::Forgotten, now);
                out.push(Output::End(scene));
            }
            Input::Tick => {}
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
                SceneStage::Opening => {
                    out.push(Output::Open(placement.clone()));
                    State::Opening
                }
                // It was closed before this node had heard of it. An open one is of another mind's view.
                SceneStage::Open | SceneStage::Closing(_) | SceneStage::Over => State::Forgotten,
            };
            self.scenes.insert(scene, Hosted { state, tell_at: now });
            return self.tell(placement, now, out);
        };
        if let SceneStage::Closing(clearing) = placement.stage {
            let begins = match hosted.state {
                State::Open => true,
                State::Closing(before) => before < clearing,
                State::Opening | State::NotOpened | State::Cleared | State::Forgotten => false,
            };
            if begins {
                hosted.change(State::Closing(clearing), now);
                out.push(Output::Close { scene, clearing });
            }
        }
        self.tell(placement, now, out);
    }

    /// Tells the manager what the view does not say yet; not more often than makes sense.
    fn tell(&mut self, placement: &ScenePlacement, now: Now, out: &mut Vec<Output>) {
        let hosted = self.scenes.get_mut(&placement.id).expect("the caller has looked");
        let news = match (hosted.state, placement.stage) {
            (State::Open, SceneStage::Opening) => SceneNews::Opened,
            (State::NotOpened, _) => SceneNews::NotOpened,
            (State::Cleared, SceneStage::Closing(_)) => SceneNews::Cleared,
            (State::Forgotten, _) => SceneNews::Forgotten,
            (State::Opening | State::Open | State::Closing(_) | State::Cleared, _) => return,
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::{Made, Member};
    use crate::{NodeName, Now};

    const DUNGEON: SceneId = SceneId(0x1_8000);

    struct World {
        hosting: Hosting,
        now: Now,
        version: u64,
    }

    impl World {
        fn new() -> Self {
            Self { hosting: Hosting::new(me()), now: Now(0), version: 0 }
        }

        /// Scenes are opened at once.
        fn give(&mut self, input: Input) -> Vec<Output> {
            let mut out = Vec::new();
            self.hosting.handle(input, self.now, &mut out);
            if out.iter().any(|output| matches!(output, Output::Open(_))) {
                out.extend(self.give(Input::Opened(DUNGEON)));
            }
            out
        }

        /// The next view, with the dungeon at this stage; none: without it.
        fn view(&mut self, stage: Option<SceneStage>) -> Vec<Output> {
            self.version += 1;
            self.give(Input::View(view(self.version, stage)))
        }

        /// With the dungeon open, as the view says.
        fn open() -> Self {
            let mut world = Self::new();
            world.view(Some(SceneStage::Opening));
            assert_eq!(world.view(Some(SceneStage::Open)), []);
            world
        }

        fn pass_ms(&mut self, ms: u64) -> Vec<Output> {
            self.now = Now(self.now.0 + ms * 1000);
            self.give(Input::Tick)
        }
    }

    fn me() -> Session {
        Session::new(2, 5)
    }

    fn placement(stage: SceneStage) -> ScenePlacement {
        let made = Some(Made { by: Session::new(1, 1), request: 1 });
        let name = NodeName::new("dungeon").expect("a name");
        ScenePlacement { stage, made, ..ScenePlacement::declared(DUNGEON, name, me().node, 50) }
    }

    fn view(version: u64, stage: Option<SceneStage>) -> Arc<View> {
        let name = NodeName::new("n2").expect("a name");
        let member = Member { session: me(), name: name.clone(), address: String::new(), admin: String::new() };
        let declared = ScenePlacement::declared(SceneId(1), name, me().node, 9);
        let scenes = stage.map(placement).into_iter().chain([declared]).map(|scene| (scene.id, scene)).collect();
        Arc::new(View { version, members: [(me().node, member)].into(), scenes, ..View::default() })
    }

    fn tells(news: SceneNews) -> Output {
        Output::Ask(ManagerRequest::SceneIs { session: me(), scene: DUNGEON, news })
    }

    #[test]
    fn a_scene_is_opened_once_and_the_manager_is_told_until_the_view_says_so() {
        let mut world = World::new();
        let opens = Output::Open(placement(SceneStage::Opening));
        assert_eq!(world.view(Some(SceneStage::Opening)), [opens, tells(SceneNews::Opened)]);
        assert_eq!(world.view(Some(SceneStage::Opening)), []);
        assert_eq!(world.pass_ms(499), []);
        assert_eq!(world.pass_ms(1), [tells(SceneNews::Opened)]);
        assert_eq!(world.view(Some(SceneStage::Open)), []);
        assert_eq!(world.pass_ms(60_000), []);
    }

    #[test]
    fn a_scene_that_closes_is_cleared_then_over_then_forgotten_and_its_actor_ended() {
        let mut world = World::open();
        let closing = Some(SceneStage::Closing(Clearing::Move));
        assert_eq!(world.view(closing), [Output::Close { scene: DUNGEON, clearing: Clearing::Move }]);
        assert_eq!(world.view(closing), []);
        assert_eq!(world.give(Input::Cleared(DUNGEON)), [tells(SceneNews::Cleared)]);
        assert_eq!(world.pass_ms(500), [tells(SceneNews::Cleared)]);
        assert_eq!(world.view(Some(SceneStage::Over)), []);
        assert_eq!((world.pass_ms(500), world.hosting.len()), (vec![], 1));
        let out = world.give(Input::Forgotten(DUNGEON));
        assert_eq!(out, [Output::End(DUNGEON), tells(SceneNews::Forgotten)]);
        assert_eq!(world.pass_ms(500), [tells(SceneNews::Forgotten)]);
        assert_eq!(world.view(None), []);
        assert!(world.hosting.scenes.is_empty());
    }

    #[test]
    fn a_scene_may_be_cleared_another_way_while_it_closes() {
        let mut world = World::open();
        world.view(Some(SceneStage::Closing(Clearing::Move)));
        let despawns = Output::Close { scene: DUNGEON, clearing: Clearing::Despawn };
        assert_eq!(world.view(Some(SceneStage::Closing(Clearing::Despawn))), [despawns]);
        assert_eq!(world.view(Some(SceneStage::Closing(Clearing::Despawn))), []);
        world.give(Input::Cleared(DUNGEON));
        assert_eq!(world.view(Some(SceneStage::Closing(Clearing::Despawn))), []);
    }

    #[test]
    fn a_scene_that_was_closed_before_this_node_heard_of_it_is_not_opened() {
        for stage in [SceneStage::Closing(Clearing::Move), SceneStage::Open, SceneStage::Over] {
            let mut world = World::new();
            assert_eq!(world.view(Some(stage)), [tells(SceneNews::Forgotten)]);
            assert!(world.hosting.is_empty());
            world.view(None);
            assert!(world.hosting.scenes.is_empty());
        }
    }

    #[test]
    fn a_scene_that_is_forgotten_is_not_opened_again_by_a_view_that_is_behind() {
        let mut world = World::open();
        world.view(Some(SceneStage::Closing(Clearing::Move)));
        world.give(Input::Cleared(DUNGEON));
        world.give(Input::Forgotten(DUNGEON));
        assert_eq!(world.give(Input::View(view(1, Some(SceneStage::Opening)))), []);
        assert_eq!(world.view(Some(SceneStage::Closing(Clearing::Move))), []);
        assert_eq!(world.pass_ms(500), [tells(SceneNews::Forgotten)]);
    }

    #[test]
    fn a_scene_that_cannot_be_opened_is_told_until_its_row_is_gone() {
        let mut world = World { version: 1, ..World::new() };
        let mut out = Vec::new();
        world.hosting.handle(Input::View(view(1, Some(SceneStage::Opening))), world.now, &mut out);
        assert_eq!(out, [Output::Open(placement(SceneStage::Opening))], "nothing is told before it is there");
        assert_eq!(world.give(Input::NotOpened(DUNGEON)), [tells(SceneNews::NotOpened)]);
        assert_eq!(world.view(Some(SceneStage::Closing(Clearing::Move))), []);
        assert_eq!(world.pass_ms(500), [tells(SceneNews::NotOpened)]);
        world.view(None);
        assert!(world.hosting.scenes.is_empty());
    }

    #[test]
    fn scenes_of_others_declared_ones_and_those_of_another_life_are_left_alone() {
        let mut world = World::new();
        assert_eq!(world.view(None), []);
        let mut other = View::clone(&view(2, Some(SceneStage::Opening)));
        other.members.get_mut(&me().node).expect("a member").session = Session::new(2, 6);
        assert_eq!(world.give(Input::View(Arc::new(other))), []);
        let mut elsewhere = View::clone(&view(3, Some(SceneStage::Opening)));
        elsewhere.scenes.get_mut(&DUNGEON).expect("a scene").node = Session::new(3, 1).node;
        assert_eq!(world.give(Input::View(Arc::new(elsewhere))), []);
    }

    #[test]
    fn a_scene_that_the_view_does_not_know_any_more_goes_on_until_it_is_closed() {
        let mut world = World::open();
        assert_eq!(world.view(None), []);
        assert_eq!(world.hosting.len(), 1);
    }
}
