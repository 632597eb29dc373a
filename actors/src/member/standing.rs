//! How the membership is, for those who ask.

use std::time::Duration;

use actix::{Actor, Context, Handler, Message};
use slipgate_proto::admin::LinkReport;
use tokio::sync::oneshot;

use super::{Linked, MemberActor};
use crate::link::Report;

/// Asks how the membership is.
#[derive(Clone, Copy, Debug, Message)]
#[rtype(result = "Standing")]
pub struct AskStanding;

/// How the membership is.
#[derive(Debug)]
pub struct Standing {
    /// What is left of the lease.
    pub lease_left: Duration,
    /// One report per link, as they come in.
    pub links: Vec<oneshot::Receiver<LinkReport>>,
}

impl<A, M> actix::dev::MessageResponse<A, M> for Standing
where
    A: Actor,
    M: Message<Result = Self>,
{
    fn handle(self, _: &mut A::Context, reply: Option<actix::dev::OneshotSender<Self>>) {
        if let Some(reply) = reply {
            drop(reply.send(self));
        }
    }
}

impl Handler<AskStanding> for MemberActor {
    type Result = Standing;

    fn handle(&mut self, AskStanding: AskStanding, _: &mut Context<Self>) -> Standing {
        let ask = |linked: &Linked| {
            let (reply, report) = oneshot::channel();
            linked.link.tell(Report { reply });
            report
        };
        let lease_left = self.machine.lease_left(self.around.clock.now());
        Standing { lease_left, links: self.links.values().map(ask).collect() }
    }
}
