//! A scene for one entity after the other, and what is said in it.

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};

use slipgate_entity::game::{
    Body, CallError, Caller, Data, Description, Effect, Entered, Identity, Incoming, Lookup, Message, Moment,
    SceneInfo, Types, World, payload, unguarded,
};
use slipgate_entity::{EntityId, Handle, LookupError, OnlineId, PersistId, PlayerId, RangeId, SceneId};

/// What a part needs beside its fields, without macros of the library.
macro_rules! part {
    ($type:ident, $name:literal $(, $constant:ident = $value:expr)*) => {
        impl slipgate_entity::game::Part for $type {
            const NAME: &'static str = $name;
            $(part!(@ $constant, $value);)*

            fn number() -> slipgate_entity::game::PartNumber {
                static CELL: slipgate_entity::game::PartCell = slipgate_entity::game::PartCell::new();
                CELL.number()
            }
        }
    };
    (@ VERSION, $value:expr) => { const VERSION: u16 = $value; };
    (@ PERSISTENT, $value:expr) => { const PERSISTENT: &'static [&'static str] = $value; };
    (@ FIELDS, $value:expr) => { const FIELDS: &'static [slipgate_entity::game::Field] = $value; };
}

/// Structs with the derives that all need.
macro_rules! data {
    ($($(#[$meta:meta])* $type:ident { $($(#[$on:meta])* $field:ident: $of:ty),* })*) => {
        $(
            $(#[$meta])*
            #[derive(Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
            pub(crate) struct $type { $($(#[$on])* pub(crate) $field: $of),* }
        )*
    };
}

macro_rules! message {
    ($type:ident, $name:literal, $answer:ty) => {
        impl slipgate_entity::game::Message for $type {
            const NAME: &'static str = $name;
            type Answer = $answer;
        }
    };
}

thread_local! {
    static TOLD: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

/// Notes what happened.
pub(crate) fn tell(what: impl Into<String>) {
    TOLD.with_borrow_mut(|told| told.push(what.into()));
}

/// What happened since the last time, in one line.
pub(crate) fn told() -> String {
    TOLD.take().join(" ")
}

/// Nobody else is there, but for one.
pub(crate) struct Others(pub(crate) Option<Description>);

impl Lookup for Others {
    fn find(&self, handle: Handle) -> Result<&Description, LookupError> {
        self.0.as_ref().filter(|other| other.handle() == handle).ok_or(LookupError::NotFound)
    }
}

pub(crate) struct Stage {
    pub(crate) types: Types,
    pub(crate) now: u64,
    pub(crate) others: Others,
    pub(crate) effects: Vec<Effect>,
    scene: SceneInfo,
}

impl Stage {
    pub(crate) fn new(types: Types) -> Self {
        let scene = SceneInfo { id: SceneId(1), name: "forest".to_owned(), node: "n1".to_owned() };
        Self { types, now: 1_000_000, others: Others(None), effects: Vec::new(), scene }
    }

    /// What a turn gets: the world, and where effects go.
    pub(crate) fn turn<R>(&mut self, run: impl FnOnce(&World<'_>, &mut Vec<Effect>) -> R) -> R {
        let now = Moment(self.now);
        let world = World { types: &self.types, scene: &self.scene, tick: 7, now, handles: &self.others };
        run(&world, &mut self.effects)
    }

    /// An entity that is in the scene and takes messages.
    pub(crate) fn spawn(&mut self, name: &str, counter: u32) -> Body {
        let mut body = self.types.create(name, identity(counter), &Data::default()).expect("a type of the stage");
        body.settle(handle(counter));
        self.turn(|world, effects| {
            body.init(world, effects).expect("it can be");
            body.enter(Entered::Spawned, world, effects, &mut unguarded);
        });
        body
    }

    pub(crate) fn call<M: Message>(&mut self, body: &mut Body, caller: Caller, message: &M) -> Result<(), CallError> {
        self.bytes(body, caller, &payload(message))
    }

    pub(crate) fn bytes(&mut self, body: &mut Body, caller: Caller, payload: &[u8]) -> Result<(), CallError> {
        self.turn(|world, effects| body.call(Incoming { caller, payload }, world, effects))
    }

    /// What it is called, if it panics.
    pub(crate) fn panics<M: Message>(&mut self, body: &mut Body, message: &M) -> bool {
        catch_unwind(AssertUnwindSafe(|| self.call(body, Caller::Tool, message))).is_err()
    }

    /// Everything that is due.
    pub(crate) fn fire(&mut self, body: &mut Body) -> Vec<Result<(), CallError>> {
        std::iter::from_fn(|| self.turn(|world, effects| body.fire(world, effects))).collect()
    }

    pub(crate) fn effects(&mut self) -> Vec<Effect> {
        std::mem::take(&mut self.effects)
    }

    /// The only effect: a payload to an entity.
    pub(crate) fn sent(&mut self) -> (OnlineId, Vec<u8>) {
        match <[Effect; 1]>::try_from(self.effects()) {
            Ok([Effect::Send { to, payload }]) => (to, payload),
            other => panic!("expected one message, found {other:?}"),
        }
    }
}

pub(crate) fn id(counter: u32) -> OnlineId {
    OnlineId::new(RangeId(3), counter)
}

pub(crate) fn handle(counter: u32) -> Handle {
    Handle::new(EntityId::new(SceneId(1), u64::from(counter)), 1)
}

pub(crate) fn identity(counter: u32) -> Identity {
    let persist = PersistId(uuid::Uuid::from_u128(u128::from(counter)));
    Identity { online: id(counter), persist, player: PlayerId(9), label: Some("ann".to_owned()) }
}
