//! Orders to drain a node, and how it goes.

use std::rc::Rc;
use std::time::Duration;

use slipgate_proto::admin::{Answer, DrainOrder, DrainReport, Problem, Question};

use super::{Office, PEER_WAIT, resolve, unavailable};
use crate::drain::Order;
use crate::words::counted;

impl Office {
    /// Passes an order on to the node that is meant.
    pub(super) async fn drain(self: &Rc<Self>, node: &str, order: DrainOrder) -> Result<Answer, Problem> {
        let member = resolve::node(node, &self.around.post.view())?;
        self.ask_node(&member, Question::Drain { node: node.to_owned(), order }, PEER_WAIT).await
    }

    /// Takes an order for this node.
    pub(super) async fn drain_here(&self, order: DrainOrder) -> Result<Answer, Problem> {
        let drain = &self.around.drain;
        let order = match order {
            DrainOrder::Look => return Ok(Answer::Drain(drain.look().await)),
            DrainOrder::Begin { timeout_ms } => Order::Begin(timeout_ms.map(Duration::from_millis)),
            DrainOrder::Cancel => Order::Cancel,
        };
        let taken = drain.order(order).await;
        taken.unwrap_or_else(|| Err(unavailable("stopping", "the node is stopping"))).map(Answer::Drain)
    }

    /// What keeps a node that drains from being ready, in words.
    pub(super) fn how_it_drains(&self) -> String {
        let report = self.around.drain.now();
        if report.state == DrainReport::KEPT {
            return format!(
                "it has drained, and keeps {} that could not move",
                counted(report.kept, "entity", "entities")
            );
        }
        format!("it is draining: {} of {} have moved", report.moved, counted(report.entities, "entity", "entities"))
    }
}
