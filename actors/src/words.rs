//! Numbers with their nouns, for lines that people read.

/// A number and what it counts: `1 home`, `2 homes`.
///
/// ```
/// use slipgate_actors::words::counted;
/// assert_eq!(counted(1, "entity", "entities"), "1 entity");
/// assert_eq!(counted(0, "entity", "entities"), "0 entities");
/// ```
#[must_use]
pub fn counted(count: u64, one: &str, many: &str) -> String {
    if count == 1 { format!("1 {one}") } else { format!("{count} {many}") }
}
