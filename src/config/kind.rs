//! What a value must be, and what to write where it is not.

use std::net::SocketAddr;
use std::time::Duration;

use bytesize::ByteSize;
use slipgate_actors::voices::Voices;
use slipgate_cluster::NodeName;
use slipgate_cluster::node::SceneNameError;
use tracing_subscriber::EnvFilter;

use super::limits::size;
use super::suggest::nearest;
use super::{DialAddress, Secret};

/// What a value must be.
#[derive(Clone, Copy, Debug)]
pub(super) enum Kind {
    /// A name that may go into a log line as it is.
    Name,
    /// Name of a scene: a name that cannot be taken for a number.
    SceneName,
    /// `ip:port` to listen on.
    Listen,
    /// `host:port` that others dial.
    Dial,
    /// A whole number.
    Count { min: i64, max: i64 },
    /// A duration as text with a unit.
    Duration { min: Duration, max: Duration },
    /// A size as text with a unit.
    Size { min: u64, max: u64 },
    /// A path of a file or folder.
    Path,
    /// A token.
    Secret,
    /// One of some words.
    Word(&'static [&'static str]),
    /// A filter of log lines.
    Filter,
    /// Levels for what entities say, by type.
    Voices,
    /// Names of entity types, with commas between them; none at all, too.
    Types,
}

/// A value as it stands in its source.
#[derive(Clone, Debug)]
pub(super) enum Given<'a> {
    /// Quoted text of a file.
    Text(&'a str),
    /// A whole number of a file.
    Whole(i64),
    /// Anything else of a file, in words: `a table`.
    Other(&'static str),
    /// Text of a variable or a flag, where a number has no other form.
    Bare(&'a str),
}

/// A value that fits its key, in one canonical form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Setting {
    /// Text.
    Text(String),
    /// A whole number.
    Whole(i64),
}

/// What is wrong with a value, and what to write.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Complaint {
    pub(super) text: String,
    pub(super) hint: Option<String>,
}

fn complain<T>(text: String, hint: impl Into<String>) -> Result<T, Complaint> {
    Err(Complaint { text, hint: Some(hint.into()) })
}

impl Kind {
    /// Whether a value of this kind may be shown.
    pub(super) fn is_secret(self) -> bool {
        matches!(self, Self::Secret)
    }

    /// Checks a value and brings it into its canonical form.
    pub(super) fn read(self, given: &Given<'_>) -> Result<Setting, Complaint> {
        match (self, given) {
            (Self::Count { min, max }, Given::Whole(number)) => read_count(*number, min, max),
            (Self::Count { min, max }, Given::Bare(text)) => match text.parse() {
                Ok(number) => read_count(number, min, max),
                Err(_) => complain(format!("{text:?} is not a whole number"), format!("write {min} to {max}")),
            },
            (_, Given::Text(text) | Given::Bare(text)) if !matches!(self, Self::Count { .. }) => self.read_text(text),
            _ => self.wrong_type(given),
        }
    }

    fn read_text(self, text: &str) -> Result<Setting, Complaint> {
        match self {
            Self::Name => match NodeName::new(text) {
                Ok(name) => Ok(Setting::Text(name.into())),
                Err(error) => Err(Complaint { text: error.to_string(), hint: None }),
            },
            Self::SceneName => match NodeName::of_scene(text) {
                Ok(name) => Ok(Setting::Text(name.into())),
                Err(error @ SceneNameError::NotAName(_)) => Err(Complaint { text: error.to_string(), hint: None }),
                Err(error @ SceneNameError::LikeANumber { .. }) => {
                    complain(error.to_string(), format!("write \"scene{text}\", or what it is"))
                }
            },
            Self::Listen => match text.parse::<SocketAddr>() {
                Ok(address) => Ok(Setting::Text(address.to_string())),
                Err(_) => complain(
                    format!("{text:?} is not an address to listen on"),
                    "write ip:port, such as \"127.0.0.1:7700\"; port 0 lets the system choose",
                ),
            },
            Self::Dial => match DialAddress::new(text) {
                Ok(address) => Ok(Setting::Text(address.into())),
                Err(error) => complain(error.to_string(), "write what others dial to reach it, such as \"n1:7700\""),
            },
            Self::Duration { min, max } => read_duration(text, min, max),
            Self::Size { min, max } => read_size(text, min, max),
            Self::Path if text.is_empty() => complain("the path is empty".to_owned(), "write \".\" for this folder"),
            Self::Path => Ok(Setting::Text(text.to_owned())),
            Self::Secret => match Secret::new(text) {
                Ok(_) => Ok(Setting::Text(text.to_owned())),
                Err(error) => Err(Complaint { text: error.to_string(), hint: None }),
            },
            Self::Word(words) => read_word(text, words),
            Self::Filter => read_filter(text),
            Self::Voices => match text.parse::<Voices>() {
                Ok(_) => Ok(Setting::Text(text.to_owned())),
                Err(error) => complain(error.to_string(), "write \"info\", or \"info,player=debug\""),
            },
            Self::Types => match list(text).find(|name| !is_type_name(name)) {
                None => Ok(Setting::Text(text.to_owned())),
                Some(wrong) => complain(
                    format!("{wrong:?} is no name of a type"),
                    "write names with commas between them: \"player,monster\"",
                ),
            },
            Self::Count { .. } => self.wrong_type(&Given::Text(text)),
        }
    }

