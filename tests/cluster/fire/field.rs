//! A cluster to be put under fire: its processes, where they are asked, and what they wrote.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::Duration;

use slipgate_proto::admin::ClusterReport;

use super::{Board, Evidence, Judgement, Plan, clear, judge};
use crate::move_lines::{check, object};
use crate::nodes::{Cluster, Launch, Line, Node};
use crate::patience::within;
use crate::proxy::Proxy;
use crate::stop_all;

/// Each node and its scenes; node `m`, where there is one, is the manager's and has none.
pub(crate) const SCENES: [(&str, &str); 4] = [("forest", "n1"), ("tower", "n1"), ("harbor", "n2"), ("keep", "n3")];

/// Three nodes with scenes.
pub(crate) const NAMES: [&str; 3] = ["n1", "n2", "n3"];

/// What a field is made of.
#[derive(Debug)]
pub(crate) struct Site<'a> {
    /// The manager's node.
    pub(crate) manager: &'a str,
    /// Each scene and its node.
    pub(crate) scenes: &'a [(&'a str, &'a str)],
    /// Settings beside short deadlines.
    pub(crate) settings: &'a [(&'a str, &'a str)],
    /// Whether each node is dialled through a proxy.
    pub(crate) is_behind_proxies: bool,
    /// What the nodes run; the program as it is shipped, if none.
    pub(crate) program: Option<PathBuf>,
    /// What they find in their environment.
    pub(crate) environment: Vec<(&'static str, String)>,
}

/// A running cluster.
pub(crate) struct Field {
    cluster: Cluster,
    /// Nodes with scenes.
    names: BTreeSet<String>,
    pub(crate) nodes: BTreeMap<String, Node>,
    pub(crate) board: Board,
    /// What stands before each node, if anything does.
    pub(crate) proxies: BTreeMap<String, Proxy>,
    manager: String,
    settings: Vec<(String, String)>,
    /// What nodes wrote that were killed: whose, and all lines of that process.
    pub(crate) ended: Vec<(String, Vec<String>)>,
}

impl Field {
    /// Three nodes, and one for the manager if that is none of them; with these settings beside short deadlines.
    pub(crate) fn start(manager: &str, settings: &[(&str, &str)]) -> Self {
        Self::on(Site::of_three(manager, settings))
    }

    /// The same, each node dialled through a proxy.
    pub(crate) fn start_behind_proxies(manager: &str, settings: &[(&str, &str)]) -> Self {
        Self::on(Site { is_behind_proxies: true, ..Site::of_three(manager, settings) })
    }

    /// A cluster of one's own.
    pub(crate) fn on(site: Site<'_>) -> Self {
        let Site { manager, scenes, settings, is_behind_proxies, program, environment } = site;
        let settings = STEPS.iter().chain(settings).map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
        let mut cluster = Cluster::new(manager, scenes);
        cluster.environment = environment;
        cluster.program = program.unwrap_or(cluster.program);
        let names: BTreeSet<String> = scenes.iter().map(|(_, node)| (*node).to_owned()).collect();
        let all: BTreeSet<String> = names.iter().cloned().chain([manager.to_owned()]).collect();
        let proxies = all.iter().filter(|_| is_behind_proxies);
        let proxies = proxies.map(|name| (name.clone(), Proxy::before(cluster.address(name)))).collect();
        let field = Self {
            cluster,
            names,
            manager: manager.to_owned(),
            nodes: BTreeMap::new(),
            board: Board::default(),
            proxies,
            settings: settings.collect(),
            ended: Vec::new(),
        };
        field.begin(&all)
    }

    /// One after the other, so that each has the number in its name, and dials those before it.
    fn begin(mut self, all: &BTreeSet<String>) -> Self {
        for name in all {
            let node = self.launch(name).start();
            node.await_event("node.working");
            self.nodes.insert(name.clone(), node);
        }
        for name in &self.names {
            self.nodes[name].await_range();
            self.board.put(&self.nodes[name]);
        }
        assert_eq!(self.await_health(), Vec::<String>::new());
        self
    }

