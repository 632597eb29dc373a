//! The admin interface: HTTP for tools, health checks and Prometheus, on every node.
//!
//! ```text
//! slipgate status ─┐
//! curl, dashboards ┼─ guard ─ routes ─ Oracle ─ (the node's desk, which asks the other nodes)
//! health checks   ─┘    │        └ events: one stream per reader
//!                       └ host, origin, token
//! ```
//!
//! Any node answers for the cluster: a route turns a request into a
//! [`Question`], the [`Oracle`] answers it, and the answer leaves as JSON. No route knows anything
//! else about the cluster.
//!
//! | method and path | does |
//! |---|---|
//! | `GET /api/v1/status` | the cluster at a glance |
//! | `GET /api/v1/nodes`, `scenes` | lists |
//! | `POST /api/v1/scenes` | makes a scene |
//! | `POST /api/v1/scenes/{scene}/close` | closes one that was made at run time |
//! | `GET /api/v1/entities?scene=&limit=` | entities, by scene and id |
//! | `GET /api/v1/lost?limit=` | entities that were lost with their nodes |
//! | `GET /api/v1/entities/{id}` | one entity, by id, unique prefix or label |
//! | `POST /api/v1/entities` | spawns |
//! | `POST /api/v1/entities/{id}/messages` | sends to one entity |
//! | `POST /api/v1/messages` | sends a batch |
//! | `POST /api/v1/entities/{id}/moves` | moves |
//! | `DELETE /api/v1/entities/{id}?timeout_ms=` | despawns |
//! | `GET /api/v1/nodes/{node}/drain` | how the planned stop of a node goes: with the next news, or after a moment |
//! | `POST /api/v1/nodes/{node}/drain` | begins it |
//! | `DELETE /api/v1/nodes/{node}/drain` | calls it off |
//! | `GET /api/v1/moves?limit=` | moves under way and ended |
//! | `GET /api/v1/events?what=&entity=` | events as server-sent events |
//! | `GET /api/v1/schema` | types, components and messages of this node's program |
//! | `GET /health/live`, `/health/ready` | checks for supervisors |
//! | `GET /metrics` | Prometheus text |
//!
//! Keeps: every error is `{"error": {..}}` with the fields of [`Problem`]; a body above
//! [`BODY_BYTES_MAX`] is refused before it is read, and one that comes too slowly; unknown fields and parameters are refused, and readers of
//! events beyond a bound.
//! Leaves out: TLS, and pages for people.

pub mod body;
mod events;
mod guard;
mod health;
mod intake;
mod readers;
mod reply;
mod routes;

use std::any::Any;
use std::future::Future;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::time::Duration;

use actix_web::dev::{Server, ServerHandle};
use actix_web::middleware::from_fn;
use actix_web::rt::net::TcpStream;
use actix_web::{App, HttpServer, web};
use metrics_exporter_prometheus::PrometheusHandle;
use slipgate_actors::desk::Desk;
use slipgate_proto::admin::{Answer, Problem, Question};
use socket2::SockRef;

pub use reply::{SILENT, status_of};

/// Largest request body, in bytes: 1,024 messages of 256 bytes each.
pub const BODY_BYTES_MAX: usize = 256 * 1024;

/// Who answers questions: the node's desk, or a canned one in tests.
pub trait Oracle: Clone + Send + 'static {
    /// Answers a question for the whole cluster.
    ///
    /// # Errors
    ///
    /// If there is no answer; the problem says why, what state is left, and what to do.
    fn ask(&self, question: Question) -> impl Future<Output = Result<Answer, Problem>>;
}

impl Oracle for Desk {
    async fn ask(&self, question: Question) -> Result<Answer, Problem> {
        Self::ask(self, question).await
    }
}

