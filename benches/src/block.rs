//! The entities of the benches: blocks of bytes that count what they are told.

use std::sync::LazyLock;

use serde_bytes::ByteBuf;
use serde_json::json;
use slipgate_cluster::message::Payload;
use slipgate_entity::game::{Data, Part, Types, payload};
use slipgate_macros::{Entity, Message, handlers};

/// Bytes of a message.
pub(crate) const MESSAGE: usize = 64;

/// The types of a node.
pub(crate) fn types() -> Types {
    Types::builder().entity::<Block>().build().expect("a block is a type")
}

/// Name of the type of blocks.
pub(crate) fn type_name() -> String {
    Block::NAME.to_owned()
}

/// A block of `bytes` bytes.
pub(crate) fn data(bytes: usize) -> Data {
    Data::default().with(Block::NAME, json!({ "bytes": vec![0; bytes] }))
}

/// A message of 64 bytes, of its own memory. It is encoded once: the benches measure the way of a message, not its encoding.
pub(crate) fn message() -> Payload {
    static ENCODED: LazyLock<Vec<u8>> = LazyLock::new(|| {
        let bytes = [1; MESSAGE - HEAD];
        let message = payload(&Add { first: 1, rest: ByteBuf::from(&bytes[1..]) });
        assert_eq!(message.len(), MESSAGE, "what is before the bytes is as long as it was");
        message
    });
    Payload::from(ENCODED.as_slice())
}

#[derive(Debug, Default, Entity)]
#[entity(crate = "slipgate_entity")]
struct Block {
    bytes: ByteBuf,
}

#[derive(Debug, Message)]
#[message(crate = "slipgate_entity")]
struct Add {
    first: u8,
    rest: ByteBuf,
}

#[handlers(crate = "slipgate_entity")]
impl Block {
    #[from(cluster)]
    fn add(&mut self, Add { first, .. }: Add) {
        if let Some(byte) = self.bytes.first_mut() {
            *byte = byte.wrapping_add(first);
        }
    }
}

/// Bytes of a message before its own: form, tag, and the length of the rest.
const HEAD: usize = 6;
