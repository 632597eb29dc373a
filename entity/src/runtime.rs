//! The table of a scene's entities: slots, each with a generation.
//!
//! ```text
//! slots   0: gen 1 ann     1: vacant     2: gen 2 bob     3: vacant
//! free    3: gen 2, 1: gen 5   <- the next spawn is gen 5 in slot 1; then gen 2 in 3; then a new slot 4
//! ```
//!
//! The generation of a slot rises when it is vacated, and waits there for the next tenant. So an old
//! handle finds nobody (`NotFound`) until the slot has a new tenant, and then is told that it is
//! `Stale`. A slot whose last generation was used is retired: it never goes back on the stack,
//! because one more generation would bring old handles back to life.
//!
//! Vacant slots are kept on a stack of their own rather than chained through the slots: after a
//! mass despawn a chain makes each spawn wait for the cache miss of the one before it, measured ten
//! times slower at a million slots. The price is eight bytes for each vacant slot.
//!
//! Slots lie in one array, because pages make every look-up a fifth to a third slower. It grows in few steps:
//! a first one of 32 KiB, then all that [`with_room_for`](Runtime::with_room_for) named, then by doubling. So a
//! scene that knows its capacity never copies more than 32 KiB
//! ([ADR 20](../../../docs/adr/0020-slots-lie-in-one-array.md)).
//!
//! A scene that is opened again under its number begins above the generations of the one before
//! ([`with_first_generation`](Runtime::with_first_generation)), so handles from then find nobody here either.
//!
//! Keeps: a handle names at most one life, for ever; spawn, look-up and despawn touch one slot; a slot
//! number is never truncated; `len` counts the slots in use.
//! Leaves out: threads (a scene owns its runtime), what a payload is, ids that leave the process.

use std::fmt;
use std::num::NonZeroU32;

use thiserror::Error;

use self::hooks::{Hooks, NoHooks};
use self::slot::Slot;
use crate::{Handle, LocalId, SceneId};

pub mod hooks;
pub mod pool;
mod slot;

#[cfg(test)]
mod tests;

/// The entities of one scene, found by [`Handle`] or [`LocalId`].
///
/// ```
/// use slipgate_entity::{LookupError, Runtime, SceneId};
///
/// let mut runtime = Runtime::new(SceneId(1));
/// let ann = runtime.spawn("ann")?;
/// assert_eq!(runtime.get(ann), Ok(&"ann"));
/// assert_eq!(runtime.despawn(ann), Ok("ann"));
/// assert_eq!(runtime.get(ann), Err(LookupError::NotFound));
///
/// let bob = runtime.spawn("bob")?;
/// assert_eq!(bob.id(), ann.id());
/// assert_eq!(runtime.get(ann), Err(LookupError::Stale));
/// # Ok::<(), slipgate_entity::SlotsExhausted<&str>>(())
/// ```
pub struct Runtime<T, H = NoHooks> {
    scene: SceneId,
    slots: Vec<Slot<T>>,
    /// Vacant slots, each with the generation of its next tenant.
    free: Vec<LocalId>,
    retired: usize,
    slots_max: u32,
    /// Slots that are taken room for at once.
    room: u32,
    /// Generation of a slot's first tenant.
    first: NonZeroU32,
    hooks: H,
}

/// Why a handle finds no entity. Nothing was changed.
///
/// ```
/// use slipgate_entity::{LookupError, Runtime, SceneId};
///
/// let (mut forest, harbor) = (Runtime::new(SceneId(1)), Runtime::<&str>::new(SceneId(2)));
/// let ann = forest.spawn("ann")?;
/// assert_eq!(harbor.get(ann), Err(LookupError::BadScene));
/// # Ok::<(), slipgate_entity::SlotsExhausted<&str>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum LookupError {
    /// The slot is vacant, or was never used: the entity is gone. Drop the handle.
    #[error("no entity lives there (it is gone, or never was)")]
    NotFound,
    /// Another entity lives in the slot: the one meant is gone for good. Drop the handle.
    #[error("the handle is stale: its slot belongs to another entity")]
    Stale,
    /// The handle belongs to the runtime of another scene. Ask there, or go by the online id.
    #[error("the handle belongs to another scene")]
    BadScene,
}

