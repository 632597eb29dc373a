//! What others dial: a host and a port, as one would type them.

use std::fmt;
use std::net::IpAddr;

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// `host:port` that another machine can dial; the host is a name, an IPv4 address or a bracketed IPv6 address.
///
/// Never an unspecified address (`0.0.0.0`, `[::]`) and never port 0: both are fine to listen on, and
/// nobody can dial them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct DialAddress(String);

/// Why a text is not an address to dial.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum DialAddressError {
    /// Not of the form.
    #[error("{0:?} is not host:port")]
    Form(String),
    /// Port 0.
    #[error("{0:?} names no port that others can dial")]
    NoPort(String),
    /// An address that means "all of mine".
    #[error("{0:?} is no address that others can dial")]
    Unspecified(String),
}

impl DialAddress {
    /// Checks a text.
    ///
    /// # Errors
    ///
    /// If it is not `host:port`, or cannot be dialled from elsewhere.
    ///
    /// ```
    /// use slipgate::config::DialAddress;
    /// assert_eq!(DialAddress::new("n1:7700")?.as_str(), "n1:7700");
    /// assert!(DialAddress::new("0.0.0.0:7700").is_err());
    /// # Ok::<(), slipgate::config::address::DialAddressError>(())
    /// ```
    pub fn new(text: impl Into<String>) -> Result<Self, DialAddressError> {
        let text = text.into();
        let Some((host, port)) = text.rsplit_once(':') else { return Err(DialAddressError::Form(text)) };
        let digits = !port.is_empty() && port.bytes().all(|b| b.is_ascii_digit());
        let Some(port) = digits.then(|| port.parse::<u16>().ok()).flatten() else {
            return Err(DialAddressError::Form(text));
        };
        let bracketed = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
        let ip: Option<IpAddr> = match bracketed {
            Some(inner) => inner.parse::<std::net::Ipv6Addr>().ok().map(IpAddr::V6),
            None => host.parse::<std::net::Ipv4Addr>().ok().map(IpAddr::V4),
        };
        let named = bracketed.is_none() && is_host_name(host);
        if ip.is_none() && !named {
            return Err(DialAddressError::Form(text));
        }
        if port == 0 {
            return Err(DialAddressError::NoPort(text));
        }
        if ip.is_some_and(|ip| ip.is_unspecified()) {
            return Err(DialAddressError::Unspecified(text));
        }
        Ok(Self(text))
    }

    /// The address as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// 253 bytes are the longest name that DNS knows.
fn is_host_name(host: &str) -> bool {
    (1..=253).contains(&host.len())
        && host.bytes().next().is_some_and(|b| b.is_ascii_alphanumeric())
        && host.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'.' | b'_'))
}

impl TryFrom<String> for DialAddress {
    type Error = DialAddressError;

    fn try_from(text: String) -> Result<Self, DialAddressError> {
        Self::new(text)
    }
}

impl From<DialAddress> for String {
    fn from(address: DialAddress) -> Self {
        address.0
    }
}

impl fmt::Display for DialAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_both_kinds_of_numbers_can_be_dialled() {
        for text in ["n1:7700", "game-1.example.org:1", "10.0.0.7:65535", "[::1]:7700", "my_host:80"] {
            assert_eq!(DialAddress::new(text).expect("an address").as_str(), text);
        }
    }

    #[test]
    fn what_nobody_can_dial_is_refused_with_its_reason() {
        let refusal = |text: &str| DialAddress::new(text).expect_err("no address");
        for text in ["n1", "n1:", ":7700", "n1:70000", "n1:+7", "a b:1", "::1:7700", "[n1]:7700", "http://n1:7700"] {
            assert_eq!(refusal(text), DialAddressError::Form(text.to_owned()));
        }
        assert_eq!(refusal("n1:0"), DialAddressError::NoPort("n1:0".to_owned()));
        assert_eq!(refusal("0.0.0.0:7700"), DialAddressError::Unspecified("0.0.0.0:7700".to_owned()));
        assert_eq!(refusal("[::]:7700"), DialAddressError::Unspecified("[::]:7700".to_owned()));
    }
}
