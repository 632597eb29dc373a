//! Options that every command takes, and where their values come from.

use std::net::Ipv6Addr;
use std::time::Duration;

use clap::{Args, ValueEnum};

use super::failure::{Exit, Failure};
use crate::client::Client;

/// Options of every command.
#[derive(Args, Clone, Debug)]
pub struct Globals {
    /// Admin address of any node [env: SLIPGATE_AT] [default: 127.0.0.1:7780]
    #[arg(long, global = true, value_name = "HOST:PORT", value_parser = address)]
    pub at: Option<String>,
    /// Token for writes beyond loopback [env: SLIPGATE_ADMIN_TOKEN]
    #[arg(long, global = true, value_name = "TOKEN")]
    pub token: Option<String>,
    /// Form of what goes to stdout; `json` is one object per line and stays stable
    #[arg(short, long, global = true, value_enum, default_value_t = Format::Table)]
    pub output: Format,
    /// How long to wait: for an answer (10s unless given), for `tour` until a move ends (60s), for `drain` until the
    /// node is empty (`[drain] timeout` of its configuration)
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
    ///
    /// # Errors
    ///
    /// If the environment names an address that is none.
    pub fn client(&self, env: &dyn Fn(&str) -> Option<String>) -> Result<Client, Failure> {
        let from_env = |name: &str| value_of(env, name);
        let at = match (&self.at, from_env(AT_ENV)) {
            (Some(at), _) => at.clone(),
            (None, Some(text)) => address(&text).map_err(|fault| {
                Failure::new(Exit::Usage, "address", format!("{AT_ENV} is {text:?}: {fault}"))
                    .with_hint(format!("{AT_ENV}={AT_DEFAULT}"))
            })?,
            (None, None) => AT_DEFAULT.into(),
        };
        let token = self.token.clone().or_else(|| from_env(TOKEN_ENV));
        Ok(Client::new(&at, token, self.timeout.unwrap_or(TIMEOUT_DEFAULT)))
    }

    /// Whether the options or the environment name a node, for what this program can answer itself.
    #[must_use]
    pub fn names_a_node(&self, env: &dyn Fn(&str) -> Option<String>) -> bool {
        self.at.is_some() || value_of(env, AT_ENV).is_some()
    }
}

fn value_of(env: &dyn Fn(&str) -> Option<String>, name: &str) -> Option<String> {
    env(name).filter(|value| !value.is_empty())
}

/// `host:port` of what people write or copy: also without the port, and as the `http://` that a node prints.
fn address(text: &str) -> Result<String, String> {
    let wrong = || format!("write it as HOST:PORT, such as {AT_DEFAULT}");
    let bare = text.strip_prefix("http://").unwrap_or(text).trim_end_matches('/');
    let (host, port) = match bare.rsplit_once(':') {
        Some((host, port)) if !host.ends_with(':') => (host, port.parse().map_err(|_| wrong())?),
        Some(_) => return Err(wrong()),
        None => (bare, PORT_DEFAULT),
    };
    let is_host = |c: char| c.is_ascii_alphanumeric() || "-._".contains(c);
    let is_v6 = || {
        host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).is_some_and(|v6| v6.parse::<Ipv6Addr>().is_ok())
    };
    if !host.is_empty() && host.chars().all(is_host) || is_v6() { Ok(format!("{host}:{port}")) } else { Err(wrong()) }
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

const PORT_DEFAULT: u16 = 7780;

const TIMEOUT_DEFAULT: Duration = Duration::from_secs(10);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_taken_as_people_write_it_and_as_nodes_print_it() {
        for text in ["127.0.0.1:7780", "127.0.0.1", "http://127.0.0.1:7780", "http://127.0.0.1:7780/"] {
            assert_eq!(address(text).as_deref(), Ok("127.0.0.1:7780"), "{text}");
        }
        assert_eq!(address("n-1.example:80").as_deref(), Ok("n-1.example:80"));
        assert_eq!(address("[::1]:80").as_deref(), Ok("[::1]:80"));
        for text in ["", ":80", "n1:", "n1:http", "n1:70000", "https://n1:80", "n1:80/api", "::1", "[::1]", "a b:80"] {
            assert_eq!(address(text), Err("write it as HOST:PORT, such as 127.0.0.1:7780".into()), "{text}");
        }
    }
}
