//! [NATS](https://nats.io): a server, which both sides write to and read from in its text protocol.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, ensure};

use super::{ACTORS, FLIGHT, is_installed};
use crate::block::MESSAGE;
use crate::measure::{cpu_ns_of, process_cpu_ns};

pub(crate) struct WithNats {
    server: Child,
    output: TcpStream,
    input: BufReader<TcpStream>,
    batch: Vec<u8>,
}

impl WithNats {
    /// None if it is not installed.
    pub(crate) fn start() -> Result<Option<Self>> {
        if !is_installed("nats-server", "--version") {
            return Ok(None);
        }
        let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        let server = Command::new("nats-server")
            .args(["-a", "127.0.0.1", "-p", &port.to_string()])
            .stderr(Stdio::null())
            .spawn()
            .context("nats-server does not start")?;
        let (mut receiver, receiving) = dial(port)?;
        receiver.write_all(b"SUB to.* 1\r\nPING\r\n")?;
        let mut receiving = ponged(receiving)?;
        let (mut output, input) = dial(port)?;
        output.write_all(b"SUB applied 1\r\nPING\r\n")?;
        let input = ponged(input)?;
        std::thread::spawn(move || receive(&mut receiving, &mut receiver));
        let mut batch = Vec::new();
        for number in 0..ACTORS {
            write!(batch, "PUB to.{number} {MESSAGE}\r\n")?;
            batch.extend([1; MESSAGE]);
            batch.extend(b"\r\n");
        }
        Ok(Some(Self { server, output, input, batch }))
    }

    /// CPU nanoseconds of all three for each of `messages`.
    pub(crate) fn flood(&mut self, messages: usize) -> Result<f64> {
        let cpu = |server: &Child| Ok::<_, anyhow::Error>(process_cpu_ns() + cpu_ns_of(server.id())?);
        let before = cpu(&self.server)?;
        let (mut sent, mut applied) = (0, 0);
        while applied < messages / ACTORS {
            if sent < messages / ACTORS && sent - applied < FLIGHT / ACTORS {
                self.output.write_all(&self.batch)?;
                sent += 1;
            } else {
                message(&mut self.input, &mut self.output)?;
                applied += 1;
            }
        }
        Ok((cpu(&self.server)? - before) as f64 / messages as f64)
    }
}

impl Drop for WithNats {
    fn drop(&mut self) {
        // It ends with this program at the latest; nothing of it is kept.
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

/// Counts messages, and acknowledges each batch.
fn receive(input: &mut BufReader<TcpStream>, output: &mut TcpStream) -> Result<()> {
    let mut applied = 0_usize;
    loop {
        applied += usize::from(message(input, output)?);
        if applied.is_multiple_of(ACTORS) {
            output.write_all(b"PUB applied 1\r\n\x01\r\n")?;
        }
    }
}

/// The first byte of the next message.
fn message(input: &mut BufReader<TcpStream>, output: &mut TcpStream) -> Result<u8> {
    let mut line = String::new();
    loop {
        line.clear();
        ensure!(input.read_line(&mut line)? > 0, "the server has closed a connection");
        if line.starts_with("PING") {
            output.write_all(b"PONG\r\n")?;
            continue;
        }
        let Some(length) = line.strip_prefix("MSG ").and_then(|rest| rest.trim_end().rsplit(' ').next()) else {
            continue;
        };
        let mut payload = [0; MESSAGE + 2];
        let length: usize = length.parse()?;
        input.read_exact(&mut payload[..length + 2])?;
        return Ok(payload[0]);
    }
}

fn dial(port: u16) -> Result<(TcpStream, BufReader<TcpStream>)> {
    let mut tries = 0;
    // The server tells nobody when it listens.
    let mut stream = loop {
        match TcpStream::connect(("127.0.0.1", port)) {
            Ok(stream) => break stream,
            Err(_) if tries < 250 => std::thread::sleep(Duration::from_millis(20)),
            Err(error) => return Err(error).context("nats-server does not answer"),
        }
        tries += 1;
    };
    stream.set_nodelay(true)?;
    stream.write_all(b"CONNECT {\"verbose\":false}\r\n")?;
    let input = BufReader::with_capacity(64 << 10, stream.try_clone()?);
    Ok((stream, input))
}

/// Reads on until the server has done all that it was told.
fn ponged(mut input: BufReader<TcpStream>) -> Result<BufReader<TcpStream>> {
    let mut line = String::new();
    while !line.starts_with("PONG") {
        line.clear();
        ensure!(input.read_line(&mut line)? > 0, "the server has closed a connection");
    }
    Ok(input)
}
