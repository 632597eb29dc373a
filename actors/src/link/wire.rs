//! One connection of a link: frames out as the lanes give them, frames in to whoever they are for.

use std::cell::{Cell, RefCell};
use std::io;
use std::pin::pin;
use std::rc::Rc;
use std::time::Duration;

use bytes::{BufMut, BytesMut};
use futures_util::StreamExt;
use slipgate_cluster::{Envelope, Place, Session};
use slipgate_proto::assembly::{Assembly, AssemblyError};
use slipgate_proto::frame::{self, Frame, FrameError, Wire};
use slipgate_proto::lanes::{LaneLimits, Lanes};
use thiserror::Error;
use tokio::io::{AsyncWriteExt, ReadHalf, WriteHalf};
use tokio::sync::Notify;
use tokio::time::timeout;
use tokio_util::codec::{FramedRead, LengthDelimitedCodec};

use super::credence;
use crate::post::Post;
use crate::transport::Connection;

/// What the actor and the connection's two tasks share; all run on one thread.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) lanes: RefCell<Lanes>,
    /// Something was put into the lanes.
    pub(super) wake: Notify,
    pub(super) bytes_out: Cell<u64>,
    pub(super) bytes_in: Cell<u64>,
    /// The peer has said goodbye.
    pub(super) bye: Cell<bool>,
    /// Frames that came in.
    pub(super) heard: Cell<u64>,
    /// A pong is waited for; others are nobody's answer.
    pub(super) asked: Cell<bool>,
    /// A connection over which we said goodbye has ended.
    pub(super) over: Notify,
}

impl Shared {
    pub(super) fn new() -> Self {
        Self {
            lanes: RefCell::new(Lanes::new(LaneLimits::default())),
            wake: Notify::new(),
            bytes_out: Cell::new(0),
            bytes_in: Cell::new(0),
            bye: Cell::new(false),
            heard: Cell::new(0),
            asked: Cell::new(false),
            over: Notify::new(),
        }
    }
}

