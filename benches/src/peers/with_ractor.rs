//! [ractor](https://docs.rs/ractor): mailboxes without a bound.

use anyhow::{Result, anyhow};
use ractor::{Actor, ActorProcessingErr, ActorRef};
use tokio::runtime::Runtime;

use super::{ACTORS, Applied, Cast, FLIGHT, count, reached, runtime};
use crate::block::MESSAGE;
use crate::measure::cpu_ns_each;

pub(crate) struct WithRactor {
    runtime: Runtime,
    router: ActorRef<Cast>,
    applied: Applied,
    sent: usize,
}

impl WithRactor {
    pub(crate) fn start() -> Result<Self> {
        let (runtime, applied) = (runtime()?, Applied::default());
        let router = runtime.block_on(async {
            let mut targets = Vec::with_capacity(ACTORS);
            for _ in 0..ACTORS {
                targets.push(Actor::spawn(None, Target, applied.clone()).await?.0);
            }
            anyhow::Ok(Actor::spawn(None, Router, targets).await?.0)
        })?;
        Ok(Self { runtime, router, applied, sent: 0 })
    }

    /// CPU nanoseconds for each of `messages`.
    pub(crate) fn flood(&mut self, messages: usize) -> Result<f64> {
        let mut result = Ok(());
        let each = cpu_ns_each(messages, || {
            result = self.runtime.block_on(async {
                for _ in 0..messages / FLIGHT {
                    for number in 0..FLIGHT {
                        self.router.cast(Cast::nth(number)).map_err(|_| anyhow!("the router has stopped"))?;
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

struct Router;

impl Actor for Router {
    type Msg = Cast;
    type State = Vec<ActorRef<[u8; MESSAGE]>>;
    type Arguments = Self::State;

    async fn pre_start(&self, _: ActorRef<Cast>, targets: Self::Arguments) -> Result<Self::State, ActorProcessingErr> {
        Ok(targets)
    }

    async fn handle(&self, _: ActorRef<Cast>, cast: Cast, targets: &mut Self::State) -> Result<(), ActorProcessingErr> {
        Ok(targets[cast.to].cast(cast.message)?)
    }
}

struct Target;

impl Actor for Target {
    type Msg = [u8; MESSAGE];
    type State = Applied;
    type Arguments = Applied;

    async fn pre_start(&self, _: ActorRef<Self::Msg>, applied: Applied) -> Result<Applied, ActorProcessingErr> {
        Ok(applied)
    }

    async fn handle(
        &self,
        _: ActorRef<Self::Msg>,
        message: Self::Msg,
        applied: &mut Applied,
    ) -> Result<(), ActorProcessingErr> {
        count(applied, &message);
        Ok(())
    }
}
