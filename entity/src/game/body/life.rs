//! The turns of an entity's life: its hooks, in their order.

use super::turn::{Guard, Turn};
use super::{Body, Phase};
use crate::game::behaviour::{Destination, Entered, Entry, Leave};
use crate::game::effect::Effect;
use crate::game::erased::{AnyPart, Hook};
use crate::game::flags::Flags;
use crate::game::world::World;

impl Body {
    /// It is in the scene: `on_enter_scene`, then `arrived` where that is so, then `activate`; each in all parts before
    /// the next. Why it did not move, if it was about to, it hears once that is known.
    pub fn enter(&mut self, how: Entered, world: &World<'_>, effects: &mut Vec<Effect>, guard: &mut Guard<'_>) {
        let entry = Entry { how, brings: self.brings.take().map(|brings| *brings) };
        self.run(&Hook::EnterScene(&entry), world, effects, guard);
        if let Entered::Arrived { .. } = how {
            self.run(&Hook::Arrived, world, effects, guard);
        }
        self.run(&Hook::Activate, world, effects, guard);
    }

    /// It leaves the scene, to move or for good: `deactivate`, then `on_leave_scene`, as far as it had come in.
    pub fn leave(&mut self, world: &World<'_>, effects: &mut Vec<Effect>, guard: &mut Guard<'_>) {
        if self.phase >= Phase::Active {
            self.run(&Hook::Deactivate, world, effects, guard);
        }
        if self.phase >= Phase::Entered {
            self.run(&Hook::LeaveScene, world, effects, guard);
        }
    }

    /// Whether it may move. Refused by the first part that does, or because it does not have
    /// [`Flags::SUPPORT_MIGRATE`].
    pub fn leaving(&mut self, to: &Destination, world: &World<'_>, effects: &mut Vec<Effect>) -> Leave {
        if !self.flags.has(Flags::SUPPORT_MIGRATE) {
            let name = self.description.type_name();
            return Leave::refuse(format!("this {name} does not have the flag support_migrate"));
        }
        let mut place = 0;
        let mut all = Leave::allow();
        while let Some(at) = self.parts.at(place) {
            place += 1;
            match Turn::begin(self, at, world, effects).run(|part, cx| part.leaving(to, cx)) {
                Leave::Allowed { companions } => all = all.with(companions),
                refused @ Leave::Refused { .. } => return refused,
            }
        }
        all
    }

    /// Runs a hook in all parts, each under `guard`.
    pub fn run(&mut self, hook: &Hook<'_>, world: &World<'_>, effects: &mut Vec<Effect>, guard: &mut Guard<'_>) {
        if let Hook::Deactivate | Hook::LeaveScene = hook {
            self.phase = if let Hook::Deactivate = hook { Phase::Entered } else { Phase::Outside };
        }
        let before = effects.len();
        let count = self.parts.len();
        let mut step = 0;
        while step < if hook.is_backward() { count } else { self.parts.len() } {
            let place = if hook.is_backward() { count - 1 - step } else { step };
            step += 1;
            let Some(at) = self.parts.at(place) else { continue };
            let name = self.parts.name(at);
            guard(name, &mut || Turn::begin(self, at, world, effects).run(|part, cx| part.hook(hook, cx)));
        }
        match hook {
            Hook::EnterScene(_) => self.phase = Phase::Entered,
            Hook::Activate => self.phase = Phase::Active,
            Hook::Left => keep_log(effects, before),
            Hook::Arrived | Hook::MoveFailed(_) | Hook::Deactivate | Hook::LeaveScene | Hook::Returned(_) => {}
        }
    }

    /// Ends it: it leaves the scene if it is in one, and its parts are dropped.
    pub fn remove(mut self, world: &World<'_>, effects: &mut Vec<Effect>, guard: &mut Guard<'_>) {
        self.leave(world, effects, guard);
        self.end(guard);
    }

    /// Ends one that takes no turns: it runs no hooks. Its parts are dropped, the last first, each under `guard`.
    pub fn end(mut self, guard: &mut Guard<'_>) {
        self.bury(guard);
        while let Some(part) = self.parts.pop() {
            bury(part, guard);
        }
    }

    /// Drops the components that were added and taken away again, each under `guard`: after each turn, as one that ends in a
    /// panic must not run their destructors.
    pub fn bury(&mut self, guard: &mut Guard<'_>) {
        while let Some(part) = self.parts.exhume() {
            bury(part, guard);
        }
    }
}

fn bury(part: Box<dyn AnyPart>, guard: &mut Guard<'_>) {
    let (name, mut part) = (part.name(), Some(part));
    guard(name, &mut || drop(part.take()));
}

/// What has left sends nothing.
fn keep_log(effects: &mut Vec<Effect>, before: usize) {
    let said = effects.split_off(before);
    effects.extend(said.into_iter().filter(|effect| matches!(effect, Effect::Log { .. })));
}
