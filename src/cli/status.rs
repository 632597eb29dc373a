//! `status`: the cluster on one screen, once, again and again, or as soon as enough nodes are ready.

use std::thread;
use std::time::{Duration, Instant};

use clap::Args;
use slipgate_actors::words::counted;
use slipgate_proto::admin::{ClusterReport, NodeReport};

use super::console::{Console, printable, table};
use super::failure::{Exit, Failure};
use super::globals::Format;
use super::lists::node_columns;
use crate::client::{CallError, Client};

/// Options of `status`.
#[derive(Args, Clone, Debug)]
pub struct StatusArgs {
    /// Tell it again every second
    #[arg(short, long)]
    pub watch: bool,
    /// First wait until so many nodes are ready, as long as --timeout says
    #[arg(long, value_name = "N")]
    pub wait_nodes: Option<usize>,
}

/// Tells how the cluster is.
///
/// # Errors
///
/// If there is no answer, or not enough nodes are ready in time.
pub fn run(args: &StatusArgs, client: &Client, console: &mut Console<'_>) -> Result<(), Failure> {
    let mut report = match args.wait_nodes {
        Some(wanted) => wait_for(wanted, client)?,
        None => client.get(STATUS)?,
    };
    loop {
        console.object(&report, || screen(&report))?;
        if !args.watch {
            return Ok(());
        }
        if console.format() == Format::Table {
            console.raw(b"\n")?;
        }
        thread::sleep(WATCH_EVERY);
        report = client.get(STATUS)?;
    }
}

fn wait_for(wanted: usize, client: &Client) -> Result<ClusterReport, Failure> {
    let deadline = Instant::now() + client.timeout();
    loop {
        let answer: Result<ClusterReport, CallError> = client.get(STATUS);
        let seen = match answer {
            Ok(report) if ready(&report.nodes) >= wanted => return Ok(report),
            Ok(report) => Ok(ready(&report.nodes)),
            Err(error) => Err(Failure::from(error)),
        };
        if Instant::now() >= deadline {
            let within = humantime::format_duration(client.timeout());
            let ready = seen?;
            let text = format!("{ready} of {wanted} nodes are ready after {within}");
            return Err(Failure::new(Exit::Timeout, "not_enough_nodes", text).with_hint("slipgate nodes"));
        }
        thread::sleep(POLL_EVERY);
    }
}

fn ready(nodes: &[NodeReport]) -> usize {
    nodes.iter().filter(|node| node.state == "ready").count()
}

fn screen(report: &ClusterReport) -> String {
    let nodes = &report.nodes;
    let head = format!(
        "CLUSTER {}   {}/{} nodes ready   manager {}   view {}   {} moves under way",
        report.cluster,
        ready(nodes),
        nodes.len(),
        report.manager,
        report.view,
        nodes.iter().map(|node| node.moves).sum::<u64>(),
    );
    let lost = nodes.iter().map(|node| node.lost).sum::<u64>();
    let lost = if lost > 0 { format!("   {} lost", counted(lost, "entity", "entities")) } else { String::new() };
    let reasons = nodes.iter().flat_map(|node| node.not_ready.iter().map(move |why| (node, why)));
    let reasons: String = reasons.map(|(node, why)| format!("\n{}: {}", node.node, printable(why))).collect();
    format!("{}{lost}\n{}{reasons}", printable(&head), table(nodes, &node_columns()).trim_end())
}

const STATUS: &str = "/api/v1/status";
/// As fast as people read.
const WATCH_EVERY: Duration = Duration::from_secs(1);
/// Between two questions: no node tells a tool that another is ready.
const POLL_EVERY: Duration = Duration::from_millis(200);
