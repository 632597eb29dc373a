//! One connection of a link: frames out as the lanes give them, frames in to whoever they are for.

use std::cell::Cell;
use std::io;
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use futures_util::StreamExt;
use slipgate_cluster::{Envelope, Place, Session};
use slipgate_proto::assembly::{Assembly, AssemblyError};
use slipgate_proto::frame::{self, Frame, FrameError, Wire};
use slipgate_proto::lanes::Lanes;
use thiserror::Error;
use tokio::io::{AsyncRead, AsyncWriteExt, ReadBuf, ReadHalf, WriteHalf};
use tokio::sync::Notify;
use tokio::time::{MissedTickBehavior, timeout};
use tokio_util::codec::{FramedRead, LengthDelimitedCodec};

use super::credence;
use super::queue::Queue;
use crate::budget::NodeBudget;
use crate::post::Post;
use crate::transport::Connection;

/// What the actor and the connection's two tasks share; all run on one thread.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) queue: Arc<Queue>,
    pub(super) bytes_out: Cell<u64>,
    pub(super) bytes_in: Cell<u64>,
    /// The peer has said goodbye.
    pub(super) bye: Cell<bool>,
    /// Bytes that came in, in whole frames or not.
    pub(super) heard: Cell<u64>,
    /// A pong is waited for; others are nobody's answer.
    pub(super) asked: Cell<bool>,
    /// A connection over which we said goodbye has ended.
    pub(super) over: Notify,
}

