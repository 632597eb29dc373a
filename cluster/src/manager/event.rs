//! What the manager reports for logs and metrics; nothing depends on it.

use slipgate_entity::RangeId;

use super::{Counter, JoinRefusal};
use crate::view::ScenePlacement;
use crate::{NodeName, Session};

/// Why a scene made at run time is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SceneEnd {
    /// It was closed, and nobody is left in it.
    Closed,
    /// Its node could not open it.
    NotOpened,
    /// The life of the node that had it is over.
    NodeGone,
}

/// Something that happened at the manager.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ManagerEvent {
    /// A node became a member.
    Joined {
        /// Its new life.
        session: Session,
        /// Its name.
        name: NodeName,
        /// What peers dial.
        address: String,
        /// The life it replaces, if the name was known.
        replaces: Option<Session>,
    },
    /// A join waits until the manager knows whether the holder of the name lives.
    Asking {
        /// The name.
        name: NodeName,
        /// Its holder.
        holder: Session,
    },
    /// A node was not let in.
    JoinRefused {
        /// Its name.
        name: NodeName,
        /// What peers would have dialled.
        address: String,
        /// Why.
        refusal: JoinRefusal,
    },
    /// A session is about to stop.
    Drains {
        /// Which one.
        session: Session,
    },
    /// A session that was about to stop goes on after all.
    Resumed {
        /// Which one.
        session: Session,
    },
    /// A session said goodbye.
    Left {
        /// Which one.
        session: Session,
    },
    /// A scene is to be opened at run time.
    SceneOpening {
        /// The scene.
        scene: ScenePlacement,
    },
    /// A scene made at run time is open.
    SceneOpened {
        /// The scene.
        scene: ScenePlacement,
    },
    /// A scene made at run time takes nobody in any more.
    SceneClosing {
        /// The scene.
        scene: ScenePlacement,
    },
    /// A scene made at run time is over: nobody is left in it, or there never was.
    SceneOver {
        /// The scene.
        scene: ScenePlacement,
        /// Why.
        why: SceneEnd,
    },
    /// A range was granted.
    Granted {
        /// To whom.
        session: Session,
        /// From which counter.
        counter: Counter,
        /// The range.
        range: RangeId,
    },
    /// Ranges have another home, in their next term: the former one is dead, or stops as planned.
    HomesPassed {
        /// Whose they were.
        from: Session,
        /// Whose they are.
        to: Session,
        /// How many.
        ranges: u64,
    },
    /// A counter has no range left, the view has no room for the home of another one, or the session has had more than
    /// it may; the request stays unanswered.
    CounterExhausted {
        /// Which counter.
        counter: Counter,
        /// Who asked.
        session: Session,
    },
    /// Something that is not the latest life of its node asked, and was told so.
    NotMember {
        /// Which session.
        session: Session,
    },
    /// A request spoke for another session than the link's; it was dropped.
    SpokeForAnother {
        /// Whose link.
        from: Session,
        /// For whom it spoke.
        session: Session,
    },
    /// The verdict on a session: its lease is over, or it said goodbye. What it owned is lost.
    Dead {
        /// Which session.
        session: Session,
    },
    /// A lease ran out by the manager's clock; the verdict follows after the margin.
    LeaseEnded {
        /// Whose.
        session: Session,
    },
    /// A node has a newer view than the manager: the manager runs on an old copy of its store, and
    /// would issue ranges twice. It should be stopped and its latest store put back.
    StoreIsOld {
        /// Who has the newer view.
        session: Session,
        /// The version it has.
        theirs: u64,
        /// The version the store has.
        ours: u64,
    },
}
