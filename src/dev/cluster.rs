//! All processes of a development cluster: start, watch, stop.

use std::ffi::OsStr;
use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use serde::Deserialize;
use tempfile::TempDir;

use super::DevError;
use super::child::{self, Child, FORMAT_ENV};
use super::plan::{Plan, Planned};
use crate::client::Client;

/// A running cluster. Dropping it kills what still runs; [`Cluster::stop`] is kinder.
#[derive(Debug)]
pub struct Cluster {
    children: Vec<Child>,
    started: Vec<Started>,
    folder: TempDir,
    program: PathBuf,
}

/// Where a node listens, as it wrote it down.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Started {
    /// Its name.
    pub name: String,
    /// What peers dial.
    pub peer: String,
    /// Its admin interface.
    pub admin: String,
    /// Its scenes.
    pub scenes: Vec<String>,
}

/// A node that ended though nobody asked it to, or that did not end well.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fallen {
    /// Its name.
    pub name: String,
    /// How it ended; none if it had to be killed.
    pub status: Option<ExitStatus>,
}

impl Cluster {
    /// Starts every node of a plan with this program and waits until all are ready; `say` is told of
    /// each as it begins to listen.
    ///
    /// # Errors
    ///
    /// If a node does not come up, or `stop` was set; what was started is ended.
    pub fn start(
        plan: &Plan,
        program: &Path,
        stop: &AtomicBool,
        say: &mut dyn FnMut(&Started),
    ) -> Result<Self, DevError> {
        let folder = tempfile::Builder::new().prefix("slipgate-dev-").tempdir().map_err(DevError::Folder)?;
        std::fs::write(folder.path().join("cluster.toml"), plan.cluster_toml()).map_err(DevError::Folder)?;
        let mut cluster = Self { children: Vec::new(), started: Vec::new(), folder, program: program.into() };
        let deadline = Instant::now() + START_MAX;
        let mut nodes = plan.nodes().iter();
        if let Some(manager) = nodes.next() {
            cluster.launch(manager, None)?;
            say(cluster.await_addresses(manager, deadline, stop)?);
        }
        let manager = cluster.started.first().map(|manager| manager.peer.clone());
        for node in nodes.clone() {
            cluster.launch(node, manager.as_deref())?;
        }
        for node in nodes {
            say(cluster.await_addresses(node, deadline, stop)?);
        }
        cluster.await_ready(deadline, stop)?;
        Ok(cluster)
    }

    /// Where the nodes listen, in the order of the plan.
    #[must_use]
    pub fn started(&self) -> &[Started] {
        &self.started
    }

    /// The folder with the nodes' data; it goes with the cluster.
    #[must_use]
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Nodes that ended since the last call; each is told once.
    pub fn fallen(&mut self) -> Vec<Fallen> {
        let mut fallen = Vec::new();
        self.children.retain_mut(|child| match child.ended() {
            Some(status) => {
                fallen.push(Fallen { name: child.name().into(), status: Some(status) });
                false
            }
            None => true,
        });
        fallen
    }

    /// How many nodes run.
    #[must_use]
    pub fn running(&self) -> usize {
        self.children.len()
    }

    /// Asks every node to end, and kills those that have not after ten seconds. Returns those that did
    /// not end well.
    #[must_use]
    pub fn stop(mut self) -> Vec<Fallen> {
        self.children.iter_mut().for_each(Child::terminate);
        let deadline = Instant::now() + STOP_MAX;
        let mut fallen = Vec::new();
        while self.running() > 0 && Instant::now() < deadline {
            fallen.extend(self.fallen());
            thread::sleep(POLL_EVERY);
        }
        for child in &mut self.children {
            child.kill();
            fallen.push(Fallen { name: child.name().into(), status: None });
        }
        self.children.clear();
        fallen.retain(|fallen| !fallen.status.is_some_and(|status| status.success()));
        fallen
    }

    /// Closes the pipes that the nodes hang on, as our death would.
    #[cfg(test)]
    pub(super) fn cut_lifelines(&mut self) {
        self.children.iter_mut().for_each(Child::cut_lifeline);
    }

    fn launch(&mut self, node: &Planned, manager: Option<&str>) -> Result<(), DevError> {
        let arguments = node.arguments(self.folder.path(), manager);
        let spawned = Child::start(&node.name, &self.program, &arguments, log_format(), child::to_stderr);
        let failed = |source| DevError::Spawn { program: self.program.clone(), source };
        self.children.push(spawned.map_err(failed)?);
        Ok(())
    }

    fn await_addresses(&mut self, node: &Planned, deadline: Instant, stop: &AtomicBool) -> Result<&Started, DevError> {
        #[derive(Deserialize)]
        struct Addresses {
            peer: String,
            admin: String,
        }
        let path = self.folder.path().join(&node.name).join("addresses.json");
        let Addresses { peer, admin } = self.poll(&node.name, deadline, stop, || {
            let text = std::fs::read_to_string(&path).map_err(|_| "it does not listen yet".to_owned())?;
            serde_json::from_str(&text).map_err(|fault| format!("{}: {fault}", path.display()))
        })?;
        let scenes = node.scenes.iter().map(|scene| scene.name.clone()).collect();
        self.started.push(Started { name: node.name.clone(), peer, admin, scenes });
        Ok(&self.started[self.started.len() - 1])
    }

    fn await_ready(&mut self, deadline: Instant, stop: &AtomicBool) -> Result<(), DevError> {
        for node in self.started.clone() {
            let client = Client::new(&node.admin, None, HEALTH_MAX);
            self.poll(&node.name, deadline, stop, || match client.get_raw("/health/ready") {
                Ok(raw) if raw.status == 200 => Ok(()),
                Ok(raw) => Err(raw.text),
                Err(error) => Err(error.to_string()),
            })?;
        }
        Ok(())
    }

    /// Tries again and again, while every node runs and nobody stops us.
    fn poll<T>(
        &mut self,
        name: &str,
        deadline: Instant,
        stop: &AtomicBool,
        attempt: impl Fn() -> Result<T, String>,
    ) -> Result<T, DevError> {
        loop {
            if stop.load(Ordering::Relaxed) {
                return Err(DevError::Stopped);
            }
            if let Some(Fallen { name, status: Some(status) }) = self.fallen().pop() {
                return Err(DevError::Ended { name, status });
            }
            match attempt() {
                Ok(value) => return Ok(value),
                Err(why) if Instant::now() >= deadline => {
                    return Err(DevError::NotReady { name: name.into(), within: START_MAX, why });
                }
                Err(_) => thread::sleep(POLL_EVERY),
            }
        }
    }
}

/// The nodes' stderr is a pipe, so they cannot see the terminal that ours may be.
fn log_format() -> Option<&'static OsStr> {
    let is_chosen = std::env::var_os(FORMAT_ENV).is_some();
    (!is_chosen && io::stderr().is_terminal()).then_some(OsStr::new("pretty"))
}

/// How long a cluster may take to come up: it takes a second or two, more on a machine that is building.
const START_MAX: Duration = Duration::from_secs(60);

/// How long a node may take to end: below the grace period of `docker stop`, which is 10 s, and a little.
const STOP_MAX: Duration = Duration::from_secs(10);

const HEALTH_MAX: Duration = Duration::from_secs(2);

/// Between two looks at processes, of which none tells this thread that it has come up or ended.
const POLL_EVERY: Duration = Duration::from_millis(20);
