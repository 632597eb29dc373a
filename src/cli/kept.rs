//! Who could not move, in words: for a drain, and for a scene that is closed.

use slipgate_actors::words::counted;
use slipgate_proto::admin::KeptRow;

use super::console::printable;

/// A line, and one below it for each of the first that could not move, of so many.
pub(super) fn with_kept(line: &str, first: &[KeptRow], kept: u64) -> String {
    let row = |row: &KeptRow| {
        let KeptRow { entity, label, scene, text, .. } = row;
        let name = label.as_ref().map_or_else(|| entity.clone(), |label| format!("{label} ({entity})"));
        format!("  {name} in {scene}: {text}")
    };
    let more = kept.saturating_sub(first.len() as u64);
    let more = (!first.is_empty() && more > 0).then(|| format!("  and {more} more"));
    let lines = [line.to_owned()].into_iter().chain(first.iter().map(row)).chain(more);
    lines.map(|line| printable(&line)).collect::<Vec<_>>().join("\n")
}

/// So many, in words.
pub(super) fn entity_count(count: u64) -> String {
    counted(count, "entity", "entities")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(label: Option<&str>) -> KeptRow {
        let label = label.map(str::to_owned);
        let (scene, text) = ("forest".to_owned(), "the scene is full\u{7}".to_owned());
        KeptRow { entity: "1.4".into(), label, scene, reason: "full".into(), text }
    }

    #[test]
    fn the_first_are_named_one_by_one_and_the_others_counted() {
        let told = with_kept("n1 is not empty", &[row(Some("ann")), row(None)], 5);
        let lines: Vec<_> = told.lines().collect();
        assert_eq!(lines[0], "n1 is not empty");
        assert!(lines[1].starts_with("  ann (1.4) in forest: the scene is full"), "{told}");
        assert!(lines[2].starts_with("  1.4 in forest: ") && !told.contains('\u{7}'), "{told}");
        assert_eq!(lines[3..], ["  and 3 more"]);
    }

    #[test]
    fn where_nobody_is_named_one_line_is_enough() {
        assert_eq!(with_kept("n1 is draining", &[], 5), "n1 is draining");
        assert_eq!((entity_count(1), entity_count(2)), ("1 entity".to_owned(), "2 entities".to_owned()));
    }
}
