//! The end of a scene while its node goes on: the keeper is told of each step once.

use actix::{Context, Handler, Message};
use slipgate_cluster::scene::Input;

use super::SceneActor;
use super::troupe::{Order, Troupe};
use crate::scenes::keeper::SceneNews;

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
        self.act(|troupe| troupe.turn_or_defer([Input::Close]));
    }
}

impl Troupe {
    /// At the end of a turn: tells the keeper what this one has brought.
    pub(super) fn tell_keeper(&mut self) {
        if !self.machine.is_closing() {
            return;
        }
        let (cleared, forgotten) = (self.machine.is_cleared(), self.machine.is_forgotten());
        let evacuated = self.is_evacuated() && !self.machine.is_empty();
        // If nobody is left, more follows from it, as soon as every move is told.
        if evacuated && !self.told.evacuated {
            self.told.evacuated = true;
            self.tell(SceneNews::Evacuated);
        }
        if cleared && !self.told.cleared {
            self.told.cleared = true;
            self.tell(SceneNews::Cleared { highest_generation: self.bodies.highest_generation() });
        }
        if forgotten && !self.told.forgotten {
            self.told.forgotten = true;
            self.tell(SceneNews::Forgotten);
        }
    }

    fn tell(&mut self, news: SceneNews) {
        self.orders.push(Order::Tell(news));
    }
}
