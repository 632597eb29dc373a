//! An allocator that counts, per thread: how much more is held at worst while something runs.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

#[global_allocator]
static METER: Meter = Meter;

struct Meter;

thread_local! {
    static HELD: Cell<isize> = const { Cell::new(0) };
    static PEAK: Cell<isize> = const { Cell::new(0) };
}

/// The most bytes that this thread held at once while `run` ran, beyond what it held before.
pub(crate) fn peak(run: impl FnOnce()) -> usize {
    let before = HELD.get();
    PEAK.set(before);
    run();
    usize::try_from(PEAK.get() - before).expect("a peak is not below its start")
}

fn count(bytes: usize, sign: isize) {
    // A thread that ends may free what it holds after its cells are gone.
    let _ = HELD.try_with(|held| {
        let now = held.get() + sign * isize::try_from(bytes).unwrap_or(isize::MAX);
        held.set(now);
        PEAK.try_with(|peak| peak.set(peak.get().max(now)))
    });
}

#[expect(unsafe_code, reason = "an allocator cannot be written without it; this one only counts")]
// SAFETY: every call goes on to the system's allocator, with its arguments as they came.
unsafe impl GlobalAlloc for Meter {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size(), 1);
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(layout.size(), 1);
        // SAFETY: the caller keeps the contract of `alloc_zeroed`.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        count(layout.size(), -1);
        // SAFETY: the pointer came from the system's allocator, through this one.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(size, 1);
        count(layout.size(), -1);
        // SAFETY: the pointer came from the system's allocator, through this one.
        unsafe { System.realloc(pointer, layout, size) }
    }
}
