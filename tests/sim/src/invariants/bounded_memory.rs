//! Nothing grows beyond its bound, however much is asked for.

use slipgate_cluster::Limits;
use slipgate_cluster::scene::Tables;

use super::Verdict;

/// What a scene keeps.
pub(crate) fn check_scene(tables: &Tables, capacity: usize, limits: &Limits) -> Verdict {
    let held = limits.held_messages * (tables.entities + tables.arriving);
    let gaps = limits.stream_window * tables.open;
    let stream = limits.stream_window + limits.stream_queue;
    let (streams, direct) = (stream * tables.outboxes, stream * tables.entities * tables.entities);
    let moves = usize::try_from(limits.moves_per_scene).unwrap_or(usize::MAX);
    let all = [
        ("messages that wait", tables.waiting, held + gaps + direct),
        ("messages that are not acknowledged", tables.unacknowledged, streams),
        ("entities that are there or coming", tables.entities + tables.arriving, capacity),
        ("moves", tables.leaving, moves + tables.entities),
    ];
    check(&all)
}

/// What a router keeps; `adopted` is what was accepted by scenes before it came to it, all in all.
pub(crate) fn check_router(waiting: usize, adopted: usize, limits: &Limits) -> Verdict {
    check(&[("messages of tools", waiting, limits.router_queue + adopted)])
}

fn check(all: &[(&str, usize, usize)]) -> Verdict {
    match all.iter().find(|(_, count, bound)| count > bound) {
        None => Ok(()),
        Some((what, count, bound)) => Err(format!("there are {count} {what}, and the bound is {bound}")),
    }
}

#[test]
fn a_table_or_a_queue_beyond_its_bound_is_found() {
    let limits = Limits { held_messages: 2, stream_window: 1, stream_queue: 0, router_queue: 3, ..Limits::default() };
    let tables = Tables { entities: 2, arriving: 1, open: 1, waiting: 11, ..Tables::default() };
    assert!(check_scene(&tables, 3, &limits).is_ok());
    assert!(check_scene(&Tables { waiting: 12, ..tables }, 3, &limits).is_err());
    assert!(check_scene(&tables, 2, &limits).is_err());
    assert!(check_router(4, 1, &limits).is_ok() && check_router(4, 0, &limits).is_err());
}
