//! `spawn`, `send`, `despawn` and `unpark`, and what is wrong with them.

use crate::dev_cluster::{DevCluster, Done};

const NO_SUCH_MESSAGE: &str = "error: nobody takes a message named \"fly\", did you mean \"fall\"?; there are fall, gone, \
                               greet, growl, hatch, hit, land, loosed, loot, missed, note, shoot, step, strike, stumble, \
                               think, wander\n  nothing was sent\n  try:  slipgate send --help\n";

const STEP: &str = r#"{"dx":1,"dy":0}"#;

#[test]
fn spawned_entities_are_listed_with_their_ids() {
    let done = DevCluster::shared().ask(&["spawn", "walker", "--scene", "3", "--count", "2", "--label", "duo"]).ends(0);
    let lines: Vec<&str> = done.out.lines().collect();
    assert!(lines[0].starts_with("ENTITY") && lines.len() == 3, "{done:?}");
    assert!(lines[1].contains("  walker  duo1   keep   n2    active      1"), "{done:?}");
    assert_eq!(done.err, "");
}

#[test]
fn a_spawn_that_cannot_be_says_what_there_is() {
    let cluster = DevCluster::shared();
    cluster.ask(&["spawn", "orc", "--scene", "forest"]).fails(
        3,
        "error: there is no type \"orc\"; there is arrow, fighter, lair, monster, pouch, walker\n  nothing was spawned\n  \
         try:  slipgate schema export\n",
    );
    cluster.ask(&["spawn", "walker", "--scene", "nowhere"]).fails(
        3,
        "error: there is no scene \"nowhere\"; there are forest, harbor, keep, market, mine, tower\n  \
         nothing was spawned\n  try:  slipgate scenes\n",
    );
}

#[test]
fn a_label_that_somebody_wears_is_refused_to_another() {
    let cluster = DevCluster::shared();
    let (entity, knight) = (cluster.spawn("tower", "unique"), cluster.spawn("keep", "knight2"));
    let spawn = |line: &[&str]| cluster.ask(&[&["spawn", "walker", "--scene", "forest"], line].concat());
    spawn(&["--label", "unique"]).fails(
        4,
        &format!(
            "error: the label \"unique\" is worn already, by {entity} in tower@n3\n  nothing was spawned\n  \
             try:  another --label      slipgate show {entity}      slipgate despawn {entity}\n"
        ),
    );
    let several = spawn(&["--label", "knight", "--count", "3"]).ends(4);
    assert!(
        several.err.starts_with(&format!("error: the label \"knight2\" is worn already, by {knight} in keep@n2\n"))
    );
    spawn(&["--label", "unique", "--count", "2"]).ends(0);
    cluster.ask(&["despawn", "unique"]).ends(0);
    cluster.spawn("mine", "unique");
}

#[test]
fn an_entity_is_spawned_under_its_number_over_restarts_and_found_by_it() {
    let cluster = DevCluster::shared();
    let persist = "0198f7c2-0000-7000-8000-00000000a11e";
    let spawn = ["spawn", "walker", "--scene", "mine", "--label", "alice", "--persist", persist, "--player", "12"];
    cluster.ask(&spawn).ends(0);
    let shown = cluster.ask(&["show", persist]).ends(0);
    assert!(shown.out.contains("alice") && shown.out.contains(persist), "{shown:?}");
    let again = cluster.ask(&["spawn", "walker", "--scene", "mine", "--persist", persist]).ends(4);
    assert!(again.err.contains(&format!("its persist id {persist} is that of ")), "{again:?}");
    cluster.ask(&["spawn", "walker", "--scene", "mine", "--persist", "7"]).ends(2);
}

#[test]
fn entities_are_listed_by_their_type_and_those_below_it() {
    let cluster = DevCluster::shared();
    cluster.spawn("keep", "typed");
    let listed = cluster.ask(&["entities", "--scene", "keep", "--type", "walker"]).ends(0);
    assert!(listed.out.contains("  typed  "), "{listed:?}");
    let none = cluster.ask(&["entities", "--scene", "keep", "--type", "monster"]).ends(0);
    assert!(!none.out.contains("  typed  "), "{none:?}");
    let unknown = cluster.ask(&["entities", "--type", "walkr"]).ends(3);
    assert!(unknown.err.starts_with("error: there is no type \"walkr\", did you mean \"walker\"?"), "{unknown:?}");
}

