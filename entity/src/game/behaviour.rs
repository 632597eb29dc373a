//! What a part does: its handlers, and hooks for the turns of an entity's life.
//!
//! ```text
//! spawn     init  enter_scene  activate
//! a move    leaving  (reserve)  deactivate  leave_scene   ~~~>   enter_scene  arrived  activate      at the target
//!                                                          left                                      at the source
//!           given up:           enter_scene  activate  move_failed
//! despawn   deactivate  leave_scene  dropped
//! ```
//!
//! A hook runs in the entity's own part first, then in its components in the order in which they were added;
//! `deactivate`, `on_leave_scene` and `left` the other way round. All are synchronous: what they want is done when they
//! have returned. One that is parked hears none of them: it moves as it is and comes into the scene when it is unparked, and
//! a despawn merely drops it.

use serde_json::Value;

use super::context::Context;
use super::dispatch::Handlers;
use super::message::Returned;
use crate::{OnlineId, SceneId};

/// What a part does. Everything has a default: nothing.
///
/// ```
/// use slipgate_entity::game::{Behaviour, Context};
///
/// struct Torch {
///     oil: u32,
/// }
///
/// impl Behaviour for Torch {
///     fn init(&mut self, _: &mut Context<'_>) -> Result<(), String> {
///         if self.oil > 0 { Ok(()) } else { Err("a torch needs oil".to_owned()) }
///     }
///
///     fn arrived(&mut self, cx: &mut Context<'_>) {
///         self.oil -= 1;
///         if self.oil == 0 {
///             cx.despawn();
///         }
///     }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "nothing says what `{Self}` does",
    label = "no behaviour",
    note = "write `#[handlers] impl {Self} {{ .. }}`, or `impl Behaviour for {Self} {{}}` if it does nothing"
)]
pub trait Behaviour: Sized {
    /// Says which messages it takes.
    fn handlers(table: &mut Handlers<Self>) {
        let _ = table;
    }

    /// Runs once in a new entity, or when the component is added to a living one.
    ///
    /// # Errors
    ///
    /// Says why it cannot be: the entity is not spawned, or the component is not added.
    fn init(&mut self, cx: &mut Context<'_>) -> Result<(), String> {
        let _ = cx;
        Ok(())
    }

    /// The entity is in a scene.
    fn on_enter_scene(&mut self, entry: &Entry, cx: &mut Context<'_>) {
        let _ = (entry, cx);
    }

    /// The entity takes messages from here on.
    fn activate(&mut self, cx: &mut Context<'_>) {
        let _ = cx;
    }

    /// The entity takes no more messages here.
    fn deactivate(&mut self, cx: &mut Context<'_>) {
        let _ = cx;
    }

    /// The entity leaves the scene: it moves, or it is despawned.
    fn on_leave_scene(&mut self, cx: &mut Context<'_>) {
        let _ = cx;
    }

    /// Somebody asks for a move. The first part that refuses decides.
    fn leaving(&mut self, to: &Destination, cx: &mut Context<'_>) -> Leave {
        let _ = (to, cx);
        Leave::allow()
    }

    /// The target has taken over, and this copy ends. It sends nothing.
    fn left(&mut self, cx: &mut Context<'_>) {
        let _ = cx;
    }

    /// The entity came from another scene.
    fn arrived(&mut self, cx: &mut Context<'_>) {
        let _ = cx;
    }

    /// A move came to nothing, and the entity is where it was.
    fn move_failed(&mut self, why: &MoveFailed, cx: &mut Context<'_>) {
        let _ = (why, cx);
    }

    /// A message that the entity sent came back. What is returned of an ask comes as its
    /// [`Answered`](super::Answered), if the part that asked takes that.
    fn returned(&mut self, back: &ReturnedMessage, cx: &mut Context<'_>) {
        let _ = (back, cx);
    }
}

/// How an entity came into its scene.
///
/// ```
/// use serde_json::json;
/// use slipgate_entity::SceneId;
/// use slipgate_entity::game::{Entered, Entry};
///
/// /// In `on_enter_scene`, after `cx.move_with(to, json!({ "gate": "north" }))`.
/// fn gate(entry: &Entry) -> Option<&str> {
///     entry.brings.as_ref()?.get("gate")?.as_str()
/// }
///
/// let entry = Entry { how: Entered::Arrived { from: SceneId(7) }, brings: Some(json!({ "gate": "north" })) };
/// assert_eq!(gate(&entry), Some("north"));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// In which way.
    pub how: Entered,
    /// What it brings along, from whoever asked for the move, or for the spawn.
    pub brings: Option<Value>,
}

