//! [Erlang](https://www.erlang.org): two nodes over its own distribution, without a daemon of names.

use std::fs;
use std::net::TcpListener;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result, ensure};

use super::is_installed;
use crate::driver::Process;
use crate::measure::cpu_ns_of;

pub(crate) struct WithErlang {
    sender: Process,
    receiver: Process,
    code: PathBuf,
}

impl WithErlang {
    /// None if it is not installed.
    pub(crate) fn start() -> Result<Option<Self>> {
        if !is_installed("erl", "-version") || !is_installed("erlc", "-help") {
            return Ok(None);
        }
        let code = std::env::temp_dir().join(format!("slipgate-benches-{}", std::process::id()));
        fs::create_dir_all(&code)?;
        let source = code.join("casting.erl");
        fs::write(&source, include_str!("casting.erl"))?;
        let compiled = Command::new("erlc").arg("-o").arg(&code).arg(&source).status()?;
        ensure!(compiled.success(), "erlc does not compile {}", source.display());
        let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port().to_string();
        let node = |arguments: &[&str]| {
            // Schedulers that wait do not spin, and there is one, as there is one thread of ours.
            let mut erl = Command::new("erl");
            erl.args(["+S", "1", "+sbwt", "none", "+sbwtdcpu", "none", "+sbwtdio", "none", "-noshell", "-pa"]);
            erl.arg(&code).args(["-start_epmd", "false", "-erl_epmd_port", &port, "-setcookie", "benches"]);
            Process::run(erl.args(["-kernel", "inet_dist_use_interface", "{127,0,0,1}"]).args(arguments))
        };
        let mut receiver = node(&["-sname", "receiver@localhost", "-s", "casting", "receive_all"])?;
        ensure!(receiver.line()? == "ready", "the receiving node does not start");
        let mut sender = node(&["-sname", "sender@localhost", "-dist_listen", "false", "-s", "casting", "send_all"])?;
        ensure!(sender.line()? == "ready", "the sending node does not start");
        Ok(Some(Self { sender, receiver, code }))
    }

    /// CPU nanoseconds of both nodes for each of `messages`.
    pub(crate) fn flood(&mut self, messages: usize) -> Result<f64> {
        let cpu = |peer: &Self| Ok::<_, anyhow::Error>(cpu_ns_of(peer.sender.id())? + cpu_ns_of(peer.receiver.id())?);
        let before = cpu(self)?;
        self.sender.tell(&messages.to_string())?;
        self.sender.line().context("the sending node has ended")?;
        Ok((cpu(self)? - before) as f64 / messages as f64)
    }
}

impl Drop for WithErlang {
    fn drop(&mut self) {
        // Compiled anew each time.
        let _ = fs::remove_dir_all(&self.code);
    }
}
