//! Lists, `show`, `watch` and `health`, as people read them.

use std::time::Duration;

use rustix::process::Signal;

use crate::dev_cluster::{DevCluster, Done, program};
use crate::patience::until;
use crate::process::Process;

/// Watches while something happens, until the limit on the command line is reached.
pub(crate) fn watch(line: &[&str], happen: impl FnOnce()) -> Done {
    let cluster = DevCluster::shared();
    let mut watching = Process::start(program().args(line).env("SLIPGATE_AT", &cluster.admin[0]));
    watching.await_line(LIMIT, |line| line.starts_with("watching "));
    happen();
    let code = watching.wait(LIMIT).code().expect("it ends by itself");
    Done { code, out: watching.out(), err: String::new() }.ends(0)
}

#[test]
fn status_fits_on_one_screen() {
    let done = DevCluster::shared().ask(&["status", "--wait-nodes", "3"]).ends(0);
    let lines: Vec<&str> = done.out.lines().collect();
    assert!(lines[0].starts_with("CLUSTER dev   3/3 nodes ready   manager n1   view "), "{done:?}");
    assert!(lines[1].starts_with("NODE  STATE  SCENES  ENTITIES  MOVES OK  REFUSED  FAILED"), "{done:?}");
    assert_eq!(lines.len(), 5, "{done:?}");
    assert_eq!(done.err, "");
}

#[test]
fn any_node_answers_for_the_cluster() {
    let cluster = DevCluster::shared();
    let entity = cluster.spawn("tower", "anywhere");
    for at in &cluster.admin {
        let done = cluster.ask(&["show", "anywhere", "--at", at]).ends(0);
        assert!(done.out.starts_with(&format!("entity   {entity}\ntype     walker\nlabel    anywhere\n")), "{done:?}");
        assert!(done.out.contains("\nplace    tower@n3\nstate    active\n"), "{done:?}");
        assert!(cluster.ask(&["nodes", "--at", &format!("http://{at}/")]).ends(0).out.contains("\nn3  "), "{at}");
    }
}

#[test]
fn entities_are_listed_by_scene_and_a_cut_is_told() {
    let cluster = DevCluster::shared();
    cluster.ask(&["spawn", "walker", "--scene", "mine", "--count", "2", "--label", "row"]).ends(0);
    let done = cluster.ask(&["entities", "--scene", "mine", "--limit", "1"]).ends(0);
    assert!(done.out.starts_with("ENTITY  TYPE    LABEL"), "{done:?}");
    assert_eq!(done.out.lines().count(), 2, "{done:?}");
    assert_eq!(done.err, "there may be more than these 1; see --limit, --scene and --type\n");
    let by_number = cluster.ask(&["entities", "--scene", "5"]).ends(0);
    assert!(by_number.out.contains("row1") && by_number.out.contains("row2"), "{by_number:?}");
}

#[test]
fn a_scene_that_is_not_there_has_no_entities() {
    DevCluster::shared().ask(&["entities", "--scene", "nowhere"]).fails(
        3,
        "error: there is no scene \"nowhere\"; there are forest, harbor, keep, market, mine, tower\n  \
         try:  slipgate scenes\n",
    );
}

#[test]
fn an_entity_that_is_not_there_is_named_in_full() {
    let cluster = DevCluster::shared();
    for line in [&["show", "nobody"][..], &["despawn", "nobody"], &["migrate", "nobody", "--to", "keep"]] {
        cluster.ask(line).fails(
            3,
            "error: no entity has the id or label \"nobody\", or an id that begins so\n  try:  slipgate entities\n",
        );
    }
    cluster.ask(&["show", "\u{1b}[31m"]).ends(3);
}

#[test]
fn watch_tells_a_move_on_both_nodes() {
    let cluster = DevCluster::shared();
    let entity = cluster.spawn("forest", "seen");
    let done = watch(&["watch", "entity", "seen", "--limit", "3"], || {
        cluster.ask(&["migrate", "seen", "--to", "tower"]).ends(0);
    });
    for (node, event) in [("n1", "move.begin"), ("n3", "move.arrived"), ("n1", "move.ok")] {
        let words = format!("Z {node}  {event:<16} ");
        let line = done.out.lines().find(|line| line.contains(&words)).unwrap_or_else(|| panic!("{done:?}"));
        assert!(line.contains(&format!(" entity={entity} ")) && line.contains(" to=tower@n3"), "{line}");
    }
}

#[test]
fn watch_of_entities_tells_who_comes_and_goes_and_whose_code_panics() {
    let cluster = DevCluster::start(&["--nodes", "1"]);
    let at = ["--at", &cluster.admin[0]];
    let mut watching = Process::start(program().args(["watch", "entities", "--limit", "4"]).args(at));
    watching.await_line(LIMIT, |line| line.starts_with("watching "));
    let entity = cluster.spawn("forest", "ann");
    cluster.ask(&["send", "ann", "stumble", "--wait"]).ends(1);
    cluster.ask(&["unpark", "ann"]).ends(0);
    cluster.ask(&["despawn", "ann"]).ends(0);
    assert!(watching.wait(LIMIT).success());
    let out = watching.out();
    let told: Vec<&str> = out.lines().filter(|line| line.contains(" n1 ")).collect();
    let expected = ["spawned", "panicked", "unparked", "despawned"];
    assert_eq!(told.len(), expected.len(), "{out}");
    for (line, event) in told.iter().zip(expected) {
        let about = format!("entity={entity} label=ann scene=forest@n1 ");
        assert!(line.contains(&format!(" entity.{event} ")) && line.contains(&about), "{out}");
        assert!(line.contains("type=walker"), "{out}");
    }
    assert!(told[1].contains("text=the handler of stumble panicked: "), "{out}");
}

