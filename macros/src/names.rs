//! Names: how an ident becomes one, what one may look like, and what a misspelt one was meant to be.
//!
//! Keeps: a name that the macros let through is one that the type registry accepts.
//! Leaves out: names that are taken; only the registry sees all of them.

use proc_macro2::Ident;
use quote::ToTokens;
use syn::LitStr;
use syn::ext::IdentExt;

/// Longest name in bytes; `slipgate_entity` has the same limit.
const NAME_BYTES_MAX: usize = 48;

/// Similarity from which a word counts as a misspelt other one, from 0 to 1. A guess that holds for the tests.
const SIMILAR: f64 = 0.75;

/// The name that was written, or else the ident in snake case.
pub(crate) fn name_of(ident: &Ident, written: Option<&LitStr>) -> syn::Result<String> {
    let (name, span) = match written {
        Some(written) => (written.value(), written.span()),
        None => (snake_case(&ident.unraw().to_string()), ident.span()),
    };
    match fault(&name) {
        None => Ok(name),
        Some(fault) => {
            let hint = if written.is_none() { "; give it one: `name = \"..\"`" } else { "" };
            Err(syn::Error::new(span, format!("`{name}` is no name: {fault}{hint}")))
        }
    }
}

/// What is wrong with a name.
fn fault(name: &str) -> Option<String> {
    let begins = name.starts_with(|first: char| first.is_ascii_lowercase());
    let goes_on = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    if !begins || !name.bytes().all(goes_on) {
        return Some("names begin with a letter of a-z and go on with a-z, 0-9 and _".to_owned());
    }
    let bytes = name.len();
    (bytes > NAME_BYTES_MAX).then(|| format!("names have at most {NAME_BYTES_MAX} bytes, and this has {bytes}"))
}

/// `Walker` is `walker`, `HTTPServer` is `http_server`, `HealthV1` is `health_v1`.
fn snake_case(ident: &str) -> String {
    let letters: Vec<char> = ident.chars().collect();
    let mut name = String::new();
    for (at, &letter) in letters.iter().enumerate() {
        let before = at.checked_sub(1).map(|before| letters[before]);
        let after = letters.get(at + 1);
        let begins_word = before.is_some_and(|before| {
            before != '_' && (!before.is_uppercase() || after.is_some_and(|after| after.is_lowercase()))
        });
        if letter.is_uppercase() && begins_word {
            name.push('_');
        }
        name.extend(letter.to_lowercase());
    }
    name
}

/// The error for a word that is none of those that fit: it names the nearest, or all.
pub(crate) fn unknown(word: &Ident, what: &str, known: &[&str]) -> syn::Error {
    let text = word.unraw().to_string();
    let likeness = |known: &str| strsim::jaro_winkler(&text, known);
    let nearest = known.iter().copied().max_by(|one, other| likeness(one).total_cmp(&likeness(other)));
    let hint = match nearest.filter(|nearest| likeness(nearest) >= SIMILAR) {
        Some(nearest) => format!("did you mean `{nearest}`?"),
        None => format!("here can be {}", list(known)),
    };
    syn::Error::new(word.span(), format!("unknown {what} `{text}`: {hint}"))
}

fn list(words: &[&str]) -> String {
    let words: Vec<_> = words.iter().map(|word| format!("`{word}`")).collect();
    match words.split_last() {
        None => "none at all".to_owned(),
        Some((last, [])) => last.clone(),
        Some((last, others)) => format!("{} and {last}", others.join(", ")),
    }
}

/// A type as people write it, with the same spaces under every compiler: `BTreeMap<String, u8>`.
pub(crate) fn type_text(tokens: &impl ToTokens) -> String {
    let spaced = tokens.to_token_stream().to_string();
    let is_word = |letter: Option<char>| letter.is_some_and(|letter| letter.is_alphanumeric() || letter == '_');
    let mut text = String::new();
    for token in spaced.split_whitespace() {
        if text.ends_with([',', ';']) || (is_word(text.chars().next_back()) && is_word(token.chars().next())) {
            text.push(' ');
        }
        text.push_str(token);
    }
    text.replace(",>", ">")
}

#[cfg(test)]
mod tests {
    use super::*;
    use quote::{format_ident, quote};

    #[test]
    fn an_ident_becomes_words_with_underscores() {
        for (ident, name) in [
            ("Walker", "walker"),
            ("PlayerBag", "player_bag"),
            ("HTTPServer", "http_server"),
            ("HealthV1", "health_v1"),
            ("Player2", "player2"),
            ("AB", "ab"),
            ("Odd_Name", "odd_name"),
        ] {
            assert_eq!(name_of(&format_ident!("{ident}"), None).ok().as_deref(), Some(name));
        }
    }

    #[test]
    fn a_name_has_48_bytes_of_lower_case() {
        assert_eq!(fault("a"), None);
        assert_eq!(fault(&"a".repeat(48)), None);
        for bad in ["", "A", "1a", "_a", "a-b", "a b", "é", "aé", &"a".repeat(49)] {
            assert!(fault(bad).is_some(), "{bad}");
        }
    }

    #[test]
    fn a_misspelt_word_is_told_the_nearest_and_a_strange_one_all() {
        let told = |word: &str| unknown(&format_ident!("{word}"), "key", &["name", "version"]).to_string();
        assert_eq!(told("verison"), "unknown key `verison`: did you mean `version`?");
        assert_eq!(told("colour"), "unknown key `colour`: here can be `name` and `version`");
    }

    #[test]
    fn a_type_reads_as_people_write_it() {
        assert_eq!(type_text(&quote!(BTreeMap<String, Vec<(u8, [u16; 4])>>)), "BTreeMap<String, Vec<(u8, [u16; 4])>>");
        assert_eq!(type_text(&quote!(Option<Box<dyn std::fmt::Debug>>)), "Option<Box<dyn std::fmt::Debug>>");
    }
}
