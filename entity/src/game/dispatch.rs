//! Which messages a part takes, and how bytes come to its handlers.
//!
//! ```text
//! payload  form, tag | arguments        types: tag -> part, handler
//!                        decode M   ->  handler(&mut Health, M, &mut Context) -> M::Answer
//!                                        encode, if it was an ask
//! ```
//!
//! An entity has at most one handler for a message type, so that it is never open who answers. Answers go to the part
//! that asked.

use std::any::{TypeId, type_name};
use std::fmt;
use std::marker::PhantomData;

use serde::de::DeserializeOwned;
use serde_json::Value;

use super::context::Context;
use super::envelope::{self, Form};
use super::erased::{AnyPart, downcast_mut};
use super::message::{Answered, AskError, AskId, Callers, Message, Tag};
use super::part::{Field, Part};
use crate::codec;

/// The messages that a part takes, and the earlier versions that it reads.
///
/// ```
/// # use slipgate_entity::game::doc::{Health, Hit};
/// use slipgate_entity::game::{Callers, Context, Handlers};
///
/// fn hit(health: &mut Health, hit: Hit, _: &mut Context<'_>) -> i32 {
///     health.hp -= hit.hp;
///     health.hp
/// }
///
/// fn handlers(table: &mut Handlers<Health>) {
///     table.on(Callers::CLUSTER, hit);
/// }
/// ```
pub struct Handlers<P> {
    pub(crate) handlers: Vec<Handler>,
    pub(crate) answers: Vec<AnswerHandler>,
    pub(crate) migrations: Vec<Migration>,
    part: PhantomData<fn(&mut P)>,
}

/// Calls a handler with arguments; what it returns goes back if it was an ask.
type Run = Box<dyn Fn(&mut dyn AnyPart, &[u8], Option<AskId>, &mut Context<'_>) -> Result<(), String> + Send + Sync>;
type RunAnswer = Box<dyn Fn(&mut dyn AnyPart, AskId, Result<&[u8], AskError>, &mut Context<'_>) + Send + Sync>;
type Read = Box<dyn Fn(&[u8]) -> Result<Box<dyn AnyPart>, String> + Send + Sync>;
type ReadSaved = Box<dyn Fn(Value) -> Result<Box<dyn AnyPart>, String> + Send + Sync>;

/// One handler.
pub(crate) struct Handler {
    pub(crate) message: MessageInfo,
    pub(crate) callers: Callers,
    pub(crate) answer: &'static str,
    pub(crate) run: Run,
    pub(crate) parse: fn(&str) -> Result<Vec<u8>, String>,
    /// The bytes of an answer as JSON.
    pub(crate) describe: fn(&[u8]) -> Result<Value, String>,
}

/// A message that some part takes or waits for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MessageInfo {
    pub(crate) name: &'static str,
    pub(crate) tag: Tag,
    pub(crate) id: TypeId,
    pub(crate) rust_name: &'static str,
    pub(crate) fields: &'static [Field],
}

/// The handler of the answers to one message.
pub(crate) struct AnswerHandler {
    pub(crate) message: MessageInfo,
    pub(crate) run: RunAnswer,
}

/// How the state of an earlier version is read.
pub(crate) struct Migration {
    pub(crate) from: u16,
    pub(crate) read: Read,
    pub(crate) read_saved: ReadSaved,
}

impl<P: Part> Handlers<P> {
    /// Takes a message from `from`. What the handler returns goes back to an entity that asked.
    ///
    /// A part that takes a message twice is a fault that [`Types`](super::Types) names.
    pub fn on<M: Message>(
        &mut self,
        from: Callers,
        handler: impl Fn(&mut P, M, &mut Context<'_>) -> M::Answer + Send + Sync + 'static,
    ) {
        let message = MessageInfo::of::<M>();
        let run: Run = Box::new(move |part, arguments, ask, cx| {
            let message = codec::decode_part::<M>(arguments).map_err(|error| text_of(&error))?;
            let answer = handler(own(part), message, cx);
            if let Some(id) = ask {
                cx.reply(envelope::write(Form::Answer(id), const { Tag::of(M::NAME) }, &answer));
            }
            Ok(())
        });
        self.handlers.push(Handler {
            message,
            callers: from,
            answer: type_name::<M::Answer>(),
            run,
            parse: parse::<M>,
            describe: describe::<M>,
        });
    }

    /// Hears what came of the asks of this part that sent an `M`.
    pub fn on_answer<M: Message>(
        &mut self,
        handler: impl Fn(&mut P, Answered<M>, &mut Context<'_>) + Send + Sync + 'static,
    ) {
        let run: RunAnswer = Box::new(move |part, ask, result, cx| {
            let read = |bytes| codec::decode_part(bytes).map_err(|error| AskError::Unreadable(text_of(&error)));
            handler(own(part), Answered { ask, result: result.and_then(read) }, cx);
        });
        self.answers.push(AnswerHandler { message: MessageInfo::of::<M>(), run });
    }

    /// Reads the state of an earlier version. Versions without a gap up to the present one can be read.
    ///
    /// `Old` has the fields of that version in their order, and is read from the saved form too: there the fields that
    /// were not saved are missing, so give them a serde default.
    pub fn migrate_from<Old: DeserializeOwned + 'static>(&mut self, version: u16, migrate: fn(Old) -> P) {
        let boxed = move |old| -> Box<dyn AnyPart> { Box::new(migrate(old)) };
        let read: Read = Box::new(move |bytes| codec::decode_part(bytes).map(boxed).map_err(|error| text_of(&error)));
        let read_saved: ReadSaved =
            Box::new(move |value| serde_json::from_value(value).map(boxed).map_err(|error| error.to_string()));
        self.migrations.push(Migration { from: version, read, read_saved });
    }
}

impl<P> Handlers<P> {
    pub(crate) fn new() -> Self {
        Self { handlers: Vec::new(), answers: Vec::new(), migrations: Vec::new(), part: PhantomData }
    }
}

impl<P> fmt::Debug for Handlers<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(&self.handlers).finish()
    }
}

