//! The entities of a scene, found by each of their ids.
//!
//! ```text
//!   LocalId 3:42  ------------------------------->  slot 42: ids, value      one array access
//!   OnlineId 3.1204  -->  index  --> 42  -------->  slot 42                  one hash before it
//!   PersistId 0192..  -->  index  --> 42  ------->  slot 42                  one hash before it
//! ```
//!
//! The indexes hold numbers of slots, the table holds the ids: so whoever leaves is found in both indexes by
//! what the table says, and no caller can take an entity out of one and leave it in another.
//!
//! Keeps: an online id and a persist id name at most one entity each; an entity is in the table and in both
//! indexes, or in none of them; its ids never change.
//! Leaves out: ids of entities that live elsewhere.

use std::fmt;

use thiserror::Error;

use crate::{FixedMap, Handle, LocalId, LookupError, OnlineId, OnlineIndex, PersistId, Runtime, SlotsExhausted};

/// A [`Runtime`] with an index by online id and one by persist id.
///
/// ```
/// use slipgate_entity::registry::Ids;
/// use slipgate_entity::{OnlineId, PersistId, RangeId, Registry, Runtime, SceneId};
/// # use uuid::Uuid;
///
/// let ids = Ids { online: OnlineId::new(RangeId(3), 1204), persist: PersistId(Uuid::from_u128(7)) };
/// let mut registry = Registry::over(Runtime::new(SceneId(1)).with_room_for(100_000));
/// let ann = registry.spawn(ids, "ann")?;
/// assert_eq!(registry.get(ann), Ok(&"ann"));
/// assert_eq!(registry.by_online(ids.online), Some((ann, &"ann")));
/// assert_eq!(registry.by_persist(ids.persist), Some((ann, &"ann")));
/// assert_eq!(registry.despawn(ann), Ok((ids, "ann")));
/// assert_eq!(registry.by_persist(ids.persist), None);
/// # Ok::<(), slipgate_entity::registry::RegisterError<&str>>(())
/// ```
pub struct Registry<T> {
    runtime: Runtime<Entry<T>>,
    online: OnlineIndex,
    persist: FixedMap<PersistId, u32>,
}

/// The ids of an entity that do not depend on where it lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ids {
    /// Its number in the cluster.
    pub online: OnlineId,
    /// Its number across restarts.
    pub persist: PersistId,
}

/// What a slot of a [`Registry`] holds.
#[derive(Debug)]
pub struct Entry<T> {
    ids: Ids,
    value: T,
}

/// Why an entity was not registered. The registry is unchanged, and the value comes back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum RegisterError<T> {
    /// Somebody here has the online id already: the spawn was repeated. Go on with `by`.
    #[error("the online id belongs to {by}")]
    OnlineTaken {
        /// Who has it.
        by: Handle,
        /// What should have been spawned.
        value: T,
    },
    /// Somebody here has the persist id already: one player, say, twice. Despawn `by` first, or leave it at that.
    #[error("the persist id belongs to {by}")]
    PersistTaken {
        /// Who has it.
        by: Handle,
        /// What should have been spawned.
        value: T,
    },
    /// Every slot is in use or retired. Despawn something, or spawn in another scene.
    #[error(transparent)]
    Exhausted(SlotsExhausted<T>),
}

impl<T> Registry<T> {
    /// A registry over a runtime, which says its scene, its bounds and its first generation.
    #[must_use]
    pub fn over(runtime: Runtime<Entry<T>>) -> Self {
        Self { runtime, online: OnlineIndex::default(), persist: FixedMap::default() }
    }

    /// Spawns an entity under its ids.
    ///
    /// # Errors
    ///
    /// If an id is taken, or there is no slot; see [`RegisterError`].
    pub fn spawn(&mut self, ids: Ids, value: T) -> Result<Handle, RegisterError<T>> {
        if let Some((by, _)) = self.by_online(ids.online) {
            return Err(RegisterError::OnlineTaken { by, value });
        }
        if let Some((by, _)) = self.by_persist(ids.persist) {
            return Err(RegisterError::PersistTaken { by, value });
        }
        let handle = self.runtime.spawn(Entry { ids, value }).map_err(|SlotsExhausted { scene, value }| {
            RegisterError::Exhausted(SlotsExhausted { scene, value: value.value })
        })?;
        let slot = handle.local().expect("a runtime's handle has a local id").slot();
        self.online.insert(ids.online, slot);
        self.persist.insert(ids.persist, slot);
        Ok(handle)
    }

