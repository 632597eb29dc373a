//! Checks for supervisors, and metrics for Prometheus.
//!
//! *Live* says that this process answers; restart it if not. *Ready* says that it has joined, its scenes
//! are open and it is not stopping; send it no work if not. A node that stops is live and not ready.

use actix_web::HttpResponse;
use actix_web::web::Data;
use serde::{Deserialize, Serialize};
use slipgate_proto::admin::{Answer, ClusterReport, Question};

use super::{Oracle, Settings};

/// Body of `/health/ready`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Readiness {
    /// Whether every check is passed.
    pub(crate) ready: bool,
    /// The node that was asked.
    pub(crate) node: String,
    /// Its state: `ready`, `starting`, `stopping`, `silent`, or `unknown`.
    pub(crate) state: String,
    /// What keeps it from being ready, in words.
    pub(crate) not_ready: Vec<String>,
}

pub(super) async fn live(settings: Data<Settings>) -> HttpResponse {
    HttpResponse::Ok().json(serde_json::json!({ "live": true, "node": settings.node }))
}

pub(super) async fn ready<O: Oracle>(oracle: Data<O>, settings: Data<Settings>) -> HttpResponse {
    let readiness = match oracle.ask(Question::Node).await {
        Ok(Answer::Nodes(report)) => readiness(&settings.node, &report),
        Ok(_) => not_ready(&settings.node, "unknown", vec!["the desk answered another question".into()]),
        Err(problem) => not_ready(&settings.node, "unknown", vec![problem.text]),
    };
    let mut response = if readiness.ready { HttpResponse::Ok() } else { HttpResponse::ServiceUnavailable() };
    response.json(readiness)
}

pub(super) async fn metrics(settings: Data<Settings>) -> HttpResponse {
    HttpResponse::Ok().content_type("text/plain; version=0.0.4; charset=utf-8").body(settings.metrics.render())
}

fn readiness(name: &str, report: &ClusterReport) -> Readiness {
    let Some(node) = report.nodes.iter().find(|node| node.node == name) else {
        return not_ready(name, "unknown", vec!["it has not joined the cluster".into()]);
    };
    let mut reasons = node.not_ready.clone();
    if node.state != "ready" && reasons.is_empty() {
        reasons.push(format!("the node is {}", node.state));
    }
    Readiness { ready: reasons.is_empty(), node: name.into(), state: node.state.clone(), not_ready: reasons }
}

fn not_ready(name: &str, state: &str, reasons: Vec<String>) -> Readiness {
    Readiness { ready: false, node: name.into(), state: state.into(), not_ready: reasons }
}
