//! Asks an admin interface, blocking: one connection pool, JSON in and out, and typed failures.
//!
//! A failure says whether the request may have been carried out. [`CallError::Unreachable`] says that it
//! surely was not; [`CallError::Broken`] and [`CallError::Late`] leave it open.
//!
//! Keeps: no proxy is used, whatever the environment says, because the interface is near.
//! Leaves out: TLS.

mod path;
mod stream;

use std::io;
use std::net::ToSocketAddrs;
use std::time::Duration;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use slipgate_proto::admin::{EntityRow, Problem, ProblemKind};
use thiserror::Error;
use ureq::http::Response;
use ureq::{Agent, Body};

use crate::admin::SILENT;
use crate::admin::body::SpawnBody;

pub use path::segment;
pub use stream::Events;

/// Why a request got no answer.
#[derive(Debug, Error)]
pub enum CallError {
    /// The interface answered with a problem.
    #[error("{}", .0.text)]
    Problem(Problem),
    /// No connection came about; nothing was asked.
    #[error("nothing answers at {at} ({why})")]
    Unreachable {
        /// The address.
        at: String,
        /// What the system said.
        why: String,
    },
    /// The connection broke; the request may have been carried out.
    #[error("the connection to {at} broke ({why})")]
    Broken {
        /// The address.
        at: String,
        /// What the system said.
        why: String,
    },
    /// No answer came in time; the request may still be carried out.
    #[error("{at} did not answer within {}", humantime::format_duration(*.within))]
    Late {
        /// The address.
        at: String,
        /// How long it was waited for.
        within: Duration,
    },
    /// What answers is no admin interface of this version.
    #[error("{at} answers, but not as Slipgate's admin interface does ({why})")]
    Garbled {
        /// The address.
        at: String,
        /// What does not fit.
        why: String,
    },
}

/// Asks the admin interface at one address. Cheap to clone; clones share their connections.
#[derive(Clone, Debug)]
pub struct Client {
    agent: Agent,
    at: String,
    token: Option<String>,
    timeout: Duration,
    slack: Duration,
}

/// An answer with its HTTP status, for those to whom another status than 200 is no problem.
#[derive(Debug)]
pub struct Raw {
    /// The HTTP status.
    pub status: u16,
    /// The body.
    pub text: String,
    /// Nodes that did not answer, and of which something is missing.
    pub silent: Vec<String>,
}

impl Client {
    /// A client for the interface at `at` (`host:port`) that waits `timeout` for each answer.
    #[must_use]
    pub fn new(at: &str, token: Option<String>, timeout: Duration) -> Self {
        let config = Agent::config_builder()
            .proxy(None)
            .http_status_as_error(false)
            .max_redirects(0)
            .no_delay(true)
            .timeout_connect(Some(timeout.min(CONNECT_MAX)))
            .max_idle_connections_per_host(CONNECTIONS_IDLE_MAX)
            .max_idle_age(IDLE_MAX)
            .user_agent(concat!("slipgate/", env!("CARGO_PKG_VERSION")))
            .build();
        Self { agent: config.new_agent(), at: at.to_owned(), token, timeout, slack: SLACK }
    }

    /// The address that is asked.
    #[must_use]
    pub fn at(&self) -> &str {
        &self.at
    }

    /// How long an answer is waited for.
    #[must_use]
    pub fn timeout(&self) -> Duration {
        self.timeout
    }

    /// The same client with another time-out.
    #[must_use]
    pub fn within(&self, timeout: Duration) -> Self {
        Self { timeout, ..self.clone() }
    }

    /// The same client, that waits no longer than its time-out: where what is asked takes the node no time, and whoever
    /// asks counts on the time.
    #[must_use]
    pub fn without_slack(&self) -> Self {
        Self { slack: Duration::ZERO, ..self.clone() }
    }

    /// Reads `path`, which begins with a slash and may carry parameters.
    ///
    /// # Errors
    ///
    /// If there is no answer, or it is a problem.
    pub fn get<T: DeserializeOwned>(&self, path: &str) -> Result<T, CallError> {
        self.answer(self.get_raw(path)?)
    }

