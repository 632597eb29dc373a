//! Texts that no dump shows.

use std::fmt;

use serde::Deserialize;
use thiserror::Error;

/// A token: 1 to 256 visible ASCII characters, so that it fits into an HTTP header as it is.
///
/// `Debug` and `Display` print [`Secret::MASK`]; only [`Secret::reveal`] gives the text.
#[derive(Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct Secret(String);

/// Why a text is not a token. It does not repeat the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum SecretError {
    /// It would not fit into an HTTP header.
    #[error("not a token: 1 to 256 visible ASCII characters, no spaces")]
    Unfit,
    /// It is [`Secret::MASK`], which was copied out of a dump: a node would take it, and everybody knows it.
    #[error("not a token: *** stands for one in what `config show` prints; write the token itself")]
    Mask,
}

impl Secret {
    /// What is printed in place of any secret.
    pub const MASK: &'static str = "***";

    /// Checks a text.
    ///
    /// # Errors
    ///
    /// If it is empty, too long, or would not fit into an HTTP header; if it is what dumps show in place of one.
    pub fn new(text: impl Into<String>) -> Result<Self, SecretError> {
        let text = text.into();
        let fits = (1..=256).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_graphic());
        match text.as_str() {
            Self::MASK => Err(SecretError::Mask),
            _ if fits => Ok(Self(text)),
            _ => Err(SecretError::Unfit),
        }
    }

    /// The text itself.
    #[must_use]
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for Secret {
    type Error = SecretError;

    fn try_from(text: String) -> Result<Self, SecretError> {
        Self::new(text)
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(Self::MASK)
    }
}

impl fmt::Display for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(Self::MASK)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_prints_as_stars_and_reveals_itself_only_when_asked() {
        let secret = Secret::new("s3cret").expect("a token");
        assert_eq!(format!("{secret} {secret:?}"), "*** ***");
        assert_eq!(secret.reveal(), "s3cret");
    }

    #[test]
    fn what_does_not_fit_into_a_header_is_no_token() {
        for text in ["", "two words", "line\nbreak", "caf\u{e9}"] {
            assert_eq!(Secret::new(text), Err(SecretError::Unfit));
        }
    }

    #[test]
    fn what_a_dump_shows_in_place_of_a_token_is_none() {
        assert_eq!(Secret::new(Secret::MASK), Err(SecretError::Mask));
        assert!(Secret::new("****").is_ok());
    }
}
