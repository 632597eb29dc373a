//! What a tour asks of the cluster, and how patient it is.
//!
//! Reads are repeated while nobody answers, and so are moves that surely were not asked for; a node that
//! restarts is thus waited for. Sends are not repeated here: their books decide.
//!
//! Once the node has been silent for as long as the tour waits, it is gone for good, and nothing is repeated.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use serde::de::DeserializeOwned;
use slipgate_proto::admin::{
    EntityReport, EntityRow, LostRow, MoveReport, NodeReport, ProblemKind, SceneReport, SendReport,
};

use super::itinerary::Place;
use crate::admin::body::{BatchBody, BatchMessage, ENTITIES_MAX, MOVES_MAX, MoveBody, SpawnBody};
use crate::client::{CallError, Client, segment};

/// Asks, for all threads of a tour.
#[derive(Debug)]
pub(super) struct Calls<'a> {
    client: Client,
    stop: &'a AtomicBool,
    patience: Duration,
    answered: Mutex<Instant>,
    gone: OnceLock<String>,
}

impl<'a> Calls<'a> {
    /// Calls that wait so long for a node that is silent, and never longer than for one that restarts.
    pub(super) fn new(client: &Client, stop: &'a AtomicBool, timeout: Duration) -> Self {
        Self {
            client: client.within(STEP),
            stop,
            patience: timeout.min(PATIENCE),
            answered: Mutex::new(Instant::now()),
            gone: OnceLock::new(),
        }
    }

    /// Why the node that is asked is taken for gone; none as long as it is not.
    pub(super) fn gone(&self) -> Option<&str> {
        self.gone.get().map(String::as_str)
    }

    /// Whether somebody wants the tour to end.
    pub(super) fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// The scenes to tour. The first request of all: where nothing answers to it, nothing is waited for.
    pub(super) fn open_scenes(&self) -> Result<Vec<Place>, CallError> {
        let starting = |error: &CallError| error.kind() == Some(ProblemKind::Unavailable);
        let deadline = Instant::now() + NAP;
        let scenes = loop {
            let scenes: Vec<SceneReport> =
                self.patiently(starting, || self.heard(self.client.get("/api/v1/scenes")))?;
            // A node that is only busy would be left out of the whole tour.
            let is_settled = scenes.iter().all(|scene| scene.state != "silent");
            if is_settled || Instant::now() >= deadline || self.is_stopped() {
                break scenes;
            }
            thread::sleep(REPEAT_EVERY);
        };
        let open = scenes.into_iter().filter(|scene| scene.state == "open");
        Ok(open.map(|scene| Place { node: scene.node, scene: scene.scene }).collect())
    }

    pub(super) fn spawn(&self, scene: &str, label: String) -> Result<Vec<EntityRow>, CallError> {
        let body = SpawnBody { label: Some(label), ..SpawnBody::of("walker", scene) };
        self.patiently(is_unheard, || self.heard(self.client.post("/api/v1/entities", &body)))
    }

    /// Sends once.
    pub(super) fn send(&self, via: &str, messages: Vec<BatchMessage>) -> Result<SendReport, CallError> {
        let body = BatchBody { via: Some(via.into()), messages, wait: false, timeout_ms: step_ms() };
        self.heard(self.client.post("/api/v1/messages", &body))
    }

    pub(super) fn migrate(&self, entity: &str, to: &Place) -> Result<MoveReport, CallError> {
        let body = MoveBody { to: to.to_string(), timeout_ms: step_ms() };
        let path = format!("/api/v1/entities/{}/moves", segment(entity));
        let is_unreachable = |error: &CallError| matches!(error, CallError::Unreachable { .. });
        self.patiently(is_unreachable, || self.heard(self.client.post(&path, &body)))
    }

    /// The latest moves, newest first; asked once.
    pub(super) fn latest_moves(&self) -> Result<Vec<MoveReport>, CallError> {
        self.heard(self.client.get(&format!("/api/v1/moves?limit={MOVES_MAX}")))
    }

    /// Everything about one entity.
    pub(super) fn show(&self, entity: &str) -> Result<EntityReport, CallError> {
        self.read(&format!("/api/v1/entities/{}", segment(entity)))
    }

