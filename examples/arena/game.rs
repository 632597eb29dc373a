//! The arena: fighters who shoot at each other, monsters that come back, and what they leave behind.
//!
//! ```text
//!   lair --timer--> monster --timer: Growl--> fighters around
//!   fighter --Shoot--> arrow (remembers a handle) --timer: Land--> the handle still names somebody? Strike : Missed
//!   monster dies --> pouch --Loot--> the fighter who did it
//!   fighter --timer: Wander--> the next scene, perhaps on another node
//! ```
//!
//! An arrow is in the air for a while. Its target may die or leave meanwhile, and somebody else may get its slot. The arrow
//! keeps a handle, which is dead for good by then, so it hits nobody: not whoever stands in that slot now.

use std::time::Duration;

use slipgate::prelude::*;

slipgate::game! {
    name: "arena",
    about: "fighters wander over three scenes, monsters come back, arrows miss who has left",
    scenes: &["pit", "gallery", "crypt"],
    populate: |crowd| {
        for (number, scene) in (0u8..).zip(SCENES) {
            crowd.spawn(scene, Lair { room_for: 3, ..Lair::default() }).label(&format!("lair of the {scene}"));
            for &name in &NAMES[usize::from(number) * 2..][..2] {
                let at = Position { x: f32::from(number), y: 1.0 };
                crowd.spawn(scene, Fighter { at, restless: true, ..Fighter::default() }).label(name);
            }
        }
    },
}

const SCENES: [&str; 3] = ["pit", "gallery", "crypt"];
const NAMES: [&str; 6] = ["ann", "bob", "cid", "dot", "eve", "fay"];

/// What can be hit.
#[derive(Component, Debug)]
pub(crate) struct Health {
    /// Points left.
    pub(crate) hp: u32,
    /// Arrows that hit.
    pub(crate) hits: u32,
}

impl Default for Health {
    fn default() -> Self {
        Self { hp: 30, hits: 0 }
    }
}

/// An arrow has hit.
#[derive(Message, Debug)]
pub(crate) struct Strike {
    /// Points that it takes.
    pub(crate) damage: u32,
    /// Who shot it.
    pub(crate) by: OnlineId,
}

/// Nothing is left of its health.
#[derive(Message, Debug)]
pub(crate) struct Fall {
    /// Whose arrow it was.
    pub(crate) by: OnlineId,
}

#[handlers]
impl Health {
    #[from(cluster)]
    fn strike(&mut self, strike: Strike, cx: &mut Context<'_>) {
        self.hits += 1;
        if self.hp > 0 {
            self.hp = self.hp.saturating_sub(strike.damage);
            if self.hp == 0 {
                cx.send(cx.id(), Fall { by: strike.by });
            }
        }
    }
}

/// A player's figure, here one that plays by itself if it is restless.
#[derive(Entity, Default, Debug)]
#[entity(kind = 1, flags(is_player, is_client_visible), components(Health), position = at)]
pub(crate) struct Fighter {
    /// Where it stands.
    pub(crate) at: Position,
    /// Gold that it has picked up.
    #[entity(persistent)]
    pub(crate) gold: u32,
    /// Its latest arrow.
    pub(crate) arrow: Option<OnlineId>,
    /// Arrows that found nobody.
    pub(crate) missed: u32,
    /// How often it fell.
    pub(crate) fallen: u32,
    /// Whether it shoots at what growls, and wanders about.
    pub(crate) restless: bool,
}

/// Shoot at somebody in the same scene.
#[derive(Message, Debug)]
pub(crate) struct Shoot {
    /// At whom.
    pub(crate) at: OnlineId,
    /// How long the arrow is in the air, in milliseconds.
    pub(crate) flight_ms: u32,
}

/// An arrow is in the air.
#[derive(Message, Debug)]
pub(crate) struct Loosed {
    /// Which one.
    pub(crate) arrow: OnlineId,
}

/// An arrow has found nobody.
#[derive(Message, Debug)]
pub(crate) struct Missed;

