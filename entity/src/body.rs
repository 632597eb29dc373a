//! What an entity type must be able to do to live in a scene.
//!
//! A body is the game's part of an entity: its fields and what messages do to them. It does not
//! know where it lives, who routes to it or that it moves. It applies one message at a time and
//! says what should follow as [`Effect`]s; the scene carries them out when the handler has returned.
//!
//! ```text
//! scene                     wrapper with a codec        game type
//!   payload bytes   --->   Body::apply: decode   --->   take(message) changes its fields
//!   sends follow    <---   Effects: encode       <---   typed effects
//!   sent in vain    --->   Body::returned
//! ```
//!
//! A game type is typed and knows no bytes (see [`Walker::take`](crate::Walker::take)); a wrapper in a
//! layer with a codec joins the two and implements [`Body`].
//!
//! Keeps: a body decoded from what another body encoded behaves alike.
//! Leaves out: delivery, order, moving (`slipgate_cluster`), the bytes' codec (`slipgate_proto`).

use std::any::Any;
use std::fmt::Debug;

use thiserror::Error;

use crate::{OnlineId, Returned, TypeName};

/// What a handler wants done once it has returned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect {
    /// A message to another entity (or to itself), sent in the order of the effects.
    Send {
        /// Who should get it.
        to: OnlineId,
        /// The message, encoded as its type wants it.
        payload: Vec<u8>,
    },
}

/// Why a body did not take a message. The message counts as applied; the sender is told.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ApplyError {
    /// The bytes are no message of this type; the body is unchanged.
    #[error("the bytes are no message of this type ({reason})")]
    NotAMessage {
        /// What the decoder said.
        reason: String,
    },
}

/// The game's part of an entity.
pub trait Body: Debug + Send + Any {
    /// Stable name of the type.
    fn type_name(&self) -> TypeName;

    /// Applies one message and appends what should follow.
    ///
    /// # Errors
    ///
    /// If the payload is no message of this type. The body is then unchanged.
    fn apply(&mut self, payload: &[u8], effects: &mut Vec<Effect>) -> Result<(), ApplyError>;

    /// Hears that a message which it sent came back. Does nothing unless a type says otherwise; the node counts them.
    /// An entity that takes no turns just then, because it is parked or leaves, does not hear of it.
    ///
    /// Nothing can be sent from here, for whatever was busy still is: what is to be tried again goes with the effects of
    /// a later message.
    fn returned(&mut self, to: OnlineId, payload: &[u8], why: Returned) {
        let _ = (to, payload, why);
    }

    /// Appends the state as bytes that the type's decoder reads.
    fn encode(&self, bytes: &mut Vec<u8>);

    /// The state as JSON text, for people and tools.
    fn describe(&self) -> String;
}
