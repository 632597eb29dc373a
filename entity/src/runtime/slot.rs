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
    pub(super) fn get(&self, wanted: u32) -> Result<&T, LookupError> {
        match &self.0 {
            Some(tenant) if tenant.generation.get() == wanted => Ok(&tenant.value),
            Some(_) => Err(LookupError::Stale),
            None => Err(LookupError::NotFound),
        }
    }

    #[inline]
    pub(super) fn get_mut(&mut self, wanted: u32) -> Result<&mut T, LookupError> {
        match &mut self.0 {
            Some(tenant) if tenant.generation.get() == wanted => Ok(&mut tenant.value),
            Some(_) => Err(LookupError::Stale),
            None => Err(LookupError::NotFound),
        }
    }

    /// Takes the tenant out if it is of the wanted generation.
    #[inline]
    pub(super) fn take(&mut self, wanted: u32) -> Result<T, LookupError> {
        self.get(wanted)?;
        Ok(self.0.take().ok_or(LookupError::NotFound)?.value)
    }

    pub(super) fn tenant(&self) -> Option<(u32, &T)> {
        self.0.as_ref().map(|tenant| (tenant.generation.get(), &tenant.value))
    }

    pub(super) fn tenant_mut(&mut self) -> Option<(u32, &mut T)> {
        self.0.as_mut().map(|tenant| (tenant.generation.get(), &mut tenant.value))
    }
}

const _: () = assert!(size_of::<Slot<[u64; 2]>>() == 24, "generation and its alignment take eight bytes");
const _: () = assert!(size_of::<Slot<Box<u64>>>() == 16, "a box and its generation take 16 bytes");
