//! Derives for what a game declares: entity types, components, messages and their state.
//!
//! `slipgate` re-exports all of them, each beside the trait of its name. What they expand to can be written by hand:
//! an impl of the trait, serde's impls, and a line that registers the type.
//!
//! ```text
//! #[derive(Entity)]     Part, Entity, serde, register!      named fields: what travels, what is saved
//! #[derive(Component)]  Part, Component, serde, register!   the same, for a part that many types share
//! #[derive(Message)]    Message, serde                      a name, an answer
//! #[derive(State)]      serde                               data in the fields of the others
//! #[handlers]           Behaviour                           handlers, hooks, migrations
//! ```
//!
//! | module | holds |
//! |---|---|
//! | `entity`, `component`, `message`, `state`, `behaviour` | one macro each |
//! | `part` | what an entity type and a component have in common |
//! | `attributes` | what is written in the attributes |
//! | `fields` | the tables of fields, for the schema |
//! | `mirror` | serde's impls |
//! | `names` | names, and what a misspelt word was meant to be |
//!
//! Keeps: an error points at the word that is wrong and says what would be right; the expansion names nothing but
//! `::slipgate::__private` (or what `crate = ".."` names), `::core` and `::std`.
//! Leaves out: what only all types together can tell, such as a name that is taken; the type registry checks that.

mod attributes;
mod behaviour;
mod component;
mod entity;
mod fields;
mod message;
mod mirror;
mod names;
mod part;
mod state;

use proc_macro::TokenStream;
use proc_macro2::Span;
use syn::{DeriveInput, ItemImpl, parse_macro_input};

/// Declares an entity type: a struct with named fields, which are its state, and which registers itself.
///
/// It needs `Default` and `Debug`, and a behaviour ([`macro@handlers`], or `impl Behaviour for Player {}`).
///
/// | in `#[entity(..)]` | says | without it |
/// |---|---|---|
/// | `name = "player"` | name on the wire, `[a-z][a-z0-9_]*`, at most 48 bytes | the ident in snake case |
/// | `version = 2` | version of the state, from 1 | 1 |
/// | `parent = Actor` | type that this one is a kind of; its components and flags come along | none |
/// | `kind = 1` | number on the clients' wire, 0 to 255 | clients see none |
/// | `flags(is_player, BOSS)` | flags that it has beside its parent's; without a parent, beside `Flags::DEFAULT`, of which `!flag` leaves one out | none beside those |
/// | `components(Health, Bag)` | components that each gets, in this order | none |
/// | `abstract` | only a node of the tree: there is none of exactly this type | it can be created |
/// | `position = at`, `= at()` | field or method (`&self`) that is its `Position` | it is nowhere |
/// | `crate = "slipgate_entity"` | where `__private` is, if not in `::slipgate` | |
///
/// A flag is one of the fourteen by its name in lower case, or the path of a constant.
///
/// | on a field | says |
/// |---|---|
/// | `#[entity(transient)]` | does not travel: after a move it is as in the type's `Default` |
/// | `#[entity(persistent)]` | is in the saved form, too |
///
/// Fields travel in the order in which they are written. Read from text, one that is missing is as in the type's
/// `Default`, and one that is not known is an error.
///
/// # Examples
///
/// ```
/// # extern crate slipgate_entity as slipgate;
/// # use slipgate::__private::{Behaviour, Part, Position};
/// # use slipgate_macros::{Component, Entity};
/// #[derive(Component, Default, Debug)]
/// struct Health {
///     #[component(persistent)]
///     hp: u32,
/// }
/// impl Behaviour for Health {}
///
/// #[derive(Entity, Default, Debug)]
/// #[entity(version = 2, kind = 1, flags(is_player), components(Health), position = at)]
/// struct Player {
///     at: Position,
///     #[entity(transient)]
///     seen: Vec<u64>,
/// }
/// impl Behaviour for Player {}
///
/// assert_eq!((Player::NAME, Player::VERSION), ("player", 2));
/// ```
#[proc_macro_derive(Entity, attributes(entity))]
pub fn derive_entity(input: TokenStream) -> TokenStream {
    derive(input, entity::expand)
}

/// Declares a component: a struct with named fields, which are its state, and which registers itself.
///
/// It needs `Default` and `Debug`, and a behaviour ([`macro@handlers`], or `impl Behaviour for Health {}`).
/// `#[component(..)]` takes `name`, `version` and `crate`, and on a field `transient` or `persistent`, all as
/// [`macro@Entity`] does.
///
/// # Examples
///
/// ```
/// # extern crate slipgate_entity as slipgate;
/// # use slipgate::__private::{Behaviour, Part};
/// # use slipgate_macros::Component;
/// #[derive(Component, Default, Debug)]
/// #[component(name = "health", version = 1)]
/// struct Health {
///     #[component(persistent)]
///     hp: u32,
///     #[component(transient)]
///     last_hit_by: String,
/// }
/// impl Behaviour for Health {}
///
/// assert_eq!(Health::PERSISTENT, ["hp"]);
/// ```
#[proc_macro_derive(Component, attributes(component))]
pub fn derive_component(input: TokenStream) -> TokenStream {
    derive(input, component::expand)
}

