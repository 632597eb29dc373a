//! Boxes of the despawned, for the next to be spawned.
//!
//! ```text
//! release  ->  [ box, box, box ]  ->  acquire        at most `boxes_max` wait; one more is freed
//! ```
//!
//! Spawning and despawning a boxed payload of 256 bytes takes about half the time that it takes with the allocator
//! (`docs/measured.md`). A payload in the slot itself needs
//! no pool: it has no memory of its own.
//!
//! Keeps: never more than its bound; the box that came last goes first, because the cache still has it.
//! Leaves out: emptying a payload. Whoever fills it says all that it is to hold.

use super::hooks::Hooks;
use super::{Runtime, SceneId};

/// Keeps the boxes of released payloads, up to a bound, and hands them out again.
///
/// A payload that comes from the pool still holds what its last entity left in it: a vector has its room, and
/// its elements. `fill` of [`Runtime::acquire`] writes over all of it.
///
/// ```
/// use slipgate_entity::{Runtime, SceneId};
///
/// let mut runtime = Runtime::pooled(SceneId(1));
/// let arrow = runtime.acquire(|_, state: &mut Box<[u64; 32]>| **state = [7; 32])?;
/// runtime.release(arrow)?;
/// let next = runtime.acquire(|_, state| assert_eq!(**state, [7; 32], "what the last one left"))?;
/// assert_ne!(next, arrow);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Pool<T> {
    boxes: Vec<Box<T>>,
    boxes_max: usize,
}

impl<T> Pool<T> {
    /// A pool that is empty and keeps at most `boxes_max`; with 0, none.
    #[must_use]
    pub fn new(boxes_max: usize) -> Self {
        Self { boxes: Vec::new(), boxes_max }
    }

    /// Boxes that wait.
    #[must_use]
    pub fn len(&self) -> usize {
        self.boxes.len()
    }

    /// Whether none waits.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.boxes.is_empty()
    }
}

/// Keeps at most 1,024: as many as a scene is guessed to lose between two waves of spawns.
impl<T> Default for Pool<T> {
    fn default() -> Self {
        Self::new(BOXES_MAX)
    }
}

impl<T: Default> Hooks<Box<T>> for Pool<T> {
    fn alloc(&mut self) -> Box<T> {
        self.boxes.pop().unwrap_or_default()
    }

    fn release(&mut self, payload: Box<T>) {
        if self.boxes.len() < self.boxes_max {
            self.boxes.push(payload);
        }
    }
}

impl<T: Default> Runtime<Box<T>, Pool<T>> {
    /// An empty runtime for `scene` whose boxes come from a [`Pool`]: what a boxed payload should have.
    #[must_use]
    pub fn pooled(scene: SceneId) -> Self {
        Self::with_hooks(scene, Pool::default())
    }
}

const BOXES_MAX: usize = 1024;

#[cfg(test)]
mod tests {
    use super::*;

    const HERE: SceneId = SceneId(1);

    #[test]
    fn the_box_of_the_last_one_released_goes_to_the_next_one_spawned() {
        let mut runtime = Runtime::pooled(HERE);
        let [ann, bob] = [1, 2].map(|hp| runtime.acquire(|_, box_| **box_ = hp).expect("there is room"));
        let place: *const i32 = &**runtime.get(bob).expect("bob lives");
        runtime.release(ann).expect("ann lives");
        runtime.release(bob).expect("bob lives");
        assert_eq!(runtime.hooks().len(), 2);

        let eve = runtime.acquire(|_, left| assert_eq!(**left, 2)).expect("there is room");
        assert_eq!(std::ptr::from_ref(&**runtime.get(eve).expect("eve lives")), place);
        assert_eq!(runtime.hooks().len(), 1);
    }

    #[test]
    fn a_pool_never_keeps_more_than_its_bound() {
        let mut runtime = Runtime::with_hooks(HERE, Pool::<u64>::new(2));
        let all: Vec<_> = (0..5).map(|_| runtime.acquire(|_, _| ()).expect("there is room")).collect();
        for handle in all {
            runtime.release(handle).expect("it lives");
        }
        assert_eq!(runtime.hooks().len(), 2);
        assert!(Pool::<u64>::new(0).is_empty());
    }

    #[test]
    fn an_empty_pool_makes_a_payload_as_it_is_by_default() {
        let mut runtime = Runtime::<Box<u64>, _>::pooled(HERE);
        runtime.acquire(|_, payload| assert_eq!(**payload, 0)).expect("there is room");
    }
}
