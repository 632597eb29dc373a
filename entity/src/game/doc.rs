//! A small game for the examples of this crate's documentation and for its tests.

use serde::{Deserialize, Serialize};

use super::{
    Behaviour, Callers, Component, ComponentList, Context, Entity, Field, Flags, Handlers, Message, Part, PartCell,
    PartNumber, Position,
};

/// What is above everything that acts.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Actor {}

/// A player.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Player {
    /// Its name.
    pub name: String,
    /// To the east.
    pub x: f32,
}

/// How much is left of somebody.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub struct Health {
    /// In points.
    pub hp: i32,
}

/// Takes points; answers what is left.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub struct Hit {
    /// How many.
    pub hp: i32,
}

impl Message for Hit {
    const NAME: &'static str = "hit";
    const FIELDS: &'static [Field] = &[Field::new("hp", "i32")];
    type Answer = i32;
}

impl Default for Health {
    fn default() -> Self {
        Self { hp: 100 }
    }
}

impl Behaviour for Actor {}

impl Part for Actor {
    const NAME: &'static str = "actor";

    fn number() -> PartNumber {
        static CELL: PartCell = PartCell::new();
        CELL.number()
    }
}

impl Entity for Actor {
    type Parent = ();
    const ABSTRACT: bool = true;
}

impl Behaviour for Player {}

impl Part for Player {
    const NAME: &'static str = "player";
    const PERSISTENT: &'static [&'static str] = &["name"];
    const FIELDS: &'static [Field] = &[Field::new("name", "String").persistent(), Field::new("x", "f32")];

    fn number() -> PartNumber {
        static CELL: PartCell = PartCell::new();
        CELL.number()
    }
}

impl Entity for Player {
    type Parent = Actor;
    const FLAGS: Flags = Flags::DEFAULT.with(Flags::IS_PLAYER);
    const CLIENT_KIND: Option<u8> = Some(1);

    fn components(list: &mut ComponentList) {
        list.with::<Health>();
    }

    fn position(&self) -> Option<Position> {
        Some(Position { x: self.x, y: 0.0 })
    }
}

impl Behaviour for Health {
    fn handlers(table: &mut Handlers<Self>) {
        table.on(Callers::ANY, Self::hit);
    }
}

impl Health {
    fn hit(&mut self, hit: Hit, _: &mut Context<'_>) -> i32 {
        self.hp -= hit.hp;
        self.hp
    }
}

impl Part for Health {
    const NAME: &'static str = "health";
    const FIELDS: &'static [Field] = &[Field::new("hp", "i32")];

    fn number() -> PartNumber {
        static CELL: PartCell = PartCell::new();
        CELL.number()
    }
}

impl Component for Health {}
