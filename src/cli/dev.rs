//! `dev`: a whole cluster on this machine, until Ctrl-C; with a tour if asked.

use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use clap::Args;
use slipgate_actors::words::counted;
use slipgate_proto::admin::EntityRow;

use super::console::Console;
use super::failure::{Exit, Failure};
use super::globals::AT_DEFAULT;
use super::tour::{self, Style};
use crate::client::Client;
use crate::config::nearest;
use crate::dev::{Cluster, DevError, Fallen, Plan, PlanError, Started};
use crate::game::Game;
use crate::signals::Signals;
use crate::tour::{Ended, Options};

/// Options of `dev`.
#[derive(Args, Clone, Debug)]
pub struct DevArgs {
    /// How many nodes
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u16).range(1..=16))]
    pub nodes: u16,
    /// Make a tour of so many moves once all nodes are ready
    #[arg(long, value_name = "MOVES", value_parser = clap::value_parser!(u64).range(1..=10_000_000))]
    pub tour: Option<u64>,
    /// End when the tour has ended, with its exit code; without a tour, when all nodes are ready
    #[arg(long)]
    pub exit: bool,
    /// Admin port of the first node, the others follow; 0 lets the system choose all
    /// [default: 7780 for the first, if that is free]
    #[arg(long, value_name = "PORT")]
    pub base_port: Option<u16>,
    /// Run one of the games that are linked into this program, in scenes of its own
    #[arg(long, value_name = "NAME")]
    pub game: Option<String>,
    /// How the tour is made
    #[command(flatten)]
    pub style: Style,
}

/// Runs a cluster until it is told to stop, or its tour has ended.
///
/// # Errors
///
/// If the cluster does not come up, a node falls, or the tour does not end well.
pub fn run(args: &DevArgs, timeout: Option<Duration>, console: &mut Console<'_>) -> Result<ExitCode, Failure> {
    let signals = Signals::catch().map_err(|error| Failure::new(Exit::Failed, "signals", error.to_string()))?;
    let program = std::env::current_exe()
        .map_err(|error| Failure::new(Exit::Failed, "program", format!("this program cannot find itself: {error}")))?;
    let game = args.game.as_deref().map(game).transpose()?;
    let plan = Plan::new(args.nodes, args.base_port)?;
    let plan = match game {
        Some(game) => plan.with_scenes(game.scenes),
        None => plan,
    };
    let cluster = Cluster::start(&plan, &program, signals.flag(), &mut |node| console.note(&told(node)));
    let mut cluster = match cluster {
        // Whoever waits for a tour must not take its absence for its success.
        Err(DevError::Stopped) if args.exit => {
            let text = "stopped before all nodes were ready";
            return Err(Failure::new(Exit::Failed, "stopped", text).with_state("no tour was made"));
        }
        Err(DevError::Stopped) => return Ok(Exit::Done.into()),
        started => started?,
    };
    let populated = game.map_or(Ok(()), |game| populate(game, &cluster, console));
    let ended = populated.and_then(|()| {
        console.note(&next_steps(&cluster, game));
        attend(args, timeout, &signals, &mut cluster, console)
    });
    console.note("stopping");
    let unwell = cluster.stop();
    unwell.iter().for_each(|fallen| console.note(&how_it_ended(fallen)));
    match ended {
        Ok(_) if !unwell.is_empty() => Err(Failure::new(
            Exit::Failed,
            "stop",
            format!("{} did not stop well", counted(unwell.len() as u64, "node", "nodes")),
        )),
        ended => ended,
    }
}

/// The game of that name.
fn game(name: &str) -> Result<&'static Game, Failure> {
    Game::named(name).ok_or_else(|| {
        let names: Vec<_> = Game::all().iter().map(|game| game.name).collect();
        let meant = nearest(name, names.iter().copied()).map(|meant| format!("; did you mean {meant}?"));
        let text = format!("there is no game {name:?} in this program{}", meant.unwrap_or_default());
        let there =
            if names.is_empty() { "there is none".to_owned() } else { format!("there is {}", names.join(", ")) };
        Failure::new(Exit::NotFound, "unknown_game", text).with_state(there).with_hint("slipgate dev --help")
    })
}

/// Spawns all who live in a game's scenes at the start.
fn populate(game: &Game, cluster: &Cluster, console: &mut Console<'_>) -> Result<(), Failure> {
    let client = Client::new(&cluster.started()[0].admin, None, Duration::from_secs(10));
    let crowd = game.crowd();
    for newcomer in crowd.newcomers() {
        let _: Vec<EntityRow> = client.post("/api/v1/entities", &newcomer.body())?;
    }
    let crowd = counted(crowd.newcomers().count() as u64, "entity", "entities");
    console.note(&format!("{}: {}; {crowd} to begin with", game.name, game.about));
    Ok(())
}

