//! The latest view, for whoever cannot go on without.
//!
//! The manager is asked at once, by a renewal: its answer comes after the view that is newer, if there is one. An answer
//! that is lost is not asked for again; whoever waits has a time of its own.

use actix::{Context, Handler, Message};
use slipgate_cluster::manager::ManagerReply;
use slipgate_cluster::member::Input;
use slipgate_cluster::{Now, Session};
use tokio::sync::oneshot;

use super::MemberActor;

/// Asks the manager for the latest view.
#[derive(Debug, Message)]
#[rtype(result = "()")]
pub struct CatchUp {
    /// Told once the post has it.
    pub reply: oneshot::Sender<()>,
}

/// Who waits for the latest view, and since when.
#[derive(Debug, Default)]
pub(super) struct Waiting(Vec<(Now, oneshot::Sender<()>)>);

impl Waiting {
    /// The manager has said something: to a renewal that was sent after somebody had asked, that one has all.
    pub(super) fn hear(&mut self, reply: &ManagerReply, me: Session) {
        let ManagerReply::Renewed { session, sent } = *reply else { return };
        for (_, reply) in self.0.extract_if(.., |(asked, _)| session == me && *asked <= sent) {
            // Whoever has given up waiting misses nothing.
            let _ = reply.send(());
        }
    }
}

impl Handler<CatchUp> for MemberActor {
    type Result = ();

    fn handle(&mut self, CatchUp { reply }: CatchUp, _: &mut Context<Self>) {
        self.waiting.0.retain(|(_, reply)| !reply.is_closed());
        self.waiting.0.push((self.around.clock.now(), reply));
        self.give(Input::CatchUp);
    }
}