    fn launch(&self, name: &str) -> Launch<'_> {
        let launch = self.cluster.launch(name);
        let launch = self.settings.iter().fold(launch, |launch, (key, value)| launch.set(key, value));
        let Some(own) = self.proxies.get(name) else { return launch };
        let launch = launch.set("node.advertise", &own.address().to_string());
        if name == self.manager {
            return launch;
        }
        launch.set("manager.address", &self.proxies[&self.manager].address().to_string())
    }

    /// A plan in which walkers are born in all scenes but those of these nodes.
    pub(crate) fn births(but: &[&str]) -> Vec<&'static str> {
        SCENES.iter().filter(|(_, node)| !but.contains(node)).map(|(scene, _)| *scene).collect()
    }

    /// How many lines each node has written.
    pub(crate) fn marks(&self) -> BTreeMap<String, usize> {
        self.nodes.iter().map(|(name, node)| (name.clone(), node.count())).collect()
    }

    /// Kills a node.
    pub(crate) fn kill(&mut self, name: &str) {
        self.board.excuse(name);
        let node = self.nodes.get_mut(name).expect("a node of the field");
        node.kill();
        self.ended.push((name.to_owned(), node.lines()));
        self.board.strike(name);
    }

    /// Stops a node as planned, and starts it anew.
    pub(crate) fn replace(&mut self, name: &str) {
        self.board.excuse(name);
        let node = self.nodes.get_mut(name).expect("a node of the field");
        let code = node.stop();
        let lines = node.lines();
        assert_eq!(code, Some(0), "{}", lines.join("\n"));
        self.ended.push((name.to_owned(), lines));
        self.board.strike(name);
        self.restart(name);
    }

    /// Starts a node that has ended.
    pub(crate) fn restart(&mut self, name: &str) {
        let again = self.launch(name).start();
        if self.names.contains(name) {
            again.await_range();
            self.board.put(&again);
        } else {
            again.await_event("node.working");
        }
        self.nodes.insert(name.to_owned(), again);
    }

    /// Lines of a kind that the nodes wrote after their marks; a node without a mark began later.
    pub(crate) fn told(&self, marks: &BTreeMap<String, usize>, event: &str) -> Vec<Line> {
        let after = |name: &String| marks.get(name).copied().unwrap_or(0);
        let lines = self.nodes.iter().flat_map(|(name, node)| node.lines().into_iter().skip(after(name)));
        lines.filter_map(|line| object(&line)).filter(|line| line["event"] == event).collect()
    }

    /// The nodes of which a life was declared dead since these marks.
    pub(crate) fn verdicts(&self, marks: &BTreeMap<String, usize>) -> BTreeSet<String> {
        let told = self.told(marks, "node.dead");
        told.iter().filter_map(|line| line["peer"].as_str().map(str::to_owned)).collect()
    }

    /// Waits until every node finds every other in its latest life, ready and linked.
    pub(crate) fn await_health(&self) -> Vec<String> {
        let healthy = within(SETTLES, || {
            let wrong: Vec<String> = self.names.iter().flat_map(|asked| self.ails(asked)).collect();
            if wrong.is_empty() { Ok(()) } else { Err(wrong) }
        });
        healthy.err().unwrap_or_default()
    }

    /// Whom a node does not find well.
    fn ails(&self, asked: &str) -> Vec<String> {
        let report: ClusterReport = match self.nodes[asked].client().get("/api/v1/status") {
            Ok(report) => report,
            Err(error) => return vec![format!("{asked}: {error}")],
        };
        let is_well = |name: &&String| {
            let node = report.nodes.iter().find(|node| node.node == **name);
            node.is_some_and(|node| {
                u64::from(node.incarnation) == self.latest_life(name)
                    && node.state == "ready"
                    && node.links.iter().all(|link| link.state == "up")
            })
        };
        let ill = self.nodes.keys().filter(|name| !is_well(name));
        ill.map(|name| format!("{asked} does not find {name} well: {:?}", report.nodes)).collect()
    }

    fn latest_life(&self, name: &str) -> u64 {
        let told = self.nodes[name].told("node.working");
        told.last().and_then(|line| line["incarnation"].as_u64()).unwrap_or_default()
    }

    /// Waits for the cluster to be well again, then for the accounts of what happened under fire, then for empty
    /// tables. `killed` have ended beside those that were declared dead since the marks.
    ///
    /// # Panics
    ///
    /// If anything is not as it must be.
    pub(crate) fn settle(&self, evidence: &Evidence, marks: &BTreeMap<String, usize>, killed: &[&str]) -> Judgement {
        let mut judgement = self.examine(evidence, marks, killed);
        judgement.wrong.extend(self.clear(evidence));
        let wrong = &judgement.wrong;
        assert!(wrong.is_empty(), "{} faults: {:#?}", wrong.len(), &wrong[..wrong.len().min(FAULTS_TOLD)]);
        judgement
    }

    /// The same without panic, and with the walkers left as they are.
    pub(crate) fn examine(&self, evidence: &Evidence, marks: &BTreeMap<String, usize>, killed: &[&str]) -> Judgement {
        eprintln!("  {evidence}");
        let ill = self.await_health();
        let mut ended = self.verdicts(marks);
        ended.extend(killed.iter().map(|name| (*name).to_owned()));
        let mut judgement = judge(&self.board, evidence, &ended, SETTLES);
        eprintln!("  {judgement}, {ended:?} had ended");
        judgement.wrong.extend(ill);
        judgement
    }

    /// Removes the walkers, and waits for empty tables; says what is left.
    pub(crate) fn clear(&self, evidence: &Evidence) -> Vec<String> {
        clear(&self.board, &evidence.walkers, SETTLES)
    }

    /// Stops all nodes; every move must have been told in full, but those of sources that were killed.
    pub(crate) fn stop(self, killed: &[&str]) {
        let Self { mut nodes, ended, .. } = self;
        let mut running: Vec<Node> = std::mem::take(&mut nodes).into_values().collect();
        stop_all(&mut running);
        let ended = ended.into_iter().flat_map(|(_, lines)| lines);
        let lines: Vec<String> = ended.chain(running.iter().flat_map(Node::lines)).collect();
        let told = check(lines.iter().map(String::as_str), killed).unwrap_or_else(|wrong| panic!("{wrong:#?}"));
        eprintln!("{told}");
    }
}

