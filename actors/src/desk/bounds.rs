//! What a desk may be asked by another: no more than tools can ask of either.
//!
//! The HTTP interface checks numbers before they become questions. A peer of another mind does not, and a question
//! that waits for ever would keep its place among the open ones for ever.

use slipgate_proto::admin::{DrainOrder, Problem, ProblemKind, Question};

/// Brings the numbers of a peer's question to what a tool could have asked.
pub(super) fn bounded(question: Question) -> Result<Question, Problem> {
    let within = |timeout_ms: u64| timeout_ms.min(TIMEOUT_MS_MAX);
    Ok(match question {
        Question::Send { via, messages, wait, timeout_ms } => {
            Question::Send { via, messages, wait, timeout_ms: within(timeout_ms) }
        }
        Question::Ask { via, message, raw, timeout_ms } => {
            Question::Ask { via, message, raw, timeout_ms: within(timeout_ms) }
        }
        Question::Migrate { entity, to, timeout_ms } => {
            Question::Migrate { entity, to, timeout_ms: within(timeout_ms) }
        }
        Question::Despawn { entity, timeout_ms } => Question::Despawn { entity, timeout_ms: within(timeout_ms) },
        Question::Unpark { entity, timeout_ms } => Question::Unpark { entity, timeout_ms: within(timeout_ms) },
        Question::Entities { scene, type_name, limit } => {
            Question::Entities { scene, type_name, limit: limit.min(ROWS_MAX) }
        }
        Question::Find { text, limit } if text.len() <= TEXT_BYTES_MAX => {
            Question::Find { text, limit: limit.min(ROWS_MAX) }
        }
        Question::Labelled { label, count, limit } if label.len() <= TEXT_BYTES_MAX => {
            Question::Labelled { label, count, limit: limit.min(ROWS_MAX) }
        }
        Question::Find { .. } | Question::Labelled { .. } => return Err(too_long()),
        Question::Lost { limit } => Question::Lost { limit: limit.min(ROWS_MAX) },
        Question::Moves { limit } => Question::Moves { limit: limit.min(ROWS_MAX) },
        Question::Drain { node, order: DrainOrder::Begin { timeout_ms } } => {
            Question::Drain { node, order: DrainOrder::Begin { timeout_ms: timeout_ms.map(within) } }
        }
        Question::OpenScene { name, node, capacity, timeout_ms } => {
            Question::OpenScene { name, node, capacity, timeout_ms: within(timeout_ms) }
        }
        Question::CloseScene { scene, clearing, wait, timeout_ms } => {
            Question::CloseScene { scene, clearing, wait, timeout_ms: within(timeout_ms) }
        }
        Question::Events { after, limit } => Question::Events { after, limit: limit.min(ROWS_MAX) },
        Question::Nodes
        | Question::Node
        | Question::Scenes
        | Question::Show { .. }
        | Question::Spawn { .. }
        | Question::Drain { order: DrainOrder::Cancel | DrainOrder::Look, .. } => question,
    })
}

fn too_long() -> Problem {
    Problem {
        kind: ProblemKind::Usage,
        reason: "text_too_long".to_owned(),
        text: format!("an entity is named by at most {TEXT_BYTES_MAX} bytes"),
        state: None,
        hint: None,
    }
}

/// Ten minutes, as over HTTP.
const TIMEOUT_MS_MAX: u64 = 600_000;
/// Rows of a list, as over HTTP.
const ROWS_MAX: u32 = 10_000;
/// Bytes of what names an entity: above a label or an id.
const TEXT_BYTES_MAX: usize = 1_024;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_peer_waits_no_longer_and_reads_no_more_than_a_tool() {
        let despawn = Question::Despawn { entity: "1.1".to_owned(), timeout_ms: u64::MAX };
        let shorter = Question::Despawn { entity: "1.1".to_owned(), timeout_ms: TIMEOUT_MS_MAX };
        assert_eq!(bounded(despawn).ok(), Some(shorter));
        let moves = bounded(Question::Moves { limit: u32::MAX }).ok();
        assert_eq!(moves, Some(Question::Moves { limit: ROWS_MAX }));
        assert!(bounded(Question::Find { text: "x".repeat(1 << 20), limit: 1 }).is_err());
        assert!(bounded(Question::Labelled { label: "x".repeat(1 << 20), count: 1, limit: 1 }).is_err());
    }
}
