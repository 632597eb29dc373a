//! A body that is in no scene: not born yet, or a copy that is not active.
//!
//! Keeps: its destructors are game code, and run under a guard however it is dropped.

use slipgate_entity::game::Body;

use super::life::end;

#[derive(Debug)]
pub(in crate::scene) struct Apart {
    body: Option<Box<Body>>,
}

impl Apart {
    pub(super) fn new(body: Body) -> Self {
        Self { body: Some(Box::new(body)) }
    }

    pub(super) fn body(&self) -> &Body {
        self.body.as_deref().expect("it is taken out only as a whole")
    }

    /// Gives it what it brings along into its life.
    pub(in crate::scene) fn bring(&mut self, luggage: serde_json::Value) {
        self.body.as_mut().expect("it is taken out only as a whole").bring(luggage);
    }

    /// It comes into a scene.
    pub(super) fn into_body(mut self) -> Box<Body> {
        self.body.take().expect("it is taken out only as a whole")
    }
}

impl Drop for Apart {
    fn drop(&mut self) {
        if let Some(body) = self.body.take() {
            end(*body, "it was a copy that nobody needs");
        }
    }
}
