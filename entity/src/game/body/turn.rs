//! A part runs: taken out of its body, with a context; back in its place afterwards, whatever happened.

use super::Body;
use super::parts::At;
use crate::game::context::Context;
use crate::game::effect::{Audience, Effect, Level};
use crate::game::erased::AnyPart;
use crate::game::message::Caller;
use crate::game::part::Position;
use crate::game::world::World;

/// Runs what it is given, in the part named, and may catch its panic. A body runs hooks of several parts through it, so
/// that one that panics does not keep the others from theirs.
pub type Guard<'g> = dyn FnMut(&'static str, &mut dyn FnMut()) + 'g;

/// A [`Guard`] that lets panics pass.
pub fn unguarded(part: &'static str, run: &mut dyn FnMut()) {
    let _ = part;
    run();
}

/// One run of one part. Dropped before it was done, as by a panic, it undoes what the context has noted, and takes the
/// components away that were added.
pub(super) struct Turn<'c> {
    cx: Context<'c>,
    part: Option<Box<dyn AnyPart>>,
    effects_before: usize,
    calls_before: u64,
    parts_before: usize,
    is_done: bool,
}

impl<'c> Turn<'c> {
    /// For a hook.
    pub(super) fn begin(body: &'c mut Body, at: At, world: &'c World<'c>, effects: &'c mut Vec<Effect>) -> Self {
        Self::called(body, at, Caller::Scene, world, effects)
    }

    /// For a message.
    #[inline]
    pub(super) fn called(
        body: &'c mut Body,
        at: At,
        caller: Caller,
        world: &'c World<'c>,
        effects: &'c mut Vec<Effect>,
    ) -> Self {
        let part = body.parts.take(at);
        assert!(part.is_some(), "expected a part at {at:?} of {}, found none", body.description.online());
        let (effects_before, calls_before, parts_before) = (effects.len(), body.calls.given(), body.parts.len());
        let cx = Context { body, world, effects, caller, at, has_around: false };
        Self { cx, part, effects_before, calls_before, parts_before, is_done: false }
    }

    #[inline]
    pub(super) fn run<R>(mut self, run: impl FnOnce(&mut dyn AnyPart, &mut Context<'c>) -> R) -> R {
        let result = run(Self::part(&mut self.part), &mut self.cx);
        self.is_done = true;
        result
    }

    #[inline]
    fn part(part: &mut Option<Box<dyn AnyPart>>) -> &mut dyn AnyPart {
        part.as_deref_mut().expect("a turn has its part until it is dropped")
    }
}

impl Drop for Turn<'_> {
    #[inline]
    fn drop(&mut self) {
        let part = self.part.take().expect("a turn has its part until it is dropped");
        self.cx.body.parts.put_back(self.cx.at, part);
        if !self.is_done {
            self.cx.effects.truncate(self.effects_before);
            self.cx.body.calls.forget_since(self.calls_before);
            self.cx.body.parts.truncate(self.parts_before);
        } else if self.cx.has_around || self.cx.body.is_around_open {
            self.set_middles();
        }
    }
}

impl Turn<'_> {
    /// Where the entity stands is for its own part to say. If that runs, as where it adds another, it is asked when it has.
    #[cold]
    fn set_middles(&mut self) {
        let body = &mut *self.cx.body;
        body.is_around_open = body.parts.get(At::Own).is_none();
        if !body.is_around_open {
            set_middles(&mut self.cx.effects[self.effects_before..], body.position());
        }
    }
}

/// Tells messages to those around where the entity stands.
fn set_middles(effects: &mut [Effect], stands: Option<Position>) {
    for effect in effects {
        let Effect::SendTo { audience: Audience::Around { position, .. }, .. } = effect else { continue };
        match stands {
            Some(stands) => *position = stands,
            None => {
                let text = "it stands nowhere, so a message to those around it went to nobody".to_owned();
                *effect = Effect::Log { level: Level::Warn, text };
            }
        }
    }
}
