//! [kameo](https://docs.rs/kameo): mailboxes with a bound.

use anyhow::{Result, anyhow};
use kameo::actor::{Actor, ActorRef, Spawn};
use kameo::error::Infallible;
use kameo::mailbox;
use kameo::message::{Context, Message};
use tokio::runtime::Runtime;

use super::{ACTORS, Applied, Cast, FLIGHT, count, reached, runtime};
use crate::block::MESSAGE;
use crate::measure::cpu_ns_each;

pub(crate) struct WithKameo {
    runtime: Runtime,
    router: ActorRef<Router>,
    applied: Applied,
    sent: usize,
}

impl WithKameo {
    pub(crate) fn start() -> Result<Self> {
        let (runtime, applied) = (runtime()?, Applied::default());
        let router = runtime.block_on(async {
            let target = |_| Target::spawn_with_mailbox(Target(applied.clone()), mailbox::bounded(FLIGHT));
            Router::spawn_with_mailbox(Router((0..ACTORS).map(target).collect()), mailbox::bounded(FLIGHT))
        });
        Ok(Self { runtime, router, applied, sent: 0 })
    }

    /// CPU nanoseconds for each of `messages`.
    pub(crate) fn flood(&mut self, messages: usize) -> Result<f64> {
        let mut result = Ok(());
        let each = cpu_ns_each(messages, || {
            result = self.runtime.block_on(async {
                for _ in 0..messages / FLIGHT {
                    for number in 0..FLIGHT {
                        let told = self.router.tell(Cast::nth(number)).await;
                        told.map_err(|_| anyhow!("the router has stopped"))?;
                    }
                    self.sent += FLIGHT;
                    reached(&self.applied, self.sent).await;
                }
                Ok(())
            });
        });
        result.map(|()| each)
    }
}

struct Router(Vec<ActorRef<Target>>);

impl Actor for Router {
    type Args = Self;
    type Error = Infallible;

    async fn on_start(router: Self, _: ActorRef<Self>) -> Result<Self, Infallible> {
        Ok(router)
    }
}

impl Message<Cast> for Router {
    type Reply = ();

    async fn handle(&mut self, cast: Cast, _: &mut Context<Self, ()>) {
        // A target stops only with its router.
        let _ = self.0[cast.to].tell(cast.message).await;
    }
}

struct Target(Applied);

impl Actor for Target {
    type Args = Self;
    type Error = Infallible;

    async fn on_start(target: Self, _: ActorRef<Self>) -> Result<Self, Infallible> {
        Ok(target)
    }
}

impl Message<[u8; MESSAGE]> for Target {
    type Reply = ();

    async fn handle(&mut self, message: [u8; MESSAGE], _: &mut Context<Self, ()>) {
        count(&self.0, &message);
    }
}
