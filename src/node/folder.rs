//! What a node keeps in its data folder beside the manager's store: where it is, and which ids it has heard of.
//!
//! Keeps: a file is there whole or not at all.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use slipgate_entity::RangeId;
use tokio::sync::watch;

use super::NodeError;

/// The highest range of ids that this node ever heard of. A manager that would issue it anew has lost its store.
#[derive(Debug, Serialize, Deserialize)]
struct Ranges {
    highest: u32,
}

/// Writes the addresses, for whoever let the system choose the ports.
pub(super) fn publish(folder: &Path, peer: &str, admin: &str) -> Result<(), NodeError> {
    let file = folder.join("addresses.json");
    let addresses = serde_json::json!({ "peer": peer, "admin": admin }).to_string();
    replace(&file, &addresses).map_err(unwritable(&file))
}

/// The highest range that earlier processes of this node heard of.
pub(super) fn ranges_seen(folder: &Path) -> Result<Option<RangeId>, NodeError> {
    let file = folder.join(RANGES);
    let unreadable = |source| NodeError::Disk { what: format!("cannot read {}", file.display()), source };
    match fs::read(&file) {
        Ok(text) => {
            let ranges: Ranges = serde_json::from_slice(&text).map_err(|error| unreadable(error.into()))?;
            Ok(Some(RangeId(ranges.highest)))
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(unreadable(error)),
    }
}

/// Writes every higher range down, until nobody tells of one any more.
pub(super) async fn keep_ranges(folder: PathBuf, mut seen: watch::Receiver<Option<RangeId>>) {
    while seen.changed().await.is_ok() {
        let Some(RangeId(highest)) = *seen.borrow_and_update() else { continue };
        let file = folder.join(RANGES);
        let text = serde_json::json!(Ranges { highest }).to_string();
        if let Err(source) = replace(&file, &text) {
            tracing::warn!(
                event = "node.ranges",
                "{}; if the manager loses its store, this node cannot tell it after a restart",
                unwritable(&file)(source)
            );
        }
    }
}

fn replace(file: &Path, text: &str) -> io::Result<()> {
    let unfinished = file.with_extension("json.new");
    let mut written = fs::File::create(&unfinished)?;
    written.write_all(text.as_bytes())?;
    // Else a machine that loses power may keep the name without the text, and its node does not start again.
    written.sync_all()?;
    fs::rename(&unfinished, file)
}

fn unwritable(file: &Path) -> impl Fn(io::Error) -> NodeError {
    let what = format!("cannot write {}", file.display());
    move |source| NodeError::Disk { what: what.clone(), source }
}

const RANGES: &str = "ranges.json";

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_highest_range_is_there_for_the_next_process() {
        let folder = tempfile::tempdir().expect("a folder");
        assert_eq!(ranges_seen(folder.path()).expect("nothing is there"), None);
        let (seen, news) = watch::channel(None);
        let keeping = tokio::spawn(keep_ranges(folder.path().to_owned(), news));
        seen.send_replace(Some(RangeId(7)));
        drop(seen);
        keeping.await.expect("it ends with whoever tells");
        assert_eq!(ranges_seen(folder.path()).expect("it was written"), Some(RangeId(7)));
        fs::write(folder.path().join(RANGES), "7").expect("a file");
        let fault = ranges_seen(folder.path()).expect_err("it is not what was written").to_string();
        assert!(fault.starts_with("cannot read "), "{fault}");
    }
}
