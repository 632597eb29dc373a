//! The bytes of payloads: messages, asks, and what comes back.
//!
//! | form | 0 | then | arguments |
//! |---|---|---|---|
//! | message | 1 | tag u32 LE | the message |
//! | ask | 2 | ask id u64 LE, tag | the message |
//! | answer | 3 | ask id, tag of the message that asked | the answer |
//! | refused | 4 | ask id, or 0 for a plain message, tag | why, as text |
//! | done | 5 | ask id, tag of the message that asked | none: it was applied, and the answer is left out |
//! | panicked | 6 | ask id, tag of the message that asked | what the handler's panic said, and the entity's [`Fate`] |
//!
//! Arguments are a part in the words of the [`codec`]: no version byte, to the end of the payload.
//!
//! Leaves out: what the arguments are (`message`), and who takes them (`dispatch`).

use serde::Serialize;

use super::message::{AskId, Fate, Message, Reply, Tag};
use crate::codec;

/// A payload, taken apart: the table above.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Envelope<'p> {
    pub(crate) form: Form,
    pub(crate) tag: Tag,
    pub(crate) arguments: &'p [u8],
}

/// What kind of payload, with its ask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    Message,
    Ask(AskId),
    Answer(AskId),
    Refused(Option<AskId>),
    Done(AskId),
    Panicked(AskId),
}

impl<'p> Envelope<'p> {
    /// None if the bytes are no payload.
    pub(crate) fn read(payload: &'p [u8]) -> Option<Self> {
        let (&form, rest) = payload.split_first()?;
        let (form, rest) = if form == MESSAGE {
            (Form::Message, rest)
        } else {
            let (id, rest) = rest.split_first_chunk()?;
            let id = u64::from_le_bytes(*id);
            let form = match form {
                ASK => Form::Ask(AskId(id)),
                ANSWER => Form::Answer(AskId(id)),
                REFUSED => Form::Refused((id != 0).then_some(AskId(id))),
                DONE => Form::Done(AskId(id)),
                PANICKED => Form::Panicked(AskId(id)),
                _ => return None,
            };
            (form, rest)
        };
        let (tag, arguments) = rest.split_first_chunk()?;
        Some(Self { form, tag: Tag(u32::from_le_bytes(*tag)), arguments })
    }
}

/// The bytes of a payload.
///
/// # Panics
///
/// If serde cannot write the arguments, or they need more than [`codec::BYTES_MAX`].
pub(crate) fn write<T: Serialize + ?Sized>(form: Form, tag: Tag, arguments: &T) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(32);
    let (kind, ask) = match form {
        Form::Message => (MESSAGE, None),
        Form::Ask(id) => (ASK, Some(id)),
        Form::Answer(id) => (ANSWER, Some(id)),
        Form::Refused(id) => (REFUSED, Some(id.unwrap_or(AskId(0)))),
        Form::Done(id) => (DONE, Some(id)),
        Form::Panicked(id) => (PANICKED, Some(id)),
    };
    bytes.push(kind);
    bytes.extend(ask.into_iter().flat_map(|AskId(id)| id.to_le_bytes()));
    bytes.extend(tag.0.to_le_bytes());
    if let Err(error) = codec::append_part(arguments, &mut bytes) {
        panic!("a message cannot be written: {error}");
    }
    bytes
}

/// The payload of a plain message.
///
/// # Panics
///
/// If serde cannot write it, or it needs more than [`codec::BYTES_MAX`].
#[must_use]
pub fn payload<M: Message>(message: &M) -> Vec<u8> {
    write(Form::Message, const { Tag::of(M::NAME) }, message)
}

/// Bytes that an ask has beyond the plain message.
pub const ASK_BYTES: usize = 8;

/// The same message as an ask: what the handler answers, or why it is not called, comes back under `id`. None if
/// `message` is the payload of anything but a plain message.
///
/// ```
/// # use slipgate_entity::game::doc::Hit;
/// use slipgate_entity::game::{AskId, asking, payload};
///
/// let message = payload(&Hit { hp: 3 });
/// let ask = asking(&message, AskId(7)).expect("a plain message");
/// assert_eq!(ask.len(), message.len() + 8);
/// assert_eq!(asking(&ask, AskId(8)), None);
/// ```
#[must_use]
pub fn asking(message: &[u8], id: AskId) -> Option<Vec<u8>> {
    let rest = message.strip_prefix(&[MESSAGE])?;
    Some([&[ASK], &id.0.to_le_bytes()[..], rest].concat())
}

