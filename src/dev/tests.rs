//! Clusters of stand-ins: shell scripts that write their addresses and wait for their end.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::sync::atomic::AtomicBool;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::*;
use crate::admin::canned::Canned;
use crate::admin::live::Live;

/// A stand-in for the node program. `$data` is its data folder, `$name` its name.
///
/// One at a time: a process forked by another test would hold the script open for writing, and the
/// system does not run such a file.
struct StandIn {
    folder: tempfile::TempDir,
    _live: Live,
    _turn: MutexGuard<'static, ()>,
}

static TURN: Mutex<()> = Mutex::new(());

impl StandIn {
    fn new(rest: &str) -> Self {
        let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        let live = Live::start(Canned::friendly());
        let folder = tempfile::tempdir().expect("a folder");
        let script = format!(
            "#!/bin/sh\n\
             for word in \"$@\"; do case $word in\n\
             node.name=*) name=${{word#*=}};;\n\
             node.data=*) data=${{word#*=}};;\n\
             manager.address=*) manager=${{word#*=}};;\n\
             esac; done\n\
             listen() {{ mkdir -p $data/$name; echo '{{\"peer\":\"'$name'.test:1\",\"admin\":\"{}\"}}' > $data/$name/a; \
             mv $data/$name/a $data/$name/addresses.json; }}\n{rest}\n",
            live.at
        );
        let path = folder.path().join("program");
        fs::write(&path, script).expect("a script");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("an executable");
        Self { folder, _live: live, _turn: turn }
    }

    fn program(&self) -> PathBuf {
        self.folder.path().join("program")
    }

    fn start(&self, nodes: u16) -> Result<Cluster, DevError> {
        self.start_unless(nodes, &AtomicBool::new(false))
    }

    fn start_unless(&self, nodes: u16, stop: &AtomicBool) -> Result<Cluster, DevError> {
        let plan = Plan::new(nodes, Some(0)).expect("a plan");
        Cluster::start(&plan, &self.program(), stop, &mut |_| ())
    }
}

/// Ends well on SIGTERM, and when its stdin is closed.
const GOOD: &str = "trap 'exit 0' TERM; listen; while read line; do :; done";

fn fallen_names(fallen: &[Fallen]) -> Vec<&str> {
    fallen.iter().map(|fallen| fallen.name.as_str()).collect()
}

#[test]
fn a_cluster_starts_and_stops_and_leaves_nothing_behind() {
    let cluster = StandIn::new(GOOD).start(3).expect("a cluster");
    let names: Vec<_> = cluster.started().iter().map(|node| node.name.as_str()).collect();
    assert_eq!(names, ["n1", "n2", "n3"]);
    let folder = cluster.folder().to_owned();
    assert!(folder.join("cluster.toml").exists());
    assert_eq!(cluster.stop(), []);
    assert!(!folder.exists());
}

#[test]
fn the_others_learn_where_the_manager_listens() {
    let stand_in = StandIn::new(&format!("test $name = n1 -o \"$manager\" = n1.test:1 || exit 7; {GOOD}"));
    assert_eq!(stand_in.start(2).expect("a cluster").stop(), []);
}

#[test]
fn a_node_that_ends_early_ends_the_start_with_its_status() {
    let error = StandIn::new("test $name = n1 || exit 7; listen; read line").start(2).expect_err("n2 ends");
    assert_eq!(error.to_string(), "n2 ended before it was ready (exit status: 7)");
}

#[test]
fn a_program_that_is_not_there_is_named() {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let plan = Plan::new(1, Some(0)).expect("a plan");
    let error = Cluster::start(&plan, "/nowhere/slipgate".as_ref(), &AtomicBool::new(false), &mut |_| ());
    let text = error.expect_err("nothing to start").to_string();
    assert!(text.starts_with("/nowhere/slipgate cannot be started: "), "{text}");
}

#[test]
fn a_start_can_be_stopped() {
    let error = StandIn::new(GOOD).start_unless(2, &AtomicBool::new(true)).expect_err("stopped");
    assert!(matches!(error, DevError::Stopped), "{error:?}");
}

#[test]
fn a_node_that_falls_is_told_once() {
    let stand_in =
        StandIn::new("listen; test $name = n1 && { read line; exit 0; }; while test ! -e $data/go; do :; done; exit 3");
    let mut cluster = stand_in.start(2).expect("a cluster");
    assert_eq!(cluster.fallen(), []);
    fs::write(cluster.folder().join("go"), "").expect("a file");
    let mut fallen = Vec::new();
    while fallen.is_empty() {
        fallen = cluster.fallen();
    }
    assert_eq!(fallen_names(&fallen), ["n2"]);
    assert_eq!(fallen[0].status.and_then(|status| status.code()), Some(3));
    assert_eq!((cluster.fallen().len(), cluster.running()), (0, 1));
}

#[test]
fn a_node_that_does_not_end_well_is_told() {
    let cluster = StandIn::new("trap 'exit 9' TERM; listen; while read line; do :; done").start(1).expect("a cluster");
    assert_eq!(fallen_names(&cluster.stop()), ["n1"]);
}

#[test]
fn nodes_end_with_the_pipe_that_they_hang_on() {
    let stand_in = StandIn::new("listen; read line; exit 0");
    let mut cluster = stand_in.start(1).expect("a cluster");
    cluster.cut_lifelines();
    while cluster.running() > 0 {
        cluster.fallen();
    }
}
