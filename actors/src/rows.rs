//! How many rows the tables of this node have, as gauges: what is there beyond entities is for something that has not
//! ended, and a table that only grows is a fault.
//!
//! Scenes, routers and the home each have tables of their own; over a node they are told as sums, for what matters is
//! whether a kind of row goes away again. Whoever has tables tells by how much they have changed since he last did.

use slipgate_cluster::{directory, router, scene};

/// A kind of rows, by its label, and how many there are.
type Count = (&'static str, usize);

/// Rows that were told.
#[derive(Debug)]
pub(crate) struct Rows {
    gauge: &'static str,
    told: Vec<Count>,
}

impl Rows {
    /// Rows that are told as `gauge`.
    pub(crate) fn new(gauge: &'static str) -> Self {
        Self { gauge, told: Vec::new() }
    }

    /// Tells how many there are by now. Always the same kinds, in the same order.
    pub(crate) fn tell<const N: usize>(&mut self, counts: [Count; N]) {
        for (at, (table, count)) in counts.into_iter().enumerate() {
            let before = self.told.get(at).map_or(0, |told| told.1);
            metrics::gauge!(self.gauge, "table" => table).increment(float(count) - float(before));
        }
        self.told = counts.to_vec();
    }

    /// Whoever has them is over.
    pub(crate) fn take_back(&mut self) {
        for (table, count) in self.told.drain(..) {
            metrics::gauge!(self.gauge, "table" => table).decrement(float(count));
        }
    }
}

/// The tables of a scene.
pub(crate) fn of_scene(tables: &scene::Tables) -> [Count; 13] {
    let scene::Tables {
        entities: _,
        open,
        floors,
        waiting,
        unacknowledged,
        outboxes,
        receivers,
        arriving,
        spawning,
        leaving,
        parties,
        tombstones,
        alarms,
        searches,
    } = *tables;
    [
        ("streams", open),
        ("floors", floors),
        ("waiting", waiting),
        ("unacknowledged", unacknowledged),
        ("outboxes", outboxes),
        ("receivers", receivers),
        ("arriving", arriving),
        ("spawning", spawning),
        ("leaving", leaving),
        ("parties", parties),
        ("tombstones", tombstones),
        ("alarms", alarms),
        ("searches", searches),
    ]
}

/// The tables of a router.
pub(crate) fn of_router(tables: router::Tables) -> [Count; 6] {
    let router::Tables { waiting, streams, receivers, shares, closings, alarms } = tables;
    [
        ("waiting", waiting),
        ("streams", streams),
        ("receivers", receivers),
        ("shares", shares),
        ("closings", closings),
        ("alarms", alarms),
    ]
}

/// The tables of a home.
pub(crate) fn of_home(tables: directory::Tables) -> [Count; 9] {
    let directory::Tables { ranges, records, labels, coming, waiting, bequests, untold, witnessed, naming } = tables;
    [
        ("ranges", ranges),
        ("records", records),
        ("labels", labels),
        ("coming", coming),
        ("waiting", waiting),
        ("bequests", bequests),
        ("untold", untold),
        ("witnessed", witnessed),
        ("naming", naming),
    ]
}

#[expect(clippy::cast_precision_loss, reason = "a gauge is a float, and exact up to 2^53")]
fn float(value: usize) -> f64 {
    value as f64
}