impl fmt::Debug for Handler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.message.name)
    }
}

impl fmt::Debug for AnswerHandler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.answer", self.message.name)
    }
}

impl fmt::Debug for Migration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "from {}", self.from)
    }
}

impl MessageInfo {
    fn of<M: Message>() -> Self {
        let (name, id) = (M::NAME, TypeId::of::<M>());
        Self { name, tag: Tag::of(name), id, rust_name: type_name::<M>(), fields: M::FIELDS }
    }
}

fn own<P: Part>(part: &mut dyn AnyPart) -> &mut P {
    downcast_mut(part).unwrap_or_else(|| panic!("a handler of {} was called with another part", P::NAME))
}

/// A payload from arguments as JSON text. A message without fields may be `{}`, or nothing at all.
fn parse<M: Message>(arguments: &str) -> Result<Vec<u8>, String> {
    let arguments = if arguments.trim().is_empty() { "{}" } else { arguments };
    let parsed = serde_json::from_str::<M>(arguments).or_else(|error| {
        let is_empty = arguments.trim() == "{}";
        is_empty.then(|| serde_json::from_str("null").ok()).flatten().ok_or(error)
    });
    parsed.map(|message| envelope::payload(&message)).map_err(|error| error.to_string())
}

fn describe<M: Message>(answer: &[u8]) -> Result<Value, String> {
    let answer = codec::decode_part::<M::Answer>(answer).map_err(|error| text_of(&error))?;
    serde_json::to_value(answer).map_err(|error| error.to_string())
}

/// An error with what is behind it.
pub(crate) fn text_of(error: &dyn std::error::Error) -> String {
    match error.source() {
        Some(source) => format!("{error}: {source}"),
        None => error.to_string(),
    }
}
