//! A child process that is a node: takes orders at stdin, answers at stdout.

use std::cell::Cell;
use std::io::{BufRead, Write};
use std::net::TcpListener;
use std::rc::Rc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use futures_util::future::try_join_all;
use slipgate_entity::OnlineId;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::{MissedTickBehavior, interval};

use crate::measure::{median, process_cpu_ns};
use crate::node::{BATCH, Node};
use crate::order::{Answer, Order};

/// Runs node `number` until stdin ends.
pub(crate) fn run(number: u16) -> Result<()> {
    actix_rt::System::new().block_on(obey(number))
}

async fn obey(number: u16) -> Result<()> {
    let port = TcpListener::bind("127.0.0.1:0")?;
    say(&Ok(Answer::At(port.local_addr()?.to_string())))?;
    let mut orders = orders();
    let Some(Order::Meet(addresses)) = orders.recv().await else { return Ok(()) };
    let mut works = Works { node: Rc::new(Node::start(number, port, &addresses)?), load: None };
    say(&Ok(Answer::Done))?;
    while let Some(order) = orders.recv().await {
        say(&works.obey(order).await.map_err(|error| format!("{error:#}")))?;
    }
    Ok(())
}

fn orders() -> mpsc::Receiver<Order> {
    let (give, orders) = mpsc::channel(1);
    std::thread::spawn(move || -> Result<()> {
        for line in std::io::stdin().lock().lines() {
            give.blocking_send(serde_json::from_str(&line?)?)?;
        }
        Ok(())
    });
    orders
}

fn say(answer: &Result<Answer, String>) -> Result<()> {
    let mut stdout = std::io::stdout().lock();
    writeln!(stdout, "{}", serde_json::to_string(answer)?)?;
    Ok(stdout.flush()?)
}

struct Works {
    node: Rc<Node>,
    load: Option<Load>,
}

struct Load {
    task: JoinHandle<()>,
    sent: Rc<Cell<u32>>,
    since: Instant,
}

impl Works {
    async fn obey(&mut self, order: Order) -> Result<Answer> {
        let node = &self.node;
        let began = Instant::now();
        Ok(match order {
            Order::Meet(_) => bail!("it has met the others already"),
            Order::Spawn { count, bytes } => Answer::Spawned(node.spawn(count, bytes).await?),
            Order::Flood { entities, total } => {
                node.flood(&entities, total).await?;
                took(began)
            }
            Order::AskEach { entity, count } => {
                let mut trips = Vec::with_capacity(count);
                for _ in 0..count {
                    let began = Instant::now();
                    node.send(vec![entity]).await?;
                    trips.push(nanoseconds(began));
                }
                Answer::Took(median(&trips))
            }
            Order::Load { entities, per_second } => {
                let sent = Rc::new(Cell::new(0));
                let task = tokio::task::spawn_local(load(node.clone(), entities, per_second, sent.clone()));
                self.load = Some(Load { task, sent, since: began });
                Answer::Done
            }
            Order::Unload => {
                let load = self.load.take().context("there is no load")?;
                load.task.abort();
                Answer::PerSecond(f64::from(load.sent.get()) / load.since.elapsed().as_secs_f64())
            }
            Order::MoveEach { entities, to } => {
                let mut pauses = Vec::with_capacity(entities.len());
                for entity in entities {
                    pauses.push(node.migrate(entity, to).await?.pause_us as f64 * 1e3);
                }
                Answer::Took(median(&pauses))
            }
            Order::MoveAll { entities, to } => {
                try_join_all(entities.into_iter().map(|entity| node.migrate(entity, to))).await?;
                took(began)
            }
            Order::Cpu => Answer::Took(process_cpu_ns() as f64),
        })
    }
}

/// Sends at a steady rate, as far as acknowledgements keep up: what is late is sent at once.
async fn load(node: Rc<Node>, entities: Vec<OnlineId>, per_second: u32, sent: Rc<Cell<u32>>) {
    let mut receivers = entities.into_iter().cycle();
    let mut beats = interval(BEAT);
    beats.set_missed_tick_behavior(MissedTickBehavior::Burst);
    let each_beat = per_second as usize / usize::try_from(1000 / BEAT.as_millis()).unwrap_or(1);
    loop {
        beats.tick().await;
        let messages: Vec<_> = receivers.by_ref().take(each_beat).collect();
        let applied = try_join_all(messages.chunks(BATCH).map(|batch| node.send(batch.to_vec()))).await;
        if applied.is_ok() {
            sent.set(sent.get() + u32::try_from(each_beat).unwrap_or(0));
        }
    }
}

fn took(began: Instant) -> Answer {
    Answer::Took(nanoseconds(began))
}

fn nanoseconds(began: Instant) -> f64 {
    began.elapsed().as_secs_f64() * 1e9
}

/// How often the load sends.
const BEAT: Duration = Duration::from_millis(1);
