//! What must hold, one file each: pure checks of what was seen, each tried on a forged violation.

pub(crate) mod acknowledged;
pub(crate) mod answered;
pub(crate) mod in_order;
pub(crate) mod moves_end;
pub(crate) mod one_owner;
pub(crate) mod quiet;
pub(crate) mod requests;
