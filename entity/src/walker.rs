//! The built-in entity type: it walks, it is hit, and it keeps a ledger of what it was told.
//!
//! A walker is what tours, examples and tests send about. Its [`Ledger`] notices a message that was
//! lost, applied twice or overtaken, whichever scenes the walker has been in; that is its purpose.
//!
//! | message | what it does |
//! |---|---|
//! | [`Step`](WalkerMessage::Step) | moves it in its scene |
//! | [`Hit`](WalkerMessage::Hit) | takes hp |
//! | [`Note`](WalkerMessage::Note) | is written into the ledger |
//! | [`Greet`](WalkerMessage::Greet) | makes it send a `Note` of its own to another walker |
//! | [`Stumble`](WalkerMessage::Stumble) | panics, as a faulty handler would: to see what becomes of such an entity |
//!
//! Everything here is typed. The bytes of messages and state are made where the codec is, by a
//! wrapper that implements [`Body`](crate::Body).
//!
//! Keeps: a refused message leaves the walker unchanged; the position is finite, after decoding too;
//! memory is bounded by the ledger's limits.
//! Leaves out: moving between scenes. A walker does not notice it.

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::OnlineId;

pub use self::ledger::{Entry, Ledger, LedgerError};

mod ledger;
mod state;

#[cfg(test)]
mod tests;

/// Stable name of the type.
pub const WALKER_TYPE: &str = "walker";

/// Version of a walker's encoded state; rises when [`Walker`] gets or loses a field.
pub const WALKER_VERSION: u16 = 1;

/// A walker: its own id, where it stands, its hp and its ledger.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "state::WalkerState")]
pub struct Walker {
    id: OnlineId,
    x: f32,
    y: f32,
    hp: i32,
    ledger: Ledger,
}

/// What a walker can be told.
///
/// In JSON a message is an object with its name in lower case: `{"hit":{"hp":5}}`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WalkerMessage {
    /// Moves the walker in its scene, in metres.
    Step {
        /// To the east.
        dx: f32,
        /// To the north.
        dy: f32,
    },
    /// Takes hp; a negative number heals. Stops at the ends of `i32`.
    Hit {
        /// How much.
        hp: i32,
    },
    /// A numbered message for the ledger.
    Note {
        /// Whose numbers these are: 1 to [`Ledger::SENDER_BYTES_MAX`] bytes.
        sender: String,
        /// Counts this sender's notes to this walker, from 1.
        number: u64,
    },
    /// Makes the walker send a note, under its own id as the sender's name.
    Greet {
        /// The walker that gets the note; may be this one.
        to: OnlineId,
        /// The note's number.
        number: u64,
    },
    /// Panics.
    Stumble {},
}

impl WalkerMessage {
    /// Its name in JSON.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Step { .. } => "step",
            Self::Hit { .. } => "hit",
            Self::Note { .. } => "note",
            Self::Greet { .. } => "greet",
            Self::Stumble {} => "stumble",
        }
    }
}

/// What a walker wants done after a message.
#[derive(Clone, Debug, PartialEq)]
pub enum WalkerEffect {
    /// A message to another walker, or to itself.
    Send {
        /// Who should get it.
        to: OnlineId,
        /// The message.
        message: WalkerMessage,
    },
}

/// Why a walker did not take a message. It is as it was before, and nothing follows.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum WalkerError {
    /// The step is not finite, or leads beyond what a position can hold. Send a smaller one.
    #[error("the step ({dx}, {dy}) leads to no finite position")]
    NoPlace {
        /// As asked.
        dx: f32,
        /// As asked.
        dy: f32,
    },
    /// The ledger did not take the note.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
}

impl Walker {
    /// Hp of a new walker; round, chosen for demonstrations.
    pub const HP_FIRST: i32 = 100;

    /// A walker with the given id, at (0, 0), unhurt and with an empty ledger.
    #[must_use]
    pub fn new(id: OnlineId) -> Self {
        Self { id, x: 0.0, y: 0.0, hp: Self::HP_FIRST, ledger: Ledger::default() }
    }

    /// Applies one message and appends what should follow.
    ///
    /// # Errors
    ///
    /// If the message asks for a step to nowhere or a note under an impossible name; the walker is then
    /// unchanged and `effects` too.
    ///
    /// # Panics
    ///
    /// On [`Stumble`](WalkerMessage::Stumble); the walker is unchanged.
    pub fn take(&mut self, message: WalkerMessage, effects: &mut Vec<WalkerEffect>) -> Result<(), WalkerError> {
        match message {
            WalkerMessage::Step { dx, dy } => self.step(dx, dy)?,
            WalkerMessage::Hit { hp } => self.hp = self.hp.saturating_sub(hp),
            WalkerMessage::Note { sender, number } => self.ledger.note(sender, number)?,
            WalkerMessage::Greet { to, number } => {
                let message = WalkerMessage::Note { sender: self.id.to_string(), number };
                effects.push(WalkerEffect::Send { to, message });
            }
            WalkerMessage::Stumble {} => panic!("the walker stumbled"),
        }
        Ok(())
    }

    /// Its id in the cluster, as it was told at its birth.
    #[must_use]
    pub fn id(&self) -> OnlineId {
        self.id
    }

    /// Where it stands in its scene, (east, north), in metres; finite.
    #[must_use]
    pub fn position(&self) -> (f32, f32) {
        (self.x, self.y)
    }

    /// What is left of it; may be negative.
    #[must_use]
    pub fn hp(&self) -> i32 {
        self.hp
    }

    /// What it has been told.
    #[must_use]
    pub fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    fn step(&mut self, dx: f32, dy: f32) -> Result<(), WalkerError> {
        let (x, y) = (self.x + dx, self.y + dy);
        if !(x.is_finite() && y.is_finite()) {
            return Err(WalkerError::NoPlace { dx, dy });
        }
        (self.x, self.y) = (x, y);
        Ok(())
    }
}