#[test]
fn watch_of_moves_leaves_out_everything_else() {
    let cluster = DevCluster::shared();
    let entity = cluster.spawn("market", "mover");
    let done = watch(&["watch", "moves", "--limit", "1"], || {
        cluster.ask(&["migrate", &entity, "--to", "keep"]).ends(0);
    });
    assert!(done.out.contains(" move."), "{done:?}");
}

#[test]
fn whoever_watches_hears_the_end_of_a_drain_for_which_somebody_else_waits() {
    let cluster = DevCluster::start(&["--nodes", "2"]);
    cluster.spawn("market", "ann");
    let mut watching = Process::start(program().args(["watch", "nodes", "--limit", "4", "--at", &cluster.admin[0]]));
    watching.await_line(LIMIT, |line| line.starts_with("watching "));
    cluster.ask(&["drain", "n2", "--wait"]).ends(0);
    assert!(watching.wait(LIMIT).success());
    let out = watching.out();
    for told in ["n2  node.draining", "n2  home.handed_over", "n1  home.inherited", "n2  node.drained"] {
        assert!(out.contains(&format!(" {told} ")), "{told}: {out}");
    }
}

#[test]
fn watch_of_nodes_tells_links_that_are_lost() {
    let cluster = DevCluster::start(&["--nodes", "2"]);
    let mut watching = Process::start(program().args(["watch", "nodes", "--limit", "1", "--at", &cluster.admin[0]]));
    watching.await_line(LIMIT, |line| line.starts_with("watching "));
    let n2 = crate::trouble::node(&cluster, "n2");
    crate::process::send_signal(n2, Signal::KILL);
    let status = watching.wait(LIMIT);
    let out = watching.out();
    assert!(status.success() && out.contains(" n1  link.lost        incarnation=1 peer=n2"), "{out}");
}

#[test]
fn watch_of_scenes_tells_them_from_their_beginning_to_their_end() {
    let cluster = DevCluster::start(&["--nodes", "2"]);
    let at = cluster.admin[0].as_str();
    let mut watching = Process::start(program().args(["watch", "scenes", "--limit", "4", "--at", at]));
    watching.await_line(LIMIT, |line| line.starts_with("watching "));
    cluster.ask(&["scenes", "create", "dungeon", "--node", "n2"]).ends(0);
    cluster.ask(&["scenes", "close", "dungeon", "--wait"]).ends(0);
    assert!(watching.wait(LIMIT).success());
    let out = watching.out();
    for (node, event) in [("n2", "opened"), ("n2", "closing"), ("n2", "closed"), ("n1", "over")] {
        let words = format!(" {node}  {:<16} number=32768.1 ", format!("scene.{event}"));
        assert!(out.contains(&words), "{words}: {out}");
    }
}

#[test]
fn moves_are_listed_newest_first() {
    let cluster = DevCluster::shared();
    let entity = cluster.spawn("forest", "listed");
    cluster.ask(&["migrate", "listed", "--to", "harbor"]).ends(0);
    let done = cluster.ask(&["moves", "--limit", "1000"]).ends(0);
    assert!(done.out.starts_with("MOVE  "), "{done:?}");
    let row = done.out.lines().find(|line| line.contains(" listed ")).expect("a row").to_owned();
    assert!(row.contains("  forest@n1  harbor@n1  ok "), "{entity}: {row}");
}

#[test]
fn health_says_live_and_ready() {
    let cluster = DevCluster::shared();
    assert_eq!(cluster.ask(&["health"]).ends(0).out, "n1 is ready\n");
    assert_eq!(cluster.ask(&["health", "--live"]).ends(0).out, "n1 is live\n");
    assert_eq!(cluster.ask(&["health", "--ready", "--at", &cluster.admin[2]]).ends(0).out, "n3 is ready\n");
}

#[test]
fn waiting_for_more_nodes_than_there_are_ends_in_time() {
    DevCluster::shared()
        .ask(&["status", "--wait-nodes", "4", "--timeout", "300ms"])
        .fails(5, "error: 3 of 4 nodes are ready after 300ms\n  try:  slipgate nodes\n");
}

#[test]
fn the_interface_answers_tools_without_ours() {
    let cluster = DevCluster::shared();
    let get = |path: &str| {
        let client = slipgate::client::Client::new(&cluster.admin[1], None, LIMIT);
        until(LIMIT, "an answer", || client.get_raw(path))
    };
    assert_eq!(get("/health/live").status, 200);
    assert!(get("/metrics").text.contains("slipgate_"), "{}", get("/metrics").text);
    assert_eq!(get("/nowhere").status, 404);
}

pub(crate) const LIMIT: Duration = Duration::from_secs(30);
