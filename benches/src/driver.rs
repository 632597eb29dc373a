//! The child processes as the bench sees them: a cluster of three nodes.

use std::io::{BufRead, BufReader, Lines, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use anyhow::{Context, Result, anyhow, bail};
use slipgate_entity::OnlineId;

use crate::order::{Answer, Order};

/// A child process, mostly of this very program.
#[derive(Debug)]
pub(crate) struct Process {
    child: Child,
    orders: Option<ChildStdin>,
    answers: Lines<BufReader<ChildStdout>>,
}

impl Process {
    pub(crate) fn start(arguments: &[&str]) -> Result<Self> {
        Self::run(Command::new(std::env::current_exe()?).args(arguments))
    }

    /// Starts any program that takes lines and answers with lines.
    pub(crate) fn run(command: &mut Command) -> Result<Self> {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let orders = child.stdin.take();
        let answers = BufReader::new(child.stdout.take().context("stdout is piped")?).lines();
        Ok(Self { child, orders, answers })
    }

    /// What it is told to do.
    pub(crate) fn tell(&mut self, line: &str) -> Result<()> {
        let orders = self.orders.as_mut().context("the child has its orders")?;
        Ok(writeln!(orders, "{line}")?)
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// The next line that it says.
    pub(crate) fn line(&mut self) -> Result<String> {
        self.answers.next().context("a child has ended before it answered")?.context("a child cannot be read")
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // Without orders it ends by itself.
        self.orders = None;
        let _ = self.child.wait();
    }
}

/// A process that is a node.
#[derive(Debug)]
pub(crate) struct Member(Process);

impl Member {
    fn order(&mut self, order: &Order) -> Result<Answer> {
        self.0.tell(&serde_json::to_string(order)?)?;
        self.answer()
    }

    fn answer(&mut self) -> Result<Answer> {
        let answer: Result<Answer, String> = serde_json::from_str(&self.0.line()?)?;
        answer.map_err(|reason| anyhow!("a node could not do it: {reason}"))
    }

    pub(crate) fn spawn(&mut self, count: usize, bytes: usize) -> Result<Vec<OnlineId>> {
        let answer = self.order(&Order::Spawn { count, bytes })?;
        let Answer::Spawned(entities) = answer else { bail!("expected entities, found {answer:?}") };
        Ok(entities)
    }

    /// Has an order done that is answered with nanoseconds.
    pub(crate) fn time(&mut self, order: &Order) -> Result<f64> {
        let answer = self.order(order)?;
        let Answer::Took(nanoseconds) = answer else { bail!("expected a time, found {answer:?}") };
        Ok(nanoseconds)
    }

    /// CPU time of the process so far, in nanoseconds.
    pub(crate) fn cpu(&mut self) -> Result<f64> {
        self.time(&Order::Cpu)
    }

    pub(crate) fn load(&mut self, entities: &[OnlineId], per_second: u32) -> Result<()> {
        self.order(&Order::Load { entities: entities.to_vec(), per_second }).map(drop)
    }

    /// Ends the load; returns messages a second.
    pub(crate) fn unload(&mut self) -> Result<f64> {
        let answer = self.order(&Order::Unload)?;
        let Answer::PerSecond(rate) = answer else { bail!("expected a rate, found {answer:?}") };
        Ok(rate)
    }
}

/// Three nodes, each a process, all linked.
#[derive(Debug)]
pub(crate) struct Cluster {
    pub(crate) n1: Member,
    pub(crate) n2: Member,
    pub(crate) n3: Member,
}

impl Cluster {
    pub(crate) fn start() -> Result<Self> {
        let mut members = Vec::new();
        let mut addresses = Vec::new();
        for number in ["1", "2", "3"] {
            let mut member = Member(Process::start(&["member", number])?);
            let Answer::At(address) = member.answer()? else { bail!("expected an address first") };
            addresses.push(address);
            members.push(member);
        }
        for member in &mut members {
            member.order(&Order::Meet(addresses.clone()))?;
        }
        let [n1, n2, n3] = <[Member; 3]>::try_from(members).ok().context("three were started")?;
        let mut cluster = Self { n1, n2, n3 };
        cluster.warm_up()?;
        Ok(cluster)
    }

    /// Every node writes to every other, so that all links are up.
    fn warm_up(&mut self) -> Result<()> {
        let mut everywhere = self.n1.spawn(1, 8)?;
        everywhere.extend(self.n2.spawn(1, 8)?);
        everywhere.extend(self.n3.spawn(1, 8)?);
        for member in [&mut self.n1, &mut self.n2, &mut self.n3] {
            member.time(&Order::Flood { entities: everywhere.clone(), total: 3 })?;
        }
        Ok(())
    }
}
