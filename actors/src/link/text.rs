//! One handshake text, in or out.

use std::io;
use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;
use slipgate_proto::handshake::{self, HandshakeError};
use thiserror::Error;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::timeout;

use crate::transport::Connection;

/// Why a handshake did not come about.
#[derive(Debug, Error)]
pub enum TextError {
    /// The connection broke.
    #[error("the connection broke during the handshake: {0}")]
    Broken(#[from] io::Error),
    /// The other side said nothing, or not enough, in time.
    #[error("the other side did not finish the handshake within {} s", TEXT_WAIT.as_secs())]
    Silent,
    /// The text is longer than any may be.
    #[error("a handshake of {bytes} bytes is above the limit of {bytes_max}")]
    TooLong {
        /// What its header claims.
        bytes: u32,
        /// What is allowed.
        bytes_max: usize,
    },
    /// The text cannot be read.
    #[error(transparent)]
    Unreadable(#[from] HandshakeError),
}

/// Writes a text.
///
/// # Errors
///
/// If the connection breaks, or takes nothing in time.
pub async fn write<T: Serialize>(connection: &mut Connection, text: &T) -> Result<(), TextError> {
    let bytes = handshake::encode(text);
    let length = u32::try_from(bytes.len()).expect("a handshake stays below its limit");
    let whole = [&length.to_be_bytes()[..], &bytes].concat();
    timeout(TEXT_WAIT, async {
        connection.write_all(&whole).await?;
        connection.flush().await
    })
    .await
    .map_err(|_| TextError::Silent)?
    .map_err(TextError::Broken)
}

/// Reads a text of at most `bytes_max` bytes. What a header claims is not allocated before it has come.
///
/// # Errors
///
/// If the connection breaks, nothing comes in time, or it is no text.
pub async fn read<T: DeserializeOwned>(connection: &mut Connection, bytes_max: usize) -> Result<T, TextError> {
    let bytes = timeout(TEXT_WAIT, read_bytes(connection, bytes_max)).await.map_err(|_| TextError::Silent)??;
    Ok(handshake::decode(&bytes)?)
}

async fn read_bytes(connection: &mut Connection, bytes_max: usize) -> Result<Vec<u8>, TextError> {
    let length = connection.read_u32().await?;
    if length as usize > bytes_max {
        return Err(TextError::TooLong { bytes: length, bytes_max });
    }
    let mut bytes = Vec::new();
    connection.take(u64::from(length)).read_to_end(&mut bytes).await?;
    if bytes.len() < length as usize {
        return Err(TextError::Broken(io::ErrorKind::UnexpectedEof.into()));
    }
    Ok(bytes)
}

/// Longest time for one text. A join may wait two seconds for a link of the holder of its name, and one for its answer.
const TEXT_WAIT: Duration = Duration::from_secs(5);
