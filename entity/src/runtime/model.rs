//! The runtime against a reference that cannot be wrong: one ordered map from handle to value.
//!
//! The reference knows neither slots nor reuse. It remembers who lives, and every handle ever given
//! out, in order of birth; whoever was born later in the same slot has displaced the ones before.

use std::collections::BTreeMap;

use super::*;

const SCENE: SceneId = SceneId(3);
const SEEDS: u64 = 40;
const STEPS: u32 = 2_000;

#[derive(Debug, Default)]
struct Reference {
    living: BTreeMap<Handle, u32>,
    tenants: BTreeMap<EntityId, Handle>,
    born: Vec<Handle>,
    peak: usize,
}

impl Reference {
    fn spawn(&mut self, handle: Handle, value: u32) {
        assert!(!self.born.contains(&handle), "{handle} was given out twice");
        assert_eq!(self.living.insert(handle, value), None);
        self.tenants.insert(handle.id(), handle);
        self.born.push(handle);
        self.peak = self.peak.max(self.living.len());
    }

    fn despawn(&mut self, handle: Handle) -> Result<u32, LookupError> {
        let value = self.get(handle)?;
        self.living.remove(&handle);
        Ok(value)
    }

    fn get(&self, handle: Handle) -> Result<u32, LookupError> {
        if let Some(&value) = self.living.get(&handle) {
            return Ok(value);
        }
        let displaced = self.tenants.get(&handle.id()).is_some_and(|tenant| self.living.contains_key(tenant));
        Err(if displaced { LookupError::Stale } else { LookupError::NotFound })
    }
}

/// Knuth's linear congruential generator; the upper bits are good enough for choices.
struct Lcg(u64);

impl Lcg {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).expect("31 bits") % bound
    }
}

#[test]
fn the_runtime_agrees_with_an_ordered_map() {
    for seed in 0..SEEDS {
        check(seed);
    }
}

fn check(seed: u64) {
    let mut rng = Lcg(seed);
    let mut runtime = Runtime::new(SCENE);
    let mut reference = Reference::default();
    for step in 0..STEPS {
        let context = format!("seed {seed}, step {step}");
        let any = |rng: &mut Lcg, born: &[Handle]| {
            if born.is_empty() { Handle::ZERO } else { born[born.len() - 1 - rng.below(born.len().min(64))] }
        };
        match rng.below(8) {
            0..3 => {
                let handle = runtime.spawn(step).expect("there is room");
                reference.spawn(handle, step);
            }
            3..6 => {
                let handle = any(&mut rng, &reference.born);
                if handle != Handle::ZERO {
                    assert_eq!(runtime.despawn(handle), reference.despawn(handle), "{context}: despawn {handle}");
                }
            }
            _ => {
                let handle = any(&mut rng, &reference.born);
                if handle != Handle::ZERO {
                    assert_eq!(runtime.get(handle).copied(), reference.get(handle), "{context}: get {handle}");
                }
            }
        }
        assert_eq!(runtime.len(), reference.living.len(), "{context}: len");
        assert_eq!(runtime.cap(), reference.peak, "{context}: cap");
    }
    let listed: Vec<_> = runtime.iter().map(|(handle, &value)| (handle, value)).collect();
    let expected: Vec<_> = reference.living.into_iter().collect();
    assert_eq!(listed, expected, "seed {seed}: list");
}
