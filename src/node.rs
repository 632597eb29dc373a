//! One node of a cluster: configuration, sockets, actors, and a clean end.
//!
//! ```text
//!   configuration -> ports -> manager (on its node) -> admin interface -> join -> actors -> ready
//!                                                                          ^                |
//!                                                                          +-- verdict -----+
//!   SIGTERM, order -> drain -> goodbyes -> admin, manager -> exit 0
//! ```

mod described;
mod desks;
mod drain;
pub(crate) mod embedded;
#[cfg(test)]
mod fault_tests;
mod files;
mod folder;
mod joining;
mod ports;
mod stop;
mod threads;
mod wiring;

use std::panic::AssertUnwindSafe;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use metrics_exporter_prometheus::PrometheusHandle;
use slipgate_actors::chronicle::Chronicle;
use slipgate_actors::clock::NodeClock;
use slipgate_actors::desk::Stage;
use slipgate_actors::link::gate::{self, Gate, Standing};
use slipgate_actors::mailbox::{Halt, Mailbox};
use slipgate_actors::manager::StoreError;
use slipgate_actors::manager_seat::Seat;
use slipgate_cluster::manager::{JoinRequest, Waits};
use slipgate_entity::RangeId;
use slipgate_entity::game::{MissingTypes, TypeFaults, TypeInfo, Types};
use thiserror::Error;
use tokio::sync::watch;

pub(crate) use self::desks::SharedDesk;
use self::drain::{Drain, Ended};
use self::ports::Ports;
use self::stop::Wish;
use self::wiring::Outside;
use crate::admin;
use crate::cli::failure::Exit;
use crate::config::{self, Config, ConfigErrors, nearest};
use crate::fault::{Alarm, Fault};
use crate::telemetry::{self, NodeLabel, TelemetryError};
use crate::transport::{Tcp, TcpPort};

