//! A game to look at: its scenes, and who lives in them at the start.
//!
//! A program that links one in runs it with `slipgate dev --game NAME`: processes on this machine, populated, and from
//! then on moved by its own timers and handlers.
//!
//! ```
//! use slipgate::game::Crowd;
//! use slipgate::prelude::*;
//!
//! #[derive(Entity, Default, Debug)]
//! struct Cat {
//!     lives: u8,
//! }
//! impl Behaviour for Cat {}
//!
//! slipgate::game! {
//!     name: "cats",
//!     about: "two cats, and a garden to get lost in",
//!     scenes: &["house", "garden"],
//!     populate: |crowd| {
//!         crowd.spawn("house", Cat { lives: 9 }).label("tom");
//!         crowd.spawn("garden", Cat { lives: 7 });
//!     },
//! }
//! # fn main() {
//! # let cats = slipgate::game::Game::named("cats").expect("linked in");
//! # assert_eq!(cats.crowd().newcomers().count(), 2);
//! # }
//! ```
//!
//! Keeps: what a game begins with is plain data; nothing is asked of a node before all of it is there.

use serde_json::{Map, Value};
use slipgate_entity::game::{Entity, Part};

use crate::admin::body::SpawnBody;

/// A game, as [`game!`](crate::game!) registers it.
///
/// ```
/// # use slipgate::doc::Player;
/// use slipgate::game::Game;
///
/// let duel = Game {
///     name: "duel",
///     about: "two fighters in a ring",
///     scenes: &["ring"],
///     populate: |crowd| {
///         crowd.spawn("ring", Player::default()).label("ann");
///         crowd.spawn("ring", Player::default()).label("bob");
///     },
/// };
/// assert_eq!(duel.crowd().newcomers().count(), 2);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Game {
    /// What `--game` calls it.
    pub name: &'static str,
    /// What there is to see, in one line.
    pub about: &'static str,
    /// Names of its scenes; they are spread over the nodes in turn.
    pub scenes: &'static [&'static str],
    /// Says who lives there at the start.
    pub populate: fn(&mut Crowd),
}

inventory::collect!(Game);

impl Game {
    /// All that are linked into this program, by name.
    #[must_use]
    pub fn all() -> Vec<&'static Self> {
        let mut games: Vec<_> = inventory::iter::<Self>().collect();
        games.sort_by_key(|game| game.name);
        games
    }

    /// The one of that name.
    #[must_use]
    pub fn named(name: &str) -> Option<&'static Self> {
        inventory::iter::<Self>().find(|game| game.name == name)
    }

    /// Who lives in its scenes at the start.
    #[must_use]
    pub fn crowd(&self) -> Crowd {
        let mut crowd = Crowd::default();
        (self.populate)(&mut crowd);
        crowd
    }
}

/// Who is to be spawned, in order.
///
/// ```
/// # use slipgate::doc::Player;
/// # use slipgate::prelude::*;
/// # slipgate::doc::run(async |cluster| {
/// let mut crowd = Crowd::default();
/// crowd.spawn("forest", Player::default()).label("ann");
/// crowd.spawn("harbor", Player::default()).label("bob");
/// assert_eq!(cluster.populate(&crowd).await?.len(), 2);
/// # Ok(())
/// # });
/// ```
#[derive(Clone, Debug, Default)]
pub struct Crowd {
    newcomers: Vec<Newcomer>,
}

impl Crowd {
    /// An entity that begins as `own`, in a scene.
    ///
    /// # Panics
    ///
    /// If it cannot be written as JSON.
    pub fn spawn<T: Entity>(&mut self, scene: &str, own: T) -> &mut Newcomer {
        let (scene, data) = (scene.to_owned(), Map::new());
        self.newcomers.push(Newcomer { scene, type_name: T::NAME, label: None, data });
        let newcomer = self.newcomers.last_mut().expect("one was just added");
        newcomer.with(own)
    }

    /// All of them, in the order in which they were named.
    pub fn newcomers(&self) -> impl Iterator<Item = &Newcomer> {
        self.newcomers.iter()
    }
}

/// An entity to be.
#[derive(Clone, Debug)]
pub struct Newcomer {
    pub(crate) scene: String,
    pub(crate) type_name: &'static str,
    pub(crate) label: Option<String>,
    pub(crate) data: Map<String, Value>,
}

impl Newcomer {
    /// A name for people, 1 to 64 bytes.
    pub fn label(&mut self, label: &str) -> &mut Self {
        self.label = Some(label.to_owned());
        self
    }

    pub(crate) fn body(&self) -> SpawnBody {
        let Self { scene, type_name, label, data } = self.clone();
        SpawnBody { label, data: Some(data), ..SpawnBody::of(type_name, &scene) }
    }

    /// With one of its parts beginning as that one is.
    ///
    /// # Panics
    ///
    /// If it cannot be written as JSON.
    pub fn with<P: Part>(&mut self, part: P) -> &mut Self {
        match serde_json::to_value(&part) {
            Ok(fields) => self.data.insert(P::NAME.to_owned(), fields),
            Err(error) => panic!("{} cannot be written as JSON: {error}", P::NAME),
        };
        self
    }
}

/// Registers a [`Game`] that this program links in: its fields, as in the struct.
#[macro_export]
macro_rules! game {
    ($($field:ident: $value:expr),+ $(,)?) => {
        $crate::__private::inventory::submit! { $crate::game::Game { $($field: $value),+ } }
    };
}
