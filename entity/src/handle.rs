//! A reference to one life of one slot.
//!
//! A slot is used again after a despawn, so its number alone may later name somebody else: a skill
//! that aimed at 42 would hit whoever moved into slot 42. A [`Handle`] adds the slot's generation,
//! which rises at every reuse; a runtime compares both and so recognises a reference to the dead.
//!
//! ```text
//! spawn      1:42/gen3      timer keeps 1:42/gen3
//! despawn    1:42 vacant    timer asks: not found
//! spawn      1:42/gen4      timer asks: stale
//! ```
//!
//! Keeps: generations start at 1, so the zero handle never names an entity.
//! Leaves out: leaving the process. A handle has no encoding; state that travels refers to others by
//! [`OnlineId`](crate::OnlineId).

use std::fmt;
use std::num::NonZeroU32;

use crate::{EntityId, LocalId, SceneId};

/// Names one entity in the runtime of its scene, for as long as it lives there.
///
/// Made by a spawn; dead for good after a despawn or a departure. Prints as `1:42/gen3`: scene,
/// slot, generation.
///
/// ```
/// use slipgate_entity::{EntityId, Handle, SceneId};
/// assert_eq!(Handle::new(EntityId::new(SceneId(1), 42), 3).to_string(), "1:42/gen3");
/// ```
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Handle {
    id: EntityId,
    generation: u32,
}

impl Handle {
    /// Names nobody, in any runtime; also the default.
    pub const ZERO: Self = Self { id: EntityId::ZERO, generation: 0 };

    /// The life number `generation` of the slot that `id` names.
    #[must_use]
    #[inline]
    pub fn new(id: EntityId, generation: u32) -> Self {
        Self { id, generation }
    }

    /// What a local id names in the runtime of a scene.
    #[must_use]
    #[inline]
    pub fn of_local(scene: SceneId, id: LocalId) -> Self {
        Self::new(EntityId::new(scene, u64::from(id.slot())), id.generation().get())
    }

    /// Scene and slot.
    #[must_use]
    #[inline]
    pub fn id(self) -> EntityId {
        self.id
    }

    /// Which life of the slot, from 1; 0 is no life.
    #[must_use]
    #[inline]
    pub fn generation(self) -> u32 {
        self.generation
    }

    /// The same reference in eight bytes, without the scene.
    ///
    /// None where the sequence number needs more than 32 bits, or the generation is 0: no runtime hands out such a handle.
    #[must_use]
    #[inline]
    pub fn local(self) -> Option<LocalId> {
        let slot = u32::try_from(self.id.seq()).ok()?;
        Some(LocalId::new(NonZeroU32::new(self.generation)?, slot))
    }
}

impl fmt::Display for Handle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/gen{}", self.id, self.generation)
    }
}

impl fmt::Debug for Handle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SceneId;

    #[test]
    fn a_handle_prints_scene_slot_and_generation() {
        let handle = Handle::new(EntityId::new(SceneId(1), 42), 3);
        assert_eq!(handle.to_string(), "1:42/gen3");
        assert_eq!(format!("{handle:?}"), "1:42/gen3");
    }

    #[test]
    fn the_default_handle_is_the_zero_handle() {
        assert_eq!(Handle::default(), Handle::ZERO);
        assert_eq!(Handle::ZERO.to_string(), "0:0/gen0");
    }

    #[test]
    fn a_local_id_keeps_slot_and_generation_and_never_truncates() {
        let seven = NonZeroU32::new(7).expect("more than 0");
        let handle = |seq| Handle::new(EntityId::new(SceneId(9), seq), 7);
        assert_eq!(handle(u64::from(u32::MAX)).local(), Some(LocalId::new(seven, u32::MAX)));
        assert_eq!(Handle::ZERO.local(), None);
        assert_eq!(handle(1 << 32).local(), None);
        assert_eq!(handle(EntityId::SEQ_MAX).local(), None);
    }
}
