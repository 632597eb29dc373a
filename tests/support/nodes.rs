//! Node processes on loopback: started from this package's binary, watched through their log lines.
//!
//! ```text
//!   Cluster   one cluster.toml, a folder for data, a port kept for every place
//!   Launch    one process to be: whose name, in which place, with which settings
//!   Node      one process: its log lines as they come, its end
//! ```
//!
//! Keeps: what is waited for is a log line or an end, with a deadline that tells the latest lines; no
//! process outlives its `Node`, and none outlives this process.

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, ExitCode, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Map, Value};
use slipgate::client::Client;
use socket2::{Domain, Socket, Type};
use tempfile::TempDir;

use crate::move_lines::object;
use crate::relayed_lines::RelayedLines;

/// The arguments of a node that is a test, a line each.
const ARGUMENTS: &str = "NODE_ARGUMENTS";

/// Makes this process the node that [`Launch::played_by`] wants, with the types that are linked into this program.
pub(crate) fn be_a_node() {
    let arguments = env::var(ARGUMENTS).expect("whoever starts it says which node it is");
    let ended = slipgate::cli::main(["slipgate"].into_iter().chain(arguments.lines()).map(Into::into));
    assert_eq!(format!("{ended:?}"), format!("{:?}", ExitCode::SUCCESS));
}

/// Longest wait for an answer of an admin interface.
const ANSWER: Duration = Duration::from_secs(10);

/// A log line's object.
pub(crate) type Line = Map<String, Value>;

/// What the nodes of a cluster share.
#[derive(Debug)]
pub(crate) struct Cluster {
    /// What its nodes run, and what they find in their environment beside what every node does.
    pub(crate) program: PathBuf,
    pub(crate) environment: Vec<(&'static str, String)>,
    folder: TempDir,
    ports: Mutex<BTreeMap<String, Port>>,
}

impl Cluster {
    /// A cluster with its manager on one node, and these scenes, each with its node. Nothing runs yet.
    pub(crate) fn new(manager: &str, scenes: &[(&str, &str)]) -> Self {
        Self::with_room(manager, scenes, 100_000)
    }

    /// The same, with room for so many entities in each scene.
    pub(crate) fn with_room(manager: &str, scenes: &[(&str, &str)], capacity: u32) -> Self {
        let folder = tempfile::tempdir().expect("a folder for data");
        let program = PathBuf::from(env!("CARGO_BIN_EXE_slipgate"));
        let cluster = Self { program, environment: Vec::new(), folder, ports: Mutex::default() };
        let scene = |(id, (scene, node)): (u16, &(&str, &str))| {
            format!("\n[[scenes]]\nid = {id}\nname = \"{scene}\"\nnode = \"{node}\"\ncapacity = {capacity}\n")
        };
        let scenes: String = (1..).zip(scenes).map(scene).collect();
        let address = cluster.address(manager);
        let toml = format!(
            "[cluster]\nname = \"test\"\n\n[manager]\nnode = \"{manager}\"\naddress = \"{address}\"\n\n\
             [admin]\nlisten = \"127.0.0.1:0\"\n{scenes}"
        );
        fs::write(cluster.folder.path().join("cluster.toml"), toml).expect("the configuration can be written");
        cluster
    }

    /// Where peers dial the node in a place, whether or not one runs there.
    pub(crate) fn address(&self, place: &str) -> SocketAddr {
        let mut ports = self.ports();
        ports.entry(place.to_owned()).or_insert_with(Port::keep).address
    }

    fn ports(&self) -> MutexGuard<'_, BTreeMap<String, Port>> {
        self.ports.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives the node in a place another port from its next start on.
    pub(crate) fn change_port(&self, place: &str) {
        self.ports().insert(place.to_owned(), Port::keep());
    }

    /// Starts a node in the place of its name.
    pub(crate) fn start(&self, name: &str) -> Node {
        self.launch(name).start()
    }

    /// A node that is to be started.
    pub(crate) fn launch(&self, name: &str) -> Launch<'_> {
        let program = Program::Slipgate;
        Launch { cluster: self, name: name.to_owned(), place: name.to_owned(), settings: Vec::new(), program }
    }
}

