//! The checked values, section by section.

use std::io;
use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

use serde::Deserialize;
use slipgate_actors::voices::Voices;
use slipgate_cluster::{NodeName, scene};

use super::{DialAddress, LimitSettings, Secret, kind};

/// Everything that `cluster.toml` and its overlays say.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// This node.
    pub node: Node,
    /// The cluster that it belongs to.
    pub cluster: Cluster,
    /// Where the manager is.
    pub manager: Manager,
    /// Scenes and their places; a node may have none.
    #[serde(default)]
    pub scenes: Vec<Scene>,
    /// What entities may do.
    pub entities: Entities,
    /// The admin interface of this node.
    pub admin: Admin,
    /// How this node stops.
    pub drain: Drain,
    /// Logs of this node.
    pub log: Log,
    /// Bounds and deadlines.
    pub limits: LimitSettings,
}

/// `[node]`: this process.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Node {
    /// Name, unique in the cluster. No default. `name = "n1"`
    pub name: NodeName,
    /// Where peers are accepted, `ip:port`; port 0 is chosen by the system. Default `127.0.0.1:7700`.
    pub listen: SocketAddr,
    /// What peers dial, `host:port`. Default: where it listens; needed if that is an unspecified address.
    pub advertise: Option<DialAddress>,
    /// Threads for scenes, 0 to 256; 0 means cores less one, at least one. Default 0.
    pub arbiters: u16,
    /// Folder for this node's data, which goes into `<data>/<name>`. Default `data`.
    pub data: PathBuf,
}

impl Node {
    /// What peers dial when the node listens on `bound`.
    #[must_use]
    pub fn dial(&self, bound: SocketAddr) -> String {
        self.advertise.as_ref().map_or_else(|| bound.to_string(), |address| address.as_str().to_owned())
    }

    /// Threads for scenes on a machine with `cores` cores.
    #[must_use]
    pub fn arbiter_count(&self, cores: NonZeroUsize) -> usize {
        if self.arbiters == 0 { (cores.get() - 1).max(1) } else { usize::from(self.arbiters) }
    }

    /// The folder that belongs to this node alone.
    #[must_use]
    pub fn data_folder(&self) -> PathBuf {
        self.data.join(self.name.as_str())
    }
}

/// `[cluster]`: what this node belongs to.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cluster {
    /// Name; a node of another cluster is refused. Same characters as a node's. No default. `name = "demo"`
    pub name: String,
}

/// `[manager]`: who hands out ids, lives and places.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manager {
    /// The node that runs it. No default. `node = "n1"`
    pub node: NodeName,
    /// What joining nodes dial, `host:port`; may be left out on the manager's own node, and otherwise is what that
    /// node listens at or advertises. `address = "n1:7700"`
    pub address: Option<DialAddress>,
    /// How long a node may go on without hearing from the manager. 1 s to 10 min, default 10 s.
    #[serde(with = "humantime_serde")]
    pub lease: Duration,
    /// How long after the end of a lease its holder is declared dead. Default 2 s.
    #[serde(with = "humantime_serde")]
    pub margin: Duration,
}

/// One of `[[scenes]]`: a scene and where it is placed.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scene {
    /// Number, unique in the cluster, 0 to 32,767; higher ones are for scenes made at run time.
    pub id: u16,
    /// Name, unique in the cluster; same characters as a node's.
    pub name: String,
    /// The node that opens it.
    pub node: NodeName,
    /// Entities it may hold, 1 to 4,294,967,295. Default 100,000.
    pub capacity: u32,
}

/// `[entities]`: what holds for entities of every type.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entities {
    /// Names of types that this node must have, with commas between them: a type that its program does not link in is
    /// told at the start. Default none.
    pub types: String,
    /// What becomes of an entity whose handler panics. Default `park`.
    pub on_panic: OnPanic,
}

impl Entities {
    /// The types that this node must have.
    #[must_use]
    pub fn required(&self) -> Vec<&str> {
        kind::list(&self.types).collect()
    }
}

/// What becomes of an entity whose handler panics.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OnPanic {
    /// It stays, and takes no messages until somebody unparks it.
    Park,
    /// It is despawned.
    Despawn,
}

impl From<OnPanic> for scene::OnPanic {
    fn from(policy: OnPanic) -> Self {
        match policy {
            OnPanic::Park => Self::Park,
            OnPanic::Despawn => Self::Despawn,
        }
    }
}

/// `[admin]`: HTTP for the command line, health checks and metrics.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Admin {
    /// Where it listens, `ip:port`; port 0 is chosen by the system. Default `127.0.0.1:7780`.
    pub listen: SocketAddr,
    /// What people dial, `host:port`. Default: where it listens; needed if that is an unspecified address.
    pub advertise: Option<DialAddress>,
    /// Token that writes need from beyond loopback. Default none: then only loopback may write.
    pub token: Option<Secret>,
    /// File that holds the token, in place of `token`.
    pub token_file: Option<PathBuf>,
}

impl Admin {
    /// What people dial when the admin interface listens on `bound`.
    #[must_use]
    pub fn dial(&self, bound: SocketAddr) -> String {
        self.advertise.as_ref().map_or_else(|| bound.to_string(), |address| address.as_str().to_owned())
    }

    /// The token, from the configuration or from its file; spaces around the file's text do not count.
    ///
    /// # Errors
    ///
    /// If the file cannot be read or holds no token; the caller should not start without it.
    pub fn read_token(&self) -> io::Result<Option<Secret>> {
        let Some(path) = &self.token_file else { return Ok(self.token.clone()) };
        let text = std::fs::read_to_string(path)?;
        Secret::new(text.trim()).map(Some).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
    }
}

/// `[drain]`: how a node stops.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Drain {
    /// How long a planned stop may take in all: to move everybody out, to hand over homes, to wait for answers.
    /// Shorter than whoever stops the process waits before it kills. 100 ms to 10 min, default 25 s.
    #[serde(with = "humantime_serde")]
    pub timeout: Duration,
}

/// `[log]`: what is told, and how.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Log {
    /// Form of a line. Default `auto`.
    pub format: Format,
    /// What is told: a level, or a list such as `info,slipgate=debug`. Default `info,actix_server=warn`: what
    /// the HTTP server says of its own start is no news.
    pub level: String,
    /// What of what entities say is told, by the names of their types: `info,player=debug`. Default `info`. `level` is not
    /// asked about that.
    pub entities: String,
    /// Whether lines for people are coloured. Default `auto`.
    pub colour: Colour,
}

impl Log {
    /// What entities may say.
    ///
    /// # Panics
    ///
    /// If `entities` names no levels; that of a checked configuration does.
    #[must_use]
    pub fn voices(&self) -> Voices {
        self.entities.parse().unwrap_or_else(|error| panic!("expected a checked configuration: {error}"))
    }
}

/// Form of a log line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Format {
    /// Pretty on a terminal, JSON elsewhere.
    Auto,
    /// Columns for people.
    Pretty,
    /// One flat JSON object a line.
    Json,
}

/// Whether lines for people are coloured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Colour {
    /// On a terminal, unless `NO_COLOR` is set.
    Auto,
    /// Always, for logs that a terminal shows later.
    Always,
    /// Never.
    Never,
}