#[test]
fn a_label_must_be_readable_and_no_id() {
    let check = |label: &str, why: &str| {
        DevCluster::shared()
            .ask(&["spawn", "walker", "--scene", "forest", "--label", label])
            .fails(2, &format!("error: {why}\n  nothing was spawned\n  try:  slipgate spawn --help\n"));
    };
    check("", "a label has 1 to 64 bytes and no control characters, not \"\"");
    check("a\nb", "a label has 1 to 64 bytes and no control characters, not \"a\\nb\"");
    let long = "x".repeat(65);
    check(&long, &format!("a label has 1 to 64 bytes and no control characters, not {long:?}"));
    check("1.0", "the label \"1.0\" could be taken for an id; it needs a letter");
}

#[test]
fn a_message_is_applied_once_and_shows_in_the_state() {
    let cluster = DevCluster::shared();
    let entity = cluster.spawn("forest", "reader");
    let done = cluster.ask(&["send", "reader", "step", r#"{"dx":1.5,"dy":-2}"#, "--wait"]).ends(0);
    assert_eq!(done.out, "accepted 1  applied 1  open 0  busy 0  dead 0\n");
    let shown = cluster.ask(&["show", &entity]).ends(0);
    assert!(shown.out.contains("\"x\":1.5,\"y\":-2.0"), "{shown:?}");
    assert!(shown.out.contains("\napplied  1 messages\nstreams  1 open to it\n"), "{shown:?}");
}

#[test]
fn what_an_entity_answers_is_told_whichever_node_is_asked() {
    let cluster = DevCluster::shared();
    let entity = cluster.spawn("mine", "asked");
    for (at, left) in cluster.admin.iter().zip([99, 98, 97]) {
        let done = cluster.ask(&["ask", &entity, "hit", r#"{"hp":1}"#, "--at", at]).ends(0);
        assert_eq!((done.out, done.err), (format!("{left}\n"), String::new()));
    }
    let report = cluster.json(&["ask", "asked", "step", STEP]).object();
    assert_eq!((&report["answered"], &report["answer"]), (&true.into(), &serde_json::Value::Null));
    assert_eq!((&report["entity"], &report["sent"]["applied"]), (&entity.into(), &1.into()));
}

#[test]
fn a_message_that_the_entity_does_not_take_is_an_error_for_whoever_waits() {
    let cluster = DevCluster::shared();
    cluster.spawn("forest", "deaf");
    let error = "error: deaf did not take 1 message: it takes no message named think\n  \
                 0 messages were applied; those are not\n  try:  slipgate show deaf      slipgate schema export\n";
    cluster.ask(&["ask", "deaf", "think"]).fails(4, error);
    let done = cluster.ask(&["send", "deaf", "think", "--wait"]).ends(4);
    assert_eq!(done.out, "accepted 1  applied 0  open 0  busy 0  dead 0  refused 1\n");
    assert_eq!(done.err, error);
    let done = cluster.ask(&["ask", "deaf", "stumble"]).ends(1);
    assert!(
        done.err.starts_with("error: 1 message to deaf failed: the handler of stumble panicked: the walker stumbled\n"),
        "{done:?}"
    );
    let done = cluster.ask(&["ask", "deaf", "step", STEP]).ends(4);
    assert!(done.err.starts_with("error: 1 message to deaf came to nothing: it is parked"), "{done:?}");
}

#[test]
fn a_message_reaches_an_entity_on_any_node_through_any_node() {
    let cluster = DevCluster::shared();
    let entity = cluster.spawn("mine", "far");
    for at in &cluster.admin {
        cluster.ask(&["send", &entity, "hit", r#"{"hp":1}"#, "--wait", "--at", at]).ends(0);
    }
    assert_eq!(cluster.json(&["show", "far"]).object()["body"]["own"]["hp"], 97);
}

#[test]
fn a_message_that_does_not_fit_is_told_with_one_that_does() {
    let cluster = DevCluster::shared();
    let entity = cluster.spawn("forest", "picky");
    cluster.ask(&["send", &entity, "fly"]).fails(2, NO_SUCH_MESSAGE);
    cluster.ask(&["send", &entity, "step"]).fails(
        2,
        "error: the arguments of step do not fit: missing field `dx` at line 1 column 2; it takes {\"dx\": f32, \"dy\": f32}\n  \
         nothing was sent\n  try:  slipgate send --help\n",
    );
    let done = cluster.ask(&["send", &entity, "step", "{x"]).ends(2);
    assert!(done.err.starts_with("error: invalid value '{x' for '[JSON]': it is no JSON: "), "{done:?}");
    assert_eq!(cluster.json(&["show", &entity]).object()["applied"], 0);
}

#[test]
fn an_ambiguous_name_is_told_with_those_it_could_be() {
    let cluster = DevCluster::shared();
    cluster.ask(&["spawn", "walker", "--scene", "forest", "--count", "2"]).ends(0);
    let rest = "\n  nothing was done\n  try:  use a whole id: slipgate entities\n";
    for line in
        [&["send", "1.", "step", STEP][..], &["show", "1."], &["migrate", "1.", "--to", "keep"], &["despawn", "1."]]
    {
        let done = cluster.ask(line).ends(2);
        assert!(
            done.err.starts_with("error: \"1.\" names several entities: 1.") && done.err.ends_with(rest),
            "{done:?}"
        );
    }
}

#[test]
fn a_despawned_entity_is_dead_to_every_command() {
    let cluster = DevCluster::shared();
    let entity = cluster.spawn("tower", "mayfly");
    assert_eq!(cluster.ask(&["despawn", "mayfly"]).ends(0).out, "mayfly is gone from tower@n3\n");
    let gone = format!(
        "error: {entity} is gone: it was despawned\n  \
         it is nowhere, and its id is never given out again\n  try:  slipgate entities\n"
    );
    cluster.ask(&["show", &entity]).fails(3, &gone);
    cluster.ask(&["migrate", &entity, "--to", "keep"]).fails(3, &gone);
    cluster.ask(&["despawn", &entity]).fails(3, &gone);
    let Done { code, out, err } = cluster.ask(&["send", &entity, "step", STEP, "--wait"]);
    assert_eq!((code, out.as_str()), (3, "accepted 1  applied 0  open 0  busy 0  dead 1\n"));
    let expected = format!(
        "error: 1 message to {entity} found nobody: it is gone, or nobody has had that id yet\n  \
         nothing was applied; the id of an entity that is gone is never given out again\n  try:  slipgate entities\n"
    );
    assert_eq!(err, expected);
}

#[test]
fn an_entity_whose_handler_panicked_says_so_and_what_to_do() {
    let cluster = DevCluster::shared();
    let entity = cluster.spawn("tower", "faint");
    let Done { code, out, err } = cluster.ask(&["send", "faint", "stumble", "--wait"]);
    assert_eq!((code, out.as_str()), (1, "accepted 1  applied 0  open 0  busy 0  dead 0  failed 1\n"));
    let expected = "error: 1 message to faint failed: the handler of stumble panicked: the walker stumbled\n  \
                    what the handler had done by then is done; faint is parked and takes no messages until it is unparked\n  \
                    try:  slipgate show faint      slipgate unpark faint\n";
    assert_eq!(err, expected);
    let Done { code, out, err } = cluster.ask(&["send", "faint", "step", STEP, "--wait"]);
    assert_eq!((code, out.as_str()), (4, "accepted 1  applied 0  open 0  busy 0  dead 0  parked 1\n"));
    let expected = "error: 1 message to faint came to nothing: it is parked since the handler of stumble panicked: the walker \
                    stumbled\n  \
                    they are not applied later either; faint takes no messages until it is unparked\n  \
                    try:  slipgate show faint      slipgate unpark faint\n";
    assert_eq!(err, expected);
    let shown = cluster.ask(&["show", "faint"]).ends(0).out;
    assert!(shown.contains("\nstate    parked\n") && shown.contains("\nparked   since 20"), "{shown}");
    assert!(shown.contains("Z: the handler of stumble panicked: the walker stumbled\n"), "{shown}");
    assert_eq!(cluster.ask(&["unpark", "faint"]).ends(0).out, "faint takes messages again in tower@n3\n");
    cluster.ask(&["unpark", "faint"]).fails(
        4,
        &format!(
            "error: faint ({entity}) is not parked\n  faint ({entity}) is in tower@n3 and takes messages\n  \
             try:  slipgate show {entity}\n"
        ),
    );
}