    fn wrong_type(self, given: &Given<'_>) -> Result<Setting, Complaint> {
        let found = match given {
            Given::Whole(_) if self.is_secret() => "a number".to_owned(),
            Given::Whole(number) => format!("the number {number}"),
            Given::Text(text) | Given::Bare(text) => format!("the text {text:?}"),
            Given::Other(words) => (*words).to_owned(),
        };
        let hint = match (self, given) {
            (Self::Duration { .. }, Given::Whole(number)) => Some(format!("write \"{number}s\" or \"{number}ms\"")),
            (Self::Size { .. }, Given::Whole(number)) => {
                u64::try_from(*number).ok().map(|bytes| format!("write {:?}", size::text(bytes)))
            }
            (Self::Count { .. }, Given::Text(text)) if text.parse::<i64>().is_ok() => {
                Some(format!("write {text} without quotes"))
            }
            _ => None,
        };
        Err(Complaint { text: format!("expected {}, found {found}", self.wanted()), hint })
    }

    fn wanted(self) -> &'static str {
        match self {
            Self::Name | Self::SceneName => "a name in quotes",
            Self::Listen => "ip:port in quotes",
            Self::Dial => "host:port in quotes",
            Self::Count { .. } => "a whole number",
            Self::Duration { .. } => "a duration in quotes",
            Self::Size { .. } => "a size in quotes",
            Self::Path => "a path in quotes",
            Self::Secret => "a token in quotes",
            Self::Word(_) => "a word in quotes",
            Self::Filter | Self::Voices => "a log level in quotes",
            Self::Types => "names of types in quotes",
        }
    }
}

/// The names in a list.
pub(super) fn list(text: &str) -> impl Iterator<Item = &str> {
    text.split(',').map(str::trim).filter(|name| !name.is_empty())
}

fn is_type_name(name: &str) -> bool {
    name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_')
}

fn read_count(number: i64, min: i64, max: i64) -> Result<Setting, Complaint> {
    if (min..=max).contains(&number) {
        return Ok(Setting::Whole(number));
    }
    complain(format!("{number} is outside {min} to {max}"), format!("write {}", number.clamp(min, max)))
}

fn read_duration(text: &str, min: Duration, max: Duration) -> Result<Setting, Complaint> {
    let Ok(duration) = humantime::parse_duration(text) else {
        let bare = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        let hint = if bare {
            format!("write \"{text}s\" or \"{text}ms\"")
        } else {
            "write a number and one of ms, s, m, h: \"100ms\", \"2s\", \"1m 30s\"".to_owned()
        };
        return complain(format!("{text:?} is not a duration"), hint);
    };
    if (min..=max).contains(&duration) {
        return Ok(Setting::Text(humantime::format_duration(duration).to_string()));
    }
    let told = |duration| humantime::format_duration(duration).to_string();
    complain(
        format!("{text:?} is outside {} to {}", told(min), told(max)),
        format!("write {:?}", told(duration.clamp(min, max))),
    )
}

fn read_size(text: &str, min: u64, max: u64) -> Result<Setting, Complaint> {
    let bare = text.parse::<u64>().ok();
    let size = if bare.is_some() { None } else { text.parse::<ByteSize>().ok() };
    let Some(bytes) = size.map(|size| size.as_u64()) else {
        let hint = match bare {
            Some(bytes) => format!("write {:?}", size::text(bytes)),
            None => "write a number and one of B, KiB, MiB, GiB: \"16KiB\", \"1MiB\"".to_owned(),
        };
        return complain(format!("{text:?} is not a size"), hint);
    };
    if (min..=max).contains(&bytes) {
        return Ok(Setting::Text(size::text(bytes)));
    }
    complain(
        format!("{text:?} is outside {} to {}", size::text(min), size::text(max)),
        format!("write {:?}", size::text(bytes.clamp(min, max))),
    )
}

fn read_word(text: &str, words: &[&'static str]) -> Result<Setting, Complaint> {
    if words.contains(&text) {
        return Ok(Setting::Text(text.to_owned()));
    }
    let hint = match nearest(text, words.iter().copied()) {
        Some(word) => format!("did you mean {word:?}?"),
        None => format!("write one of {}", words.join(", ")),
    };
    complain(format!("{text:?} is none of {}", words.join(", ")), hint)
}

/// A lone word that is no level would be taken for a module, and silence all others: a slip, not a wish.
fn read_filter(text: &str) -> Result<Setting, Complaint> {
    const LEVELS: [&str; 6] = ["off", "error", "warn", "info", "debug", "trace"];
    let wrong = format!("{text:?} is not a log level");
    for part in text.split(',').map(str::trim) {
        let lone = !part.contains(['=', '[']);
        if lone && !LEVELS.iter().any(|level| level.eq_ignore_ascii_case(part)) {
            let hint = match nearest(part, LEVELS) {
                Some(level) => format!("did you mean {level:?}?"),
                None => "write one of off, error, warn, info, debug, trace, or \"info,slipgate=debug\"".to_owned(),
            };
            return complain(wrong, hint);
        }
    }
    match EnvFilter::builder().parse(text) {
        Ok(_) => Ok(Setting::Text(text.to_owned())),
        Err(error) => complain(wrong, error.to_string()),
    }
}
