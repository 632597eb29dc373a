//! The least work between two processes: blocking sockets, one hot buffer, no codec.
//!
//! | first byte | then | answered with |
//! |---|---|---|
//! | `F` | frames: length (4 bytes, big-endian) and 64 bytes; a length of 0 ends them | CPU ns of the reader (8 bytes) |
//! | `P` | 64 bytes, again and again | the same 64 bytes |
//! | `B` | length and a block, again and again | one byte each |
//! | `T` | length and a block, one behind the other; a length of 0 ends them | CPU ns of the reader (8 bytes) |

use std::io::{BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::Instant;

use anyhow::{Context, Result, bail};

use crate::block::MESSAGE;
use crate::driver::Process;
use crate::measure::{cpu_ns_each, median, thread_cpu_ns};

/// Serves one connection after the other, until stdin ends.
pub(crate) fn serve() -> Result<()> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let mut stdout = std::io::stdout().lock();
    writeln!(stdout, "{}", listener.local_addr()?)?;
    stdout.flush()?;
    let serving = std::thread::spawn(move || {
        for stream in listener.incoming() {
            // A connection that its other side has closed is done with.
            let _ = stream.map_err(Into::into).and_then(meet);
        }
    });
    std::io::copy(&mut std::io::stdin().lock(), &mut std::io::sink())?;
    drop(serving);
    Ok(())
}

fn meet(mut stream: TcpStream) -> Result<()> {
    stream.set_nodelay(true)?;
    let mut kind = [0];
    stream.read_exact(&mut kind)?;
    match kind {
        [b'F'] => read_frames(stream),
        [b'P'] => echo(stream),
        [b'B'] => acknowledge_blocks(stream),
        [b'T'] => swallow_blocks(stream),
        [other] => bail!("there is no service {other}"),
    }
}

fn read_frames(stream: TcpStream) -> Result<()> {
    let before = thread_cpu_ns();
    let mut input = BufReader::with_capacity(BUFFER, stream);
    let (mut message, mut sum) = ([0; MESSAGE], 0_u64);
    while length(&mut input)? > 0 {
        input.read_exact(&mut message)?;
        sum = sum.wrapping_add(message[0].into());
    }
    std::hint::black_box(sum);
    Ok(input.get_mut().write_all(&(thread_cpu_ns() - before).to_be_bytes())?)
}

fn echo(mut stream: TcpStream) -> Result<()> {
    let mut message = [0; MESSAGE];
    loop {
        stream.read_exact(&mut message)?;
        stream.write_all(&message)?;
    }
}

fn acknowledge_blocks(mut stream: TcpStream) -> Result<()> {
    let mut block = vec![0; BUFFER];
    loop {
        let length = length(&mut stream)?;
        stream.read_exact(&mut block[..length])?;
        stream.write_all(&[1])?;
    }
}

fn swallow_blocks(stream: TcpStream) -> Result<()> {
    let before = thread_cpu_ns();
    let mut block = vec![0; BUFFER];
    let mut input = BufReader::with_capacity(BUFFER, stream);
    loop {
        match length(&mut input)? {
            0 => return Ok(input.get_mut().write_all(&(thread_cpu_ns() - before).to_be_bytes())?),
            length => input.read_exact(&mut block[..length])?,
        }
    }
}

fn length(input: &mut impl Read) -> Result<usize> {
    let mut length = [0; 4];
    input.read_exact(&mut length)?;
    Ok(usize::try_from(u32::from_be_bytes(length))?)
}

/// The other process, as the bench sees it.
#[derive(Debug)]
pub(crate) struct Peer {
    _process: Process,
    address: String,
}

impl Peer {
    pub(crate) fn start() -> Result<Self> {
        let mut process = Process::start(&["raw"])?;
        let address = process.line()?;
        Ok(Self { _process: process, address })
    }

    fn dial(&self, kind: u8) -> Result<TcpStream> {
        let mut stream = TcpStream::connect(&self.address).context("the raw peer does not answer")?;
        stream.set_nodelay(true)?;
        stream.write_all(&[kind])?;
        Ok(stream)
    }

    /// CPU nanoseconds of both sides for each of `count` messages in packed frames.
    pub(crate) fn frames(&self, count: usize) -> Result<f64> {
        let mut stream = self.dial(b'F')?;
        let mut theirs = [0; 8];
        let mut result = Ok(());
        let ours = cpu_ns_each(count, || result = pack_frames(&mut stream, count));
        result?;
        stream.read_exact(&mut theirs)?;
        Ok(ours + u64::from_be_bytes(theirs) as f64 / count as f64)
    }

    /// Median nanoseconds of `count` round trips of a message.
    pub(crate) fn round_trip(&self, count: usize) -> Result<f64> {
        let mut stream = self.dial(b'P')?;
        let mut message = [1; MESSAGE];
        median_of(count, || {
            stream.write_all(&message)?;
            Ok(stream.read_exact(&mut message)?)
        })
    }

    /// Median nanoseconds from the first byte of a block to its acknowledgement.
    pub(crate) fn block(&self, count: usize, bytes: usize) -> Result<f64> {
        let mut stream = self.dial(b'B')?;
        let block = framed(bytes)?;
        median_of(count, || {
            stream.write_all(&block)?;
            Ok(stream.read_exact(&mut [0])?)
        })
    }

    /// What each of `count` blocks takes, one behind the other.
    pub(crate) fn blocks(&self, count: usize, bytes: usize) -> Result<Took> {
        let mut stream = self.dial(b'T')?;
        let block = framed(bytes)?;
        let (began, before) = (Instant::now(), thread_cpu_ns());
        for _ in 0..count {
            stream.write_all(&block)?;
        }
        stream.write_all(&[0; 4])?;
        let mut theirs = [0; 8];
        stream.read_exact(&mut theirs)?;
        let cpu_ns = thread_cpu_ns() - before + u64::from_be_bytes(theirs);
        Ok(Took { ns: began.elapsed().as_secs_f64() * 1e9 / count as f64, cpu_ns: cpu_ns as f64 / count as f64 })
    }
}

/// Time, and CPU time of both sides, in nanoseconds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Took {
    pub(crate) ns: f64,
    pub(crate) cpu_ns: f64,
}

fn pack_frames(stream: &mut TcpStream, count: usize) -> Result<()> {
    let message = framed(MESSAGE)?;
    let mut buffer = Vec::with_capacity(BUFFER);
    for _ in 0..count {
        buffer.extend_from_slice(&message);
        if buffer.len() + message.len() > BUFFER {
            stream.write_all(&buffer)?;
            buffer.clear();
        }
    }
    buffer.extend_from_slice(&[0; 4]);
    Ok(stream.write_all(&buffer)?)
}

/// A block of ones behind its length.
fn framed(bytes: usize) -> Result<Vec<u8>> {
    let mut block = u32::try_from(bytes)?.to_be_bytes().to_vec();
    block.resize(4 + bytes, 1);
    Ok(block)
}

fn median_of(count: usize, mut trip: impl FnMut() -> Result<()>) -> Result<f64> {
    let mut trips = Vec::with_capacity(count);
    for _ in 0..count {
        let began = Instant::now();
        trip()?;
        trips.push(began.elapsed().as_secs_f64() * 1e9);
    }
    Ok(median(&trips))
}

/// As much as a link gathers for one write.
const BUFFER: usize = 64 << 10;
