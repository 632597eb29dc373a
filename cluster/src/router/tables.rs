//! How much a router remembers: all of it is for something that has not ended.

use slipgate_entity::OnlineId;

use super::Router;

/// Rows of a router's tables.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tables {
    /// Messages that are not acknowledged.
    pub waiting: usize,
    /// Streams of tools, and of senders that are gone.
    pub streams: usize,
    /// Entities to which they lead.
    pub receivers: usize,
    /// Owners, or homes, on which they wait.
    pub shares: usize,
    /// Streams that are to be closed.
    pub closings: usize,
    /// Alarms that are set.
    pub alarms: usize,
}

impl Router {
    /// To whom messages are not acknowledged, and how many; one to whom several streams lead comes as often.
    pub fn unanswered(&self) -> impl Iterator<Item = (OnlineId, usize)> {
        let all = self.lines.iter().map(|line| (line.stream.entity(), line.stream.load().messages));
        all.filter(|(_, messages)| *messages > 0)
    }

    /// Rows of the tables.
    #[must_use]
    pub fn tables(&self) -> Tables {
        Tables {
            waiting: self.waiting(),
            shares: self.shares.len(),
            streams: self.lines.len(),
            receivers: self.lines.receivers(),
            closings: self.closings.len(),
            alarms: self.due.len(),
        }
    }
}