/// Why a connection ended.
#[derive(Debug, Error)]
pub(super) enum Ended {
    #[error("the peer closed the connection")]
    Closed,
    #[error("the peer stops")]
    Bye,
    #[error("the connection broke: {0}")]
    Broken(#[from] io::Error),
    #[error("the peer sent what is no frame: {0}")]
    Frame(#[from] FrameError),
    #[error("the peer sent what is no transfer: {0}")]
    Transfer(#[from] AssemblyError),
}

/// Runs a connection to its end.
pub(super) async fn run(
    connection: Connection,
    peer: Session,
    shared: Rc<Shared>,
    post: Post,
    on_pong: impl Fn(),
) -> Ended {
    let (input, output) = tokio::io::split(connection);
    let mut read = pin!(read(input, peer, &shared, &post, on_pong));
    let broken = tokio::select! {
        ended = &mut read => return ended.err().unwrap_or(Ended::Closed),
        ended = write(output, &shared) => ended.err().unwrap_or(Ended::Closed),
    };
    // A peer that stops closes right behind its goodbye, so writing may fail before that is read.
    match timeout(LAST_WORDS, read).await {
        Ok(Err(Ended::Bye)) => Ended::Bye,
        Ok(_) | Err(_) => broken,
    }
}

async fn write(mut output: WriteHalf<Connection>, shared: &Shared) -> Result<(), Ended> {
    let mut buffer = BytesMut::with_capacity(2 * FLUSH_BYTES);
    loop {
        fill(&mut buffer, &mut shared.lanes.borrow_mut());
        if buffer.is_empty() {
            shared.wake.notified().await;
            continue;
        }
        output.write_all(&buffer).await?;
        output.flush().await?;
        shared.bytes_out.set(shared.bytes_out.get() + buffer.len() as u64);
        metrics::counter!("slipgate_peer_bytes_total", "direction" => "out").increment(buffer.len() as u64);
        buffer.clear();
    }
}

/// Gathers frames into one write: a flush each would cost a system call and a wake-up each.
fn fill(buffer: &mut BytesMut, lanes: &mut Lanes) {
    while buffer.len() < FLUSH_BYTES {
        let Some(frame) = lanes.next_frame() else { break };
        buffer.put_u32(u32::try_from(frame.len()).expect("a frame stays below its limit"));
        buffer.extend_from_slice(&frame);
    }
}

async fn read(
    input: ReadHalf<Connection>,
    peer: Session,
    shared: &Shared,
    post: &Post,
    on_pong: impl Fn(),
) -> Result<(), Ended> {
    let codec = LengthDelimitedCodec::builder().max_frame_length(frame::BYTES_MAX).new_codec();
    let mut frames = FramedRead::with_capacity(input, codec, FLUSH_BYTES);
    let mut assembly = Assembly::default();
    while let Some(bytes) = frames.next().await {
        let bytes = bytes?;
        shared.heard.set(shared.heard.get() + 1);
        shared.bytes_in.set(shared.bytes_in.get() + bytes.len() as u64 + 4);
        metrics::counter!("slipgate_peer_bytes_total", "direction" => "in").increment(bytes.len() as u64 + 4);
        match Frame::decode(&bytes)? {
            Frame::Control(batch) => deliver(batch, peer, post),
            Frame::Messages(batch) => {
                deliver(batch, peer, post);
                shared.lanes.borrow_mut().owe_credit(bytes.len() as u64);
                shared.wake.notify_one();
            }
            Frame::Chunk(chunk) => {
                if let Some(wire) = assembly.take(chunk)? {
                    deliver(vec![wire], peer, post);
                }
            }
            Frame::Credit(bytes) => {
                shared.lanes.borrow_mut().add_credit(bytes);
                shared.wake.notify_one();
            }
            Frame::Bye => {
                shared.bye.set(true);
                return Err(Ended::Bye);
            }
            Frame::Ping => {
                shared.lanes.borrow_mut().pong();
                shared.wake.notify_one();
            }
            Frame::Pong => {
                if shared.asked.take() {
                    on_pong();
                }
            }
        }
    }
    Ok(())
}

/// The sessions of an envelope are those of the link, and what it says must be its own to say: a peer speaks for
/// itself only.
fn deliver(batch: Vec<Wire>, peer: Session, post: &Post) {
    let count = batch.len();
    let envelope =
        |Wire { from, to, message }| Envelope { from: Place { session: peer, port: from }, to: post.here(to), message };
    let believed = |envelope: &Envelope| credence::may_say(envelope, |entity| post.home_of(entity));
    let envelopes: Vec<_> = batch.into_iter().map(envelope).filter(believed).collect();
    if envelopes.len() < count {
        metrics::counter!("slipgate_messages_dropped_total", "at" => "credence")
            .increment((count - envelopes.len()) as u64);
    }
    post.send(envelopes);
}

/// Bytes gathered for one write.
const FLUSH_BYTES: usize = 64 << 10;
/// For reading what has come already once writing has failed.
const LAST_WORDS: Duration = Duration::from_millis(100);

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use slipgate_cluster::View;

    use super::*;

    /// How a connection ends whose peer writes these bytes and closes, while something waits to be written.
    async fn ended_by(last_bytes: &[u8]) -> Ended {
        let (ours, mut theirs) = tokio::io::duplex(1 << 10);
        theirs.write_all(last_bytes).await.expect("there is room");
        drop(theirs);
        let shared = Rc::new(Shared::new());
        shared.lanes.borrow_mut().ping();
        let post = Post::new(Session::new(1, 1), Arc::new(View::default()), crate::lease::Lease::for_good());
        run(Box::new(ours), Session::new(2, 1), shared, post, || {}).await
    }

    #[actix_rt::test]
    async fn a_goodbye_is_heard_also_where_writing_fails_first() {
        let bye = [&1_u32.to_be_bytes()[..], &Frame::Bye.encode()].concat();
        // Which side of a connection is looked at first is left to chance.
        for _ in 0..64 {
            let ended = ended_by(&bye).await;
            assert!(matches!(ended, Ended::Bye), "{ended}");
        }
    }

    #[actix_rt::test]
    async fn a_connection_that_breaks_without_a_goodbye_is_not_taken_for_one() {
        let ended = ended_by(b"").await;
        assert!(matches!(ended, Ended::Broken(_) | Ended::Closed), "{ended}");
    }
}
