//! One slot of the table: its tenant, if it has one.
//!
//! The generation of a tenant is never 0, so 0 in its place says that the slot is vacant: a 16-byte payload costs
//! 24 bytes, and a look-up loads one word for both questions. The generation of a slot's last tenant waits
//! with the slot's number on the stack of vacancies, so that a spawn need not read the slot.

use std::num::NonZeroU32;

use super::LookupError;

/// A slot; None while it is vacant.
#[derive(Debug)]
pub(super) struct Slot<T>(Option<Tenant<T>>);

#[derive(Debug)]
struct Tenant<T> {
    generation: NonZeroU32,
    value: T,
}

impl<T> Slot<T> {
    #[inline]
    pub(super) fn of(generation: NonZeroU32, value: T) -> Self {
        Self(Some(Tenant { generation, value }))
    }

    #[inline]
    pub(super) fn get(&self, wanted: NonZeroU32) -> Result<&T, LookupError> {
        if !self.has(wanted) {
            return Err(self.miss());
        }
        self.0.as_ref().map(|tenant| &tenant.value).ok_or(LookupError::NotFound)
    }

    #[inline]
    pub(super) fn get_mut(&mut self, wanted: NonZeroU32) -> Result<&mut T, LookupError> {
        if !self.has(wanted) {
            return Err(self.miss());
        }
        self.0.as_mut().map(|tenant| &mut tenant.value).ok_or(LookupError::NotFound)
    }

    /// Takes the tenant out if it is of the wanted generation.
    #[inline]
    pub(super) fn take(&mut self, wanted: NonZeroU32) -> Result<T, LookupError> {
        if !self.has(wanted) {
            return Err(self.miss());
        }
        self.0.take().map(|tenant| tenant.value).ok_or(LookupError::NotFound)
    }

    /// One comparison: the compiler knows that a generation is not 0, which stands for a vacant slot.
    #[inline]
    fn has(&self, wanted: NonZeroU32) -> bool {
        self.0.as_ref().map(|tenant| tenant.generation) == Some(wanted)
    }

    #[cold]
    fn miss(&self) -> LookupError {
        if self.0.is_some() { LookupError::Stale } else { LookupError::NotFound }
    }

    pub(super) fn tenant(&self) -> Option<(NonZeroU32, &T)> {
        self.0.as_ref().map(|tenant| (tenant.generation, &tenant.value))
    }

    pub(super) fn tenant_mut(&mut self) -> Option<(NonZeroU32, &mut T)> {
        self.0.as_mut().map(|tenant| (tenant.generation, &mut tenant.value))
    }
}

const _: () = assert!(size_of::<Slot<[u64; 2]>>() == 24, "generation and its alignment take eight bytes");
const _: () = assert!(size_of::<Slot<Box<u64>>>() == 16, "a box and its generation take 16 bytes");
