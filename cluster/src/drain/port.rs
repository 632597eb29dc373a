//! What a drain hears, what it wants done, and how it says that it goes.

use std::time::Duration;

use crate::Now;
use crate::evacuation::Target;

/// What a drain is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Input {
    /// The node is to stop, whatever it keeps; said again, at once.
    Signal,
    /// The node is to stop once it is empty.
    Begin {
        /// How long it may take in all; as it is configured, if none is given.
        timeout: Option<Duration>,
    },
    /// It is to go on after all.
    Cancel,
    /// The doors are closed, and so many entities live here.
    Counted(u64),
    /// Scenes that may take somebody.
    Targets(Vec<Target>),
    /// How far the scenes are. Only what all of them have said since they were told to begin.
    Far(Far),
    /// Who is left.
    Left(Left),
    /// How far it is with the homes.
    Homes(Homes),
    /// Nothing more begins, or every move is ended; so many are not settled.
    Shut {
        /// Moves and staged copies.
        unsettled: usize,
    },
    /// Nothing waits for an answer any more of what tools have sent here.
    Answered,
    /// Time passes.
    Tick {
        /// Whether anything can get on: this node has a lease, and somebody is there who does not stop, too.
        may_get_on: bool,
    },
}

/// How far the scenes of the node are, all in all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Far {
    /// Entities that have moved.
    pub moved: u64,
    /// Entities that cannot, as it looks.
    pub kept: u64,
    /// Entities on the move, or whose turn has not come.
    pub open: u64,
    /// Moves out of here and copies staged here whose end is not told.
    pub unsettled: usize,
    /// Whether no scene has anything left to do.
    pub is_over: bool,
}

/// Who is left on the node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Left {
    /// Entities that have moved.
    pub moved: u64,
    /// Entities that live here, or may yet come because their homes have not decided.
    pub count: u64,
    /// Whether every scene has answered.
    pub is_sure: bool,
}

/// How far it is with the homes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Homes {
    /// Ranges that others have taken over in this drain.
    pub given: u64,
    /// Ranges that nobody has taken over yet.
    pub left: u64,
    /// Whether nothing more will be given.
    pub is_done: bool,
}

/// What a drain wants done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Output {
    /// Take nobody in, and tell the cluster. Answer how many live here.
    CloseDoors,
    /// Find out who takes newcomers. Answered by [`Input::Targets`].
    FindTargets,
    /// Everybody is to leave; tell how far it is, again and again.
    MoveOut {
        /// Where to.
        targets: Vec<Target>,
        /// When no other move begins.
        deadline: Now,
    },
    /// There is other room now.
    Retarget(Vec<Target>),
    /// Nobody else begins to leave.
    StopMoving,
    /// Say who is left.
    AskLeft,
    /// Others are to be the homes of this node's ranges; tell how far it is.
    GiveHomesAway,
    /// Nothing more begins on this node. Answered by [`Input::Shut`].
    Shut,
    /// Answer every move that is still under way. Answered by [`Input::Shut`].
    EndMoves,
    /// Say when all is answered that was accepted from tools.
    AwaitAnswers,
    /// Take everybody in again, keep the homes, tell the cluster. What was asked before is of no interest any more.
    Resume,
    /// Whoever has given an order is told that it is taken up, and how it goes.
    TakenUp,
    /// The order that was just given is not taken up.
    Refused(Refusal),
    /// Something to tell people.
    Event(Event),
    /// All is done but the goodbye. Nothing follows.
    End,
}

/// Why an order is not taken up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// There is nothing to call off.
    DoesNotDrain,
    /// There was a signal.
    StopsForGood,
}

/// What is to be told to people; [`Report`] has the numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// It begins.
    Begun,
    /// The node goes on.
    Resumed,
    /// Nothing more begins.
    Stopping,
    /// It is not empty, and stays.
    Kept,
    /// It is as empty as it gets, and ends.
    Drained,
}

/// How a drain goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// What it is at.
    pub step: Step,
    /// How long it may take in all.
    pub timeout: Duration,
    /// Entities that were to move.
    pub entities: u64,
    /// Of these: moved.
    pub moved: u64,
    /// Of these: could not move.
    pub kept: u64,
    /// Ranges that others have taken over.
    pub homes: u64,
    /// Ranges that nobody has taken over in time.
    pub homes_left: u64,
    /// Since it began, in microseconds.
    pub took_us: u64,
}

/// What a drain is at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Step {
    /// There is none.
    #[default]
    Working,
    /// Everybody moves out.
    Moving,
    /// Homes are handed over.
    HandingOver,
    /// What was begun and accepted here ends.
    Settling,
    /// The node is not empty, and stays.
    Kept,
    /// It is over.
    Drained,
}