    /// Reads a list, and the names of the nodes of which something is missing in it.
    ///
    /// # Errors
    ///
    /// If there is no answer, or it is a problem.
    pub fn list<T: DeserializeOwned>(&self, path: &str) -> Result<(Vec<T>, Vec<String>), CallError> {
        let mut raw = self.get_raw(path)?;
        let silent = std::mem::take(&mut raw.silent);
        Ok((self.answer(raw)?, silent))
    }

    /// Reads `path`, whatever its status is.
    ///
    /// # Errors
    ///
    /// If there is no answer.
    pub fn get_raw(&self, path: &str) -> Result<Raw, CallError> {
        let request = self.agent.get(self.url(path)).config().timeout_global(Some(self.patience())).build();
        self.raw(request.call())
    }

    /// Sends a body to `path`.
    ///
    /// # Errors
    ///
    /// If there is no answer, or it is a problem.
    pub fn post<T: DeserializeOwned>(&self, path: &str, body: &impl Serialize) -> Result<T, CallError> {
        self.answer(self.post_raw(path, body)?)
    }

    fn post_raw(&self, path: &str, body: &impl Serialize) -> Result<Raw, CallError> {
        let mut request = self.agent.post(self.url(path)).config().timeout_global(Some(self.patience())).build();
        if let Some(bearer) = self.bearer() {
            request = request.header("Authorization", bearer);
        }
        self.raw(request.send_json(body))
    }

    /// Spawns entities: those that there are now, and why not all, if so.
    ///
    /// # Errors
    ///
    /// If there is no answer, or nobody was spawned.
    pub fn spawn(&self, body: &SpawnBody) -> Result<(Vec<EntityRow>, Option<Problem>), CallError> {
        let raw = self.post_raw("/api/v1/entities", body)?;
        if raw.status == 200 {
            return Ok((self.answer(raw)?, None));
        }
        match serde_json::from_str(&raw.text) {
            Ok(Envelope { error, spawned }) if !spawned.is_empty() => Ok((spawned, Some(error))),
            Ok(_) | Err(_) => Err(self.problem(&raw)),
        }
    }

    /// Deletes `path`.
    ///
    /// # Errors
    ///
    /// If there is no answer, or it is a problem.
    pub fn delete<T: DeserializeOwned>(&self, path: &str) -> Result<T, CallError> {
        let mut request = self.agent.delete(self.url(path)).config().timeout_global(Some(self.patience())).build();
        if let Some(bearer) = self.bearer() {
            request = request.header("Authorization", bearer);
        }
        self.answer(self.raw(request.call())?)
    }

    /// Opens the stream of events; `path` as for [`Client::get`]. Whatever happens from here on is in it.
    ///
    /// # Errors
    ///
    /// If there is no answer, or it is a problem.
    pub fn events(&self, path: &str) -> Result<Events, CallError> {
        let request = self
            .agent
            .get(self.url(path))
            .config()
            .timeout_recv_response(Some(self.patience()))
            .timeout_per_read(Some(SILENCE_MAX))
            .build();
        let response = request.call().map_err(|error| self.failure(error))?;
        if response.status() != 200 {
            let raw = self.raw(Ok(response))?;
            return Err(self.problem(&raw));
        }
        Events::open(response.into_body(), self.at.clone())
    }

    fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.at)
    }

    fn bearer(&self) -> Option<String> {
        self.token.as_ref().map(|token| format!("Bearer {token}"))
    }

    /// A little longer than the node is asked to wait, so that its own answer comes first.
    fn patience(&self) -> Duration {
        self.timeout + self.slack
    }

    fn raw(&self, response: Result<Response<Body>, ureq::Error>) -> Result<Raw, CallError> {
        let mut response = response.map_err(|error| self.failure(error))?;
        let status = response.status().as_u16();
        let silent = response.headers().get(SILENT).and_then(|names| names.to_str().ok()).unwrap_or_default();
        let silent = silent.split(',').filter(|name| !name.is_empty()).map(str::to_owned).collect();
        let text = response.body_mut().with_config().limit(ANSWER_BYTES_MAX).lossy_utf8(true).read_to_string();
        Ok(Raw { status, text: text.map_err(|error| self.failure(error))?, silent })
    }

    fn answer<T: DeserializeOwned>(&self, raw: Raw) -> Result<T, CallError> {
        if raw.status != 200 {
            return Err(self.problem(&raw));
        }
        serde_json::from_str(&raw.text)
            .map_err(|fault| CallError::Garbled { at: self.at.clone(), why: fault.to_string() })
    }

    fn problem(&self, raw: &Raw) -> CallError {
        match serde_json::from_str::<Envelope>(&raw.text) {
            Ok(envelope) => CallError::Problem(envelope.error),
            Err(_) => CallError::Garbled { at: self.at.clone(), why: format!("status {}", raw.status) },
        }
    }

    fn failure(&self, error: ureq::Error) -> CallError {
        let at = self.at.clone();
        #[expect(clippy::wildcard_enum_match_arm, reason = "the list of another crate's errors is open")]
        match error {
            ureq::Error::Timeout(ureq::Timeout::Connect | ureq::Timeout::Resolve) => {
                CallError::Unreachable { at, why: "no answer to connecting".into() }
            }
            ureq::Error::Timeout(_) => CallError::Late { at, within: self.timeout },
            ureq::Error::HostNotFound => CallError::Unreachable { at, why: "unknown host".into() },
            ureq::Error::ConnectionFailed => CallError::Unreachable { at, why: "no connection".into() },
            ureq::Error::BadUri(_) | ureq::Error::Http(_) => {
                CallError::Unreachable { at, why: "this is no address; it must be HOST:PORT".into() }
            }
            ureq::Error::Io(fault) => match fault.kind() {
                io::ErrorKind::ConnectionRefused => CallError::Unreachable { at, why: "connection refused".into() },
                io::ErrorKind::HostUnreachable
                | io::ErrorKind::NetworkUnreachable
                | io::ErrorKind::AddrNotAvailable => CallError::Unreachable { at, why: fault.to_string() },
                // A name without an address has no kind of its own.
                _ if at.to_socket_addrs().is_err() => CallError::Unreachable { at, why: "unknown host".into() },
                _ => CallError::Broken { at, why: fault.to_string() },
            },
            ureq::Error::Protocol(fault) => CallError::Garbled { at, why: fault.to_string() },
            other => CallError::Broken { at, why: other.to_string() },
        }
    }
}

/// A problem, as the interface tells it.
#[derive(Debug, Deserialize)]
struct Envelope {
    error: Problem,
    /// Of several that were to be spawned, those that were.
    #[serde(default)]
    spawned: Vec<EntityRow>,
}

impl CallError {
    /// What kind of problem it is, where the interface or the clock said so.
    #[must_use]
    pub fn kind(&self) -> Option<ProblemKind> {
        match self {
            Self::Problem(problem) => Some(problem.kind),
            Self::Late { .. } => Some(ProblemKind::Timeout),
            Self::Unreachable { .. } | Self::Broken { .. } | Self::Garbled { .. } => None,
        }
    }

    /// Whether the request was surely not carried out.
    #[must_use]
    pub fn is_certain(&self) -> bool {
        match self {
            Self::Problem(problem) => problem.kind != ProblemKind::Timeout,
            Self::Unreachable { .. } => true,
            Self::Broken { .. } | Self::Late { .. } | Self::Garbled { .. } => false,
        }
    }
}

/// Connecting takes a round trip or two; what takes longer will not come about.
const CONNECT_MAX: Duration = Duration::from_secs(5);

/// How much longer than the node the client waits.
const SLACK: Duration = Duration::from_secs(2);

/// Connections kept for the next request: one for each thread of a tour.
const CONNECTIONS_IDLE_MAX: usize = 64;

/// Well below the 30 s after which the interface closes an idle connection.
const IDLE_MAX: Duration = Duration::from_secs(10);

/// Three heartbeats of the stream of events.
const SILENCE_MAX: Duration = Duration::from_secs(30);

/// 10,000 rows of a list are about 2 MiB.
const ANSWER_BYTES_MAX: u64 = 64 * 1024 * 1024;

#[cfg(test)]
mod tests;
