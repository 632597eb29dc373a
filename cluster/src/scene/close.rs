//! The end of a scene that is closed while its node goes on, and what keeps the next one of its number apart from it.
//!
//! ```text
//!   open --Close--> closing: nobody comes in; who is there leaves, or is despawned
//!                      | nobody is here, nothing is under way
//!                      v
//!                    cleared: tombstones only, which still tell senders and homes where everybody went
//!                      | the last tombstone is old enough
//!                      v
//!                    forgotten: the actor may end
//! ```
//!
//! A scene that is asked for its number again is another one, because its id has another generation: whatever was
//! meant for this one finds no such place. What is named by the bare number begins above all that this one
//! gave out: slots of entities, in the shell.
//!
//! Leaves out: who leaves to where (`evacuation`).

use super::Scene;
use crate::moves::Refusal;

impl Scene {
    /// Why nobody is taken in, if so.
    pub(super) fn no_entry(&self) -> Option<Refusal> {
        if self.closing {
            return Some(Refusal::Closing);
        }
        self.is_draining().then_some(Refusal::Draining)
    }

    /// Whether it is being closed.
    #[must_use]
    pub fn is_closing(&self) -> bool {
        self.closing
    }

    /// Whether nobody is here, nobody can come any more, and every move is told: a scene that is being closed is over
    /// then.
    #[must_use]
    pub fn is_cleared(&self) -> bool {
        self.closing
            && self.live.is_empty()
            && self.staged.is_empty()
            && self.spawning.is_empty()
            && self.settling.is_empty()
    }

    /// Whether it is over, and nobody will ask it any more where somebody went.
    #[must_use]
    pub fn is_forgotten(&self) -> bool {
        self.is_cleared() && self.gone.is_empty()
    }
}