/// Every slot is in use or retired. The runtime is unchanged and the value comes back; despawn
/// something, or spawn in another scene.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("every slot of scene {scene} is in use")]
pub struct SlotsExhausted<T> {
    /// The scene that is full.
    pub scene: SceneId,
    /// What should have been spawned.
    pub value: T,
}

impl<T> Runtime<T> {
    /// An empty runtime for `scene`, without hooks.
    #[must_use]
    pub fn new(scene: SceneId) -> Self {
        Self::with_hooks(scene, NoHooks)
    }
}

impl<T, H> Runtime<T, H> {
    /// An empty runtime for `scene` whose payloads come from and go back to `hooks`.
    #[must_use]
    pub fn with_hooks(scene: SceneId, hooks: H) -> Self {
        let scene = scene.first();
        Self {
            scene,
            slots: Vec::new(),
            free: Vec::new(),
            retired: 0,
            slots_max: u32::MAX,
            room: 0,
            first: FIRST_GENERATION,
            hooks,
        }
    }

    /// Lets the runtime allocate at most `slots_max` slots; without it, 2^32 - 1.
    ///
    /// Slots beyond it that are there already stay.
    #[must_use]
    pub fn with_slots_max(self, slots_max: u32) -> Self {
        Self { slots_max, ..self }
    }

    /// Lets the table take room for `entities` at once when it first needs more than 32 KiB; up to that
    /// number it then never grows again. Neither a bound nor a promise: beyond it, and where the system
    /// refuses that much, the table doubles. 0 unless it is said.
    ///
    /// Memory that was taken and not used yet is an address to most systems, nothing more.
    #[must_use]
    pub fn with_room_for(self, entities: u32) -> Self {
        Self { room: entities, ..self }
    }

    /// Lets the generations of new slots begin at `first`, or at 1 if that is 0: above the
    /// [`highest`](Self::highest_generation) of an earlier runtime of the same scene number.
    #[must_use]
    pub fn with_first_generation(self, first: u32) -> Self {
        Self { first: NonZeroU32::new(first).unwrap_or(FIRST_GENERATION), ..self }
    }

    /// No handle that was ever given out here has a higher generation. O(`cap`).
    #[must_use]
    pub fn highest_generation(&self) -> u32 {
        let living = self.slots.iter().filter_map(|slot| Some(slot.tenant()?.0.get()));
        let vacant = self.free.iter().map(|next| next.generation().get() - 1);
        let retired = (self.retired > 0).then_some(u32::MAX);
        living.chain(vacant).chain(retired).max().unwrap_or(self.first.get() - 1)
    }

    /// Puts a value into a slot: the one vacated last, or a new one.
    ///
    /// # Errors
    ///
    /// If every slot is in use or retired; the value comes back.
    #[inline]
    pub fn spawn(&mut self, value: T) -> Result<Handle, SlotsExhausted<T>> {
        let Some(next) = self.vacancy() else { return Err(SlotsExhausted { scene: self.scene, value }) };
        self.occupy(next, value);
        Ok(Handle::of_local(self.scene, next))
    }

    /// The entity that `handle` names.
    ///
    /// # Errors
    ///
    /// See [`LookupError`]; a handle of another scene is told before anything else.
    #[inline]
    pub fn get(&self, handle: Handle) -> Result<&T, LookupError> {
        self.get_local(self.resolve(handle)?)
    }

    /// The entity that `handle` names, to change.
    ///
    /// # Errors
    ///
    /// As [`get`](Self::get).
    #[inline]
    pub fn get_mut(&mut self, handle: Handle) -> Result<&mut T, LookupError> {
        self.get_local_mut(self.resolve(handle)?)
    }

