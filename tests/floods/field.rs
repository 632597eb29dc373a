//! Four nodes, each behind a proxy: the manager's alone, and three with scenes.

use std::collections::BTreeMap;
use std::fs;

use slipgate::admin::body::{MoveBody, SpawnBody};
use slipgate::client::{CallError, Client};
use slipgate_proto::admin::{EntityReport, EntityRow, MoveReport};

use crate::PATIENCE;
use crate::nodes::{Cluster, Node};
use crate::patience::until;
use crate::proxy::{BOTH, Proxy};

/// Bytes of messages that may wait on a node; `Flood` pours ten times as much.
pub(crate) const NODE_BYTES: usize = 4 << 20;

/// How many walkers a flood is for.
pub(crate) const WALKERS: u32 = 32;

/// Each scene and its node.
const SCENES: [(&str, &str); 4] = [("forest", "n1"), ("tower", "n1"), ("harbor", "n2"), ("keep", "n3")];

/// Of two nodes the one that comes later here dials the other.
const NAMES: [&str; 4] = ["m", "n1", "n2", "n3"];

/// A running cluster.
pub(crate) struct Field {
    _cluster: Cluster,
    proxies: BTreeMap<&'static str, Proxy>,
    pub(crate) nodes: BTreeMap<&'static str, Node>,
}

impl Field {
    /// Four nodes that know each other, with these settings beside small bounds.
    pub(crate) fn start(settings: &[(&str, &str)]) -> Self {
        Self::start_cut(settings, &[])
    }

    /// The same, with these links cut before anybody dials: the caller, and whom it would dial.
    pub(crate) fn start_cut(settings: &[(&str, &str)], cuts: &[(&str, &str)]) -> Self {
        let cluster = Cluster::new("m", &SCENES);
        let proxies: BTreeMap<_, _> = NAMES.iter().map(|name| (*name, Proxy::before(cluster.address(name)))).collect();
        cuts.iter().for_each(|(caller, to)| proxies[to].cut(caller, BOTH));
        let bytes = format!("{NODE_BYTES}B");
        let bounds = [("limits.node_bytes", bytes.as_str()), ("limits.router_bytes", &bytes), ("node.arbiters", "1")];
        let nodes = NAMES.iter().map(|name| {
            let launch = cluster.launch(name).set("node.advertise", &proxies[name].address().to_string());
            let launch = bounds.iter().chain(settings).fold(launch, |launch, (key, value)| launch.set(key, value));
            let node = match *name {
                "m" => launch,
                _ => launch.set("manager.address", &proxies["m"].address().to_string()),
            };
            let node = node.start();
            node.await_event("node.working");
            (*name, node)
        });
        let nodes: BTreeMap<_, _> = nodes.collect();
        NAMES[1..].iter().for_each(|name| nodes[name].await_range());
        for (at, name) in NAMES.iter().enumerate() {
            let callers = NAMES[at + 1..].iter().filter(|caller| !cuts.contains(&(**caller, *name)));
            callers.for_each(|caller| nodes[name].await_link(0, caller));
        }
        Self { _cluster: cluster, proxies, nodes }
    }

    pub(crate) fn cut(&self, caller: &str, to: &str) {
        self.proxies[to].cut(caller, BOTH);
    }

    pub(crate) fn mend(&self, caller: &str, to: &str) {
        self.proxies[to].mend(caller);
    }

    /// How often a link was up, as a node tells it.
    pub(crate) fn links(&self, node: &str, peer: &str) -> usize {
        self.nodes[node].told("link.up").iter().filter(|line| line["peer"] == peer).count()
    }

    /// Walkers in a scene of a node, which it is asked for itself.
    pub(crate) fn spawn(&self, node: &str, scene: &str) -> Vec<String> {
        let body = SpawnBody { count: WALKERS, ..SpawnBody::of("walker", scene) };
        let rows: Vec<EntityRow> = self.client(node).post("/api/v1/entities", &body).expect("walkers are spawned");
        rows.into_iter().map(|row| row.entity).collect()
    }

    /// Moves an entity, through n1, and it must arrive.
    pub(crate) fn migrate(&self, walker: &str, to: &str) {
        let report = self.try_to_migrate(walker, to).expect("an answer");
        assert_eq!(report.result, "ok", "{report:?}");
    }

    /// Asks n1 to move an entity.
    pub(crate) fn try_to_migrate(&self, walker: &str, to: &str) -> Result<MoveReport, CallError> {
        let body = MoveBody { to: to.to_owned(), timeout_ms: 10_000 };
        self.client("n1").post(&format!("/api/v1/entities/{walker}/moves"), &body)
    }

    /// Waits until entities are all in a scene of this node, in this state.
    pub(crate) fn await_all(&self, node: &str, scene: &str, walkers: &[String], state: &str) {
        until(PATIENCE, &format!("all are {state} in {scene}"), || {
            let rows = self.client(node).get::<Vec<EntityRow>>(&format!("/api/v1/entities?scene={scene}"));
            let rows = rows.expect("a list");
            let count = rows.iter().filter(|row| walkers.contains(&row.entity) && row.state == state).count();
            if count == walkers.len() { Ok(()) } else { Err(format!("only {count}")) }
        });
    }

    pub(crate) fn show(&self, node: &str, walker: &str) -> Option<EntityReport> {
        self.client(node).get(&format!("/api/v1/entities/{walker}")).ok()
    }

    /// Bytes of messages that wait on a node, as it measures them.
    pub(crate) fn waits(&self, node: &str) -> f64 {
        let metrics = self.client(node).get_raw("/metrics").expect("an answer").text;
        let waits = metrics.lines().filter_map(|line| line.strip_prefix("slipgate_waiting_bytes{"));
        let numbers = waits.map(|line| line.rsplit(' ').next().and_then(|number| number.parse::<f64>().ok()));
        numbers.map(|number| number.expect("a number")).sum()
    }

    /// Resident memory of a node, in bytes.
    pub(crate) fn resident(&self, node: &str) -> usize {
        let file = format!("/proc/{}/status", self.nodes[node].pid().as_raw_nonzero());
        let status = fs::read_to_string(file).expect("it runs");
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("a process has memory");
        line.trim().trim_end_matches(" kB").parse::<usize>().expect("a number") << 10
    }

    /// Checks that no lease ended and nobody was taken for dead.
    pub(crate) fn check_leases(&self) {
        for (name, node) in &self.nodes {
            for event in ["lease.ended", "node.over", "node.dead"] {
                assert_eq!(node.told(event), [], "{name}");
            }
        }
    }

    pub(crate) fn client(&self, node: &str) -> Client {
        Client::new(&self.nodes[node].admin(), None, PATIENCE)
    }
}
