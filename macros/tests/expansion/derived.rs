//! An entity type with a parent and a component, by the macros.

use slipgate::__private::{Answered, Context, Flags, Position};
use slipgate_macros::{Component, Entity, Message, State, handlers};

pub(crate) const GOLDEN: Flags = Flags::game(3);

#[derive(Message, Clone, PartialEq, Debug)]
#[message(answer = u32)]
pub(crate) struct Hit {
    pub(crate) damage: u32,
    pub(crate) how: How,
}

#[derive(State, Clone, Default, PartialEq, Debug)]
pub(crate) enum How {
    #[default]
    Unknown,
    Weapon {
        name: String,
        weight: u16,
    },
    Fall(u8, u8),
}

#[derive(Message, PartialEq, Debug)]
pub(crate) struct Rest;

#[derive(Component, Clone, PartialEq, Default, Debug)]
#[component(version = 2)]
pub(crate) struct Health {
    #[component(persistent)]
    pub(crate) hp: u32,
    pub(crate) wounds: Vec<How>,
    #[component(transient)]
    pub(crate) seen: Option<u32>,
}

#[derive(State, Default)]
#[state(default)]
pub(crate) struct HealthV1 {
    percent: u8,
    armour: u8,
}

#[handlers]
impl Health {
    #[from(client)]
    #[from(cluster)]
    fn hit(&mut self, Hit { damage, how }: Hit) -> u32 {
        self.hp = self.hp.saturating_sub(damage);
        self.wounds.push(how);
        self.hp
    }

    fn was_hit(&mut self, answer: Answered<Hit>, _cx: &mut Context<'_>) {
        self.seen = answer.result.ok();
    }

    #[migrate_from(1)]
    fn from_percent(old: HealthV1) -> Self {
        Self { hp: 10 * u32::from(old.percent) + u32::from(old.armour), ..Self::default() }
    }
}

#[derive(Entity, Default, Debug)]
#[entity(abstract, components(Health), flags(is_combat, !support_migrate))]
pub(crate) struct Actor {}

#[handlers]
impl Actor {}

#[derive(Entity, Clone, PartialEq, Default, Debug)]
#[entity(
    name = "hero",
    version = 3,
    parent = Actor,
    kind = 7,
    flags(is_player, GOLDEN),
    position = at
)]
pub(crate) struct Player {
    #[entity(persistent)]
    pub(crate) r#type: String,
    pub(crate) at: Position,
    #[entity(transient)]
    pub(crate) turns: u64,
}

#[handlers]
impl Player {
    #[from(cluster)]
    fn rest(&mut self, _: Rest, cx: &mut Context<'_>) {
        self.turns = cx.tick();
    }

    #[hook(arrived)]
    fn begin_here(&mut self) {
        self.turns = 1;
    }
}