    /// The entity that `id` names in this runtime: one array access and one comparison.
    ///
    /// # Errors
    ///
    /// [`LookupError::NotFound`] or [`LookupError::Stale`]; an id of another runtime is not recognised.
    #[inline]
    pub fn get_local(&self, id: LocalId) -> Result<&T, LookupError> {
        self.slots.get(index(id.slot())).ok_or(LookupError::NotFound)?.get(id.generation())
    }

    /// The entity that `id` names in this runtime, to change.
    ///
    /// # Errors
    ///
    /// As [`get_local`](Self::get_local).
    #[inline]
    pub fn get_local_mut(&mut self, id: LocalId) -> Result<&mut T, LookupError> {
        self.slots.get_mut(index(id.slot())).ok_or(LookupError::NotFound)?.get_mut(id.generation())
    }

    /// Takes the entity out; its slot may be used again at once.
    ///
    /// The value is the caller's: the release hook does not see it (see [`release`](Self::release)).
    ///
    /// # Errors
    ///
    /// See [`LookupError`]; a second despawn by the same handle finds nobody.
    #[inline]
    pub fn despawn(&mut self, handle: Handle) -> Result<T, LookupError> {
        self.despawn_local(self.resolve(handle)?)
    }

    /// Takes out the entity that `id` names in this runtime.
    ///
    /// # Errors
    ///
    /// As [`get_local`](Self::get_local).
    #[inline]
    pub fn despawn_local(&mut self, id: LocalId) -> Result<T, LookupError> {
        let value = self.slots.get_mut(index(id.slot())).ok_or(LookupError::NotFound)?.take(id.generation())?;
        match id.generation().checked_add(1) {
            Some(next) => self.free.push(LocalId::new(next, id.slot())),
            None => self.retired += 1,
        }
        Ok(value)
    }

    /// Entities that live in the runtime.
    #[must_use]
    pub fn len(&self) -> usize {
        self.slots.len() - self.free.len() - self.retired
    }

    /// Whether nobody lives in the runtime.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Slots ever allocated. As long as none is retired, the highest number of entities at once.
    #[must_use]
    pub fn cap(&self) -> usize {
        self.slots.len()
    }

    /// Slots that are never used again because their generations are used up.
    #[must_use]
    pub fn retired(&self) -> usize {
        self.retired
    }

    /// The scene that the runtime belongs to, as its handles name it: the first of its number.
    #[must_use]
    pub fn scene(&self) -> SceneId {
        self.scene
    }

    /// Everybody who lives in the runtime, in slot order. Walks vacant slots too: O(`cap`).
    pub fn iter(&self) -> impl Iterator<Item = (Handle, &T)> {
        let scene = self.scene;
        (0..).zip(&self.slots).filter_map(move |(slot, entry)| {
            let (generation, value) = entry.tenant()?;
            Some((Handle::of_local(scene, LocalId::new(generation, slot)), value))
        })
    }

    /// Everybody who lives in the runtime, to change, in slot order. O(`cap`).
    pub fn iter_mut(&mut self) -> impl Iterator<Item = (Handle, &mut T)> {
        let scene = self.scene;
        (0..).zip(&mut self.slots).filter_map(move |(slot, entry)| {
            let (generation, value) = entry.tenant_mut()?;
            Some((Handle::of_local(scene, LocalId::new(generation, slot)), value))
        })
    }

    /// Where payloads come from and go to.
    #[must_use]
    pub fn hooks(&self) -> &H {
        &self.hooks
    }

    /// Who lives in a slot, if anybody does.
    pub(crate) fn tenant(&self, slot: u32) -> Option<(Handle, &T)> {
        let (generation, value) = self.slots.get(index(slot))?.tenant()?;
        Some((Handle::of_local(self.scene, LocalId::new(generation, slot)), value))
    }