/// Declares a message: a struct with named fields, or with none.
///
/// It needs `Debug`. `#[message(..)]` takes `name` and `crate`, as [`macro@Entity`] does, and `answer = Type`, what
/// whoever asks gets back; without it that is `()`. All fields travel. Read from text, a field that is missing or not known is
/// an error; a message without fields is `{}`.
///
/// # Examples
///
/// ```
/// # extern crate slipgate_entity as slipgate;
/// # use slipgate::__private::Message as _;
/// # use slipgate_macros::Message;
/// #[derive(Message, Debug)]
/// #[message(answer = u32)]
/// struct Hit {
///     damage: u32,
/// }
///
/// assert_eq!(Hit::NAME, "hit");
/// ```
#[proc_macro_derive(Message, attributes(message))]
pub fn derive_message(input: TokenStream) -> TokenStream {
    derive(input, message::expand)
}

/// Lets a type stand in the fields of entity types, components, messages and other states: structs, enums and generic ones.
///
/// It gives them serde's `Serialize` and `Deserialize`, so a type that has these already needs nothing.
/// `#[state(transient)]` on a field keeps it at home: after a move it is as in the `Default` of its own type.
/// `#[state(default)]` on a struct: a field that is missing from a text, or does not travel, is as in the struct's
/// `Default`; the old state that a migration reads from saved forms needs it. Variants of an enum are numbered in the order in which they are written: new ones come last.
///
/// # Examples
///
/// ```
/// # extern crate slipgate_entity as slipgate;
/// # use slipgate_macros::{Message, State};
/// #[derive(State, Debug)]
/// enum Stance {
///     Standing,
///     Aiming { at: u64 },
/// }
///
/// #[derive(Message, Debug)]
/// struct Take {
///     stance: Stance,
/// }
/// ```
#[proc_macro_derive(State, attributes(state))]
pub fn derive_state(input: TokenStream) -> TokenStream {
    derive(input, state::expand)
}

/// Makes an impl block the behaviour of a part; a part has one.
///
/// The methods stay what they are, so that a test can call them.
///
/// | a method | is |
/// |---|---|
/// | `#[from(client)] fn hit(&mut self, hit: Hit) -> u32` | the handler of `Hit`; it returns the message's answer |
/// | `fn was_hit(&mut self, answer: Answered<Hit>)` | the handler of the answer to a `Hit` that this entity asked |
/// | `#[hook] fn arrived(&mut self)`, `#[hook(arrived)] fn ..` | a hook of `Behaviour` |
/// | `#[migrate_from(1)] fn old(old: HealthV1) -> Self` | reads the state of an earlier version |
/// | anything else | a method like any other |
///
/// Who may call is said by `#[from(client)]`, `#[from(cluster)]` (entities, timers, tools) or both. Handlers and hooks
/// take `cx: &mut Context<'_>` as their last parameter, or leave it out. An answer's parameter is written as
/// `Answered<..>`: an alias of it is not recognised.
///
/// # Examples
///
/// ```
/// # extern crate slipgate_entity as slipgate;
/// # use slipgate::__private::{Answered, Context, Destination, Leave};
/// # use slipgate_macros::{Component, Message, State, handlers};
/// #[derive(Message, Debug)]
/// #[message(answer = u32)]
/// struct Hit {
///     damage: u32,
/// }
///
/// #[derive(Component, Default, Debug)]
/// #[component(version = 2)]
/// struct Health {
///     hp: u32,
/// }
///
/// #[derive(State)]
/// struct HealthV1 {
///     percent: u8,
/// }
///
/// #[handlers]
/// impl Health {
///     #[from(client)]
///     #[from(cluster)]
///     fn hit(&mut self, hit: Hit) -> u32 {
///         self.hp = self.hp.saturating_sub(hit.damage);
///         self.hp
///     }
///
///     fn other_was_hit(&mut self, answer: Answered<Hit>, cx: &mut Context<'_>) {
///         if answer.result.is_err() {
///             cx.despawn();
///         }
///     }
///
///     #[hook]
///     fn leaving(&mut self, _to: &Destination) -> Leave {
///         if self.hp == 0 { Leave::refuse("dead") } else { Leave::allow() }
///     }
///
///     #[migrate_from(1)]
///     fn from_percent(old: HealthV1) -> Self {
///         Self { hp: u32::from(old.percent) }
///     }
/// }
///
/// assert_eq!(Health { hp: 9 }.hit(Hit { damage: 2 }), 7);
/// ```
#[proc_macro_attribute]
pub fn handlers(arguments: TokenStream, block: TokenStream) -> TokenStream {
    behaviour::expand(arguments.into(), parse_macro_input!(block as ItemImpl)).into()
}

/// Where an error in code of ours is shown; lints know that the code is not the game's.
fn shown_at(place: Span) -> Span {
    Span::call_site().located_at(place)
}

fn derive(input: TokenStream, expand: fn(&DeriveInput) -> syn::Result<proc_macro2::TokenStream>) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    expand(&input).unwrap_or_else(|fault| fault.to_compile_error()).into()
}