/// A port of this machine that the system chose and that stays ours: nobody else is given it while no node
/// listens there. The node itself may have it, as both sides allow an address to be used again.
#[derive(Debug)]
struct Port {
    address: SocketAddr,
    _held: Socket,
}

impl Port {
    fn keep() -> Self {
        let socket = Socket::new(Domain::IPV4, Type::STREAM, None).expect("a socket");
        socket.set_reuse_address(true).expect("a socket takes the option");
        socket.bind(&SocketAddr::from((Ipv4Addr::LOCALHOST, 0)).into()).expect("the system has a port left");
        let address = socket.local_addr().ok().and_then(|address| address.as_socket());
        Self { address: address.expect("a bound socket has an address"), _held: socket }
    }
}

/// Which program a node is.
#[derive(Debug)]
enum Program {
    /// The cluster's.
    Slipgate,
    /// This one, which is one test of its own then, and the node's arguments are in [`ARGUMENTS`].
    ThisTest(&'static str),
}

/// A node that is to be started.
#[derive(Debug)]
pub(crate) struct Launch<'a> {
    cluster: &'a Cluster,
    name: String,
    place: String,
    settings: Vec<String>,
    program: Program,
}

impl Launch<'_> {
    /// Gives it another place, which means another data folder and another port.
    pub(crate) fn at(mut self, place: &str) -> Self {
        place.clone_into(&mut self.place);
        self
    }

    /// Sets one key of its configuration.
    pub(crate) fn set(mut self, key: &str, value: &str) -> Self {
        self.settings.push(format!("{key}={value}"));
        self
    }

    /// Has an ignored test of this program be the node, with [`be_a_node`], for types that only tests have.
    pub(crate) fn played_by(mut self, test: &'static str) -> Self {
        self.program = Program::ThisTest(test);
        self
    }

    /// Starts the process.
    pub(crate) fn start(self) -> Node {
        let Self { cluster, name, place, settings, program } = self;
        let folder = cluster.folder.path();
        let data = folder.join(&place);
        let own = [
            format!("node.name={name}"),
            format!("node.listen={}", cluster.address(&place)),
            format!("node.data={}", data.display()),
        ];
        let config = folder.join("cluster.toml").display().to_string();
        let mut arguments = vec!["node", "--config", &config];
        arguments.extend(own.iter().chain(&settings).flat_map(|setting| ["--set", setting]));
        let mut command = match program {
            Program::Slipgate => {
                let mut command = Command::new(&cluster.program);
                command.args(arguments);
                command
            }
            Program::ThisTest(test) => {
                let mut command = Command::new(env::current_exe().expect("this program"));
                command.args(["--exact", "--ignored", "--nocapture", test]).env(ARGUMENTS, arguments.join("\n"));
                command
            }
        };
        command.envs(cluster.environment.iter().cloned());
        command.env("SLIPGATE_PARENT_PIPE", "1").env("SLIPGATE__LOG__FORMAT", "json").env("RUST_BACKTRACE", "1");
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut process = command.spawn().expect("the program starts");
        let lifeline = process.stdin.take().expect("its input is a pipe");
        let stderr = process.stderr.take().expect("its errors are a pipe");
        let log = Arc::new(RelayedLines::default());
        let reader = thread::spawn({
            let log = log.clone();
            move || log.collect(stderr)
        });
        Node { name, process, log, reader: Some(reader), _lifeline: lifeline }
    }
}

/// One process of a node, running or ended.
#[derive(Debug)]
pub(crate) struct Node {
    /// Its name.
    pub(crate) name: String,
    process: Child,
    log: Arc<RelayedLines>,
    reader: Option<JoinHandle<()>>,
    /// The node ends when this pipe is closed, so also when this process dies.
    _lifeline: ChildStdin,
}

impl Node {
    /// Waits for a line of a kind, from the first line on.
    pub(crate) fn await_event(&self, event: &str) -> Line {
        self.await_line(0, event, |line| line["event"] == event)
    }

