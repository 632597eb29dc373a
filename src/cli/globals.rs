//! Options that every command takes, and where their values come from.

use std::time::Duration;

use clap::{Args, ValueEnum};

use crate::client::Client;

/// Options of every command.
#[derive(Args, Clone, Debug)]
pub struct Globals {
    /// Admin address of any node [env: SLIPGATE_AT] [default: 127.0.0.1:7780]
    #[arg(long, global = true, value_name = "HOST:PORT")]
    pub at: Option<String>,
    /// Token for writes beyond loopback [env: SLIPGATE_ADMIN_TOKEN]
    #[arg(long, global = true, value_name = "TOKEN")]
    pub token: Option<String>,
    /// Form of what goes to stdout; `json` is one object per line and stays stable
    #[arg(short, long, global = true, value_enum, default_value_t = Format::Table)]
    pub output: Format,
    /// How long to wait for an answer [default: 10s; 60s for a tour]
    #[arg(long, global = true, value_name = "TIME", value_parser = duration)]
    pub timeout: Option<Duration>,
}

/// Form of what goes to stdout.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people; may change.
    Table,
    /// One object per line; a contract.
    Json,
}

impl Globals {
    /// A client as the options and the environment say.
    #[must_use]
    pub fn client(&self, env: &dyn Fn(&str) -> Option<String>) -> Client {
        let from_env = |name: &str| env(name).filter(|value| !value.is_empty());
        let at = self.at.clone().or_else(|| from_env(AT_ENV)).unwrap_or_else(|| AT_DEFAULT.into());
        let token = self.token.clone().or_else(|| from_env(TOKEN_ENV));
        Client::new(&at, token, self.timeout.unwrap_or(TIMEOUT_DEFAULT))
    }
}

/// A time with its unit, 1 ms to 10 minutes: the range that the interface takes.
fn duration(text: &str) -> Result<Duration, String> {
    let given = humantime::parse_duration(text).map_err(|fault| format!("{fault}; write it as 10s or 500ms"))?;
    if (Duration::from_millis(1)..=Duration::from_mins(10)).contains(&given) {
        Ok(given)
    } else {
        Err("it must be 1ms to 10m".into())
    }
}

/// Names the admin address; no configuration key, hence the single underscore.
pub const AT_ENV: &str = "SLIPGATE_AT";

/// Holds the token for writes.
pub const TOKEN_ENV: &str = "SLIPGATE_ADMIN_TOKEN";

/// Where a node's admin interface listens unless told otherwise.
pub const AT_DEFAULT: &str = "127.0.0.1:7780";

const TIMEOUT_DEFAULT: Duration = Duration::from_secs(10);
