//! What happens in a view: few entities and few values, so that most things happen to the same ones.

use std::collections::BTreeMap;

use proptest::prelude::*;
use slipgate_sync::{Alias, EntityState, Reel, Snapshot};

#[derive(Clone, Copy, Debug)]
pub(crate) enum Act {
    Show(Alias, EntityState),
    Hide(Alias),
}

pub(crate) fn acts() -> impl Strategy<Value = Vec<Act>> {
    prop::collection::vec(
        prop_oneof![3 => (alias(), state()).prop_map(|(alias, state)| Act::Show(alias, state)), 1 => alias().prop_map(Act::Hide)],
        0..24,
    )
}

pub(crate) fn alias() -> impl Strategy<Value = Alias> {
    (1..12u32).prop_map(Alias)
}

pub(crate) fn state() -> impl Strategy<Value = EntityState> {
    let float = || prop::sample::select(vec![0.0, -0.0, 1.5, f32::NAN, f32::INFINITY]);
    let (position, velocity) = ([float(), float()], [float(), float()]);
    (position, velocity, 0..3i16, 0..2u8).prop_map(|(position, velocity, hp, kind)| EntityState {
        position,
        velocity,
        hp,
        kind,
    })
}

pub(crate) fn show_and_hide(reel: &mut Reel, acts: &[Act]) {
    for &act in acts {
        match act {
            Act::Show(alias, state) => reel.show(alias, state),
            Act::Hide(alias) => {
                reel.hide(alias);
            }
        }
    }
}

pub(crate) fn everybody(snapshot: &Snapshot) -> BTreeMap<Alias, EntityState> {
    snapshot.iter().collect()
}