/// Why a node did not start, or did not end as it should.
#[derive(Debug, Error)]
pub enum NodeError {
    /// The configuration has faults; nothing was started.
    #[error("{0}")]
    Config(ConfigErrors),
    /// The log could not be set up; nothing was started.
    #[error(transparent)]
    Telemetry(#[from] TelemetryError),
    /// A port could not be opened.
    #[error("{what} cannot listen at {address}: {source}; is another node running there? set {key}")]
    Port {
        /// Whose port.
        what: &'static str,
        /// Where.
        address: std::net::SocketAddr,
        /// The key that sets it.
        key: &'static str,
        /// What the system says.
        source: std::io::Error,
    },
    /// The types that are linked into this program do not go together; nothing was started.
    #[error("{0}")]
    Types(#[from] TypeFaults),
    /// The configuration wants types that this program does not have; nothing was started.
    #[error("{0} (wanted by [entities] types)")]
    MissingTypes(#[from] MissingTypes),
    /// Something about the disk.
    #[error("{what}: {source}")]
    Disk {
        /// What could not be done.
        what: String,
        /// What the system says.
        source: std::io::Error,
    },
    /// The manager's store cannot be used; nothing was given out.
    #[error("the manager's store cannot be used: {0}")]
    Store(#[from] StoreError),
    /// The cluster does not take this node in.
    #[error("this node may not join the cluster: {0}")]
    NotJoined(String),
    /// The metrics or the admin interface could not be set up.
    #[error("the admin interface cannot start: {0}")]
    Admin(String),
    /// The node met a fault of Slipgate's own, and has ended where it was, without a goodbye: what its scenes held is lost
    /// once its lease is over. Start it again, and report the fault.
    #[error("the node has ended by a fault of Slipgate's own: {0}")]
    Fault(Fault),
}

impl NodeError {
    /// What the process that runs the node ends with.
    #[must_use]
    pub fn exit(&self) -> Exit {
        match self {
            Self::Config(_) => Exit::Usage,
            Self::NotJoined(_) => Exit::Refused,
            Self::Telemetry(_)
            | Self::Port { .. }
            | Self::Types(_)
            | Self::MissingTypes(_)
            | Self::Disk { .. }
            | Self::Store(_)
            | Self::Admin(_) => Exit::Failed,
            Self::Fault(_) => Exit::Fault,
        }
    }
}

/// Runs a node with the types given in this process until it is told to stop.
///
/// `overrides` are configuration keys and values from the command line; they win over the file and
/// the environment.
///
/// # Errors
///
/// If the configuration is faulty, or the node cannot start, or may not go on.
pub fn run(config_path: Option<PathBuf>, overrides: &[(String, String)], types: Types) -> Result<ExitCode, NodeError> {
    let loaded = Config::load(config_path.as_deref(), config::process_env(), overrides).map_err(NodeError::Config)?;
    let config = loaded.config;
    telemetry::init(&config.log, NodeLabel::from(config.node.name.clone()))?;
    let ended = actix_rt::System::new().block_on(async {
        files::raise_limit();
        let alarm = Alarm::of_the_process();
        let _set = alarm.set();
        let wish = Wish::of_the_process()?;
        types.require(&config.entities.required())?;
        let ports = open(&config)?;
        let host = Host { wish, metrics: wiring::metrics()?, desks: SharedDesk::new(types), alarm };
        live(&config, ports, host).await
    });
    if let Err(error) = &ended {
        tracing::error!(event = "node.failed", "{error}");
    }
    ended.map(|()| ExitCode::SUCCESS)
}

/// What a node is given by the program that it is part of.
struct Host {
    /// That it stops.
    wish: Wish,
    /// Renders `/metrics`.
    metrics: PrometheusHandle,
    /// Where its desk is put, and which types it can host.
    desks: SharedDesk,
    /// What a fault of the node raises.
    alarm: Alarm,
}

/// Takes what nobody else may have: the data folder and the ports.
fn open(config: &Config) -> Result<Ports, NodeError> {
    let (name, folder) = (&config.node.name, config.node.data_folder());
    tracing::info!(event = "node.starting", version = env!("CARGO_PKG_VERSION"), cluster = %config.cluster.name, "node {name} starts");
    std::fs::create_dir_all(&folder).map_err(disk("cannot make the data folder", &folder))?;
    Ports::bind(config)
}

fn disk(what: &str, folder: &Path) -> impl FnOnce(std::io::Error) -> NodeError + use<> {
    let what = format!("{what} {}", folder.display());
    move |source| NodeError::Disk { what, source }
}

/// Warns of types that `[log] entities` names and the program lacks: their lines would be missed, and nobody would know why.
fn tell_unknown_voices(config: &Config, types: &Types) {
    for name in config.log.voices().types().filter(|name| types.entity(name).is_none()) {
        let known = types.entities().map(TypeInfo::name);
        let hint = nearest(name, known).map_or_else(String::new, |known| format!("; did you mean {known:?}?"));
        tracing::warn!(
            event = "log.no_type",
            r#type = name,
            "[log] entities names {name:?}, and no type of this program{hint}"
        );
    }
}

async fn live(config: &Config, ports: Ports, host: Host) -> Result<(), NodeError> {
    let Host { mut wish, metrics, desks, alarm } = host;
    tell_unknown_voices(config, desks.types());
    let (name, folder) = (&config.node.name, config.node.data_folder());
    let clock = NodeClock::start();
    let (seat, keeper) = if config.manager.node == *name {
        let waits = Waits { lease: config.manager.lease, margin: config.manager.margin, ..Waits::default() };
        let (seat, keeper) = Seat::take(folder.join("manager.redb"), waits, clock).await?;
        (Some(seat), Some(keeper))
    } else {
        (None, None)
    };
    let (tell_standing, standing) = watch::channel(Standing::Joining);
    let gate = Gate {
        cluster: config.cluster.name.clone(),
        name: name.clone(),
        manager: config.manager.node.clone(),
        seat: seat.clone(),
        standing,
    };
    let tcp = Tcp { silence: config.limits.silence };
    let port = TcpPort::new(ports.peers, tcp).map_err(disk("cannot accept peers; data in", &folder))?;
    actix_rt::spawn(gate::keep(gate, Box::new(port)));

    let settings = admin::Settings::new(name.to_string(), read_token(config)?, metrics, schema(desks.types()));
    let serving =
        admin::serve(ports.admin, desks.clone(), settings).map_err(|error| NodeError::Admin(error.to_string()))?;
    let admin_handle = serving.handle();
    actix_rt::spawn(serving.run());
    let request = joining::request(config, &ports.dial, &ports.admin_dial);
    let seen = watch::Sender::new(folder::ranges_seen(&folder)?);
    actix_rt::spawn(folder::keep_ranges(folder, seen.subscribe()));
    let chronicle = wiring::chronicle(config);
    let node =
        Node { config, seat, clock, request, seen, desks, standing: tell_standing, chronicle, alarm: alarm.clone() };
    let lives = AssertUnwindSafe(node.lives(&mut wish)).catch_unwind();
    let ended = tokio::select! {
        biased;
        fault = alarm.raised() => Err(fault),
        ended = lives => match ended {
            Ok(ended) => Ok(ended),
            Err(_) => Err(alarm.raised().await),
        },
    };
    let ended = match ended {
        Ok(ended) => {
            admin_handle.stop(true).await;
            stop::keeper(keeper).await;
            ended
        }
        Err(fault) => {
            node.fail(&fault);
            let _ = tokio::time::timeout(FAULT_END, admin_handle.stop(false)).await;
            let _ = tokio::time::timeout(FAULT_END, stop::keeper(keeper)).await;
            Err(NodeError::Fault(fault))
        }
    };
    tracing::info!(
        event = "node.stopped",
        exit = ended.as_ref().err().map_or(Exit::Done, NodeError::exit).code(),
        "node {name} has stopped"
    );
    ended
}

/// What stays of a node over its lives in this process.
struct Node<'a> {
    config: &'a Config,
    seat: Option<Seat>,
    clock: NodeClock,
    request: JoinRequest,
    seen: watch::Sender<Option<RangeId>>,
    desks: SharedDesk,
    standing: watch::Sender<Standing>,
    chronicle: Mailbox<Chronicle>,
    alarm: Alarm,
}

/// How a life ends.
enum End {
    /// Somebody wished that the node stops.
    Stopped,
    /// There was a verdict on it, or there is a later life.
    Over {
        /// Whether somebody had wished before that the node stops.
        stops: bool,
    },
}

impl Node<'_> {
    /// One life after the other, until it is told to stop, or may not go on.
    async fn lives(&self, wish: &mut Wish) -> Result<(), NodeError> {
        let name = &self.config.node.name;
        loop {
            match self.live_once(wish).await? {
                End::Stopped => return Ok(()),
                End::Over { stops } => {
                    let what_follows = if stops { "stops, as it was told to" } else { "joins anew" };
                    tracing::warn!(
                        event = "node.over",
                        "this life of node {name} is over: the manager has declared it dead, or knows a later one; what its \
                         scenes held is lost, and the node {what_follows}"
                    );
                    if stops {
                        return Ok(());
                    }
                }
            }
        }
    }

    /// It has met a fault: its threads have ended, and its lease. What is left of it hears and answers nobody.
    fn fail(&self, fault: &Fault) {
        let standing = self.standing.send_replace(Standing::Stopping);
        if let Standing::Joined(joined) = standing {
            joined.member.tell(Halt);
        }
        self.desks.fail(fault);
    }

    /// Joins, works, and ends.
    async fn live_once(&self, wish: &mut Wish) -> Result<End, NodeError> {
        let Self { config, seat, clock, .. } = self;
        let (name, seat) = (&config.node.name, seat.as_ref());
        self.standing.send_replace(Standing::Joining);
        let tcp = Tcp { silence: config.limits.silence };
        let request = JoinRequest { seen: *self.seen.borrow(), ..self.request.clone() };
        let welcome = tokio::select! {
            welcome = joining::join(config, seat, *clock, request, &tcp) => welcome?,
            () = wish.come() => return Ok(End::Stopped),
        };
        // Only now: a node that is refused leaves the files of the one that holds its name alone.
        folder::publish(&config.node.data_folder(), &self.request.address, &self.request.admin)?;
        let (stage, stages) = watch::channel(Stage::Starting);
        let (tell_over, mut over) = watch::channel(false);
        let (drain, mut orders, teller) = slipgate_actors::drain::channel(name.as_str(), *clock);
        let outside = Outside {
            chronicle: self.chronicle.clone(),
            stage: stages,
            drain,
            seen: self.seen.clone(),
            over: tell_over,
        };
        let wired = wiring::wire(config, self.desks.types().clone(), seat, *clock, welcome, outside);
        #[cfg(test)]
        fault_tests::offer(name, &wired, seat);
        self.alarm.ends(wired.joined.post.lease().clone());
        self.standing.send_replace(Standing::Joined(wired.joined.clone()));
        self.desks.open(wired.desk.clone());
        stage.send_replace(Stage::Working);
        let me = wired.joined.post.me();
        tracing::info!(
            event = "node.working", peers = %self.request.address, admin = %self.request.admin, scenes = wired.scenes.present().len(),
            id = me.node.0, incarnation = me.incarnation.0,
            "node {name} has joined as life {} and works", me.incarnation.0
        );
        let drain = Drain::new(name, &wired, &teller, &stage, *clock, config.drain.timeout);
        match drain.attend(wish, &mut orders, &mut over).await {
            Ended::Drained => {
                self.standing.send_replace(Standing::Stopping);
                wired.say_goodbye().await;
                wired.end_threads().await;
                Ok(End::Stopped)
            }
            Ended::Over { stops } => {
                self.desks.close();
                wired.halt().await;
                Ok(End::Over { stops })
            }
        }
    }
}

/// What the node can host, as JSON text.
fn schema(types: &Types) -> Arc<str> {
    serde_json::to_string(&types.schema()).expect("a schema is plain data").into()
}

fn read_token(config: &Config) -> Result<Option<String>, NodeError> {
    let token = config.admin.read_token().map_err(|source| {
        let file = config.admin.token_file.as_deref().unwrap_or_else(|| std::path::Path::new("?"));
        NodeError::Disk { what: format!("cannot read [admin] token_file {}", file.display()), source }
    })?;
    Ok(token.map(|token| token.reveal().to_owned()))
}

/// How long each step of an end by a fault may take: what is asked may be what has failed.
const FAULT_END: Duration = Duration::from_secs(2);
