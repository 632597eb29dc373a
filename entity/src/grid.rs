//! Who stands near whom: entities by the cell of a grid in which they stand.
//!
//! ```text
//!   +-----+-----+-----+
//!   |     | ann |     |    within(middle, radius): the cells that the circle touches,
//!   +-----+--o--+-----+    then the distance of each who stands in one
//!   |     | bob | cid |
//!   +-----+-----+-----+
//! ```
//!
//! Keeps: a place that is not finite is no place; an empty cell costs nothing; answers are in the order of ids, whatever
//! happened before. A circle of more columns than there are cells is answered by a walk over the cells.
//! Leaves out: heights, and who sees whom.

use std::collections::{BTreeMap, BTreeSet};

use crate::{FixedMap, OnlineId};

/// Entities by where they stand.
///
/// ```
/// use slipgate_entity::{Grid, OnlineId, RangeId};
///
/// let [ann, bob] = [1, 2].map(|counter| OnlineId::new(RangeId(1), counter));
/// let mut grid = Grid::new(32.0);
/// grid.place(ann, Some([0.0, 0.0]));
/// grid.place(bob, Some([30.0, 40.0]));
/// assert_eq!(grid.within([0.0, 0.0], 50.0), [ann, bob]);
/// assert_eq!(grid.within([0.0, 0.0], 49.0), [ann]);
/// grid.place(bob, None);
/// assert_eq!(grid.len(), 1);
/// ```
#[derive(Clone, Debug)]
pub struct Grid {
    side: f32,
    cells: BTreeMap<Cell, BTreeSet<OnlineId>>,
    places: FixedMap<OnlineId, [f32; 2]>,
}

type Cell = (i32, i32);

impl Grid {
    /// An empty grid whose cells are so long and wide, in units of the game.
    ///
    /// # Panics
    ///
    /// If `side` is not above zero, or not finite.
    #[must_use]
    pub fn new(side: f32) -> Self {
        assert!(side.is_finite() && side > 0.0, "expected a side above 0, found {side}");
        Self { side, cells: BTreeMap::new(), places: FixedMap::default() }
    }

    /// Puts an entity where it stands, or takes it out if it stands nowhere.
    pub fn place(&mut self, entity: OnlineId, place: Option<[f32; 2]>) {
        let place = place.filter(|place| place.iter().all(|at| at.is_finite()));
        let before = match place {
            Some(place) => self.places.insert(entity, place),
            None => self.places.remove(&entity),
        };
        let (before, after) = (before.map(|place| self.cell(place)), place.map(|place| self.cell(place)));
        if before == after {
            return;
        }
        if let Some(cell) = before {
            self.leave(cell, entity);
        }
        if let Some(cell) = after {
            self.cells.entry(cell).or_default().insert(entity);
        }
    }

    /// Who stands at most `radius` from `middle`, by id. Nobody, if either is not finite or the radius is below zero.
    #[must_use]
    pub fn within(&self, middle: [f32; 2], radius: f32) -> Vec<OnlineId> {
        if !(middle.iter().all(|at| at.is_finite()) && radius.is_finite() && radius >= 0.0) {
            return Vec::new();
        }
        let (low, high) = (self.cell(middle.map(|at| at - radius)), self.cell(middle.map(|at| at + radius)));
        let mut found: Vec<_> = if u64::from(low.0.abs_diff(high.0)) < self.cells.len() as u64 {
            let columns = (low.0..=high.0).map(|x| self.cells.range((x, low.1)..=(x, high.1)));
            columns.flatten().flat_map(|(_, inside)| self.near(inside, middle, radius)).collect()
        } else {
            self.cells.values().flat_map(|inside| self.near(inside, middle, radius)).collect()
        };
        found.sort_unstable();
        found
    }

    /// Entities that stand somewhere.
    #[must_use]
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Whether nobody stands anywhere.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    fn near(&self, inside: &BTreeSet<OnlineId>, middle: [f32; 2], radius: f32) -> impl Iterator<Item = OnlineId> {
        let is_near = move |entity: &OnlineId| {
            let place = self.places.get(entity).expect("whoever is in a cell has a place");
            let [x, y] = [0, 1].map(|axis| f64::from(place[axis]) - f64::from(middle[axis]));
            x.mul_add(x, y * y) <= f64::from(radius) * f64::from(radius)
        };
        inside.iter().copied().filter(is_near)
    }

    fn leave(&mut self, cell: Cell, entity: OnlineId) {
        let Some(inside) = self.cells.get_mut(&cell) else { return };
        inside.remove(&entity);
        if inside.is_empty() {
            self.cells.remove(&cell);
        }
    }

    /// Places beyond what a number of a cell holds share the last one.
    #[expect(clippy::cast_possible_truncation, reason = "the conversion stops at the ends of i32, as said")]
    fn cell(&self, place: [f32; 2]) -> Cell {
        let [x, y] = place.map(|at| (at / self.side).floor() as i32);
        (x, y)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RangeId;

    fn id(counter: u32) -> OnlineId {
        OnlineId::new(RangeId(1), counter)
    }

    #[test]
    fn whoever_stands_on_the_rim_is_within() {
        let mut grid = Grid::new(10.0);
        grid.place(id(1), Some([-3.0, -4.0]));
        assert_eq!(grid.within([0.0, 0.0], 5.0), [id(1)]);
        assert_eq!(grid.within([0.0, 0.0], 4.99), []);
    }

    #[test]
    fn a_place_that_is_not_finite_is_no_place() {
        let mut grid = Grid::new(10.0);
        grid.place(id(1), Some([1.0, 1.0]));
        grid.place(id(1), Some([f32::NAN, 1.0]));
        grid.place(id(2), Some([f32::INFINITY, 1.0]));
        assert_eq!((grid.len(), grid.cells.len()), (0, 0));
        assert_eq!(grid.within([f32::NAN, 0.0], 1.0), []);
        assert_eq!(grid.within([0.0, 0.0], -1.0), []);
    }

    #[test]
    fn a_circle_larger_than_the_world_finds_everybody_in_the_order_of_ids() {
        let mut grid = Grid::new(0.5);
        for (counter, at) in [(3, 1e30), (1, -1e30), (2, 0.0)] {
            grid.place(id(counter), Some([at, at]));
        }
        assert_eq!(grid.within([0.0, 0.0], 3e38), [id(1), id(2), id(3)]);
    }

    #[test]
    fn the_grid_agrees_with_a_list_of_places() {
        let mut rng = 17u32;
        let mut below = |bound: u32| {
            rng = rng.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (rng >> 8) % bound
        };
        let mut grid = Grid::new(7.0);
        let mut list = BTreeMap::new();
        for step in 0..5000 {
            let entity = id(below(40));
            let place = [below(100), below(100)].map(|at| f32::from(u16::try_from(at).expect("below 100")) - 50.0);
            if below(4) == 0 {
                grid.place(entity, None);
                list.remove(&entity);
            } else {
                grid.place(entity, Some(place));
                list.insert(entity, place);
            }
            let radius = f32::from(u16::try_from(below(60)).expect("below 60"));
            let near = |at: &[f32; 2]| (at[0] - place[0]).powi(2) + (at[1] - place[1]).powi(2) <= radius * radius;
            let expected: Vec<_> = list.iter().filter(|(_, at)| near(at)).map(|(entity, _)| *entity).collect();
            assert_eq!(grid.within(place, radius), expected, "step {step}");
        }
    }
}
