//! The labels of a spawn: one for one entity, or with a number behind it for each of several.
//!
//! Whether one of them is worn already is looked for in one pass over those who live somewhere, however many are wanted.

/// The labels of so many entities.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Labels {
    /// What they begin with.
    pub label: String,
    /// For how many.
    pub count: u32,
}

impl Labels {
    /// The label of the entity with that number, from 1.
    #[must_use]
    pub fn nth(&self, number: u32) -> String {
        if self.count > 1 { format!("{}{number}", self.label) } else { self.label.clone() }
    }

    /// Whether a label is one of them.
    #[must_use]
    pub fn have(&self, worn: &str) -> bool {
        match worn.strip_prefix(self.label.as_str()) {
            None => false,
            Some(rest) if self.count <= 1 => rest.is_empty(),
            Some(rest) => {
                let is_number = rest.starts_with(|c: char| ('1'..='9').contains(&c));
                is_number && rest.parse().is_ok_and(|number: u32| number <= self.count)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(count: u32) -> Labels {
        Labels { label: "orc".to_owned(), count }
    }

    #[test]
    fn one_entity_has_the_label_as_it_is() {
        assert_eq!(labels(1).nth(1), "orc");
        assert_eq!(["orc", "orc1", "or", "Orc"].map(|worn| labels(1).have(worn)), [true, false, false, false]);
    }

    #[test]
    fn several_have_their_numbers_behind_it_and_no_others() {
        let twelve = labels(12);
        assert!((1..=12).all(|number| twelve.have(&twelve.nth(number))));
        for other in ["orc", "orc0", "orc01", "orc13", "orc+1", "orc1a", "ork1", "orc99999999999"] {
            assert!(!twelve.have(other), "{other}");
        }
    }
}