/// Reads what came back, and to which ask; none if the bytes are no reply.
///
/// ```
/// use slipgate_entity::game::{payload, reply};
/// # use slipgate_entity::game::doc::Hit;
/// assert_eq!(reply(&payload(&Hit { hp: 3 })), None);
/// ```
#[must_use]
pub fn reply(payload: &[u8]) -> Option<(AskId, Reply<'_>)> {
    let Envelope { form, tag, arguments } = Envelope::read(payload)?;
    match form {
        Form::Answer(id) => Some((id, Reply::Answer { tag, bytes: arguments })),
        Form::Refused(Some(id)) => Some((id, Reply::Refused(codec::decode_part(arguments).ok()?))),
        Form::Done(id) => Some((id, Reply::Done)),
        Form::Panicked(id) => {
            let (why, fate) = codec::decode_part(arguments).ok()?;
            Some((id, Reply::Panicked { why, fate }))
        }
        Form::Message | Form::Ask(_) | Form::Refused(None) => None,
    }
}

/// What a tool hears whose message made a handler panic; none if it is no ask, and so nobody waits for that.
///
/// ```
/// # use slipgate_entity::game::doc::Hit;
/// use slipgate_entity::game::{AskId, Fate, Reply, asking, panicked, payload, reply};
///
/// let message = payload(&Hit { hp: 3 });
/// let ask = asking(&message, AskId(7)).expect("a plain message");
/// let heard = panicked(&ask, "ow", Fate::Parked).expect("somebody asked");
/// assert_eq!(reply(&heard), Some((AskId(7), Reply::Panicked { why: "ow".to_owned(), fate: Fate::Parked })));
/// assert_eq!(panicked(&message, "ow", Fate::Parked), None);
/// ```
///
/// # Panics
///
/// If the text needs more than [`codec::BYTES_MAX`].
#[must_use]
pub fn panicked(message: &[u8], why: &str, fate: Fate) -> Option<Vec<u8>> {
    let Envelope { form: Form::Ask(id), tag, .. } = Envelope::read(message)? else { return None };
    Some(write(Form::Panicked(id), tag, &(why, fate)))
}

/// The same reply without its answer, if it has one: what was asked is done.
#[must_use]
pub fn without_answer(reply: Vec<u8>) -> Vec<u8> {
    match Envelope::read(&reply) {
        Some(Envelope { form: Form::Answer(id), tag, .. }) => write(Form::Done(id), tag, &()),
        Some(_) | None => reply,
    }
}

const MESSAGE: u8 = 1;
const ASK: u8 = 2;
const ANSWER: u8 = 3;
const REFUSED: u8 = 4;
const DONE: u8 = 5;
const PANICKED: u8 = 6;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bytes_of_each_form_stay_as_they_are_and_read_back() {
        let tag = Tag::of("hit");
        let tag_bytes = tag.0.to_le_bytes();
        let id = [7, 0, 0, 0, 0, 0, 0, 0];
        for (form, head) in [
            (Form::Message, vec![1]),
            (Form::Ask(AskId(7)), [&[2], &id[..]].concat()),
            (Form::Answer(AskId(7)), [&[3], &id[..]].concat()),
            (Form::Refused(Some(AskId(7))), [&[4], &id[..]].concat()),
            (Form::Refused(None), [&[4], &[0; 8][..]].concat()),
            (Form::Done(AskId(7)), [&[5], &id[..]].concat()),
            (Form::Panicked(AskId(7)), [&[6], &id[..]].concat()),
        ] {
            let bytes = write(form, tag, &5u32);
            assert_eq!(bytes, [&head[..], &tag_bytes, &[5]].concat(), "{form:?}");
            assert_eq!(Envelope::read(&bytes), Some(Envelope { form, tag, arguments: &[5] }));
            for short in 0..head.len() + 4 {
                assert_eq!(Envelope::read(&bytes[..short]), None, "{form:?}, {short} bytes");
            }
        }
    }

    #[test]
    fn bytes_of_no_form_are_no_payload() {
        assert_eq!(Envelope::read(&[]), None);
        assert_eq!(Envelope::read(&[7; 20]), None);
        assert_eq!(Envelope::read(&[0; 20]), None);
    }
}
