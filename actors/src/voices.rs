//! What entities write into the log: a voice for each type, each as loud as the configuration lets it.
//!
//! ```text
//! info,player=debug,monster=warn      all types at info, but for two
//! ```
//!
//! These levels alone decide: lines are written under a [`TARGET`] of their own, which the log's own level is to let
//! through.

use std::collections::BTreeMap;
use std::str::FromStr;
use std::sync::Arc;

use slipgate_entity::OnlineId;
use slipgate_entity::game::Level;
use thiserror::Error;

/// Target of the lines, at whatever level.
pub const TARGET: &str = "entity-says";

/// Levels by type; what is less urgent is left out. Cheap to clone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Voices(Arc<Levels>);

#[derive(Debug, PartialEq, Eq)]
struct Levels {
    /// None: nothing at all.
    all: Option<Level>,
    of_type: BTreeMap<String, Option<Level>>,
}

/// Why a text names no levels.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error(
    "{found:?} is no level; write one of off, error, warn, info, debug, trace, alone or behind the name of a type, as in: info,player=debug"
)]
pub struct ParseVoicesError {
    /// What is none.
    pub found: String,
}

impl Voices {
    /// Whether what a type says at this level goes into the log.
    #[must_use]
    pub fn lets(&self, type_name: &str, level: Level) -> bool {
        let most = self.0.of_type.get(type_name).unwrap_or(&self.0.all);
        most.is_some_and(|most| level <= most)
    }

    /// The types that are named.
    pub fn types(&self) -> impl Iterator<Item = &str> {
        self.0.of_type.keys().map(String::as_str)
    }

    /// Writes what an entity says.
    pub(crate) fn say(&self, (entity, type_name): (OnlineId, &str), level: Level, text: &str) {
        if !self.lets(type_name, level) {
            return;
        }
        // A line's level is part of where it is written, so there are five of them.
        macro_rules! write {
            ($level:ident) => {
                tracing::$level!(target: TARGET, event = "entity.says", entity = %entity, r#type = type_name, "{text}")
            };
        }
        match level {
            Level::Error => write!(error),
            Level::Warn => write!(warn),
            Level::Info => write!(info),
            Level::Debug => write!(debug),
            Level::Trace => write!(trace),
        }
    }
}

impl Default for Voices {
    fn default() -> Self {
        Self(Arc::new(Levels { all: Some(Level::Info), of_type: BTreeMap::new() }))
    }
}

impl FromStr for Voices {
    type Err = ParseVoicesError;

    fn from_str(text: &str) -> Result<Self, ParseVoicesError> {
        let mut levels = Levels { all: Some(Level::Info), of_type: BTreeMap::new() };
        for word in text.split(',').map(str::trim).filter(|word| !word.is_empty()) {
            match word.split_once('=') {
                Some((name, word)) => {
                    levels.of_type.insert(name.trim().to_owned(), level(word)?);
                }
                None => levels.all = level(word)?,
            }
        }
        Ok(Self(Arc::new(levels)))
    }
}

fn level(word: &str) -> Result<Option<Level>, ParseVoicesError> {
    let word = word.trim();
    Ok(match word {
        "off" => None,
        "error" => Some(Level::Error),
        "warn" => Some(Level::Warn),
        "info" => Some(Level::Info),
        "debug" => Some(Level::Debug),
        "trace" => Some(Level::Trace),
        _ => return Err(ParseVoicesError { found: word.to_owned() }),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_type_is_as_loud_as_it_may_be_and_all_others_as_the_rest() {
        let voices: Voices = "warn, player=trace,rock=off".parse().expect("levels");
        assert!(voices.lets("player", Level::Trace));
        assert!(!voices.lets("rock", Level::Error));
        assert!(voices.lets("monster", Level::Warn) && !voices.lets("monster", Level::Info));
        assert_eq!(voices.types().collect::<Vec<_>>(), ["player", "rock"]);
        assert!("".parse::<Voices>().expect("nothing is the default").lets("monster", Level::Info));
    }

    #[test]
    fn a_word_that_is_no_level_is_named() {
        let error = "info,player=loud".parse::<Voices>().expect_err("no such level");
        assert_eq!(error.found, "loud");
    }
}
