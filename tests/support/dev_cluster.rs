//! A `slipgate dev` cluster with the commands that are spoken to it.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;
use std::time::Duration;

use serde_json::Value;

use crate::command;
use crate::process::Process;

/// What a command did.
#[derive(Debug)]
pub(crate) struct Done {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Done {
    /// Checks the exit code.
    #[track_caller]
    pub(crate) fn ends(self, code: i32) -> Self {
        assert_eq!(self.code, code, "{self:?}");
        self
    }

    /// Checks the exit code, that nothing went to stdout, and what stderr says.
    #[track_caller]
    pub(crate) fn fails(self, code: i32, expected: &str) {
        assert_eq!((self.code, self.out.as_str(), self.err.as_str()), (code, "", expected));
    }

    /// The lines of stdout, each an object.
    #[track_caller]
    pub(crate) fn objects(&self) -> Vec<Value> {
        let object = |line: &str| match serde_json::from_str(line) {
            Ok(value @ Value::Object(_)) => value,
            Ok(_) | Err(_) => panic!("no object: {line:?} in {self:?}"),
        };
        self.out.lines().map(object).collect()
    }

    /// The only line of stdout.
    #[track_caller]
    pub(crate) fn object(&self) -> Value {
        let mut objects = self.objects();
        assert_eq!(objects.len(), 1, "{self:?}");
        objects.remove(0)
    }
}

/// The program, without what the surroundings set for it.
pub(crate) fn program() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_slipgate"));
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("SLIPGATE")) {
        command.env_remove(name);
    }
    command
}

/// Runs the program to its end. What goes to a pipe is never coloured.
#[track_caller]
pub(crate) fn run(command: &mut Command) -> Done {
    let Output { status, stdout, stderr } = command::run(command, COMMAND);
    let [out, err] = [stdout, stderr].map(|bytes| String::from_utf8(bytes).expect("text"));
    assert!(!out.contains('\u{1b}') && !err.contains('\u{1b}'), "{command:?} colours a pipe: {out}{err}");
    Done { code: status.code().unwrap_or_else(|| panic!("{command:?} was killed: {err}")), out, err }
}

/// A cluster of node processes; it ends with this process.
#[derive(Debug)]
pub(crate) struct DevCluster {
    pub(crate) process: Process,
    /// Admin addresses, in the order of the nodes.
    pub(crate) admin: Vec<String>,
    /// The nodes' data.
    pub(crate) folder: PathBuf,
}

impl DevCluster {
    /// Three nodes that all tests of this file share: n1 has forest and harbor, n2 keep and market, n3 mine and
    /// tower.
    pub(crate) fn shared() -> &'static Self {
        static SHARED: OnceLock<DevCluster> = OnceLock::new();
        SHARED.get_or_init(|| Self::start(&["--nodes", "3"]))
    }

    /// A cluster of one's own.
    pub(crate) fn start(options: &[&str]) -> Self {
        let mut command = program();
        command.args(["dev", "--base-port", "0"]).args(options);
        let process = Process::start(&mut command);
        let ready = process.await_line(START, |line| line.starts_with("ready: "));
        let folder = ready.rsplit_once("data in ").map(|(_, folder)| PathBuf::from(folder)).expect("a folder");
        let nodes = ready["ready: ".len()..].split(' ').next().and_then(|count| count.parse().ok()).expect("a count");
        let admin = (1..=nodes).map(|number: u16| {
            let line = process.await_line(START, |line| line.starts_with(&format!("n{number}  admin http://")));
            line["n1  admin http://".len()..].split(' ').next().expect("an address").to_owned()
        });
        Self { admin: admin.collect(), folder, process }
    }

    /// Asks the first node.
    #[track_caller]
    pub(crate) fn ask(&self, line: &[&str]) -> Done {
        run(program().args(line).env("SLIPGATE_AT", &self.admin[0]))
    }

    /// Asks the first node for JSON.
    #[track_caller]
    pub(crate) fn json(&self, line: &[&str]) -> Done {
        run(program().args(line).args(["-o", "json"]).env("SLIPGATE_AT", &self.admin[0]))
    }

    /// Spawns a walker, and gives its id.
    #[track_caller]
    pub(crate) fn spawn(&self, scene: &str, label: &str) -> String {
        let done = self.json(&["spawn", "walker", "--scene", scene, "--label", label]).ends(0);
        done.object()["entity"].as_str().expect("an id").to_owned()
    }

    /// Where an entity is, as `scene@node`.
    #[track_caller]
    pub(crate) fn place(&self, entity: &str) -> String {
        let report = self.json(&["show", entity]).ends(0).object();
        format!("{}@{}", report["scene"].as_str().expect("a scene"), report["node"].as_str().expect("a node"))
    }
}

/// A folder of the repository.
pub(crate) fn repository() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// A cluster comes up in a second or two, more on a machine that is building.
const START: Duration = Duration::from_secs(60);

/// For a command: it has its own, shorter deadlines.
const COMMAND: Duration = Duration::from_secs(60);