/// In which way an entity came into its scene.
///
/// ```
/// use slipgate_entity::game::Entered;
///
/// /// Who comes back to where she was has seen the place.
/// fn is_new_here(how: Entered) -> bool {
///     match how {
///         Entered::Spawned | Entered::Arrived { .. } => true,
///         Entered::MoveFailed => false,
///     }
/// }
/// assert!(is_new_here(Entered::Spawned) && !is_new_here(Entered::MoveFailed));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entered {
    /// It was made here. Also for a component that was added since.
    Spawned,
    /// It moved here.
    Arrived {
        /// From this scene.
        from: SceneId,
    },
    /// It was about to move, and did not.
    MoveFailed,
}

/// Where an entity is about to go.
///
/// ```
/// # use slipgate_entity::SceneId;
/// use slipgate_entity::game::{Destination, Leave};
///
/// fn leaving(has_key: bool, to: &Destination) -> Leave {
///     if to.name == "vault" && !has_key { Leave::refuse("no key") } else { Leave::allow() }
/// }
///
/// let vault = Destination { scene: SceneId(7), name: "vault".to_owned(), node: "n2".to_owned() };
/// assert_eq!(leaving(true, &vault), Leave::allow());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Destination {
    /// The scene.
    pub scene: SceneId,
    /// Its name.
    pub name: String,
    /// The node that has it.
    pub node: String,
}

/// What a part says of a move.
///
/// ```
/// # use slipgate_entity::{OnlineId, RangeId};
/// use slipgate_entity::game::Leave;
///
/// # let [bob, cid] = [1, 2].map(|counter| OnlineId::new(RangeId(1), counter));
/// let together = Leave::allow().with([bob, cid, bob]);
/// assert_eq!(together, Leave::Allowed { companions: vec![bob, cid] });
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Leave {
    /// It may begin.
    Allowed {
        /// Who comes along.
        companions: Vec<OnlineId>,
    },
    /// It may not.
    Refused {
        /// Why, for whoever asked.
        reason: String,
    },
}

impl Leave {
    /// Nothing against it.
    #[must_use]
    pub fn allow() -> Self {
        Self::Allowed { companions: Vec::new() }
    }

    /// Not now, because.
    #[must_use]
    pub fn refuse(reason: impl Into<String>) -> Self {
        Self::Refused { reason: reason.into() }
    }

    /// Takes companions along: all are reserved before any stops, then each is decided alone. A refusal stays one.
    ///
    /// ```
    /// use slipgate_entity::game::Leave;
    /// assert_eq!(Leave::refuse("in combat").with([]), Leave::Refused { reason: "in combat".to_owned() });
    /// ```
    #[must_use]
    pub fn with(mut self, ids: impl IntoIterator<Item = OnlineId>) -> Self {
        if let Self::Allowed { companions } = &mut self {
            for id in ids {
                if !companions.contains(&id) {
                    companions.push(id);
                }
            }
        }
        self
    }
}

/// Why a move came to nothing.
///
/// ```
/// # use slipgate_entity::game::doc::Player;
/// use slipgate_entity::game::{Context, Level, MoveFailed};
///
/// fn move_failed(player: &mut Player, why: &MoveFailed, cx: &mut Context<'_>) {
///     cx.log(Level::Info, format!("{} stays: {}", player.name, why.text));
///     if why.word == "timeout" {
///         cx.move_to_named("harbor");
///     }
/// }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MoveFailed {
    /// In one word: `refused`, `timeout`, ...
    pub word: &'static str,
    /// In a sentence.
    pub text: String,
}

/// A message that came back.
///
/// ```
/// use slipgate_entity::game::{Returned, ReturnedMessage};
///
/// fn line(back: &ReturnedMessage) -> String {
///     format!("{} to {} came back as {}: {}", back.message, back.to, back.why, back.reason)
/// }
///
/// let to = "3.1204".parse()?;
/// let reason = "it takes no message named hit".to_owned();
/// let back = ReturnedMessage { to, why: Returned::Refused, reason, message: "hit", payload: Vec::new() };
/// assert_eq!(line(&back), "hit to 3.1204 came back as refused: it takes no message named hit");
/// # Ok::<(), slipgate_entity::ParseIdError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReturnedMessage {
    /// To whom it was.
    pub to: OnlineId,
    /// Why it came back.
    pub why: Returned,
    /// What whoever refused it said; else empty.
    pub reason: String,
    /// The message's name, or `?` if none is known here.
    pub message: &'static str,
    /// Its bytes as they were sent; empty if it was refused.
    pub payload: Vec<u8>,
}