    /// Takes the entity out, with its ids.
    ///
    /// # Errors
    ///
    /// See [`LookupError`].
    pub fn despawn(&mut self, handle: Handle) -> Result<(Ids, T), LookupError> {
        let Entry { ids, value } = self.runtime.despawn(handle)?;
        let (online, persist) = (self.online.remove(ids.online), self.persist.remove(&ids.persist));
        assert_eq!(online, persist, "expected {handle} in one slot by {ids:?}, found two");
        Ok((ids, value))
    }

    /// The entity that `handle` names.
    ///
    /// # Errors
    ///
    /// See [`LookupError`].
    #[inline]
    pub fn get(&self, handle: Handle) -> Result<&T, LookupError> {
        self.runtime.get(handle).map(|entry| &entry.value)
    }

    /// The entity that `handle` names, to change.
    ///
    /// # Errors
    ///
    /// See [`LookupError`].
    #[inline]
    pub fn get_mut(&mut self, handle: Handle) -> Result<&mut T, LookupError> {
        self.runtime.get_mut(handle).map(|entry| &mut entry.value)
    }

    /// The entity that `id` names here: one array access.
    ///
    /// # Errors
    ///
    /// See [`Runtime::get_local`].
    #[inline]
    pub fn get_local(&self, id: LocalId) -> Result<&T, LookupError> {
        self.runtime.get_local(id).map(|entry| &entry.value)
    }

    /// The entity that `id` names here, to change.
    ///
    /// # Errors
    ///
    /// See [`Runtime::get_local`].
    #[inline]
    pub fn get_local_mut(&mut self, id: LocalId) -> Result<&mut T, LookupError> {
        self.runtime.get_local_mut(id).map(|entry| &mut entry.value)
    }

    /// Who has the online id here.
    #[must_use]
    pub fn by_online(&self, id: OnlineId) -> Option<(Handle, &T)> {
        self.tenant(self.online.get(id)?)
    }

    /// Who has the online id here, to change.
    #[must_use]
    pub fn by_online_mut(&mut self, id: OnlineId) -> Option<(Handle, &mut T)> {
        self.tenant_mut(self.online.get(id)?)
    }

    /// Who has the persist id here.
    #[must_use]
    pub fn by_persist(&self, id: PersistId) -> Option<(Handle, &T)> {
        self.tenant(*self.persist.get(&id)?)
    }

    /// Who has the persist id here, to change.
    #[must_use]
    pub fn by_persist_mut(&mut self, id: PersistId) -> Option<(Handle, &mut T)> {
        self.tenant_mut(*self.persist.get(&id)?)
    }

    /// The ids of the entity that `handle` names.
    ///
    /// # Errors
    ///
    /// See [`LookupError`].
    pub fn ids(&self, handle: Handle) -> Result<Ids, LookupError> {
        self.runtime.get(handle).map(|entry| entry.ids)
    }

    /// Everybody who lives here, in slot order; see [`Runtime::iter`].
    pub fn iter(&self) -> impl Iterator<Item = (Handle, Ids, &T)> {
        self.runtime.iter().map(|(handle, entry)| (handle, entry.ids, &entry.value))
    }

    /// Everybody who lives here, to change, in slot order.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = (Handle, Ids, &mut T)> {
        self.runtime.iter_mut().map(|(handle, entry)| (handle, entry.ids, &mut entry.value))
    }

    /// The table: its scene, its sizes, its highest generation.
    #[must_use]
    pub fn runtime(&self) -> &Runtime<Entry<T>> {
        &self.runtime
    }

    /// Entities that live here.
    #[must_use]
    pub fn len(&self) -> usize {
        self.runtime.len()
    }

    /// Whether nobody lives here.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.runtime.is_empty()
    }

    fn tenant(&self, slot: u32) -> Option<(Handle, &T)> {
        self.runtime.tenant(slot).map(|(handle, entry)| (handle, &entry.value))
    }

    fn tenant_mut(&mut self, slot: u32) -> Option<(Handle, &mut T)> {
        self.runtime.tenant_mut(slot).map(|(handle, entry)| (handle, &mut entry.value))
    }
}

impl<T> fmt::Debug for Registry<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Registry").field("runtime", &self.runtime).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
