//! Where payloads come from and where they go: the seam for a pool.
//!
//! A scene that spawns and despawns thousands of projectiles a second wants to use their memory
//! again. Its payload type is then a box, and its [`Hooks`] a [`Pool`](super::pool::Pool), or what the game
//! makes itself. Payloads that lie in the slot use [`NoHooks`], which costs nothing.

/// Called by [`Runtime::acquire`](super::Runtime::acquire) and [`Runtime::release`](super::Runtime::release).
///
/// A pair of closures will do:
///
/// ```
/// use std::cell::RefCell;
/// use slipgate_entity::{Runtime, SceneId};
///
/// let pool = RefCell::new(Vec::<Box<u64>>::new());
/// let alloc = || pool.borrow_mut().pop().unwrap_or_default();
/// let release = |payload| pool.borrow_mut().push(payload);
///
/// let mut runtime = Runtime::with_hooks(SceneId(1), (alloc, release));
/// let handle = runtime.acquire(|_, hp| **hp = 100)?;
/// runtime.release(handle)?;
/// assert_eq!(pool.borrow().len(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Hooks<T> {
    /// A payload for a new entity; it may still hold what its last one left in it.
    fn alloc(&mut self) -> T;

    /// Takes back the payload of a despawned entity. Its slot is vacant already.
    fn release(&mut self, payload: T);
}

/// No pool: values are spawned and despawned by their owner.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoHooks;

impl<T: Default> Hooks<T> for NoHooks {
    fn alloc(&mut self) -> T {
        T::default()
    }

    fn release(&mut self, payload: T) {
        drop(payload);
    }
}

impl<T, A: FnMut() -> T, R: FnMut(T)> Hooks<T> for (A, R) {
    fn alloc(&mut self) -> T {
        (self.0)()
    }

    fn release(&mut self, payload: T) {
        (self.1)(payload);
    }
}