impl Shared {
    pub(super) fn new(peer: Session, budget: &NodeBudget) -> Self {
        Self {
            queue: Arc::new(Queue::new(peer, budget)),
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
    #[error("the peer has said nothing for {} ms, not even an answer to a ping", .0.as_millis())]
    Silent(Duration),
    #[error("the peer sent what is no frame: {0}")]
    Frame(#[from] FrameError),
    #[error("the peer sent what is no transfer: {0}")]
    Transfer(#[from] AssemblyError),
}

/// Runs a connection to its end, or until the peer has said nothing for `silence`.
pub(super) async fn run(
    connection: Connection,
    peer: Session,
    shared: Rc<Shared>,
    post: Post,
    silence: Duration,
    on_pong: impl Fn(),
) -> Ended {
    let (input, output) = tokio::io::split(connection);
    let input = Heard { input, shared: shared.clone() };
    let mut read = pin!(read(input, peer, &shared, &post, on_pong));
    let broken = tokio::select! {
        ended = &mut read => return ended.err().unwrap_or(Ended::Closed),
        ended = write(output, &shared) => ended.err().unwrap_or(Ended::Closed),
        () = silent(&shared, silence) => return Ended::Silent(silence),
    };
    // A peer that stops closes right behind its goodbye, so writing may fail before that is read.
    match timeout(LAST_WORDS, read).await {
        Ok(Err(Ended::Bye)) => Ended::Bye,
        Ok(_) | Err(_) => broken,
    }
}

async fn write(mut output: WriteHalf<Connection>, shared: &Shared) -> Result<(), Ended> {
    let mut buffer = Vec::with_capacity(2 * FLUSH_BYTES);
    loop {
        fill(&mut buffer, &shared.queue);
        if buffer.is_empty() {
            shared.queue.filled().await;
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
fn fill(buffer: &mut Vec<u8>, queue: &Queue) {
    while buffer.len() < FLUSH_BYTES {
        let start = buffer.len();
        buffer.extend([0; 4]);
        if !queue.next_frame(buffer) {
            buffer.truncate(start);
            return;
        }
        let length = u32::try_from(buffer.len() - start - 4).expect("a frame stays below its limit");
        buffer[start..start + 4].copy_from_slice(&length.to_be_bytes());
    }
}

/// Ends once nothing has come in for `silence`; asks for a word meanwhile. Something between the nodes may let
/// bytes through in one direction only, or in none, and keep the connection open: TCP alone notices that after
/// minutes, if ever.
async fn silent(shared: &Shared, silence: Duration) {
    let mut looks = tokio::time::interval(silence / LOOKS);
    // A process that was stopped has not listened: what came meanwhile is read before the next look.
    looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let (mut heard, mut quiet) = (shared.heard.get(), 0);
    looks.tick().await;
    loop {
        looks.tick().await;
        if heard != shared.heard.get() {
            (heard, quiet) = (shared.heard.get(), 0);
            continue;
        }
        quiet += 1;
        if quiet >= LOOKS {
            return;
        }
        shared.queue.put_in(Lanes::ping);
    }
}

/// Counts what is read.
struct Heard {
    input: ReadHalf<Connection>,
    shared: Rc<Shared>,
}

impl AsyncRead for Heard {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let done = Pin::new(&mut self.input).poll_read(cx, buffer);
        self.shared.heard.set(self.shared.heard.get() + (buffer.filled().len() - before) as u64);
        done
    }
}

async fn read(input: Heard, peer: Session, shared: &Shared, post: &Post, on_pong: impl Fn()) -> Result<(), Ended> {
    let codec = LengthDelimitedCodec::builder().max_frame_length(frame::BYTES_MAX).new_codec();
    let mut frames = FramedRead::with_capacity(input, codec, FLUSH_BYTES);
    let mut assembly = Assembly::default();
    while let Some(bytes) = frames.next().await {
        let bytes = bytes?;
        shared.bytes_in.set(shared.bytes_in.get() + bytes.len() as u64 + 4);
        metrics::counter!("slipgate_peer_bytes_total", "direction" => "in").increment(bytes.len() as u64 + 4);
        match Frame::decode(&bytes)? {
            Frame::Control(batch) => deliver(batch, peer, post),
            Frame::Messages(batch) => {
                deliver(batch, peer, post);
                shared.queue.put_in(|lanes| lanes.owe_credit(bytes.len() as u64));
            }
            Frame::Chunk(chunk) => {
                if let Some(wire) = assembly.take(chunk)? {
                    deliver(vec![wire], peer, post);
                }
            }
            Frame::Credit(bytes) => {
                shared.queue.put_in(|lanes| lanes.add_credit(bytes));
            }
            Frame::Bye => {
                shared.bye.set(true);
                return Err(Ended::Bye);
            }
            Frame::Ping => {
                shared.queue.put_in(Lanes::pong);
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
    let mut envelopes = Vec::with_capacity(count);
    envelopes.extend(batch.into_iter().map(envelope).filter(believed));
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
/// Looks at a quiet connection before it counts as silent; each but the last asks for a word.
const LOOKS: u32 = 5;

#[cfg(test)]
mod tests {
    use slipgate_cluster::message::{Control, Data, Message, Nonce, Sender};
    use slipgate_cluster::stream::StreamId;
    use slipgate_cluster::{Epoch, Port, View};
    use slipgate_entity::{OnlineId, RangeId};
    use tokio::io::AsyncReadExt;

    use super::*;
    use crate::mailbox::Door;

    /// How a connection ends whose peer writes these bytes and closes, while something waits to be written.
    async fn ended_by(last_bytes: &[u8]) -> Ended {
        let (ours, mut theirs) = tokio::io::duplex(1 << 10);
        theirs.write_all(last_bytes).await.expect("there is room");
        drop(theirs);
        let shared = Rc::new(Shared::new(Session::new(2, 1), &NodeBudget::default()));
        shared.queue.put_in(Lanes::ping);
        let post = Post::new(Session::new(1, 1), Arc::new(View::default()), crate::lease::Lease::for_good());
        run(Box::new(ours), Session::new(2, 1), shared, post, QUIET, || {}).await
    }

    /// How a connection ends whose peer answers so many pings and says nothing else, and how many pings it got.
    async fn quiet(answers: u32) -> (Ended, u32) {
        let (ours, mut theirs) = tokio::io::duplex(1 << 10);
        let shared = Rc::new(Shared::new(Session::new(2, 1), &NodeBudget::default()));
        let post = Post::new(Session::new(1, 1), Arc::new(View::default()), crate::lease::Lease::for_good());
        let running = run(Box::new(ours), Session::new(2, 1), shared, post, QUIET, || {});
        let answering = async {
            let mut pings = 0;
            while theirs.read_u32().await.is_ok() {
                assert_eq!(theirs.read_u8().await.expect("a frame"), Frame::Ping.encode()[0]);
                pings += 1;
                if pings <= answers {
                    let pong = [&1_u32.to_be_bytes()[..], &Frame::Pong.encode()].concat();
                    theirs.write_all(&pong).await.expect("it is read");
                }
            }
            pings
        };
        tokio::join!(running, answering)
    }

    fn flood(messages: usize) -> Vec<Envelope> {
        let place = |node| Place { session: Session::new(node, 1), port: Port::Router(0) };
        let message = |seq| Data {
            entity: OnlineId::new(RangeId(1), 1),
            stream: StreamId { opened_at: place(1), generation: 1 },
            seq,
            sender: Sender::Tool(place(1).session),
            reply_to: place(1),
            hops: 0,
            epoch: Epoch::ZERO,
            base: Epoch::ZERO,
            payload: vec![0; 1000].into(),
        };
        let envelope = |seq| Envelope { from: place(1), to: place(2), message: Message::Data(message(seq)) };
        (1..).take(messages).map(envelope).collect()
    }

    #[actix_rt::test]
    async fn what_is_said_of_control_in_a_flood_leaves_behind_one_batch_at_most() {
        // Nobody is silent so long that a ping is said, however busy the machine.
        tokio::time::pause();
        let (ours, mut theirs) = tokio::io::duplex(1 << 10);
        let shared = Rc::new(Shared::new(Session::new(2, 1), &NodeBudget::default()));
        let post = Post::new(Session::new(1, 1), Arc::new(View::default()), crate::lease::Lease::for_good());
        let few = flood(1_000);
        let control = Control::Query { entity: OnlineId::new(RangeId(1), 1), nonce: Nonce(1) };
        let control = Envelope { message: Message::Control(control), ..few[0].clone() };
        let one_batch = {
            let twin = Shared::new(Session::new(2, 1), &NodeBudget::default());
            twin.queue.put(few.clone());
            let mut batch = Vec::new();
            fill(&mut batch, &twin.queue);
            batch.len()
        };
        shared.queue.put(few);
        let running = run(Box::new(ours), Session::new(2, 1), shared.clone(), post, QUIET, || {});
        let reading = async {
            let (mut said, mut before, mut behind) = (false, 0, 0);
            // As much as credit allows comes before anything is returned.
            while behind < 2 * FLUSH_BYTES {
                let length = theirs.read_u32().await.expect("a frame") as usize;
                let whole = 4 + length;
                if before == 0 {
                    // Far more of this batch is still to be written than there is room for on the way.
                    shared.queue.put(vec![control.clone()]);
                }
                let mut frame = vec![0; length];
                theirs.read_exact(&mut frame).await.expect("all of it");
                match Frame::decode(&frame).expect("a frame of our own") {
                    Frame::Control(_) => said = true,
                    Frame::Messages(_) if said => behind += whole,
                    Frame::Messages(_) => before += whole,
                    other @ (Frame::Chunk(_) | Frame::Credit(_) | Frame::Bye | Frame::Ping | Frame::Pong) => {
                        panic!("expected messages and control, found {other:?}")
                    }
                }
            }
            before
        };
        let before = tokio::select! {
            ended = running => panic!("the connection ended: {ended}"),
            before = reading => before,
        };
        assert_eq!(before, one_batch, "what was being written, and nothing else");
    }

    #[actix_rt::test]
    async fn a_peer_that_says_nothing_is_pinged_and_then_given_up() {
        tokio::time::pause();
        let (ended, pings) = quiet(0).await;
        assert!(matches!(ended, Ended::Silent(QUIET)), "{ended}");
        assert_eq!(pings, LOOKS - 1);
    }

    #[actix_rt::test]
    async fn a_peer_that_has_nothing_to_say_but_answers_is_kept() {
        tokio::time::pause();
        let began = tokio::time::Instant::now();
        let (ended, pings) = quiet(100).await;
        assert!(matches!(ended, Ended::Silent(QUIET)), "{ended}");
        assert_eq!(pings, 100 + LOOKS - 1);
        assert!(began.elapsed() > 20 * QUIET, "{:?}", began.elapsed());
    }

    const QUIET: Duration = Duration::from_secs(5);

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
