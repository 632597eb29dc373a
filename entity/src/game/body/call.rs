//! Messages come in: to the part that takes them; and what is due.

use thiserror::Error;

use super::Body;
use super::calls::{Ask, Due};
use super::parts::At;
use super::turn::Turn;
use crate::OnlineId;
use crate::codec;
use crate::game::behaviour::ReturnedMessage;
use crate::game::dispatch::Handler;
use crate::game::effect::Effect;
use crate::game::envelope::{Envelope, Form, write};
use crate::game::erased::Hook;
use crate::game::message::{AskError, AskId, Caller, Returned, Tag};
use crate::game::types::{TypeInfo, Types};
use crate::game::world::{Moment, World};

/// A message that comes to an entity.
#[derive(Clone, Copy, Debug)]
pub struct Incoming<'m> {
    /// From whom.
    pub caller: Caller,
    /// Its bytes.
    pub payload: &'m [u8],
}

/// Why an entity did not take a message. It is unchanged. If an entity sent it, or a tool asked, it hears so, by an
/// effect.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum CallError {
    /// The bytes are no message at all.
    #[error("the bytes are no message")]
    NoMessage,
    /// None of its parts takes such.
    #[error("it takes no message {}", message.map_or_else(|| format!("with the tag {tag}"), |name| format!("named {name}")))]
    Unknown {
        /// What its name is on the wire.
        tag: Tag,
        /// Its name, if some type takes it.
        message: Option<&'static str>,
    },
    /// The arguments are none of the message.
    #[error("the arguments are none of {message}: {reason}")]
    IllTyped {
        /// Name of the message.
        message: &'static str,
        /// What the decoder said.
        reason: String,
    },
    /// It is not for such callers.
    #[error("{message} is not for {caller:?}")]
    Forbidden {
        /// Name of the message.
        message: &'static str,
        /// Who called.
        caller: Caller,
    },
    /// An answer that nothing waits for: it came too late, twice, or from somebody else than was asked.
    #[error("nothing waits for the answer to ask {}", ask.0)]
    NotAsked {
        /// Of which ask.
        ask: AskId,
    },
}

impl Body {
    /// Takes a message. What it leads to is appended to `effects`: in the end what goes back, if an entity or a tool asked,
    /// or if an entity sent what is not taken.
    ///
    /// # Errors
    ///
    /// If no part takes it; see [`CallError`].
    pub fn call(
        &mut self,
        incoming: Incoming<'_>,
        world: &World<'_>,
        effects: &mut Vec<Effect>,
    ) -> Result<(), CallError> {
        let Incoming { caller, payload } = incoming;
        let envelope = Envelope::read(payload).ok_or(CallError::NoMessage)?;
        // Most are plain, and what is done for the others is kept out of their way.
        if envelope.form == Form::Message {
            self.dispatch(caller, envelope, None, world, effects)
        } else {
            self.answer(caller, envelope, world, effects)
        }
    }

    /// Takes what is part of an ask.
    #[inline(never)]
    fn answer(
        &mut self,
        caller: Caller,
        envelope: Envelope<'_>,
        world: &World<'_>,
        effects: &mut Vec<Effect>,
    ) -> Result<(), CallError> {
        match envelope.form {
            Form::Message => self.dispatch(caller, envelope, None, world, effects),
            Form::Ask(id) => self.dispatch(caller, envelope, Some(id), world, effects),
            Form::Answer(id) => self.answered(id, caller, Ok(envelope.arguments), world, effects),
            Form::Refused(id) => self.refused(id, caller, envelope, world, effects),
            // Tools alone hear that.
            Form::Done(_) | Form::Panicked(_) => Err(CallError::NoMessage),
        }
    }

    /// A message that the entity sent came back: whoever asked hears that there is no answer, or all parts hear
    /// [`returned`](crate::game::Behaviour::returned).
    pub fn returned(
        &mut self,
        to: OnlineId,
        why: Returned,
        payload: &[u8],
        world: &World<'_>,
        effects: &mut Vec<Effect>,
    ) {
        let envelope = Envelope::read(payload);
        if let Some(Form::Ask(id)) = envelope.map(|envelope| envelope.form) {
            let heard = self.answered(id, Caller::Entity(to), Err(AskError::Returned(why)), world, effects);
            if heard.is_ok() {
                return;
            }
        }
        let message = envelope.and_then(|envelope| world.types.message(envelope.tag)).unwrap_or("?");
        let back = ReturnedMessage { to, why, reason: String::new(), message, payload: payload.to_vec() };
        self.run(&Hook::Returned(&back), world, effects, &mut super::unguarded);
    }

    /// When the next timer or ask of it is due.
    #[must_use]
    pub fn due(&self) -> Option<Moment> {
        self.calls.due()
    }

