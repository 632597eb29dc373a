//! The built-in type `walker`: its bytes and its JSON.

use serde::Serialize;
use slipgate_entity::body::ApplyError;
use slipgate_entity::walker::{WALKER_TYPE, WALKER_VERSION, Walker, WalkerEffect, WalkerMessage};
use slipgate_entity::{Body, Effect, OnlineId, TypeName};
use slipgate_proto::codec;

use super::{EntityType, MessageKind};

/// The type `walker`.
#[derive(Clone, Copy, Debug)]
pub struct WalkerType;

impl EntityType for WalkerType {
    fn name(&self) -> TypeName {
        TypeName(WALKER_TYPE.to_owned())
    }

    fn version(&self) -> u16 {
        WALKER_VERSION
    }

    fn create(&self, entity: OnlineId) -> Box<dyn Body> {
        Box::new(WalkerBody { walker: Walker::new(entity) })
    }

    fn decode(&self, bytes: &[u8]) -> Result<Box<dyn Body>, String> {
        let walker = codec::decode(bytes).map_err(|error| error.to_string())?;
        Ok(Box::new(WalkerBody { walker }))
    }

    fn messages(&self) -> &'static [MessageKind] {
        &[
            MessageKind { name: "step", example: r#"{"dx":1,"dy":0}"# },
            MessageKind { name: "hit", example: r#"{"hp":5}"# },
            MessageKind { name: "note", example: r#"{"sender":"me","number":1}"# },
            MessageKind { name: "greet", example: r#"{"to":"1.0","number":1}"# },
            MessageKind { name: "stumble", example: "{}" },
        ]
    }

    fn parse(&self, name: &str, arguments: &str) -> Result<Vec<u8>, String> {
        let arguments: serde_json::Value = serde_json::from_str(arguments).map_err(|error| error.to_string())?;
        let tagged = serde_json::Value::Object([(name.to_owned(), arguments)].into_iter().collect());
        let message: WalkerMessage = serde_json::from_value(tagged).map_err(|error| error.to_string())?;
        Ok(encode(&message))
    }

    fn kind_of(&self, payload: &[u8]) -> Option<&'static str> {
        codec::decode::<WalkerMessage>(payload).ok().map(|message| message.name())
    }
}

#[derive(Debug)]
struct WalkerBody {
    walker: Walker,
}

impl Body for WalkerBody {
    fn type_name(&self) -> TypeName {
        WalkerType.name()
    }

    fn apply(&mut self, payload: &[u8], effects: &mut Vec<Effect>) -> Result<(), ApplyError> {
        let not_a_message = |reason: String| ApplyError::NotAMessage { reason };
        let message: WalkerMessage = codec::decode(payload).map_err(|error| not_a_message(error.to_string()))?;
        let mut wanted = Vec::new();
        self.walker.take(message, &mut wanted).map_err(|error| not_a_message(error.to_string()))?;
        effects.extend(
            wanted.into_iter().map(|WalkerEffect::Send { to, message }| Effect::Send { to, payload: encode(&message) }),
        );
        Ok(())
    }

    fn encode(&self, bytes: &mut Vec<u8>) {
        bytes.extend(codec::encode(&self.walker).expect("a walker is far below the codec's limit"));
    }

    fn describe(&self) -> String {
        let (x, y) = self.walker.position();
        let ledger = self.walker.ledger();
        let senders = ledger.entries().map(|(sender, entry)| SenderText {
            sender,
            count: entry.count,
            last: entry.last,
            gaps: entry.gaps,
            repeats: entry.repeats,
        });
        let text = WalkerText {
            position: [x, y],
            hp: self.walker.hp(),
            ledger: LedgerText { senders: senders.collect(), others: ledger.others() },
        };
        serde_json::to_string(&text).expect("a walker's position is finite")
    }
}

#[derive(Serialize)]
struct WalkerText<'a> {
    position: [f32; 2],
    hp: i32,
    ledger: LedgerText<'a>,
}

#[derive(Serialize)]
struct LedgerText<'a> {
    senders: Vec<SenderText<'a>>,
    others: u64,
}

#[derive(Serialize)]
struct SenderText<'a> {
    sender: &'a str,
    count: u64,
    last: u64,
    gaps: u64,
    repeats: u64,
}

fn encode(message: &WalkerMessage) -> Vec<u8> {
    codec::encode(message).expect("a message is far below the codec's limit")
}

#[cfg(test)]
mod tests {
    use slipgate_entity::RangeId;

    use super::*;
    use crate::types::{ParseMessageError, Types};

    fn entity(counter: u32) -> OnlineId {
        OnlineId::new(RangeId(1), counter)
    }

    #[test]
    fn a_walker_reads_back_from_its_bytes_with_its_ledger() {
        let mut body = WalkerType.create(entity(1));
        let note = WalkerType.parse("note", r#"{"sender":"t","number":1}"#).expect("a note");
        let step = WalkerType.parse("step", r#"{"dx":1.5,"dy":-2}"#).expect("a step");
        for payload in [note, step] {
            body.apply(&payload, &mut Vec::new()).expect("a message");
        }
        let mut bytes = Vec::new();
        body.encode(&mut bytes);
        let again = WalkerType.decode(&bytes).expect("a walker");
        assert_eq!(again.describe(), body.describe());
        assert_eq!(
            again.describe(),
            r#"{"position":[1.5,-2.0],"hp":100,"ledger":{"senders":[{"sender":"t","count":1,"last":1,"gaps":0,"repeats":0}],"others":0}}"#
        );
    }

    #[test]
    fn a_greeting_makes_a_walker_write_to_another() {
        let mut body = WalkerType.create(entity(1));
        let greet = WalkerType.parse("greet", r#"{"to":"1.2","number":4}"#).expect("a greeting");
        let mut effects = Vec::new();
        body.apply(&greet, &mut effects).expect("a message");
        let payload = WalkerType.parse("note", r#"{"sender":"1.1","number":4}"#).expect("a note");
        assert_eq!(effects, [Effect::Send { to: entity(2), payload }]);
    }

    #[test]
    fn a_name_or_arguments_that_do_not_fit_are_refused_with_what_would() {
        let types = Types::built_in();
        let unknown = types.parse("fly", "{}").expect_err("no such message");
        assert_eq!(
            unknown.to_string(),
            r#"no type takes a message named "fly"; there are step, hit, note, greet, stumble"#
        );
        let wrong = types.parse("hit", r#"{"hp":"a lot"}"#).expect_err("no number");
        assert!(matches!(&wrong, ParseMessageError::Arguments { reason, .. } if reason.contains("expected i32")));
        assert!(wrong.to_string().ends_with(r#"; these would: {"hp":5}"#), "{wrong}");
        assert!(types.parse("hit", "{").is_err());
    }

    #[test]
    fn every_example_fits_and_its_bytes_tell_its_name() {
        for kind in WalkerType.messages() {
            let payload = WalkerType.parse(kind.name, kind.example).expect(kind.name);
            assert_eq!(WalkerType.kind_of(&payload), Some(kind.name));
        }
    }
}
