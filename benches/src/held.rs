//! An allocator that counts what a piece of work holds.
//!
//! It counts on demand, on one thread: whatever else is measured passes one branch more, and nothing else. A block
//! that grows counts twice for a moment, as old and as new, whether or not the system had to copy it: so the peak
//! does not depend on the allocator, or on what was freed before.
//!
//! Leaves out: what an allocator adds to a block; pages that nobody has touched, which are counted like the others.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

/// Bytes of the blocks that a piece of work left behind, and the most that it held at once.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Held {
    pub(crate) bytes: usize,
    pub(crate) peak: usize,
}

/// Counts what `work` allocates and does not free, on this thread.
pub(crate) fn held_by<T>(work: impl FnOnce() -> T) -> (T, Held) {
    COUNT.set(Some(Held::default()));
    let result = work();
    let held = COUNT.take().expect("the count goes on until it is taken");
    (result, held)
}

struct Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

thread_local! {
    static COUNT: Cell<Option<Held>> = const { Cell::new(None) };
}

#[expect(unsafe_code, reason = "every call goes to the system's allocator as it came")]
// SAFETY: the system's allocator keeps the contract; counting neither allocates nor touches a block.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size(), 0);
        // SAFETY: the caller's promise about `layout` is passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(layout.size(), 0);
        // SAFETY: as above.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, bytes: usize) -> *mut u8 {
        count(bytes, layout.size());
        // SAFETY: as above, and `block` came from the system's allocator.
        unsafe { System.realloc(block, layout, bytes) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        count(0, layout.size());
        // SAFETY: as above, and `block` came from the system's allocator.
        unsafe { System.dealloc(block, layout) }
    }
}

/// What is freed and was not counted before counts as nothing.
fn count(taken: usize, given: usize) {
    // A thread that ends has no count any more, and still frees.
    let _ = COUNT.try_with(|count| {
        if let Some(held) = count.get() {
            let bytes = held.bytes + taken;
            count.set(Some(Held { bytes: bytes.saturating_sub(given), peak: held.peak.max(bytes) }));
        }
    });
}