    /// Runs what is due next: a timer's message, or an ask that nobody answered. None if nothing is due. Whatever
    /// comes of it, it is not due again. Called until there is nothing it comes to an end: what is set
    /// meanwhile is due later than `now`.
    pub fn fire(&mut self, world: &World<'_>, effects: &mut Vec<Effect>) -> Option<Result<(), CallError>> {
        Some(match self.calls.pop(world.now)? {
            Due::Timer(timer) => self.call(Incoming { caller: Caller::Timer, payload: &timer.payload }, world, effects),
            Due::Ask(ask) => self.hear(ask, Err(AskError::Timeout), world, effects),
        })
    }

    /// Calls the handler of a message, or tells the caller that there is none.
    #[inline(always)]
    fn dispatch(
        &mut self,
        caller: Caller,
        Envelope { tag, arguments, .. }: Envelope<'_>,
        ask: Option<AskId>,
        world: &World<'_>,
        effects: &mut Vec<Effect>,
    ) -> Result<(), CallError> {
        let Some((at, handler)) = self.find_handler(tag, world.types) else {
            let error = CallError::Unknown { tag, message: world.types.message(tag) };
            return Err(refuse(error, caller, ask, tag, effects));
        };
        if !handler.callers.allow(caller) {
            let error = CallError::Forbidden { message: handler.message.name, caller };
            return Err(refuse(error, caller, ask, tag, effects));
        }
        let turn = Turn::called(self, at, caller, world, effects);
        match turn.run(|part, cx| (handler.run)(part, arguments, ask, cx)) {
            Ok(()) => Ok(()),
            Err(reason) => {
                let error = CallError::IllTyped { message: handler.message.name, reason };
                Err(refuse(error, caller, ask, tag, effects))
            }
        }
    }

    /// Which part takes a message: one that its type lists, or one that was added.
    #[inline]
    pub(super) fn find_handler<'t>(&self, tag: Tag, types: &'t Types) -> Option<(At, &'t Handler)> {
        let kind = types.by_number(self.description.type_number());
        kind.find_handler(tag).or_else(|| self.find_added(kind, tag, types))
    }

    #[inline(never)]
    fn find_added<'t>(&self, kind: &TypeInfo, tag: Tag, types: &'t Types) -> Option<(At, &'t Handler)> {
        let added = self.parts.numbers().iter().skip(kind.listed_len());
        added.copied().find_map(|number| Some((At::Component(number), types.part(number)?.find_handler(tag)?)))
    }

    fn answered(
        &mut self,
        id: AskId,
        caller: Caller,
        result: Result<&[u8], AskError>,
        world: &World<'_>,
        effects: &mut Vec<Effect>,
    ) -> Result<(), CallError> {
        let asked = self.calls.ask_of(id).is_some_and(|ask| caller == Caller::Entity(ask.to));
        let ask = asked.then(|| self.calls.settle(id)).flatten().ok_or(CallError::NotAsked { ask: id })?;
        self.hear(ask, result, world, effects)
    }

    /// Tells the part that asked.
    fn hear(
        &mut self,
        ask: Ask,
        result: Result<&[u8], AskError>,
        world: &World<'_>,
        effects: &mut Vec<Effect>,
    ) -> Result<(), CallError> {
        let tag = ask.tag;
        let part = self.parts.get(ask.at).and_then(|part| world.types.part(part.number()));
        let Some(handler) = part.and_then(|part| part.answers.iter().find(|answer| answer.message.tag == tag)) else {
            return Err(CallError::Unknown { tag, message: world.types.message(tag) });
        };
        Turn::begin(self, ask.at, world, effects).run(|part, cx| (handler.run)(part, ask.id, result, cx));
        Ok(())
    }

    fn refused(
        &mut self,
        id: Option<AskId>,
        caller: Caller,
        envelope: Envelope<'_>,
        world: &World<'_>,
        effects: &mut Vec<Effect>,
    ) -> Result<(), CallError> {
        let ill_typed =
            |error: codec::DecodeError| CallError::IllTyped { message: "refused", reason: error.to_string() };
        let reason: String = codec::decode_part(envelope.arguments).map_err(ill_typed)?;
        let Caller::Entity(to) = caller else { return Err(CallError::Forbidden { message: "refused", caller }) };
        if let Some(id) = id {
            return self.answered(id, caller, Err(AskError::Refused(reason)), world, effects);
        }
        let message = world.types.message(envelope.tag).unwrap_or("?");
        let back = ReturnedMessage { to, why: Returned::Refused, reason, message, payload: Vec::new() };
        self.run(&Hook::Returned(&back), world, effects, &mut super::unguarded);
        Ok(())
    }
}

/// Tells whoever sent a message that it is not taken: an entity always, a tool if it asked.
#[cold]
#[inline(never)]
fn refuse(error: CallError, caller: Caller, ask: Option<AskId>, tag: Tag, effects: &mut Vec<Effect>) -> CallError {
    if ask.is_some() || matches!(caller, Caller::Entity(_)) {
        effects.extend(Effect::reply(caller, write(Form::Refused(ask), tag, &error.to_string())));
    }
    error
}
