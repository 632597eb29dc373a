//! The end of a scene while its node goes on: the keeper is told of each step once.

use actix::{Context, Handler, Message};
use slipgate_cluster::scene::Input;

use super::SceneActor;
use crate::scenes::keeper::{SceneNews, SceneTells};

/// The scene is being closed: nobody is taken in any more.
#[derive(Clone, Copy, Debug, Message)]
#[rtype(result = "()")]
pub struct CloseScene;

/// What the keeper was told.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Told {
    pub(super) evacuated: bool,
    cleared: bool,
    forgotten: bool,
}

impl Handler<CloseScene> for SceneActor {
    type Result = ();

    fn handle(&mut self, CloseScene: CloseScene, _: &mut Context<Self>) {
        self.turn_or_defer([Input::Close]);
    }
}

impl SceneActor {
    /// At the end of a turn: tells the keeper what this one has brought.
    pub(super) fn tell_keeper(&mut self) {
        if !self.machine.is_closing() {
            return;
        }
        let Some(keeper) = &self.around.keeper else { return };
        let scene = self.me.scene;
        let tell = |news| keeper.tell(SceneTells { scene, news });
        let (cleared, forgotten) = (self.machine.is_cleared(), self.machine.is_forgotten());
        // If nobody is left, more follows from it, as soon as every move is told.
        if self.is_evacuated() && !self.machine.is_empty() && !self.told.evacuated {
            self.told.evacuated = true;
            tell(SceneNews::Evacuated);
        }
        if cleared && !self.told.cleared {
            self.told.cleared = true;
            tell(SceneNews::Cleared { highest_generation: self.bodies.highest_generation() });
        }
        if forgotten && !self.told.forgotten {
            self.told.forgotten = true;
            tell(SceneNews::Forgotten);
        }
    }
}
