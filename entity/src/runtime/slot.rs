//! One slot of the table: its generation, and its tenant if it has one.
//!
//! The enum's tag and the generation share eight bytes, so that a 16-byte payload costs 24.

use std::mem;

use super::LookupError;

/// A slot; `generation` is that of its tenant, or of its last one.
#[derive(Debug)]
pub(super) enum Slot<T> {
    Vacant { generation: u32 },
    Occupied { generation: u32, value: T },
}

impl<T> Slot<T> {
    pub(super) fn generation(&self) -> u32 {
        match *self {
            Self::Vacant { generation } | Self::Occupied { generation, .. } => generation,
        }
    }

    #[inline]
    pub(super) fn get(&self, wanted: u32) -> Result<&T, LookupError> {
        match self {
            Self::Occupied { generation, value } if *generation == wanted => Ok(value),
            Self::Occupied { .. } => Err(LookupError::Stale),
            Self::Vacant { .. } => Err(LookupError::NotFound),
        }
    }

    #[inline]
    pub(super) fn get_mut(&mut self, wanted: u32) -> Result<&mut T, LookupError> {
        match self {
            Self::Occupied { generation, value } if *generation == wanted => Ok(value),
            Self::Occupied { .. } => Err(LookupError::Stale),
            Self::Vacant { .. } => Err(LookupError::NotFound),
        }
    }

    /// Takes the tenant out if it is of the wanted generation.
    pub(super) fn take(&mut self, wanted: u32) -> Result<T, LookupError> {
        self.get(wanted)?;
        match mem::replace(self, Self::Vacant { generation: wanted }) {
            Self::Occupied { value, .. } => Ok(value),
            Self::Vacant { .. } => unreachable!("a slot that answered for generation {wanted} has a tenant"),
        }
    }

    pub(super) fn tenant(&self) -> Option<(u32, &T)> {
        match self {
            Self::Occupied { generation, value } => Some((*generation, value)),
            Self::Vacant { .. } => None,
        }
    }

    pub(super) fn tenant_mut(&mut self) -> Option<(u32, &mut T)> {
        match self {
            Self::Occupied { generation, value } => Some((*generation, value)),
            Self::Vacant { .. } => None,
        }
    }
}

const _: () = assert!(size_of::<Slot<[u64; 2]>>() == 24, "tag and generation share eight bytes");
