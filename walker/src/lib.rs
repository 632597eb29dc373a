//! The entity type of tours and tests: it walks, it is hit, and it keeps a ledger of what it was told.
//!
//! A walker is written as a game's types are, and nothing below knows it. Its [`Ledger`] notices a message that was lost,
//! applied twice or overtaken, whichever scenes the walker has been in; that is its purpose.
//!
//! | message | what it does |
//! |---|---|
//! | [`Step`] | moves it in its scene |
//! | [`Hit`] | takes hp |
//! | [`Note`] | is written into the ledger |
//! | [`Greet`] | makes it send a `Note` of its own to another walker |
//! | [`Stumble`] | panics, as a faulty handler would: to see what becomes of such an entity |
//!
//! Keeps: a message that cannot be is told in the log and changes nothing; the place is finite, after decoding too;
//! memory is bounded by the ledger's limits.
//! Leaves out: moving between scenes. A walker does not notice it.

mod ledger;
mod metres;

#[cfg(test)]
mod tests;

use slipgate_entity::OnlineId;
use slipgate_entity::game::{Context, Level, Position};
use slipgate_macros::{Entity, Message, handlers};

pub use self::ledger::{Entry, Ledger, LedgerError};
pub use self::metres::{Metres, NotFinite};

/// A walker: where it stands, its hp and its ledger.
#[derive(Debug, PartialEq, Entity)]
#[entity(name = "walker", flags(is_client_visible), position = position(), crate = "slipgate_entity")]
pub struct Walker {
    /// To the east, in its scene.
    pub x: Metres,
    /// To the north.
    pub y: Metres,
    /// What is left of it; may be negative.
    pub hp: i32,
    /// What it has been told.
    pub ledger: Ledger,
}

/// Moves a walker in its scene, in metres.
#[derive(Debug, PartialEq, Message)]
#[message(crate = "slipgate_entity")]
pub struct Step {
    /// To the east.
    pub dx: f32,
    /// To the north.
    pub dy: f32,
}

/// Takes hp; a negative number heals. Stops at the ends of `i32`. It answers what is left.
#[derive(Debug, PartialEq, Message)]
#[message(answer = i32, crate = "slipgate_entity")]
pub struct Hit {
    /// How much.
    pub hp: i32,
}

/// A numbered message for the ledger.
#[derive(Debug, PartialEq, Message)]
#[message(crate = "slipgate_entity")]
pub struct Note {
    /// Whose numbers these are: 1 to [`Ledger::SENDER_BYTES_MAX`] bytes.
    pub sender: String,
    /// Counts this sender's notes to this walker, from 1.
    pub number: u64,
}

/// Makes a walker send a note, under its own id as the sender's name.
#[derive(Debug, PartialEq, Message)]
#[message(crate = "slipgate_entity")]
pub struct Greet {
    /// The walker that gets the note; may be the one that is asked.
    pub to: OnlineId,
    /// The note's number.
    pub number: u64,
}

/// Panics.
#[derive(Debug, PartialEq, Message)]
#[message(crate = "slipgate_entity")]
pub struct Stumble {}

impl Walker {
    /// Hp of a new walker; round, chosen for demonstrations.
    pub const HP_FIRST: i32 = 100;

    fn position(&self) -> Position {
        Position { x: self.x.get(), y: self.y.get() }
    }
}

impl Default for Walker {
    /// At (0, 0), unhurt and with an empty ledger.
    fn default() -> Self {
        Self { x: Metres::default(), y: Metres::default(), hp: Self::HP_FIRST, ledger: Ledger::default() }
    }
}

#[handlers(crate = "slipgate_entity")]
impl Walker {
    #[from(cluster)]
    fn step(&mut self, Step { dx, dy }: Step, cx: &mut Context<'_>) {
        match (Metres::new(self.x.get() + dx), Metres::new(self.y.get() + dy)) {
            (Ok(x), Ok(y)) => (self.x, self.y) = (x, y),
            (Err(error), _) | (_, Err(error)) => cx.log(Level::Warn, format!("it stays where it is: {error}")),
        }
    }

    #[from(cluster)]
    fn hit(&mut self, Hit { hp }: Hit) -> i32 {
        self.hp = self.hp.saturating_sub(hp);
        self.hp
    }

    #[from(cluster)]
    fn note(&mut self, Note { sender, number }: Note, cx: &mut Context<'_>) {
        if let Err(error) = self.ledger.note(sender, number) {
            cx.log(Level::Warn, format!("a note is left out: {error}"));
        }
    }

    #[from(cluster)]
    fn greet(&mut self, Greet { to, number }: Greet, cx: &mut Context<'_>) {
        let sender = cx.id().to_string();
        cx.send(to, Note { sender, number });
    }

    #[from(cluster)]
    fn stumble(&mut self, _: Stumble) {
        panic!("the walker stumbled");
    }
}
