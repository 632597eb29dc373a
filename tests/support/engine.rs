//! A Docker engine and compose, as far as the compose test needs them.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::command::{run, run_well};

/// What no call to the engine exceeds but for those that wait for containers.
const QUICK: Duration = Duration::from_secs(60);

/// Says whether an engine and a compose answer, and which compose that is.
///
/// # Panics
///
/// If none does and `SLIPGATE_REQUIRE_DOCKER=1` says that one must.
pub(crate) fn compose_program() -> Option<Vec<&'static str>> {
    let answers = |words: &[&str]| {
        let found = Command::new(words[0]).args(&words[1..]).output();
        found.is_ok_and(|output| output.status.success())
    };
    let compose = [vec!["docker-compose"], vec!["docker", "compose"]];
    let compose = compose.into_iter().find(|words| answers(&[words.as_slice(), &["version"]].concat()));
    let found = compose.filter(|_| answers(&["docker", "info"]));
    let required = env::var("SLIPGATE_REQUIRE_DOCKER").is_ok_and(|value| value == "1");
    assert!(found.is_some() || !required, "SLIPGATE_REQUIRE_DOCKER=1, but no Docker engine with compose answers");
    found
}

/// An image that is removed at the end.
#[derive(Debug)]
pub(crate) struct Image {
    /// Its tag.
    pub(crate) tag: String,
}

impl Image {
    /// Builds an image from a Dockerfile and a folder.
    pub(crate) fn build(tag: String, dockerfile: &Path, context: &Path) -> Self {
        let mut build = Command::new("docker");
        run_well(build.args(["build", "-q", "-t", &tag, "-f"]).arg(dockerfile).arg(context), QUICK);
        Self { tag }
    }
}

impl Drop for Image {
    fn drop(&mut self) {
        let _ = Command::new("docker").args(["rmi", "-f", &self.tag]).output();
    }
}

/// The services of `docker-compose.yml` under a project name of their own; they are gone at the end.
#[derive(Debug)]
pub(crate) struct Project {
    program: Vec<&'static str>,
    name: String,
    root: PathBuf,
    image: String,
}

impl Project {
    /// The project; nothing is started yet.
    pub(crate) fn new(program: Vec<&'static str>, name: String, root: &Path, image: &Image) -> Self {
        Self { program, name, root: root.to_owned(), image: image.tag.clone() }
    }

    /// Compose with these arguments; any free port is published, logs are JSON.
    pub(crate) fn compose(&self, arguments: &[&str], limit: Duration) -> String {
        run_well(&mut self.command(arguments), limit)
    }

    /// The container of a service, running or not.
    pub(crate) fn container(&self, service: &str) -> String {
        let id = self.compose(&["ps", "-a", "-q", service], QUICK).trim().to_owned();
        assert!(!id.is_empty() && !id.contains('\n'), "service {service} has the containers {id:?}");
        id
    }

    /// Starts one more container of a service, with a command of its own.
    pub(crate) fn run(&self, service: &str, command: &[&str], limit: Duration) -> Extra {
        let name = format!("{}-extra", self.name);
        self.compose(&[&["run", "-d", "--name", &name, service], command].concat(), limit);
        Extra { name }
    }

    /// A part of what the engine knows about a container, by a Go template.
    pub(crate) fn inspect(&self, service: &str, template: &str) -> String {
        let id = self.container(service);
        run_well(Command::new("docker").args(["inspect", "-f", template, &id]), QUICK).trim().to_owned()
    }

    /// Waits for a container's end, and gives its exit code.
    pub(crate) fn exit_code(&self, service: &str, limit: Duration) -> String {
        let id = self.container(service);
        run_well(Command::new("docker").args(["wait", &id]), limit).trim().to_owned()
    }

    /// All that the services have printed, whether or not compose is in a good mood.
    pub(crate) fn logs(&self) -> String {
        let output = run(&mut self.command(&["logs", "--no-color"]), QUICK);
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(self.program[0]);
        command.args(&self.program[1..]).args(["-p", &self.name]).args(arguments).current_dir(&self.root);
        command.env("SLIPGATE_IMAGE", &self.image).env("SLIPGATE_PORT", "0").env("SLIPGATE_LOG_FORMAT", "json");
        command.env_remove("SLIPGATE_BIND").env_remove("SLIPGATE_ADMIN_TOKEN").env_remove("COMPOSE_FILE");
        command
    }
}

/// A container beside those that the compose file asks for; it is gone at the end.
#[derive(Debug)]
pub(crate) struct Extra {
    name: String,
}

impl Extra {
    /// Waits for its end, and gives its exit code and what it has printed.
    pub(crate) fn end(&self, limit: Duration) -> (String, String) {
        let exit = run_well(Command::new("docker").args(["wait", &self.name]), limit).trim().to_owned();
        let told = run(Command::new("docker").args(["logs", &self.name]), QUICK);
        (exit, [told.stdout, told.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat())
    }
}

impl Drop for Extra {
    fn drop(&mut self) {
        let _ = Command::new("docker").args(["rm", "-f", &self.name]).output();
    }
}

impl Drop for Project {
    fn drop(&mut self) {
        let _ = self.command(&["down", "-v", "--remove-orphans", "-t", "5"]).output();
    }
}
