//! The types of `derived`, without macros but serde's.

use serde::{Deserialize, Serialize};
use slipgate::__private::{
    Answered, Behaviour, Callers, Component, ComponentList, Context, Entity, Field, Flags, Handlers, Message, Part,
    PartCell, PartNumber, Position,
};

pub(crate) const GOLDEN: Flags = Flags::game(3);

#[derive(Serialize, Deserialize, Clone, PartialEq, Debug)]
pub(crate) struct Hit {
    pub(crate) damage: u32,
    pub(crate) how: How,
}

impl Message for Hit {
    const NAME: &'static str = "hit";
    const FIELDS: &'static [Field] = &[Field::new("damage", "u32"), Field::new("how", "How")];
    type Answer = u32;
}

#[derive(Serialize, Deserialize, Clone, Default, PartialEq, Debug)]
pub(crate) enum How {
    #[default]
    Unknown,
    Weapon {
        name: String,
        weight: u16,
    },
    Fall(u8, u8),
}

#[derive(Serialize, Deserialize, PartialEq, Debug)]
pub(crate) struct Rest;

impl Message for Rest {
    const NAME: &'static str = "rest";
    type Answer = ();
}

#[derive(Serialize, Deserialize, Clone, PartialEq, Default, Debug)]
pub(crate) struct Health {
    pub(crate) hp: u32,
    pub(crate) wounds: Vec<How>,
    #[serde(skip)]
    pub(crate) seen: Option<u32>,
}

#[derive(Serialize, Deserialize, Default)]
#[serde(default)]
pub(crate) struct HealthV1 {
    percent: u8,
    armour: u8,
}

impl Behaviour for Health {
    fn handlers(table: &mut Handlers<Self>) {
        table.on(Callers::ANY, |health, hit: Hit, _| {
            health.hp = health.hp.saturating_sub(hit.damage);
            health.wounds.push(hit.how);
            health.hp
        });
        table.on_answer(|health, answer: Answered<Hit>, _| health.seen = answer.result.ok());
        table.migrate_from(1, |old: HealthV1| Self {
            hp: 10 * u32::from(old.percent) + u32::from(old.armour),
            ..Self::default()
        });
    }
}

impl Part for Health {
    const NAME: &'static str = "health";
    const VERSION: u16 = 2;
    const PERSISTENT: &'static [&'static str] = &["hp"];
    const FIELDS: &'static [Field] = &[
        Field::new("hp", "u32").persistent(),
        Field::new("wounds", "Vec<How>"),
        Field::new("seen", "Option<u32>").transient(),
    ];

    fn number() -> PartNumber {
        static CELL: PartCell = PartCell::new();
        CELL.number()
    }
}

impl Component for Health {}

#[derive(Serialize, Deserialize, Default, Debug)]
pub(crate) struct Actor {}

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
    const FLAGS: Flags = Flags::DEFAULT.with(Flags::IS_COMBAT).without(Flags::SUPPORT_MIGRATE);

    fn components(list: &mut ComponentList) {
        list.with::<Health>();
    }
}

#[derive(Serialize, Deserialize, Clone, PartialEq, Default, Debug)]
pub(crate) struct Player {
    pub(crate) r#type: String,
    pub(crate) at: Position,
    #[serde(skip)]
    pub(crate) turns: u64,
}

impl Behaviour for Player {
    fn handlers(table: &mut Handlers<Self>) {
        table.on(Callers::CLUSTER, |player, _: Rest, cx| player.turns = cx.tick());
    }

    fn arrived(&mut self, _: &mut Context<'_>) {
        self.turns = 1;
    }
}

impl Part for Player {
    const NAME: &'static str = "hero";
    const VERSION: u16 = 3;
    const PERSISTENT: &'static [&'static str] = &["type"];
    const FIELDS: &'static [Field] = &[
        Field::new("type", "String").persistent(),
        Field::new("at", "Position"),
        Field::new("turns", "u64").transient(),
    ];

    fn number() -> PartNumber {
        static CELL: PartCell = PartCell::new();
        CELL.number()
    }
}

impl Entity for Player {
    type Parent = Actor;
    const FLAGS: Flags = Flags::NONE.with(Flags::IS_PLAYER).with(GOLDEN);
    const CLIENT_KIND: Option<u8> = Some(7);

    fn position(&self) -> Option<Position> {
        Some(self.at)
    }
}