    /// Who lives in a slot, to change.
    pub(crate) fn tenant_mut(&mut self, slot: u32) -> Option<(Handle, &mut T)> {
        let (generation, value) = self.slots.get_mut(index(slot))?.tenant_mut()?;
        Some((Handle::of_local(self.scene, LocalId::new(generation, slot)), value))
    }

    /// The slot and generation that the next spawn gets, if there is one.
    #[inline]
    fn vacancy(&self) -> Option<LocalId> {
        self.free.last().copied().or_else(|| {
            let slot = u32::try_from(self.slots.len()).ok().filter(|&slot| slot < self.slots_max)?;
            Some(LocalId::new(self.first, slot))
        })
    }

    #[inline]
    fn occupy(&mut self, next: LocalId, value: T) {
        let slot = Slot::of(next.generation(), value);
        if self.free.pop().is_some() {
            self.slots[index(next.slot())] = slot;
        } else {
            if self.slots.len() == self.slots.capacity() {
                self.grow();
            }
            self.slots.push(slot);
        }
    }

    /// Takes room for one more slot at least.
    #[cold]
    #[inline(never)]
    fn grow(&mut self) {
        let used = self.slots.len();
        let first_step = 1 << (FIRST_STEP_BYTES / size_of::<Slot<T>>()).max(1).ilog2();
        let wanted = [first_step, index(self.room)].into_iter().find(|&step| step > used).unwrap_or(2 * used);
        let more = wanted.min(index(self.slots_max)).saturating_sub(used);
        if self.slots.try_reserve_exact(more).is_err() {
            self.slots.reserve(1);
        }
    }

    #[inline]
    fn resolve(&self, handle: Handle) -> Result<LocalId, LookupError> {
        if handle.id().scene() != self.scene {
            return Err(LookupError::BadScene);
        }
        handle.local().ok_or(LookupError::NotFound)
    }
}

impl<T, H: Hooks<T>> Runtime<T, H> {
    /// Spawns a payload from the alloc hook, after `fill` has made it this entity's.
    ///
    /// The hook is asked only when there is a slot. If it or `fill` panics, the runtime is unchanged.
    ///
    /// # Errors
    ///
    /// If every slot is in use or retired; no payload was taken.
    pub fn acquire(&mut self, fill: impl FnOnce(Handle, &mut T)) -> Result<Handle, SlotsExhausted<()>> {
        let Some(next) = self.vacancy() else { return Err(SlotsExhausted { scene: self.scene, value: () }) };
        let handle = Handle::of_local(self.scene, next);
        let mut payload = self.hooks.alloc();
        fill(handle, &mut payload);
        self.occupy(next, payload);
        Ok(handle)
    }

    /// Despawns the entity and hands its payload to the release hook.
    ///
    /// # Errors
    ///
    /// As [`despawn`](Self::despawn); the hook is then not called.
    pub fn release(&mut self, handle: Handle) -> Result<(), LookupError> {
        let payload = self.despawn(handle)?;
        self.hooks.release(payload);
        Ok(())
    }
}

impl<T, H> fmt::Debug for Runtime<T, H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Runtime")
            .field("scene", &self.scene)
            .field("len", &self.len())
            .field("cap", &self.cap())
            .finish_non_exhaustive()
    }
}

#[inline]
fn index(slot: u32) -> usize {
    slot as usize
}

/// Room that the first entity takes. Up to here a growing table would copy itself eight times; pages that are not
/// touched cost nothing. Measured: a thousand spawns into a new table take 0.8x of what they do without.
const FIRST_STEP_BYTES: usize = 32 << 10;

/// Lowest generation of a slot's first tenant: above that of the zero handle.
const FIRST_GENERATION: NonZeroU32 = NonZeroU32::MIN;

const _: () = assert!(usize::BITS >= u32::BITS, "a slot number is an array index");