/// What a pouch holds for whoever gets it.
#[derive(Message, Debug)]
pub(crate) struct Loot {
    /// So much.
    pub(crate) gold: u32,
}

/// A monster makes itself heard.
#[derive(Message, Debug)]
pub(crate) struct Growl {
    /// Which one.
    pub(crate) from: OnlineId,
}

/// It is time to see another place.
#[derive(Message, Debug)]
pub(crate) struct Wander;

#[handlers]
impl Fighter {
    /// Timers move with their entity, so one is enough for a life.
    #[hook]
    fn on_enter_scene(&mut self, entry: &Entry, cx: &mut Context<'_>) {
        if entry.how == Entered::Spawned {
            self.plan(cx);
        }
    }

    #[from(client)]
    #[from(cluster)]
    fn shoot(&mut self, shoot: Shoot, cx: &mut Context<'_>) {
        let Shoot { at, flight_ms } = shoot;
        let arrow = Arrow { at: Some(at), by: Some(cx.id()), flight_ms, ..Arrow::default() };
        cx.spawn(Spawn::of::<Arrow>().part(&arrow));
    }

    #[from(cluster)]
    fn loosed(&mut self, loosed: Loosed) {
        self.arrow = Some(loosed.arrow);
    }

    #[from(cluster)]
    fn missed(&mut self, _: Missed) {
        self.missed += 1;
    }

    #[from(cluster)]
    fn loot(&mut self, loot: Loot) {
        self.gold += loot.gold;
    }

    #[from(cluster)]
    fn growl(&mut self, growl: Growl, cx: &mut Context<'_>) {
        if self.restless {
            self.shoot(Shoot { at: growl.from, flight_ms: 300 }, cx);
        }
    }

    /// A fighter gets up again.
    #[from(cluster)]
    fn fall(&mut self, _: Fall, cx: &mut Context<'_>) {
        self.fallen += 1;
        if let Some(health) = cx.component_mut::<Health>() {
            health.hp = Health::default().hp;
        }
    }

    #[from(cluster)]
    fn wander(&mut self, _: Wander, cx: &mut Context<'_>) {
        let here = SCENES.iter().position(|scene| *scene == cx.scene().name);
        if let Some(here) = here {
            cx.move_to_named(SCENES[(here + 1) % SCENES.len()]);
        }
        self.plan(cx);
    }

    /// No two wander in step. One that has too many timers rests.
    fn plan(&mut self, cx: &mut Context<'_>) {
        let wait = STAY + STAY / 8 * (cx.id().counter() % 7);
        if self.restless && cx.after(wait, Wander).is_err() {
            self.restless = false;
        }
    }
}

/// An arrow in the air. It stays in the scene where it was shot.
#[derive(Entity, Default, Debug)]
#[entity(flags(!support_migrate))]
pub(crate) struct Arrow {
    /// At whom.
    pub(crate) at: Option<OnlineId>,
    /// Who shot it.
    pub(crate) by: Option<OnlineId>,
    /// How long it is in the air, in milliseconds.
    pub(crate) flight_ms: u32,
    /// The same target, as it lives here now: the handle dies with it.
    #[entity(transient)]
    pub(crate) target: Handle,
}

/// It comes down.
#[derive(Message, Debug)]
pub(crate) struct Land;

#[handlers]
impl Arrow {
    #[hook]
    fn on_enter_scene(&mut self, _: &Entry, cx: &mut Context<'_>) {
        if let Some(target) = self.at.and_then(|at| cx.find(at)) {
            self.target = target.handle();
        }
        if let Some(by) = self.by {
            cx.send(by, Loosed { arrow: cx.id() });
        }
        if cx.after(Duration::from_millis(self.flight_ms.into()), Land).is_err() {
            cx.despawn();
        }
    }