    /// Waits for the first line after so many that fits; `what` says to people what it is.
    pub(crate) fn await_line(&self, after: usize, what: &str, fits: impl Fn(&Line) -> bool) -> Line {
        let mut next = after;
        let found = self.log.wait(|state| {
            let found = state.lines.iter().skip(next).filter_map(|line| object(line)).find(&fits);
            next = state.lines.len().max(next);
            found.map(Some).or(state.has_ended.then_some(None))
        });
        match found {
            Some(Some(line)) => line,
            Some(None) => panic!("{} ended before {what}\n{}", self.name, self.log.latest()),
            None => panic!("{} has not come to {what}\n{}", self.name, self.log.latest()),
        }
    }

    /// Waits until it has written so many lines.
    pub(crate) fn await_count(&self, count: usize) {
        let reached = self.log.wait(|state| (state.lines.len() >= count || state.has_ended).then_some(()));
        assert!(reached.is_some(), "{} has not written {count} lines\n{}", self.name, self.log.latest());
    }

    /// Waits until it works and has its first range of ids.
    pub(crate) fn await_range(&self) {
        self.await_event("node.working");
        self.await_event("range.opened");
    }

    /// Waits until the link to a peer is up, after so many lines.
    pub(crate) fn await_link(&self, after: usize, peer: &str) {
        let is_up = |line: &Line| line["event"] == "link.up" && line["peer"] == peer;
        self.await_line(after, &format!("a link to {peer}"), is_up);
    }

    /// Waits until a peer has said goodbye.
    pub(crate) fn await_goodbye(&self, peer: &str) {
        let is_goodbye = |line: &Line| line["event"] == "link.closed" && line["peer"] == peer;
        self.await_line(0, &format!("the goodbye of {peer}"), is_goodbye);
    }

    /// How many lines it has written.
    pub(crate) fn count(&self) -> usize {
        self.log.read(|state| state.lines.len())
    }

    /// Its lines.
    pub(crate) fn lines(&self) -> Vec<String> {
        self.log.read(|state| state.lines.clone())
    }

    /// Its lines of a kind.
    pub(crate) fn told(&self, event: &str) -> Vec<Line> {
        let lines = self.lines();
        lines.iter().filter_map(|line| object(line)).filter(|line| line["event"] == event).collect()
    }

    /// Its lines after so many that are above INFO, or no object.
    pub(crate) fn loud(&self, after: usize) -> Vec<String> {
        let is_quiet = |line: &str| object(line).is_some_and(|line| line["level"] == "INFO");
        self.lines().into_iter().skip(after).filter(|line| !is_quiet(line)).collect()
    }

    /// Its life, once it works.
    pub(crate) fn life(&self) -> u64 {
        self.await_event("node.working")["incarnation"].as_u64().expect("a life has a number")
    }

    /// Its number, once it works.
    pub(crate) fn number(&self) -> u64 {
        self.await_event("node.working")["id"].as_u64().expect("a node has a number")
    }

    /// Its admin address, once it works.
    pub(crate) fn admin(&self) -> String {
        self.await_event("node.working")["admin"].as_str().expect("an address is text").to_owned()
    }

    /// Asks its admin interface, once it works.
    pub(crate) fn client(&self) -> Client {
        Client::new(&self.admin(), None, ANSWER)
    }

    /// Kills it, as a power cut would.
    pub(crate) fn kill(&mut self) {
        self.process.kill().expect("a process of ours can be killed");
        self.end();
    }

    /// Asks it to stop, as a supervisor would.
    pub(crate) fn terminate(&self) {
        // It may have ended already; it is not reaped yet, so the number is still its own.
        let _ = kill_process(self.pid(), Signal::TERM);
    }

    /// Its number in the system.
    pub(crate) fn pid(&self) -> Pid {
        Pid::from_child(&self.process)
    }

    /// Sends it a signal of another kind.
    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.process), signal).expect("it is ours, and runs");
    }

    /// Waits for its end and gives its exit code; none after a signal.
    pub(crate) fn end(&mut self) -> Option<i32> {
        let ended = self.log.wait(|state| state.has_ended.then_some(()));
        assert!(ended.is_some(), "{} does not end\n{}", self.name, self.log.latest());
        if let Some(reader) = self.reader.take() {
            reader.join().expect("a reader of lines does not panic");
        }
        self.process.wait().expect("a process of ours can be waited for").code()
    }

    /// Asks it to stop, and gives its exit code.
    pub(crate) fn stop(&mut self) -> Option<i32> {
        self.terminate();
        self.end()
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