    /// The lives of the nodes; asked once.
    pub(super) fn nodes(&self) -> Result<Vec<NodeReport>, CallError> {
        self.heard(self.client.get("/api/v1/nodes"))
    }

    /// State of a node, as the node that is asked sees it; asked once.
    pub(super) fn state_of(&self, node: &str) -> Result<String, CallError> {
        let nodes = self.nodes()?;
        Ok(nodes.into_iter().find(|known| known.node == node).map_or_else(String::new, |known| known.state))
    }

    /// Entities that were lost with their nodes, up to the longest list; asked once.
    pub(super) fn lost(&self) -> Result<Vec<LostRow>, CallError> {
        self.heard(self.client.get(&format!("/api/v1/lost?limit={ENTITIES_MAX}")))
    }

    /// Every entity, up to the longest list; asked once.
    pub(super) fn entities(&self) -> Result<Vec<EntityRow>, CallError> {
        self.heard(self.client.get(&format!("/api/v1/entities?limit={ENTITIES_MAX}")))
    }

    /// Removes an entity; also after the tour was stopped. One that is gone already is no failure.
    pub(super) fn despawn(&self, entity: &str) -> Result<(), CallError> {
        let path = format!("/api/v1/entities/{}?timeout_ms={}", segment(entity), step_ms());
        match self.heard(self.client.delete::<EntityRow>(&path)) {
            Ok(_) => Ok(()),
            Err(error) if error.kind() == Some(ProblemKind::NotFound) => Ok(()),
            Err(error) => Err(error),
        }
    }

    fn read<T: DeserializeOwned>(&self, path: &str) -> Result<T, CallError> {
        self.patiently(|error| is_unheard(error) || !error.is_certain(), || self.heard(self.client.get(path)))
    }

    /// Hears an answer, or that there is none.
    fn heard<T>(&self, answer: Result<T, CallError>) -> Result<T, CallError> {
        let mut answered = self.answered.lock().unwrap_or_else(PoisonError::into_inner);
        match &answer {
            Err(error @ (CallError::Unreachable { .. } | CallError::Broken { .. } | CallError::Late { .. })) => {
                if answered.elapsed() >= self.patience {
                    self.gone.get_or_init(|| error.to_string());
                }
            }
            Ok(_) | Err(CallError::Problem(_) | CallError::Garbled { .. }) => *answered = Instant::now(),
        }
        answer
    }

    fn patiently<T>(
        &self,
        worth_repeating: impl Fn(&CallError) -> bool,
        call: impl Fn() -> Result<T, CallError>,
    ) -> Result<T, CallError> {
        let deadline = Instant::now() + self.patience;
        let goes_on = || Instant::now() < deadline && !self.is_stopped() && self.gone().is_none();
        loop {
            match call() {
                Err(error) if worth_repeating(&error) && goes_on() => {
                    thread::sleep(REPEAT_EVERY);
                }
                ended => return ended,
            }
        }
    }
}

/// Whether the entity is gone: it was lost with its node, for nobody removes walkers of a tour.
pub(super) fn is_gone(error: &CallError) -> bool {
    matches!(error, CallError::Problem(problem) if problem.reason == "dead")
}

/// Whether nobody took the request up, though somebody may soon.
fn is_unheard(error: &CallError) -> bool {
    matches!(error, CallError::Unreachable { .. }) || error.kind() == Some(ProblemKind::Unavailable)
}

fn step_ms() -> u64 {
    u64::try_from(STEP.as_millis()).unwrap_or(u64::MAX)
}

/// How long one request may take.
const STEP: Duration = Duration::from_secs(10);

/// How long a node may be silent, at most, before the tour takes it for gone: a restart takes seconds.
pub(super) const PATIENCE: Duration = Duration::from_secs(30);

/// How long a node may be silent before the tour begins without its scenes.
const NAP: Duration = Duration::from_secs(5);

/// How often an unheard request is repeated: whoever does not answer cannot tell when it will.
pub(super) const REPEAT_EVERY: Duration = Duration::from_millis(100);
