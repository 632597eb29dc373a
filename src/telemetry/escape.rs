//! Text from users and peers, made harmless for lines and terminals.

/// Longest text of one field, in characters; a guess at what one still reads.
pub const TEXT_CHARS_MAX: usize = 256;

/// Whether a terminal, or a reader's eye, would obey the character: controls, line separators, and
/// those that turn the direction of writing.
#[must_use]
pub fn is_obeyed(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200e}' | '\u{200f}' | '\u{2028}' | '\u{2029}' | '\u{202a}'..='\u{202e}')
        || matches!(c, '\u{2066}'..='\u{2069}')
}

/// The first [`TEXT_CHARS_MAX`] characters, with `...` behind them if there are more.
#[must_use]
pub fn capped(text: &str) -> String {
    match text.char_indices().nth(TEXT_CHARS_MAX) {
        None => text.to_owned(),
        Some((at, _)) => format!("{}...", &text[..at]),
    }
}

/// The text capped, and what would be obeyed written as `\u{1b}`, for people.
///
/// ```
/// use slipgate::telemetry::escape::harmless;
/// assert_eq!(harmless("ann\u{1b}[2J"), "ann\\u{1b}[2J");
/// ```
#[must_use]
pub fn harmless(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in capped(text).chars() {
        if is_obeyed(c) {
            shown.extend(c.escape_default());
        } else {
            shown.push(c);
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_text_of_any_script_stays_as_it_is() {
        assert_eq!(harmless("Zoe\u{308} \u{4f60}\u{597d} = \"x\""), "Zoe\u{308} \u{4f60}\u{597d} = \"x\"");
    }

    #[test]
    fn what_would_be_obeyed_is_spelt_out() {
        assert_eq!(harmless("a\nb\t\u{9b}31m\u{202e}x\u{7f}"), "a\\nb\\t\\u{9b}31m\\u{202e}x\\u{7f}");
    }

    #[test]
    fn a_text_without_end_is_cut() {
        let text = "\u{e9}".repeat(TEXT_CHARS_MAX);
        assert_eq!(capped(&text), text);
        assert_eq!(capped(&format!("{text}x")), format!("{text}..."));
    }
}
