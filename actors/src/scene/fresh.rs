//! Numbers that nobody else has, as a scene needs them for moves and for newcomers.
//!
//! Those of the system are a node's. Those of a seed are the same in every run: for simulated time.

use fastrand::Rng;
use slipgate_cluster::moves::MoveId;
use slipgate_entity::PersistId;
use uuid::{Builder, Uuid};

/// Where fresh numbers come from.
#[derive(Clone, Debug)]
pub struct Fresh(Source);

#[derive(Clone, Debug)]
enum Source {
    System,
    Seed(Rng),
}

impl Fresh {
    /// From the system.
    #[must_use]
    pub fn of_system() -> Self {
        Self(Source::System)
    }

    /// From a seed: two scenes of one cluster need two seeds.
    #[must_use]
    pub fn of_seed(seed: u64) -> Self {
        Self(Source::Seed(Rng::with_seed(seed)))
    }

    /// The id of a move.
    pub(super) fn move_id(&mut self) -> MoveId {
        MoveId(match &mut self.0 {
            Source::System => Uuid::new_v4(),
            Source::Seed(rng) => Builder::from_random_bytes(rng.u128(..).to_le_bytes()).into_uuid(),
        })
    }

    /// A number over restarts.
    pub(super) fn persist(&mut self, unix_ms: u64) -> PersistId {
        PersistId(match &mut self.0 {
            Source::System => Uuid::now_v7(),
            Source::Seed(rng) => {
                let mut random = [0; 10];
                rng.fill(&mut random);
                Builder::from_unix_timestamp_millis(unix_ms, &random).into_uuid()
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_gives_the_same_numbers_in_every_run_and_another_one_others() {
        let of = |seed| {
            let mut fresh = Fresh::of_seed(seed);
            (fresh.move_id(), fresh.persist(7), fresh.move_id())
        };
        assert_eq!(of(3), of(3));
        assert_ne!(of(3), of(4));
        assert_ne!(of(3).0, of(3).2);
    }
}
