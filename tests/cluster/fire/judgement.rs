//! What became of every walker, and whether the accounts agree with it.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::time::{Duration, Instant};

use slipgate::admin::body::ENTITIES_MAX;
use slipgate::client::{CallError, Client, segment};
use slipgate::tour::account::Ledger;
use slipgate_proto::admin::{ClusterReport, EntityReport, EntityRow, LostRow};

use super::accounts::{Fate, check};
use super::{Board, Evidence};
use crate::patience::within;

/// What was found.
#[derive(Debug, Default)]
pub(crate) struct Judgement {
    /// Everything that may not be.
    pub(crate) wrong: Vec<String>,
    pub(crate) lives: usize,
    pub(crate) lost: usize,
    pub(crate) revived: usize,
    /// How long after the fire the last walker was found, or found lost, by every node.
    took: Duration,
}

impl fmt::Display for Judgement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { lives, lost, revived, took, .. } = self;
        write!(f, "{lives} live, {revived} of them revived, {lost} are lost; all was settled {took:?} after the fire")
    }
}

/// Waits until every walker lives or is lost, and has all that was accepted for it, as far as it can have; then
/// checks all accounts. `ended` are the nodes of which a life has ended under the fire.
pub(crate) fn judge(board: &Board, evidence: &Evidence, ended: &BTreeSet<String>, limit: Duration) -> Judgement {
    let began = Instant::now();
    let mut judgement = Judgement { wrong: evidence.complaints.clone(), ..Judgement::default() };
    if evidence.twins > 0 {
        judgement.wrong.push(format!("{} walkers were active twice", evidence.twins));
    }
    let looked = within(limit, || {
        let (fates, mut wrong) = fates(board, &evidence.homes, ended);
        for account in &evidence.accounts {
            if let Some(fate) = fates.get(&account.walker) {
                wrong.extend(check(account, fate, ended.contains(&account.via)));
            }
        }
        if wrong.is_empty() { Ok(fates) } else { Err((fates, wrong)) }
    });
    let (fates, wrong) = looked.map_or_else(|found| found, |fates| (fates, Vec::new()));
    judgement.wrong.extend(wrong);
    judgement.lost = fates.values().filter(|fate| matches!(fate, Fate::Lost)).count();
    judgement.revived = fates.values().filter(|fate| matches!(fate, Fate::Revived(_))).count();
    judgement.lives = fates.len() - judgement.lost;
    judgement.took = began.elapsed();
    judgement
}

/// What became of the walkers, as far as it is in order, and what is not.
fn fates(
    board: &Board,
    homes: &BTreeMap<String, String>,
    ended: &BTreeSet<String>,
) -> (BTreeMap<String, Fate>, Vec<String>) {
    let (mut fates, mut wrong) = (BTreeMap::new(), Vec::new());
    let clients = board.clients();
    let Some((_, asked)) = clients.first() else { return (fates, vec!["nobody can be asked".to_owned()]) };
    let limit = format!("limit={ENTITIES_MAX}");
    let rows = asked.get::<Vec<EntityRow>>(&format!("/api/v1/entities?{limit}"));
    let lost = asked.get::<Vec<LostRow>>(&format!("/api/v1/lost?{limit}"));
    let (rows, lost) = match (rows, lost) {
        (Ok(rows), Ok(lost)) => (rows, lost),
        (Err(error), _) | (_, Err(error)) => return (fates, vec![format!("no lists: {error}")]),
    };
    for (walker, home) in homes {
        let places: Vec<&EntityRow> = rows.iter().filter(|row| row.entity == *walker).collect();
        let name = lost.iter().find(|row| row.entity == *walker);
        match (places.as_slice(), name) {
            ([row], None) if row.state == "active" => match seen_by_all(&clients, walker, row) {
                Ok(fate) => drop(fates.insert(walker.clone(), fate)),
                Err(fault) => wrong.push(fault),
            },
            ([], Some(row)) if ended.contains(&row.node) => drop(fates.insert(walker.clone(), Fate::Lost)),
            // Its home died where it lived, and so did its witness, or before it was told: it has no name, but nobody takes it
            // for alive either.
            ([], None) if ended.contains(home) => match dead_to_all(&clients, walker) {
                Ok(()) => drop(fates.insert(walker.clone(), Fate::Lost)),
                Err(fault) => wrong.push(fault),
            },
            (places, name) => wrong.push(format!("{walker} is at {places:?} and lost as {name:?}")),
        }
    }
    (fates, wrong)
}

/// Every node must say that the walker is gone.
fn dead_to_all(clients: &[(String, Client)], walker: &str) -> Result<(), String> {
    for (node, client) in clients {
        match client.get::<EntityReport>(&format!("/api/v1/entities/{}", segment(walker))) {
            Err(CallError::Problem(problem)) if problem.reason == "dead" => {}
            answer => return Err(format!("{node} is to say that {walker} is gone, and says {answer:?}")),
        }
    }
    Ok(())
}

/// Every node must find the walker where it is.
fn seen_by_all(clients: &[(String, Client)], walker: &str, row: &EntityRow) -> Result<Fate, String> {
    let mut fate = None;
    for (node, client) in clients {
        let shown = client.get::<EntityReport>(&format!("/api/v1/entities/{}", segment(walker)));
        let shown = shown.map_err(|error| format!("{node} does not find {walker}: {error}"))?;
        if (&shown.scene, &shown.node) != (&row.scene, &row.node) {
            return Err(format!("{node} finds {walker} in {}@{}, it is at {row:?}", shown.scene, shown.node));
        }
        let ledger = Ledger::read(&shown.body).map_err(|fault| format!("{walker}: {fault}"))?;
        fate = Some(if shown.reset == 0 { Fate::Lives(ledger) } else { Fate::Revived(ledger) });
    }
    fate.ok_or_else(|| "nobody can be asked".to_owned())
}

/// Removes the walkers that live, and waits until nothing of them is left in any table.
pub(crate) fn clear(board: &Board, walkers: &[String], limit: Duration) -> Vec<String> {
    let mut rng = fastrand::Rng::with_seed(0);
    let cleared = within(limit, || {
        let mut wrong = Vec::new();
        for walker in walkers {
            let Some((asked, client)) = board.any(&mut rng) else { continue };
            match client.delete::<EntityRow>(&format!("/api/v1/entities/{}", segment(walker))) {
                Ok(_) => {}
                Err(CallError::Problem(problem)) if ["dead", "unknown_entity"].contains(&problem.reason.as_str()) => {}
                Err(error) => wrong.push(format!("{walker} cannot be removed by {asked}: {error}")),
            }
        }
        wrong.extend(board.clients().iter().flat_map(|(node, client)| left_over(node, client)));
        if wrong.is_empty() { Ok(()) } else { Err(wrong) }
    });
    cleared.err().unwrap_or_default()
}

/// What a node still holds, as it and the others tell.
fn left_over(asked: &str, client: &Client) -> Vec<String> {
    let report: ClusterReport = match client.get("/api/v1/status") {
        Ok(report) => report,
        Err(error) => return vec![format!("{asked} does not tell how it is: {error}")],
    };
    let is_base = |node: &&slipgate_proto::admin::NodeReport| {
        let links_wait: u64 = node.links.iter().map(|link| link.waiting).sum();
        node.state == "ready" && node.entities + node.moves + node.waiting + links_wait == 0
    };
    report.nodes.iter().filter(|node| !is_base(node)).map(|node| format!("{asked} tells of {node:?}")).collect()
}
