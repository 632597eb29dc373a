//! "Did you mean": the known word that a wrong one is closest to.

/// The closest candidate, if it is close: a third of the letters may differ, swapped neighbours count once.
pub(crate) fn nearest<'a>(wrong: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let wrong = wrong.to_lowercase();
    let reach = (wrong.chars().count() / 3).max(1);
    known
        .into_iter()
        .map(|word| (strsim::damerau_levenshtein(&wrong, &word.to_lowercase()), word))
        .filter(|(distance, _)| *distance <= reach)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, word)| word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_finds_its_word_and_a_stranger_finds_none() {
        let known = ["name", "listen", "advertise"];
        assert_eq!(nearest("nmae", known), Some("name"));
        assert_eq!(nearest("Listn", known), Some("listen"));
        assert_eq!(nearest("advertize", known), Some("advertise"));
        assert_eq!(nearest("colour", known), None);
    }
}
