//! A node on a thread of this process: the same node, without signals, exit code, or a claim to the process's metrics.
//!
//! ```text
//!   caller, on any runtime      Embedded: desk, stop, end
//!   thread of the node          actix system: `live`, and `announce` until it is ready
//! ```
//!
//! Keeps: when [`Embedded::stop`] has returned, the thread, its ports and its actors are gone; dropped, it stops by itself. A
//! fault of the node ends the node and not the program.
//! Leaves out: logs and metrics, which belong to the process (`telemetry`).

use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use metrics_exporter_prometheus::PrometheusBuilder;
use slipgate_entity::game::Types;
use slipgate_proto::admin::{Answer, Question};
use tempfile::TempDir;
use tokio::sync::{mpsc, oneshot};

use super::stop::Wish;
use super::{Host, NodeError, Ports, SharedDesk, live, open};
use crate::admin::Oracle;
use crate::config::Config;
use crate::fault::Alarm;
use crate::telemetry;

/// A node whose ports are open, and that does not run yet: others can be told where it will be.
pub(crate) struct Bound {
    config: Config,
    ports: Ports,
}

impl Bound {
    pub(crate) fn open(config: Config) -> Result<Self, NodeError> {
        let ports = open(&config)?;
        Ok(Self { config, ports })
    }

    /// What peers dial.
    pub(crate) fn peer(&self) -> &str {
        &self.ports.dial
    }

    /// Runs it. It counts as ready once it sees so many ready members, itself included. `folder` goes with the last node
    /// that has it.
    pub(crate) fn run(self, types: Types, members: usize, folder: Option<Arc<TempDir>>) -> Result<Embedded, NodeError> {
        let Self { config, ports } = self;
        types.require(&config.entities.required())?;
        let (name, admin) = (config.node.name.to_string(), ports.admin_dial.clone());
        let (stop, words) = mpsc::channel(WORDS);
        let (tell_ready, ready) = oneshot::channel();
        let (tell_end, ended) = oneshot::channel();
        let desks = SharedDesk::new(types);
        let alarm = Alarm::of_a_program();
        telemetry::watch_panics();
        let host = Host {
            alarm: alarm.clone(),
            wish: Wish::Program(Some(words)),
            metrics: PrometheusBuilder::new().build_recorder().handle(),
            desks: desks.clone(),
        };
        let thread = std::thread::Builder::new().name(format!("node {name}")).spawn(move || {
            telemetry::name_thread(config.node.name.clone());
            let ended = actix_rt::System::new().block_on(async {
                let _set = host.alarm.set();
                actix_rt::spawn(announce(host.desks.clone(), config.node.name.to_string(), members, tell_ready));
                live(&config, ports, host).await
            });
            drop(folder);
            // Whoever does not wait for the end does not hear of it.
            let _ = tell_end.send(ended);
        });
        let thread = thread.map_err(|source| NodeError::Disk { what: "cannot start a thread".to_owned(), source })?;
        Ok(Embedded { name, admin, desks, stop, ready, ended, alarm, thread })
    }
}

/// A running node.
#[derive(Debug)]
pub(crate) struct Embedded {
    name: String,
    admin: String,
    desks: SharedDesk,
    stop: mpsc::Sender<()>,
    ready: oneshot::Receiver<()>,
    ended: oneshot::Receiver<Result<(), NodeError>>,
    alarm: Alarm,
    thread: JoinHandle<()>,
}

impl Embedded {
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Where its admin interface listens.
    pub(crate) fn admin(&self) -> &str {
        &self.admin
    }

    pub(crate) fn desk(&self) -> &SharedDesk {
        &self.desks
    }

    /// What a fault of it raises.
    pub(crate) fn alarm(&self) -> &Alarm {
        &self.alarm
    }

    /// Waits until it works, in the company of as many as are expected.
    pub(crate) async fn ready(mut self) -> Result<Self, NodeError> {
        // One that ends is not going to say it.
        if (&mut self.ready).await.is_ok() {
            return Ok(self);
        }
        self.end().await?;
        Err(NodeError::NotJoined("it stopped before it was ready".to_owned()))
    }

    /// Stops it as a signal would: everybody moves out who can, and what is accepted is answered.
    pub(crate) async fn stop(self) -> Result<(), NodeError> {
        // One that has ended by itself hears nothing, and says why.
        let _ = self.stop.send(()).await;
        self.end().await
    }

    /// Waits until it has ended.
    async fn end(mut self) -> Result<(), NodeError> {
        let ended = (&mut self.ended).await;
        // A thread that panicked has said so, and left the word of its end unsaid.
        drop(self.thread.join());
        match ended {
            Ok(ended) => ended,
            Err(_) => Err(NodeError::Fault(self.alarm.raised().await)),
        }
    }
}

async fn announce(desk: SharedDesk, name: String, members: usize, ready: oneshot::Sender<()>) {
    while !is_ready(&desk, &name, members).await {
        tokio::time::sleep(LOOK).await;
    }
    // Whoever has given up waiting does not hear it.
    let _ = ready.send(());
}

async fn is_ready(desk: &SharedDesk, name: &str, members: usize) -> bool {
    let Ok(Answer::Nodes(report)) = desk.ask(Question::Nodes).await else { return false };
    let mut ready = report.nodes.iter().filter(|node| node.state == "ready");
    ready.clone().count() >= members && ready.any(|node| node.node == name)
}

/// A wish, and a second one that makes haste.
const WORDS: usize = 2;
/// Between two looks at whether a node is ready.
const LOOK: Duration = Duration::from_millis(5);
