//! The rules of the protocol, by name, and which of them a machine keeps.
//!
//! ```text
//!   data.seq <= open.number && rules.keep(Rule::RepeatsAreKnown)
//!   what is asked              by which rule: this is the place that keeps it
//! ```
//!
//! Each rule stands, by name, at the place that keeps it. Explorer and simulator switch off one at a time, and must find what
//! comes of it: a rule that nobody misses is not needed, or not tested. `docs/explored.md` says for each by what it is missed.
//!
//! Keeps: a program that is built without the feature `rule-switches` has no switches: [`Rules::keep`] is the constant
//! `true` there. With the feature a machine keeps all rules until it is told otherwise, and nothing but a test can tell it.
//! Leaves out: rules that shells keep, such as the lease check before a turn, and the disk before the answer.

use std::fmt;

macro_rules! rules {
    ($($(#[doc = $line:literal])* $name:ident,)*) => {
        /// A rule of the protocol.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Rule {
            $($(#[doc = $line])* $name,)*
        }

        impl Rule {
            /// All of them, in the order of their tables.
            pub const ALL: &[Self] = &[$(Self::$name,)*];
        }
    };
}

rules! {
    /// Move: the table of what was applied is a part of the copy.
    TableMoves,
    /// Move: what an entity has sent, with its numbers, is a part of the copy.
    OutboxMoves,
    /// Move: what is held for a frozen or staged entity is not acknowledged.
    HeldIsNotAcknowledged,
    /// Move: the source has its entity back only once the record names it again; no deadline gives it back.
    OnlyTheRecordGivesBack,
    /// Move: giving up raises the record's epoch, so that the target's request can no longer hit.
    GivingUpRaisesTheEpoch,
    /// Move: the target takes over only on a record that names it with the copy's label.
    OnlyTheRecordHandsOver,
    /// Move: a copy whose label is not above the epoch that is known of its entity is not staged.
    OldCopiesAreRefused,
    /// Move: a staged copy takes no answer but that to its own question.
    NoncesMatch,
    /// Move: the target asks to be named only once it has read the copy.
    ReadBeforeAsking,
    /// Move: the target repeats its question to the home.
    TargetRepeats,
    /// Move: the source repeats the copy, and asks the home.
    SourceRepeats,
    /// Move: where an entity takes over, its window is sent again, and its alarms are set.
    WindowGoesOnAtTheTarget,
    /// Move: of those who set out together nobody is frozen before there is room for all.
    PartiesWaitForRoom,
    /// Move: an owner whom the home tells a later epoch of the same copy takes it up.
    OwnersTakeUpEpochs,
    /// Despawn: it is the home that decides.
    DespawnsAskTheHome,
    /// Despawn: it is refused while a move is under way.
    DespawnsWaitForTheMove,
    /// Home: a compare-and-set compares the epoch.
    EpochsAreCompared,
    /// Home: a compare-and-set compares the owner, scene and session.
    OwnersAreCompared,
    /// Home: whoever a verdict is on is not named any more.
    TheDeadAreNotNamed,
    /// Home: whatever the dead own is lost.
    TheDeadAreBuried,
    /// Home: a burial raises the epoch.
    BurialsRaiseTheEpoch,
    /// Home: an owner that loses an entity by somebody else's request is told.
    FormerOwnersAreTold,
    /// Home: one that is still coming to know the records of a range says nothing of them.
    IncompleteHomesAreSilent,
    /// Next home: a range that is passed on begins its next term.
    TermsRise,
    /// Next home: a record that is decided anew begins the term at count 0.
    RecordsBeginTheTerm,
    /// Next home: nobody takes a former home's word.
    FormerHomesAreIgnored,
    /// Next home: a copy under a label of a former term is not staged.
    FormerCopiesAreIgnored,
    /// Next home: an owner that has not heard the record of the present term begins neither move nor despawn.
    NewsComesFirst,
    /// Next home: a scene answers only the home of its view, in the term that it has taken up.
    ClaimsAreForTheHome,
    /// Next home: nothing is decided before every scene has spoken of it, or has its verdict.
    EverybodyIsHeard,
    /// Next home: nothing is decided before each life that was replaced has its verdict.
    FormerLivesAreOver,
    /// Next home: scenes tell who has left them, and where to.
    TheGoneAreClaimed,
    /// Next home: scenes tell of copies that wait.
    CopiesAreClaimed,
    /// Next home: whoever is frozen is not told of as active.
    TheFrozenAreClaimedAsSuch,
    /// Next home: whoever was despawned stays dead.
    TheDeadStayDead,
    /// Next home: an owner that is dead is not named.
    DeadOwnersDoNotWin,
    /// Next home: whoever is known to have been handed the entity, and has it, is named.
    WhoWasHandedItWins,
    /// Next home: a frozen copy whose target is dead and was not heard may have missed something.
    UnheardTargetsCastDoubt,
    /// Next home: one that was frozen for too long may have missed something.
    LateClaimsCastDoubt,
    /// Next home: a copy of what came later refutes a frozen one.
    LaterCopiesRefute,
    /// Next home: a copy is taken only if its source is dead.
    OnlyOrphanedCopiesAreTaken,
    /// Next home: a copy that is taken though nobody named it may have missed something.
    TakenCopiesBeginAnew,
    /// Next home: who went where is remembered until the target has taken over.
    TombstonesAwaitTheTarget,
    /// Next home: one that stops hands all its records over.
    LegaciesAreWhole,
    /// Next home: one that was granted a range after it was passed on issues nothing of it.
    LateGrantsOpenNothing,
    /// Stream: a number that was applied is not applied again.
    RepeatsAreKnown,
    /// Stream: a number ahead of a gap waits.
    GapsAreWaitedFor,
    /// Stream: what is not acknowledged is sent again.
    StreamsRepeat,
    /// Stream: of one that is over nothing is applied.
    OverIsOver,
    /// Stream: an earlier one of a sender does not come back beside its present one.
    EarlierStreamsAreOver,
    /// Stream: a sender's next one tells that the one before is over.
    TheNextEndsTheLast,
    /// Stream: of those that a dead session opened none begins any more.
    StreamsOfTheDeadAreOver,
    /// Stream: what comes late of a session that is dead is not heard.
    TheDeadAreNotHeard,
    /// Stream: a scene that does not know the verdicts that a copy leans on does not take over.
    VerdictsComeFirst,
    /// Stream: only an active entity answers that one is closed.
    OnlyTheActiveClose,
    /// Stream: a frozen sender hears nothing about its own.
    FrozenSendersAreDeaf,
    /// Stream: only the owner is believed that one is closed.
    OnlyTheOwnerCloses,
    /// Stream: what is told to be closed with something in its window goes on under another id.
    ClosedWindowsGoOn,
    /// Stream: one is closed only once everything in it is acknowledged.
    OnlyEmptyWindowsClose,
    /// Stream: the receiver of one that is closed is told so until it answers.
    ClosedStreamsAreTold,
    /// Stream: what a sender that despawns leaves unacknowledged is the router's.
    WindowsOutliveTheirSenders,
    /// Stream: those of tools are forgotten with their session.
    ToolsAreSweptOut,
    /// Stream: a receiver takes no number of another reset.
    NumbersCountFromOneReset,
    /// Stream: a sender takes no acknowledgement of another reset.
    AcksCountFromOneReset,
    /// Stream: a sender that learns of a reset answers what has left, and numbers anew.
    ResetsEndWindows,
    /// Stream: one to a parked entity stops, and nothing beyond is applied, unparked or not.
    StoppedStreamsStay,
    /// Direct path: it is taken only while the stream beside it has nothing unacknowledged.
    DirectOnlyBesideEmptyWindows,
    /// Direct path: before an end of it stops taking turns, what was said is numbered instead.
    DirectEndsBeforeTheFreeze,
    /// Bounds: what is held for one entity is bounded.
    HeldIsBounded,
    /// Bounds: what a router keeps is bounded.
    QueuesAreBounded,
    /// Manager: each life of a node has its own incarnation.
    LivesAreTold,
    /// Manager: a link that breaks is no verdict.
    BrokenLinksAreNoVerdict,
    /// Manager: a life that was replaced has its lease before its verdict.
    ReplacedLivesKeepTheirLease,
    /// Manager: one that slept gives every lease anew.
    SleepersGiveLeasesAnew,
    /// Manager: a request for a range is answered with what this very session was granted.
    GrantsAreNotResumed,
    /// Manager: a repeat from a session that has given its range away is not answered.
    GivenRangesStayGiven,
    /// Member: its lease counts from the sending of the renewal.
    LeasesCountFromTheSending,
    /// Member: a session on which there is a verdict is over.
    VerdictsEndSessions,
    /// Stock: only the reply to the open request is installed.
    RepliesMatchRequests,
    /// Stock: only a range above all before is installed.
    RangesRise,
}

/// Which rules a machine keeps: all, unless a test says otherwise.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct Rules {
    #[cfg(feature = "rule-switches")]
    broken: u128,
}

impl Rules {
    /// All but these.
    #[cfg(feature = "rule-switches")]
    #[must_use]
    pub const fn without(rules: &[Rule]) -> Self {
        let (mut broken, mut at) = (0, 0);
        while at < rules.len() {
            broken |= 1 << rules[at] as u8;
            at += 1;
        }
        Self { broken }
    }

    /// Whether a rule is kept.
    #[cfg(feature = "rule-switches")]
    #[inline]
    #[must_use]
    pub const fn keep(self, rule: Rule) -> bool {
        self.broken & 1 << rule as u8 == 0
    }

    /// Whether a rule is kept: this program cannot break one.
    #[cfg(not(feature = "rule-switches"))]
    #[inline(always)]
    #[must_use]
    pub const fn keep(self, _rule: Rule) -> bool {
        true
    }
}

impl fmt::Debug for Rules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let broken: Vec<_> = Rule::ALL.iter().filter(|&&rule| !self.keep(rule)).collect();
        write!(f, "all but {broken:?}")
    }
}

#[cfg(all(test, feature = "rule-switches"))]
#[test]
fn a_machine_keeps_every_rule_but_those_that_it_is_told_not_to() {
    let broken = Rules::without(&[Rule::TableMoves, Rule::RangesRise]);
    for &rule in Rule::ALL {
        assert!(Rules::default().keep(rule));
        assert_eq!(broken.keep(rule), !matches!(rule, Rule::TableMoves | Rule::RangesRise), "{rule:?}");
    }
}

const _: () = assert!(Rule::ALL.len() <= u128::BITS as usize);
