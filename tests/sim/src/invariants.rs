//! What must be true, each by itself: functions of what was seen, with a forged violation that each must find.
//!
//! | invariant | looked at |
//! |---|---|
//! | [`one_active_owner`] | whenever a scene begins to run an entity, or a home changes a record; and at rest |
//! | [`no_duplicate`], [`streams_in_order`] | whenever a message is applied |
//! | [`acknowledged_is_kept`] | whenever a sender hears that a message is applied; and at rest |
//! | [`ids_never_reissued`] | whenever an id or a range is given out |
//! | [`bounded_memory`] | at every tick |
//! | [`found_from_everywhere`] | once faults have ceased, and long after |
//! | [`quiet_leaves_nothing_behind`], [`progress_after_faults`] | once faults have ceased |

pub(crate) mod acknowledged_is_kept;
pub(crate) mod bounded_memory;
pub(crate) mod found_from_everywhere;
pub(crate) mod ids_never_reissued;
pub(crate) mod no_duplicate;
pub(crate) mod one_active_owner;
pub(crate) mod progress_after_faults;
pub(crate) mod quiet_leaves_nothing_behind;
pub(crate) mod streams_in_order;

/// Why something is not as it must be.
pub(crate) type Verdict = Result<(), String>;
