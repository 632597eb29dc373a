//! Between the desk and whoever drains the node: orders in, how it goes out.
//!
//! ```text
//!   desk --- order ---> the node's own thread, which drives scenes, homes and the goodbye
//!        <-- report --
//! ```
//!
//! Keeps: an order is answered; a report is read by any number of tools at once, none of which it waits for.
//! Leaves out: what is done about an order (`slipgate::node`).

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use slipgate_cluster::Now;
use slipgate_proto::admin::{DrainReport, Problem};
use tokio::sync::{Notify, mpsc, oneshot, watch};
use tokio::time::timeout;

use crate::clock::NodeClock;

/// What a tool wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// The node is to drain, within this time in all; as it is configured, if none is given.
    Begin(Option<Duration>),
    /// It is to go on after all.
    Cancel,
}

/// An order, and who waits until it is taken up.
#[derive(Debug)]
pub struct Ordered {
    /// What is wanted.
    pub order: Order,
    /// Takes the report after it, or why it is not taken up.
    pub reply: oneshot::Sender<Result<DrainReport, Problem>>,
}

/// The desk's end; cheap to clone.
#[derive(Clone, Debug)]
pub struct DrainDesk {
    orders: mpsc::Sender<Ordered>,
    report: watch::Receiver<DrainReport>,
    looked: Arc<AtomicU64>,
    heard_all: Arc<Notify>,
    clock: NodeClock,
}

/// Orders, as they come to whoever drains the node.
#[derive(Debug)]
pub struct Orders {
    orders: mpsc::Receiver<Ordered>,
}

/// Tells how it goes.
#[derive(Debug)]
pub struct Teller {
    report: watch::Sender<DrainReport>,
    looked: Arc<AtomicU64>,
    heard_all: Arc<Notify>,
    clock: NodeClock,
}

/// All ends, for the node of that name.
#[must_use]
pub fn channel(node: &str, clock: NodeClock) -> (DrainDesk, Orders, Teller) {
    let (give, orders) = mpsc::channel(ORDERS_MAX);
    let working =
        DrainReport { node: node.to_owned(), state: DrainReport::WORKING.to_owned(), ..DrainReport::default() };
    let (tell, report) = watch::channel(working);
    let looked = Arc::new(AtomicU64::new(NEVER));
    let heard_all = Arc::new(Notify::new());
    let desk = DrainDesk { orders: give, report, looked: looked.clone(), heard_all: heard_all.clone(), clock };
    (desk, Orders { orders }, Teller { report: tell, looked, heard_all, clock })
}

impl DrainDesk {
    /// Gives an order, and waits until it is taken up.
    ///
    /// None: nobody takes orders any more, the node is stopping.
    pub async fn order(&self, order: Order) -> Option<Result<DrainReport, Problem>> {
        self.note_look();
        let (reply, taken) = oneshot::channel();
        self.orders.send(Ordered { order, reply }).await.ok()?;
        taken.await.ok()
    }

    /// How it goes: at once where nothing happens, else when there is news, or after a moment.
    pub async fn look(&self) -> DrainReport {
        self.note_look();
        let mut report = self.report.clone();
        report.mark_unchanged();
        if report.borrow().state == DrainReport::DRAINING {
            // Without news the report is as it was, and so it is where nobody tells any any more.
            let _ = timeout(LOOK, report.changed()).await;
        }
        let told = report.borrow().clone();
        if told.state == DrainReport::DRAINED {
            self.heard_all.notify_one();
        }
        told
    }

    fn note_look(&self) {
        self.looked.store(self.clock.now().0, Ordering::Relaxed);
    }

    /// How it goes, now.
    #[must_use]
    pub fn now(&self) -> DrainReport {
        self.report.borrow().clone()
    }
}

impl Orders {
    /// The next order; never comes once every desk is gone.
    pub async fn next(&mut self) -> Ordered {
        match self.orders.recv().await {
            Some(ordered) => ordered,
            None => std::future::pending().await,
        }
    }
}

impl Teller {
    /// Tells how it goes.
    pub fn tell(&self, change: impl FnOnce(&mut DrainReport)) {
        self.report.send_modify(change);
    }

    /// How it was told to go.
    #[must_use]
    pub fn told(&self) -> DrainReport {
        self.report.borrow().clone()
    }

    /// Waits until somebody has read the last report, if anybody follows it: there is nobody else who could tell. Whoever
    /// does not come for it within a time is not waited for.
    pub async fn last_words(&self, within: Duration) {
        if self.is_followed() {
            let _ = timeout(within, self.heard_all.notified()).await;
        }
    }

    /// Whether somebody has looked lately.
    fn is_followed(&self) -> bool {
        let looked = self.looked.load(Ordering::Relaxed);
        looked != NEVER && Now(looked) + FOLLOWED >= self.clock.now()
    }
}

/// Orders that may wait: people give few.
const ORDERS_MAX: usize = 16;
/// How long a look waits for news.
const LOOK: Duration = Duration::from_millis(250);
/// Whoever has looked within this time follows the drain.
const FOLLOWED: Duration = Duration::from_secs(1);
/// When nobody has looked yet.
const NEVER: u64 = u64::MAX;

#[cfg(test)]
mod tests {
    use super::*;

    #[actix_rt::test]
    async fn an_order_is_answered_and_nobody_answers_once_nobody_takes_orders() {
        let (desk, mut orders, teller) = channel("n2", NodeClock::start());
        let asked = actix_rt::spawn({
            let desk = desk.clone();
            async move { desk.order(Order::Cancel).await }
        });
        let Ordered { order, reply } = orders.next().await;
        assert_eq!(order, Order::Cancel);
        reply.send(Ok(teller.told())).expect("somebody waits");
        let report = asked.await.expect("no panic").expect("an answer").expect("a report");
        assert_eq!((report.node.as_str(), report.state.as_str()), ("n2", DrainReport::WORKING));
        drop(orders);
        assert!(desk.order(Order::Cancel).await.is_none());
    }

    #[actix_rt::test]
    async fn a_look_is_answered_at_once_where_nothing_happens_and_with_the_news_otherwise() {
        let (desk, _orders, teller) = channel("n2", NodeClock::start());
        assert!(!teller.is_followed());
        assert_eq!(desk.look().await.state, DrainReport::WORKING);
        assert!(teller.is_followed());
        teller.tell(|report| report.state = DrainReport::DRAINING.to_owned());
        let looking = actix_rt::spawn({
            let desk = desk.clone();
            async move { desk.look().await }
        });
        tokio::task::yield_now().await;
        teller.tell(|report| report.moved = 7);
        assert_eq!(looking.await.expect("no panic").moved, 7);
    }
    #[actix_rt::test]
    async fn the_last_words_wait_for_whoever_follows_and_for_nobody_else() {
        let (desk, _orders, teller) = channel("n2", NodeClock::start());
        teller.last_words(Duration::MAX).await;
        desk.look().await;
        teller.tell(|report| report.state = DrainReport::DRAINED.to_owned());
        let mut last_words = std::pin::pin!(teller.last_words(Duration::MAX));
        assert!(timeout(Duration::ZERO, &mut last_words).await.is_err(), "it has not been read");
        assert_eq!(desk.look().await.state, DrainReport::DRAINED);
        last_words.await;
    }
}