/// What happens between ready and the end.
fn attend(
    args: &DevArgs,
    timeout: Option<Duration>,
    signals: &Signals,
    cluster: &mut Cluster,
    console: &mut Console<'_>,
) -> Result<ExitCode, Failure> {
    let mut toured = Ok(Exit::Done.into());
    if let Some(moves) = args.tour {
        let options = args.style.options(moves, timeout);
        console.note(&format!("tour of {moves} moves, seed {}", options.seed));
        let ended = tour_among(&options, signals, cluster, console)?;
        toured = tour::report(&ended, console);
    }
    if args.exit {
        return toured;
    }
    if let Err(failure) = toured {
        console.tell(&failure);
    }
    linger(signals, cluster, console)
}

/// Makes a tour while watching over the nodes; one that falls ends the tour.
fn tour_among(
    options: &Options,
    signals: &Signals,
    cluster: &mut Cluster,
    console: &mut Console<'_>,
) -> Result<Ended, Failure> {
    let client = Client::new(&cluster.started()[0].admin, None, Duration::from_secs(10));
    let stop = AtomicBool::new(false);
    let (ended, fallen) = thread::scope(|scope| {
        let tour = scope.spawn(|| tour::make(options, &client, &stop, &|_| ()));
        let mut fallen = Vec::new();
        while !tour.is_finished() {
            fallen.extend(cluster.fallen());
            if signals.has_come() || !fallen.is_empty() {
                stop.store(true, Ordering::Relaxed);
            }
            thread::sleep(POLL_EVERY);
        }
        (tour.join().expect("a tour does not panic"), fallen)
    });
    let Some(first) = fallen.first() else { return ended };
    fallen.iter().for_each(|fallen| console.note(&how_it_ended(fallen)));
    let text = format!("{} ended in the middle of the tour", first.name);
    Err(Failure::new(Exit::Failed, "node_fell", text).with_hint("its last lines stand above"))
}

/// Waits for a signal, or until no node runs any more.
fn linger(signals: &Signals, cluster: &mut Cluster, console: &mut Console<'_>) -> Result<ExitCode, Failure> {
    while !signals.has_come() {
        for fallen in cluster.fallen() {
            console.note(&how_it_ended(&fallen));
            console.note("  the others go on; see  slipgate nodes   or stop with Ctrl-C");
        }
        if cluster.running() == 0 {
            return Err(Failure::new(Exit::Failed, "all_fell", "no node runs any more"));
        }
        thread::sleep(POLL_EVERY);
    }
    Ok(Exit::Done.into())
}

fn told(node: &Started) -> String {
    let Started { name, peer, admin, scenes } = node;
    format!("{name}  admin http://{admin}  peers {peer}  scenes {}", scenes.join(", "))
}

fn next_steps(cluster: &Cluster, game: Option<&Game>) -> String {
    let nodes = cluster.started();
    let at = match nodes.first() {
        Some(first) if first.admin != AT_DEFAULT => format!(" --at {}", first.admin),
        Some(_) | None => String::new(),
    };
    let scenes: Vec<&String> = nodes.iter().flat_map(|node| &node.scenes).collect();
    let [first, .., last] = scenes.as_slice() else { return "ready".into() };
    let tries = match game {
        None => [
            format!("slipgate spawn walker --scene {first} --label ann{at}"),
            format!("slipgate migrate ann --to {last}{at}"),
            format!("slipgate tour --moves 500{at}"),
        ],
        Some(_) => [
            format!("slipgate entities{at}"),
            format!("slipgate watch moves{at}"),
            format!("slipgate schema export{at}"),
        ],
    };
    format!(
        "ready: {} nodes, {} scenes, data in {}\n  try:  slipgate status{at}\n        {}\n  stop with Ctrl-C",
        nodes.len(),
        scenes.len(),
        cluster.folder().display(),
        tries.join("\n        "),
    )
}

fn how_it_ended(fallen: &Fallen) -> String {
    match fallen.status {
        Some(status) if status.success() => format!("{} has stopped", fallen.name),
        Some(status) => format!("warning: {} ended ({status})", fallen.name),
        None => format!("warning: {} did not stop within 10 s and was killed", fallen.name),
    }
}

impl From<PlanError> for Failure {
    fn from(error: PlanError) -> Self {
        Self::new(Exit::Usage, "ports", error.to_string()).with_hint("a lower --base-port, or 0")
    }
}

impl From<DevError> for Failure {
    fn from(error: DevError) -> Self {
        Self::new(Exit::Failed, "dev", error.to_string()).with_state("every node that was started is stopped again")
    }
}

/// Between two looks at nodes, tour and signals, of which none wakes this thread.
const POLL_EVERY: Duration = Duration::from_millis(20);
