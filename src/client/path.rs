//! Text as one segment of a path, or one value of a parameter.

use std::fmt::Write;

/// Escapes everything but letters, digits and `-._~`.
///
/// ```
/// assert_eq!(slipgate::client::segment("a b/ü"), "a%20b%2F%C3%BC");
/// ```
#[must_use]
pub fn segment(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            escaped.push(char::from(byte));
        } else {
            write!(escaped, "%{byte:02X}").expect("writing to text does not fail");
        }
    }
    escaped
}
