//! The entity of the benches: a block of bytes that counts what it is told.

use std::sync::Arc;

use slipgate_actors::types::{EntityType, MessageKind, Types};
use slipgate_cluster::message::Payload;
use slipgate_entity::body::ApplyError;
use slipgate_entity::{Body, Effect, OnlineId, TypeName};

/// Sizes of the blocks that there are: one that only counts, and the two that are moved.
pub(crate) const SIZES: [usize; 3] = [8, 1 << 10, 16 << 10];

/// Bytes of a message.
pub(crate) const MESSAGE: usize = 64;

/// The types of a node: a block of each size.
pub(crate) fn types() -> Types {
    Types::new(SIZES.map(|bytes| Arc::new(BlockType { bytes }) as Arc<dyn EntityType>).into())
}

/// Name of the type of blocks of `bytes` bytes.
pub(crate) fn type_name(bytes: usize) -> String {
    format!("block{bytes}")
}

/// A message of 64 bytes.
pub(crate) fn message() -> Payload {
    Arc::from([1; MESSAGE].as_slice())
}

#[derive(Debug)]
struct BlockType {
    bytes: usize,
}

impl EntityType for BlockType {
    fn name(&self) -> TypeName {
        TypeName(type_name(self.bytes))
    }

    fn version(&self) -> u16 {
        1
    }

    fn create(&self, _: OnlineId) -> Box<dyn Body> {
        Box::new(Block { bytes: vec![0; self.bytes] })
    }

    fn kind_of(&self, _: &[u8]) -> Option<&'static str> {
        Some("block")
    }

    fn decode(&self, bytes: &[u8]) -> Result<Box<dyn Body>, String> {
        if bytes.len() != self.bytes {
            return Err(format!("expected {} bytes, found {}", self.bytes, bytes.len()));
        }
        Ok(Box::new(Block { bytes: bytes.to_vec() }))
    }

    fn messages(&self) -> &'static [MessageKind] {
        &[]
    }

    fn parse(&self, name: &str, _: &str) -> Result<Vec<u8>, String> {
        Err(format!("a block takes no message named {name}"))
    }
}

#[derive(Debug)]
struct Block {
    bytes: Vec<u8>,
}

impl Body for Block {
    fn type_name(&self) -> TypeName {
        TypeName(type_name(self.bytes.len()))
    }

    fn apply(&mut self, payload: &[u8], _: &mut Vec<Effect>) -> Result<(), ApplyError> {
        let first = payload.first().ok_or_else(|| ApplyError::NotAMessage { reason: "it is empty".to_owned() })?;
        self.bytes[0] = self.bytes[0].wrapping_add(*first);
        Ok(())
    }

    fn encode(&self, bytes: &mut Vec<u8>) {
        bytes.extend_from_slice(&self.bytes);
    }

    fn describe(&self) -> String {
        format!(r#"{{"bytes":{}}}"#, self.bytes.len())
    }
}