    #[from(cluster)]
    fn land(&mut self, _: Land, cx: &mut Context<'_>) {
        let Some(by) = self.by else { return cx.despawn() };
        match cx.lookup(self.target).map(Description::online) {
            Ok(target) => cx.send(target, Strike { damage: 10, by }),
            Err(_) => cx.send(by, Missed),
        }
        cx.despawn();
    }
}

/// It growls, and leaves gold to whoever ends it.
#[derive(Entity, Default, Debug)]
#[entity(kind = 2, flags(is_client_visible), components(Health), position = at)]
pub(crate) struct Monster {
    /// Where it stands.
    pub(crate) at: Position,
    /// The lair that it came from.
    pub(crate) lair: Option<OnlineId>,
}

/// It is time to growl.
#[derive(Message, Debug)]
pub(crate) struct Think;

#[handlers]
impl Monster {
    #[hook]
    fn on_enter_scene(&mut self, entry: &Entry, cx: &mut Context<'_>) {
        if entry.how == Entered::Spawned {
            self.wait(cx);
        }
    }

    #[from(cluster)]
    fn think(&mut self, _: Think, cx: &mut Context<'_>) {
        cx.send_type::<Fighter, _>(Growl { from: cx.id() });
        self.wait(cx);
    }

    #[from(cluster)]
    fn fall(&mut self, fall: Fall, cx: &mut Context<'_>) {
        cx.spawn(Spawn::of::<Pouch>().part(&Pouch { gold: 10, owner: Some(fall.by) }));
        if let Some(lair) = self.lair {
            cx.send(lair, Gone);
        }
        cx.despawn();
    }

    fn wait(&self, cx: &mut Context<'_>) {
        if cx.after(THINK, Think).is_err() {
            cx.log(Level::Warn, "it has too many timers to think on");
        }
    }
}

/// Gold on the ground: it goes to its owner wherever that is by then.
#[derive(Entity, Default, Debug)]
pub(crate) struct Pouch {
    /// How much.
    pub(crate) gold: u32,
    /// Whose it is.
    pub(crate) owner: Option<OnlineId>,
}

#[handlers]
impl Pouch {
    #[hook]
    fn activate(&mut self, cx: &mut Context<'_>) {
        if let Some(owner) = self.owner.take() {
            cx.send(owner, Loot { gold: self.gold });
        }
        cx.despawn();
    }
}

/// Where monsters come from.
#[derive(Entity, Default, Debug)]
#[entity(flags(!support_migrate))]
pub(crate) struct Lair {
    /// How many may live at a time.
    pub(crate) room_for: u32,
    /// How many do.
    pub(crate) living: u32,
    /// How many do no more.
    pub(crate) ended: u32,
}

/// One of its monsters is no more.
#[derive(Message, Debug)]
pub(crate) struct Gone;

/// It is time for another one.
#[derive(Message, Debug)]
pub(crate) struct Hatch;

#[handlers]
impl Lair {
    #[hook]
    fn on_enter_scene(&mut self, entry: &Entry, cx: &mut Context<'_>) {
        if entry.how == Entered::Spawned {
            self.wait(cx);
        }
    }

    #[from(cluster)]
    fn gone(&mut self, _: Gone) {
        self.living = self.living.saturating_sub(1);
        self.ended += 1;
    }

    #[from(cluster)]
    fn hatch(&mut self, _: Hatch, cx: &mut Context<'_>) {
        if self.living < self.room_for {
            self.living += 1;
            cx.spawn(Spawn::of::<Monster>().part(&Monster { lair: Some(cx.id()), ..Monster::default() }));
        }
        self.wait(cx);
    }

    fn wait(&self, cx: &mut Context<'_>) {
        if cx.after(HATCH, Hatch).is_err() {
            cx.log(Level::Warn, "it has too many timers to go on");
        }
    }
}

/// How often a monster growls.
const THINK: Duration = Duration::from_millis(500);
/// How often a lair looks whether there is room for one more.
const HATCH: Duration = Duration::from_millis(400);
/// How long a fighter stays in a scene, at the least.
const STAY: Duration = Duration::from_secs(2);
