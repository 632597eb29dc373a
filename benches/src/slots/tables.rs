//! Tables of entities: the least that could do, ours, and what every one of them must be able to do.

use slipgate_entity::{Handle, LocalId, Runtime, SceneId};

/// What an entity holds: 16 bytes.
pub(crate) type Payload = [u64; 2];

/// A contestant.
pub(crate) trait Table: Default {
    type Id: Copy;

    fn spawn(&mut self, payload: Payload) -> Self::Id;

    /// Whether it was there.
    fn despawn(&mut self, id: Self::Id) -> bool;

    /// The sum of the first words of those that are there, each looked up by its id.
    fn sum(&mut self, ids: &[Self::Id]) -> u64;
}

/// The limit: an array of `N`, a power of two, with nothing that tells one life of a row from the next. An id is
/// cut to the length of the array, so that nothing is checked.
pub(super) struct Array<const N: usize> {
    rows: Box<[Payload; N]>,
    used: u32,
    vacant: Vec<u32>,
}

impl<const N: usize> Array<N> {
    fn row(&mut self, id: u32) -> &mut Payload {
        &mut self.rows[id as usize % N]
    }
}

impl<const N: usize> Default for Array<N> {
    fn default() -> Self {
        let rows = vec![[0; 2]; N].into_boxed_slice().try_into().expect("there are N rows");
        Self { rows, used: 0, vacant: Vec::new() }
    }
}

impl<const N: usize> Table for Array<N> {
    type Id = u32;

    #[inline(always)]
    fn spawn(&mut self, payload: Payload) -> u32 {
        let id = self.vacant.pop().unwrap_or_else(|| {
            self.used += 1;
            self.used - 1
        });
        *self.row(id) = payload;
        id
    }

    #[inline]
    fn despawn(&mut self, id: u32) -> bool {
        self.vacant.push(id);
        true
    }

    fn sum(&mut self, ids: &[u32]) -> u64 {
        ids.iter().fold(0, |sum, &id| sum.wrapping_add(self.rows[id as usize % N][0]))
    }
}

/// The limit of whoever tells one life of a row from the next: the same array with a generation in each row and vacancy, which
/// nobody compares.
pub(super) struct Generations<const N: usize> {
    rows: Box<[(u32, Payload); N]>,
    used: u32,
    vacant: Vec<(u32, u32)>,
}

impl<const N: usize> Default for Generations<N> {
    fn default() -> Self {
        let rows = vec![(0, [0; 2]); N].into_boxed_slice().try_into().expect("there are N rows");
        Self { rows, used: 0, vacant: Vec::new() }
    }
}

impl<const N: usize> Table for Generations<N> {
    type Id = (u32, u32);

    #[inline(always)]
    fn spawn(&mut self, payload: Payload) -> (u32, u32) {
        let (id, generation) = self.vacant.pop().unwrap_or_else(|| {
            self.used += 1;
            (self.used - 1, 1)
        });
        self.rows[id as usize % N] = (generation, payload);
        (id, generation)
    }

    #[inline]
    fn despawn(&mut self, (id, generation): (u32, u32)) -> bool {
        self.vacant.push((id, generation + 1));
        true
    }

    fn sum(&mut self, ids: &[(u32, u32)]) -> u64 {
        ids.iter().fold(0, |sum, &(id, _)| sum.wrapping_add(self.rows[id as usize % N].1[0]))
    }
}

/// Ours, by handle.
pub(super) struct ByHandle(pub(super) Runtime<Payload>);

impl Default for ByHandle {
    fn default() -> Self {
        Self(Runtime::new(SCENE))
    }
}

impl Table for ByHandle {
    type Id = Handle;

    #[inline(always)]
    fn spawn(&mut self, payload: Payload) -> Handle {
        self.0.spawn(payload).expect("there is room")
    }

    #[inline]
    fn despawn(&mut self, id: Handle) -> bool {
        self.0.despawn(id).is_ok()
    }

    fn sum(&mut self, ids: &[Handle]) -> u64 {
        let found = ids.iter().filter_map(|&id| self.0.get(id).ok());
        found.fold(0, |sum, payload| sum.wrapping_add(payload[0]))
    }
}

/// Ours, by local id: the eight bytes of a handle that hot paths keep.
#[derive(Default)]
pub(super) struct ByLocalId(ByHandle);

impl Table for ByLocalId {
    type Id = LocalId;

    #[inline(always)]
    fn spawn(&mut self, payload: Payload) -> LocalId {
        self.0.spawn(payload).local().expect("a runtime's handle has a local id")
    }

    #[inline]
    fn despawn(&mut self, id: LocalId) -> bool {
        self.0.0.despawn_local(id).is_ok()
    }

    fn sum(&mut self, ids: &[LocalId]) -> u64 {
        let found = ids.iter().filter_map(|&id| self.0.0.get_local(id).ok());
        found.fold(0, |sum, payload| sum.wrapping_add(payload[0]))
    }
}

/// Ours, in a scene that says how many it may hold.
pub(super) struct Roomy(ByHandle);

impl Default for Roomy {
    fn default() -> Self {
        Self(ByHandle(Runtime::new(SCENE).with_room_for(super::MILLION)))
    }
}

impl Table for Roomy {
    type Id = Handle;

    #[inline(always)]
    fn spawn(&mut self, payload: Payload) -> Handle {
        self.0.spawn(payload)
    }

    #[inline]
    fn despawn(&mut self, id: Handle) -> bool {
        self.0.despawn(id)
    }

    fn sum(&mut self, ids: &[Handle]) -> u64 {
        self.0.sum(ids)
    }
}

const SCENE: SceneId = SceneId(1);
