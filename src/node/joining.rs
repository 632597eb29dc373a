//! Becoming a member: asking the manager until it answers.

use std::time::Duration;

use backon::{BackoffBuilder, ExponentialBuilder};
use slipgate_actors::clock::NodeClock;
use slipgate_actors::link::dial::{self, Caller, DialError};
use slipgate_actors::link::gate::ask_to_join;
use slipgate_actors::manager_seat::Seat;
use slipgate_actors::transport::Transport;
use slipgate_cluster::manager::{JoinRefusal, JoinReply, JoinRequest, SceneDeclaration};
use slipgate_cluster::member::Welcome;
use slipgate_cluster::{NodeName, Now};
use slipgate_entity::SceneId;

use super::NodeError;
use crate::config::Config;

/// What this node says of itself, but for the ranges that it has heard of by the time that it says so.
pub(super) fn request(config: &Config, dial: &str, admin: &str) -> JoinRequest {
    let own = config.scenes.iter().filter(|scene| scene.node == config.node.name);
    let declare = |scene: &crate::config::Scene| SceneDeclaration {
        id: SceneId::from(scene.id),
        name: NodeName::new(scene.name.clone()).expect("the configuration checks the names of scenes"),
        capacity: scene.capacity,
    };
    JoinRequest {
        name: config.node.name.clone(),
        address: dial.to_owned(),
        admin: admin.to_owned(),
        scenes: own.map(declare).collect(),
        seen: None,
    }
}

/// Asks until the manager takes this node in, or says that it will not.
pub(super) async fn join(
    config: &Config,
    seat: Option<&Seat>,
    clock: NodeClock,
    request: JoinRequest,
    transport: &dyn Transport,
) -> Result<Welcome, NodeError> {
    let mut waits = ExponentialBuilder::default()
        .with_min_delay(FIRST_WAIT)
        .with_max_delay(LONGEST_WAIT)
        .with_jitter()
        .without_max_times()
        .build();
    let mut told: Option<Now> = None;
    loop {
        let asked = clock.now();
        let text = match ask(config, seat, request.clone(), transport).await {
            Ok(JoinReply::Welcome { session, view, lease_ms }) => {
                return Ok(Welcome { session, view, lease: Duration::from_millis(lease_ms), asked });
            }
            Ok(JoinReply::Refused(JoinRefusal::Busy { name, waiting })) => {
                format!("{waiting} joins as {name} wait already")
            }
            Ok(JoinReply::Refused(refusal)) => return Err(NodeError::NotJoined(refused(&refusal))),
            Err(error) if error.may_pass() => error.to_string(),
            Err(error) => return Err(NodeError::NotJoined(error.to_string())),
        };
        if told.is_none_or(|told| clock.now().since(told) >= TELL_EVERY_US) {
            told = Some(clock.now());
            tracing::info!(event = "node.joining", "waiting for the manager on node {}: {text}", config.manager.node);
        }
        // A manager that does not run, or that is full, cannot tell when that is over.
        tokio::time::sleep(waits.next().unwrap_or(LONGEST_WAIT)).await;
    }
}

async fn ask(
    config: &Config,
    seat: Option<&Seat>,
    request: JoinRequest,
    transport: &dyn Transport,
) -> Result<JoinReply, DialError> {
    if let Some(seat) = seat {
        let stopped = || DialError::Nonsense { address: "the manager of this node".to_owned() };
        return ask_to_join(seat, request, true).await.ok_or_else(stopped);
    }
    let address = config.manager.address.as_ref().expect("the configuration asks for it where it is needed");
    let caller = Caller { cluster: config.cluster.name.clone(), name: config.node.name.clone() };
    dial::join(transport, address.as_str(), &caller, request).await
}

fn refused(refusal: &JoinRefusal) -> String {
    let hint = match refusal {
        JoinRefusal::NameTaken { .. } => "give this node another name: [node] name, or SLIPGATE__NODE__NAME",
        JoinRefusal::SceneTaken { .. } | JoinRefusal::SceneNameTaken { .. } => {
            "all nodes need the same [[scenes]]: slipgate config show"
        }
        JoinRefusal::SceneReserved { .. } => "give that scene a lower id: slipgate config show",
        JoinRefusal::NotManager { .. } => "set [manager] address to the address of that node",
        JoinRefusal::Busy { .. } => "try again in a moment",
        JoinRefusal::StoreIsOld { .. } => {
            "stop the manager's node and bring its latest store back, [node] data there; or, for a new cluster, stop all \
             nodes and empty their data folders"
        }
        JoinRefusal::Exhausted { .. } => "give this node another name: [node] name, or SLIPGATE__NODE__NAME",
    };
    format!("{refusal}; {hint}")
}

/// First and longest wait between questions.
const FIRST_WAIT: Duration = Duration::from_millis(50);
const LONGEST_WAIT: Duration = Duration::from_secs(1);
/// How often the log says what is waited for.
const TELL_EVERY_US: u64 = 5_000_000;
