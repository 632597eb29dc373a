//! Where an entity is while it takes a turn: what the scene tells it.

use std::fmt;
use std::time::Duration;

use super::part::Entity;
use super::types::{TypeNumber, Types};
use crate::{Handle, LocalId, LookupError, OnlineId, PersistId, PlayerId, SceneId};

/// A moment, in microseconds since the node's start; never compared between nodes.
///
/// ```
/// use std::time::Duration;
/// use slipgate_entity::game::Moment;
///
/// let begun = Moment(5_000_000);
/// let due = begun.after(Duration::from_millis(1500));
/// assert_eq!((due, due.since(begun)), (Moment(6_500_000), Duration::from_millis(1500)));
/// assert_eq!(begun.since(due), Duration::ZERO);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Moment(pub u64);

impl Moment {
    /// The moment so much later; the last one there is, if that is beyond it.
    #[must_use]
    pub fn after(self, time: Duration) -> Self {
        Self(self.0.saturating_add(u64::try_from(time.as_micros()).unwrap_or(u64::MAX)))
    }

    /// How much later it is than `earlier`; nothing if it is not.
    #[must_use]
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_micros(self.0.saturating_sub(earlier.0))
    }
}

/// A scene, as its entities know it.
///
/// ```
/// use slipgate_entity::game::{Context, Level};
///
/// fn arrived(cx: &mut Context<'_>) {
///     let place = format!("{}@{}", cx.scene().name, cx.scene().node);
///     cx.log(Level::Info, format!("comes to {place}"));
/// }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SceneInfo {
    /// Its id.
    pub id: SceneId,
    /// Its name.
    pub name: String,
    /// The node that has it.
    pub node: String,
}

/// Who else is in the scene.
pub trait Lookup {
    /// Whom a handle names.
    ///
    /// # Errors
    ///
    /// If it names nobody who lives here.
    fn find(&self, handle: Handle) -> Result<&Description, LookupError>;

    /// The handle of an entity that lives here; none: it does not, or this does not know entities by their ids.
    fn handle_of(&self, entity: OnlineId) -> Option<Handle> {
        let _ = entity;
        None
    }

    /// The handle of an entity that lives here, by its number over restarts; none: it does not, or this does not know.
    fn handle_of_persist(&self, persist: PersistId) -> Option<Handle> {
        let _ = persist;
        None
    }

    /// Those here that are of a type or of one below it, by id; nobody, where this does not know.
    fn of_type(&self, kind: TypeNumber) -> Vec<OnlineId> {
        let _ = kind;
        Vec::new()
    }

    /// The global entity of that name, wherever it is; none: there is none, or this does not know of any.
    fn global(&self, name: &str) -> Option<OnlineId> {
        let _ = name;
        None
    }
}

/// What the scene tells an entity in a turn.
#[derive(Clone, Copy)]
pub struct World<'w> {
    /// The types of the node.
    pub types: &'w Types,
    /// The scene.
    pub scene: &'w SceneInfo,
    /// How often it has ticked since it was opened.
    pub tick: u64,
    /// The time.
    pub now: Moment,
    /// Who is in it.
    pub handles: &'w dyn Lookup,
}

impl fmt::Debug for World<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("World").field("scene", self.scene).field("tick", &self.tick).finish_non_exhaustive()
    }
}

/// What stays the same about an entity over its moves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// Its number in the cluster.
    pub online: OnlineId,
    /// Its number over restarts.
    pub persist: PersistId,
    /// The player that it belongs to.
    pub player: PlayerId,
    /// A name for people.
    pub label: Option<String>,
}

/// Who an entity is: read only.
///
/// ```
/// # use slipgate_entity::OnlineId;
/// use slipgate_entity::game::Context;
///
/// /// Of somebody in the same scene.
/// fn name_of(somebody: OnlineId, cx: &Context<'_>) -> Option<String> {
///     let description = cx.find(somebody)?;
///     Some(description.label().unwrap_or(description.type_name()).to_owned())
/// }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Description {
    pub(crate) handle: Handle,
    pub(crate) type_number: TypeNumber,
    pub(crate) type_name: &'static str,
    pub(crate) identity: Identity,
}

impl Description {
    /// Its handle in the scene: slot and generation. The zero handle before it has a slot.
    #[must_use]
    pub fn handle(&self) -> Handle {
        self.handle
    }

    /// The same in eight bytes, for this scene of this process. None before it has a slot.
    #[must_use]
    pub fn local(&self) -> Option<LocalId> {
        self.handle.local()
    }

    /// Whether it is of this very type.
    #[must_use]
    pub fn is_exact<T: Entity>(&self, types: &Types) -> bool {
        types.get::<T>().is_some_and(|kind| kind.number() == self.type_number)
    }

    /// Whether it is of this type or of one below it.
    ///
    /// ```
    /// # use slipgate_entity::game::doc::{Actor, Player};
    /// use slipgate_entity::game::{Description, Types};
    ///
    /// fn may_be_hit(who: &Description, types: &Types) -> bool {
    ///     who.is_a::<Actor>(types) && !who.is_exact::<Player>(types)
    /// }
    /// ```
    #[must_use]
    pub fn is_a<T: Entity>(&self, types: &Types) -> bool {
        types.get::<T>().is_some_and(|kind| types.is_a(self.type_number, kind.number()))
    }

    /// Whether it is of the type of another entity, or of one below that.
    #[must_use]
    pub fn is_kind_of(&self, other: &Self, types: &Types) -> bool {
        types.is_a(self.type_number, other.type_number)
    }

    /// Number of its type in this process.
    #[must_use]
    pub fn type_number(&self) -> TypeNumber {
        self.type_number
    }

    /// Name of its type.
    #[must_use]
    pub fn type_name(&self) -> &'static str {
        self.type_name
    }

    /// Its number in the cluster.
    #[must_use]
    pub fn online(&self) -> OnlineId {
        self.identity.online
    }

    /// Its number over restarts.
    #[must_use]
    pub fn persist(&self) -> PersistId {
        self.identity.persist
    }

    /// The player that it belongs to.
    #[must_use]
    pub fn player(&self) -> PlayerId {
        self.identity.player
    }

    /// Its name for people.
    #[must_use]
    pub fn label(&self) -> Option<&str> {
        self.identity.label.as_deref()
    }
}
