//! Who owns an entity: the record, and the numbers that fence it.
//!
//! The record is one linearizable register per entity, kept at the entity's home. It changes only
//! by compare-and-set on `(owner, epoch)`, and every change raises the epoch, so an old answer can
//! never be taken for a new one.

use std::fmt;

use serde::{Deserialize, Serialize};
use slipgate_entity::SceneId;

use crate::Session;

/// Fence number of an entity: the term of its home, then a count of accepted changes.
///
/// Ordered by term first. A range that gets another home begins its next term, with every record at count 0, so
/// that no old compare-and-set can match its records, and no old answer is above them.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Epoch {
    term: u32,
    count: u32,
}

impl Epoch {
    /// Below every epoch of a living entity.
    pub const ZERO: Self = Self { term: 0, count: 0 };
    /// Epoch of an entity that was just registered.
    pub const FIRST: Self = Self { term: 0, count: 1 };

    /// Change number `count` of term `term`.
    #[must_use]
    pub const fn new(term: u32, count: u32) -> Self {
        Self { term, count }
    }

    /// The epoch after the next accepted change.
    ///
    /// # Panics
    ///
    /// If it [is the last](Self::is_last) of its term: no home gives that one out, and no scene takes it from
    /// anybody.
    #[must_use]
    pub fn next(self) -> Self {
        let count = self.count.checked_add(1).expect("an entity's record changes fewer than 2^32 times in a term");
        Self { count, ..self }
    }

    /// Whether it has no [`next`](Self::next): the home refuses the change that would lead here.
    #[must_use]
    pub fn is_last(self) -> bool {
        self.count == u32::MAX
    }

    /// The epoch before this one, of which this is the [`next`](Self::next); none for the first of a term.
    #[must_use]
    pub fn previous(self) -> Option<Self> {
        Some(Self { count: self.count.checked_sub(1)?, ..self })
    }

    /// The term of the home that gave it out.
    #[must_use]
    pub fn term(self) -> u32 {
        self.term
    }

    /// One number that rises with the epoch: term in the upper, count in the lower 32 bits.
    #[must_use]
    pub fn as_u64(self) -> u64 {
        u64::from(self.term) << 32 | u64::from(self.count)
    }
}

impl fmt::Display for Epoch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_u64().fmt(f)
    }
}

impl fmt::Debug for Epoch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.term, self.count)
    }
}

/// A scene of a node's session: what an entity can be owned by.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Own {
    /// The life of the node.
    pub session: Session,
    /// The scene in it.
    pub scene: SceneId,
}

impl Own {
    /// Scene `scene` of session `session`.
    #[must_use]
    pub fn new(session: Session, scene: SceneId) -> Self {
        Self { session, scene }
    }
}

impl fmt::Debug for Own {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "scene {} of {:?}", self.scene, self.session)
    }
}

/// The directory's word on one entity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// The owner; none is final: the entity is dead, or its id was never given out.
    pub owner: Option<Own>,
    /// Rises at every accepted change.
    pub epoch: Epoch,
    /// Which copy of the state counts: the epoch at which it was handed over.
    pub data: Epoch,
    /// Whether the entity was lost with the session that owned it: what was said to it last may have been
    /// applied or not. Only ever set where there is no owner.
    pub lost: bool,
    /// Epoch of the last reset of the entity's streams, in and out; [`Epoch::ZERO`] if there was none. Only a
    /// home raises it: where it has to name a copy that may have missed what another one applied.
    pub base: Epoch,
}

impl Record {
    /// The record of an entity that was just registered.
    #[must_use]
    pub fn registered(owner: Own) -> Self {
        Self { owner: Some(owner), epoch: Epoch::FIRST, data: Epoch::FIRST, lost: false, base: Epoch::ZERO }
    }

    /// What the first home of a range says of an id that has no record.
    #[must_use]
    pub fn never() -> Self {
        Self { owner: None, epoch: Epoch::ZERO, data: Epoch::ZERO, lost: false, base: Epoch::ZERO }
    }

    /// What the first home of a range says of an id that it gave out and that is dead, if no verdict has taken it. The record
    /// itself is not kept, so this is above whatever it was: a change leaves [two epochs](Epoch::is_last) of a term.
    #[must_use]
    pub fn dead() -> Self {
        Self { epoch: Epoch::new(0, u32::MAX - 1), ..Self::never() }
    }

    /// What a home of term `term` says of an id that has no record. Above everything that a former home has said
    /// of it, so that it ends the waiting of whoever writes there.
    #[must_use]
    pub fn absent(term: u32, lost: bool) -> Self {
        Self { epoch: Epoch::new(term, 0), lost, ..Self::never() }
    }

    /// The record as it begins the term `term` of another home: the same, but for its epoch.
    #[must_use]
    pub fn in_term(&self, term: u32) -> Self {
        Self { epoch: Epoch::new(term, 0), ..*self }
    }

    /// The record after a hand-over to `to` of a copy whose streams were last reset at `base`.
    #[must_use]
    pub fn handed_to(to: Own, label: Epoch, base: Epoch) -> Self {
        Self { owner: Some(to), epoch: label, data: label, lost: false, base }
    }

    /// The record after the next change, which leaves the copy and its streams as they are and names `owner`, or nobody.
    #[must_use]
    pub fn changed_to(&self, owner: Option<Own>) -> Self {
        Self { owner, epoch: self.epoch.next(), lost: false, ..*self }
    }

    /// The record after its owner's session was declared dead.
    #[must_use]
    pub fn buried(&self) -> Self {
        Self { lost: true, ..self.changed_to(None) }
    }

    /// Whether the record names `own`.
    #[must_use]
    pub fn names(&self, own: Own) -> bool {
        self.owner == Some(own)
    }
}
