//! The planned stop of one node: what can be asked about it, and how it goes.

use serde::{Deserialize, Serialize};

/// What is wanted of a drain.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum DrainOrder {
    /// It begins; where one is under way already, that one goes on.
    Begin {
        /// How long it may take in all, in milliseconds; as the node is configured if left out.
        timeout_ms: Option<u64>,
    },
    /// It is called off: the node goes on, and who has moved stays where it is.
    Cancel,
    /// How it goes: answered when there is news, or after a moment.
    Look,
}

/// How a drain goes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DrainReport {
    /// The node.
    pub node: String,
    /// `working`: no drain; `draining`; `kept`: somebody could not move, so the node stays, and takes nobody in;
    /// `drained`: it is empty, or as empty as it gets, and stops.
    pub state: String,
    /// What it is at: `moving`, `handing_over`, `settling`; nothing where it is at rest.
    pub step: Option<String>,
    /// Entities that were to move.
    pub entities: u64,
    /// Of these: moved to other nodes.
    pub moved: u64,
    /// Of these: could not move, as it looks; final once it is over. Those that are neither moved nor kept are still to
    /// come.
    pub kept: u64,
    /// Who could not move, and why; the first ones.
    pub kept_first: Vec<KeptRow>,
    /// Ranges of ids whose records others have taken over in this drain.
    pub homes: u64,
    /// Messages that were accepted from tools, or left by senders, and that nobody has answered: it waits for them at the
    /// end, and once it is over, no answer came in time.
    pub unanswered: u64,
    /// Ids of those they are for; the first ones.
    pub unanswered_first: Vec<String>,
    /// Since it began, in milliseconds; as of the latest news.
    pub took_ms: u64,
    /// Pauses of those that moved.
    pub pause_us: PauseReport,
}

/// An entity that could not move out of a node that drains.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptRow {
    /// Its online id.
    pub entity: String,
    /// Its label.
    pub label: Option<String>,
    /// Its scene.
    pub scene: String,
    /// Stable word for why: `no_place` where no scene would take it, `refused` where none could, `late`, `cancelled`,
    /// `scene_stopped`.
    pub reason: String,
    /// The same for people.
    pub text: String,
}

/// Percentiles of pauses in microseconds, by nearest rank; zeros where nothing moved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PauseReport {
    /// Half of them were at most so long.
    pub p50: u64,
    /// 99 of 100 were at most so long.
    pub p99: u64,
    /// The longest.
    pub max: u64,
}

impl PauseReport {
    /// Of these pauses.
    ///
    /// ```
    /// use slipgate_proto::admin::PauseReport;
    /// let hundred = (1..=100).rev().collect();
    /// assert_eq!(PauseReport::of(hundred), PauseReport { p50: 50, p99: 99, max: 100 });
    /// assert_eq!(PauseReport::of(vec![]), PauseReport::default());
    /// ```
    #[must_use]
    pub fn of(mut pauses_us: Vec<u64>) -> Self {
        pauses_us.sort_unstable();
        let rank = |percent: usize| pauses_us.len().saturating_mul(percent).div_ceil(100).saturating_sub(1);
        let at = |index: usize| pauses_us.get(index).copied().unwrap_or_default();
        Self { p50: at(rank(50)), p99: at(rank(99)), max: pauses_us.last().copied().unwrap_or_default() }
    }
}

impl DrainReport {
    /// The state of a node that does not drain.
    pub const WORKING: &str = "working";
    /// The state while it drains.
    pub const DRAINING: &str = "draining";
    /// The state after it, where somebody could not move and the node stays.
    pub const KEPT: &str = "kept";
    /// The state of a node that stops.
    pub const DRAINED: &str = "drained";

    /// How much of the moving is done, 0 to 100; rounded down, so that all is all.
    #[must_use]
    pub fn percent(&self) -> u8 {
        let done = (self.moved + self.kept).min(self.entities);
        let percent = (done * 100).checked_div(self.entities).unwrap_or(100);
        u8::try_from(percent).expect("a part is at most the whole")
    }
}
