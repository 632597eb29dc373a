//! A cluster that is restarted node by node, as planned, under fire.

use std::collections::BTreeMap;

use crate::fire::{Field, NAMES, plan, under_fire};

#[test]
fn a_cluster_that_is_restarted_node_by_node_under_fire_loses_nothing_and_nobody_warns() {
    let mut field = Field::start("n1", &[]);
    let births = Field::births(&[]);
    let board = field.board.clone();
    let before: BTreeMap<&str, u64> = NAMES.map(|name| (name, field.nodes[name].number())).into();
    let evidence = under_fire(&board, plan(60, &births, 2), || {
        // The manager's node is the last one.
        for name in ["n2", "n3", "n1"] {
            field.replace(name);
            assert_eq!(field.await_health(), Vec::<String>::new(), "{name} has come back");
        }
    });
    let judgement = field.settle(&evidence, &field.marks(), &NAMES);
    assert_eq!((judgement.lives, judgement.lost, judgement.revived), (evidence.walkers.len(), 0, 0), "{judgement}");
    for (name, number) in before {
        assert_eq!((field.nodes[name].number(), field.nodes[name].life()), (number, 2), "{name} under its name");
    }
    let ended = field.ended.iter().flat_map(|(name, lines)| lines.iter().map(move |line| (name.as_str(), line)));
    let running = field.nodes.iter().map(|(name, node)| (name.as_str(), node.lines()));
    let running: Vec<_> = running.flat_map(|(name, lines)| lines.into_iter().map(move |line| (name, line))).collect();
    let lines = ended.chain(running.iter().map(|(name, line)| (*name, line)));
    let loud: Vec<_> = lines.filter(|(_, line)| !line.contains(r#""level":"INFO""#)).collect();
    assert!(loud.is_empty(), "planned restarts are nothing to warn about: {loud:#?}");
    field.stop(&[]);
}