impl<'a> Site<'a> {
    /// Three nodes with scenes, and the manager on one of them or beside them.
    fn of_three(manager: &'a str, settings: &'a [(&'a str, &'a str)]) -> Self {
        let environment = Vec::new();
        Self { manager, scenes: &SCENES, settings, is_behind_proxies: false, program: None, environment }
    }
}

/// A plan with a walker or more born in each of these scenes.
pub(crate) fn plan<'a>(seed: u64, births: &'a [&'a str], walkers_per_scene: u32) -> Plan<'a> {
    Plan {
        seed,
        births,
        walkers_per_scene,
        scenes: &["forest", "tower", "harbor", "keep"],
        through: &[],
        movers: 4,
        answers_within: ANSWERS,
        moves_within: MOVES,
    }
}

/// The steps of a move, so short that one is answered before a round is over.
const STEPS: [(&str, &str); 4] =
    [("limits.reserve", "1s"), ("limits.transfer", "1s"), ("limits.decide", "1s"), ("limits.settle", "500ms")];
/// An answer to a message waits for the verdict on the node that does not give it, and for its manager before that.
const ANSWERS: Duration = Duration::from_secs(10);
/// The four steps of a move, and looking for its entity.
const MOVES: Duration = Duration::from_secs(6);
/// How long after the fire everything may take to be settled, on a machine that does other things as well.
const SETTLES: Duration = Duration::from_secs(10);
/// One cause has a fault for every account.
const FAULTS_TOLD: usize = 10;
