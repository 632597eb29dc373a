//! Payloads that are boxes: from the allocator, and from a pool.

use anyhow::Result;
use slipgate_entity::{Hooks, NoHooks, Pool, Runtime, SceneId};

use super::{TURNS, goal};
use crate::measure::{Contestant, compete, cpu_ns_each};
use crate::report::Section;

pub(super) fn sections(rounds: usize) -> Result<Vec<Section>> {
    [1, 1000].into_iter().map(|at_once| section(rounds, at_once)).collect()
}

fn section(rounds: usize, at_once: usize) -> Result<Section> {
    let lines = compete(
        rounds,
        vec![contestant(ALLOCATED, at_once, || NoHooks), contestant(POOLED, at_once, Pool::<Block>::default)],
    )?;
    let title = format!("Spawn and despawn of a boxed payload of 256 bytes, {at_once} at once");
    Ok(Section { title, unit: "CPU ns for both", lines, goals: vec![goal(POOLED, ALLOCATED, 1.0)] })
}

fn contestant<H: Hooks<Box<Block>> + 'static>(name: &str, at_once: usize, hooks: fn() -> H) -> Contestant<'static> {
    let mut runtime = Runtime::with_hooks(SceneId(1), hooks());
    let mut handles = Vec::with_capacity(at_once);
    let repeats = TURNS / at_once;
    let run = move || {
        Ok(cpu_ns_each(repeats * at_once, || {
            for number in 0..repeats {
                let fill = [number as u64; 32];
                handles.extend(
                    (0..at_once).map(|_| runtime.acquire(|_, payload| **payload = Block(fill)).expect("there is room")),
                );
                for handle in handles.drain(..) {
                    runtime.release(handle).expect("it was spawned just now");
                }
            }
        }))
    };
    (name.to_owned(), Box::new(run))
}

#[derive(Default)]
struct Block(#[expect(dead_code, reason = "it is filled and never read")] [u64; 32]);

const ALLOCATED: &str = "`Box` from the allocator";
const POOLED: &str = "`Pool`, of `Runtime::pooled`";