/// What an admin interface needs to know beside its oracle.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Name of the node it runs on; `/health/ready` is about this one.
    pub node: String,
    /// The token that writes need on a listener beyond loopback; without one such writes are refused.
    pub token: Option<String>,
    /// Renders `/metrics`.
    pub metrics: PrometheusHandle,
    /// The node's types, as JSON text.
    pub schema: Arc<str>,
    /// How often the events are asked for while somebody reads them; see [`Settings::new`].
    pub poll_every: Duration,
    /// How often a reader of events gets a sign of life; see [`Settings::new`].
    pub heartbeat_every: Duration,
}

impl Settings {
    /// Settings with 200 ms between polls, quick enough for people, and 10 s between heartbeats, below
    /// the idle limit of the proxies we know (a guess that holds for nginx and HAProxy defaults).
    #[must_use]
    pub fn new(node: String, token: Option<String>, metrics: PrometheusHandle, schema: Arc<str>) -> Self {
        let (poll_every, heartbeat_every) = (Duration::from_millis(200), Duration::from_secs(10));
        Self { node, token, metrics, schema, poll_every, heartbeat_every }
    }
}

/// A running admin interface.
///
/// Somebody must await [`Serving::run`]; dropping it instead leaves the server without an owner.
#[must_use]
pub struct Serving {
    address: SocketAddr,
    server: Server,
    metrics: PrometheusHandle,
}

impl std::fmt::Debug for Serving {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Serving").field("address", &self.address).finish_non_exhaustive()
    }
}

impl Serving {
    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Stops it: `handle.stop(true).await` lets running requests end, for at most a second.
    #[must_use]
    pub fn handle(&self) -> ServerHandle {
        self.server.handle()
    }

    /// Serves until it is stopped.
    ///
    /// # Errors
    ///
    /// If the listener or a worker fails.
    pub async fn run(self) -> io::Result<()> {
        let upkeep = async {
            let mut every = tokio::time::interval(UPKEEP_EVERY);
            loop {
                every.tick().await;
                self.metrics.run_upkeep();
            }
        };
        tokio::select! {
            ended = self.server => ended,
            () = upkeep => Ok(()),
        }
    }
}

/// Starts an admin interface on a bound listener.
///
/// Needs a running actix system. Signals are the caller's business.
///
/// # Errors
///
/// If the listener cannot be used.
pub fn serve(listener: TcpListener, oracle: impl Oracle, settings: Settings) -> io::Result<Serving> {
    let address = listener.local_addr()?;
    let metrics = settings.metrics.clone();
    let readers = web::Data::new(readers::Readers::default());
    let server = HttpServer::new(move || {
        let rules = guard::Rules { listener: address, token: settings.token.clone() };
        App::new()
            .app_data(web::Data::new(oracle.clone()))
            .app_data(web::Data::new(settings.clone()))
            .app_data(web::Data::new(rules))
            .app_data(readers.clone())
            .wrap(from_fn(intake::take))
            .wrap(from_fn(guard::check))
            .configure(routes::mount_with(oracle.clone()))
    })
    .workers(1)
    .max_connections(CONNECTIONS_MAX)
    .on_connect(|stream, _| limit_silence(stream))
    .disable_signals()
    .shutdown_timeout(1)
    .keep_alive(Duration::from_secs(30))
    .listen(listener)?
    .run();
    Ok(Serving { address, server, metrics })
}

/// A reader that takes nothing of its answer any more must not keep its connection.
fn limit_silence(stream: &dyn Any) {
    if let Some(stream) = stream.downcast_ref::<TcpStream>() {
        // Without the option the reader is closed later, when the system gives up.
        let _ = SockRef::from(stream).set_tcp_user_timeout(Some(SILENCE));
    }
}

/// How long a reader may take nothing while something waits for it.
const SILENCE: Duration = Duration::from_secs(30);

/// Connections at once, far above what tools need: a tour takes about 80. A guess.
const CONNECTIONS_MAX: usize = 1024;

/// How often histograms are folded, so that they stay small when nobody scrapes.
const UPKEEP_EVERY: Duration = Duration::from_secs(5);

#[cfg(test)]
pub(crate) mod canned;
#[cfg(test)]
pub(crate) mod live;
#[cfg(test)]
mod tests;
