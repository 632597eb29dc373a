//! The file: every key and value checked where it stands.

use std::collections::BTreeMap;
use std::ops::Range;

use toml_edit::{Document, Item, TableLike, TomlError, Value};

use super::fault::{Excerpt, Place};
use super::kind::{Complaint, Given, Setting};
use super::layer::{Layer, Site};
use super::schema::{self, KEYS, Key, Preset, SCENE_KEYS, SCENES, SECTIONS};
use super::suggest::nearest;
use super::{Check, Fault, FileText};

/// Reads the file. `None` if it is not TOML; the fault says where.
pub(super) fn read(file: FileText<'_>, check: &mut Check) -> Option<Layer> {
    match Document::parse(file.text) {
        Ok(document) => {
            let mut reader = Reader { file, layer: Layer::default(), check };
            reader.root(document.as_table());
            Some(reader.layer)
        }
        Err(error) => {
            check.faults.push(syntax(file, &error));
            None
        }
    }
}

fn syntax(file: FileText<'_>, error: &TomlError) -> Fault {
    let span = error.span().unwrap_or(file.text.len()..file.text.len());
    let bare = file.text.get(..span.start).is_some_and(|before| before.trim_end_matches([' ', '\t']).ends_with('='));
    let (text, hint) = if bare {
        ("the value is neither a number nor a text in quotes".to_owned(), Some("texts stand in quotes".to_owned()))
    } else {
        (error.message().lines().collect::<Vec<_>>().join(", "), None)
    };
    let text = format!("not TOML: {text}");
    Fault::new(Place::Line(Excerpt::of(file, &span)), text).hint(hint)
}

struct Reader<'a> {
    file: FileText<'a>,
    layer: Layer,
    check: &'a mut Check,
}

impl Reader<'_> {
    fn root(&mut self, root: &dyn TableLike) {
        for (name, item) in root.iter() {
            let span = key_span(root, name);
            if name == SCENES {
                self.scenes(item, &span);
            } else if !SECTIONS.contains(&name) {
                self.unknown_section(name, item, &span);
            } else if let Some(table) = item.as_table_like() {
                self.section(name, table);
            } else {
                let text = format!("[{name}] must be a table, found {}", words(item));
                self.fault(&span, text, Some(format!("write [{name}] on a line of its own, its keys below")));
            }
        }
    }

    fn section(&mut self, section: &str, table: &dyn TableLike) {
        for (name, item) in table.iter() {
            match schema::of_section(section).find(|key| key.name() == name) {
                Some(key) => self.value(key, key.path.to_owned(), item, &key_span(table, name)),
                None => {
                    let known: Vec<_> = schema::of_section(section).map(Key::name).collect();
                    self.unknown_key(format!("{section}.{name}"), name, &known, &key_span(table, name));
                }
            }
        }
    }

    fn scenes(&mut self, item: &Item, span: &Range<usize>) {
        let mut ids = BTreeMap::new();
        let mut names = BTreeMap::new();
        let Some(tables) = scene_tables(item) else {
            let hint = "write [[scenes]] on a line of its own, once for each scene".to_owned();
            return self.fault(span, format!("scenes must be a list of tables, found {}", words(item)), Some(hint));
        };
        for (number, (table, place)) in tables.into_iter().enumerate() {
            self.scene(number, table, &place.unwrap_or_else(|| span.clone()));
            self.unique(number, "id", &mut ids);
            self.unique(number, "name", &mut names);
        }
    }

    fn scene(&mut self, number: usize, table: &dyn TableLike, span: &Range<usize>) {
        for (name, item) in table.iter() {
            match SCENE_KEYS.iter().find(|key| key.path == name) {
                Some(key) => self.value(key, scene_key(number, name), item, &key_span(table, name)),
                None => {
                    let known: Vec<_> = SCENE_KEYS.iter().map(Key::name).collect();
                    self.unknown_key(scene_key(number, name), name, &known, &key_span(table, name));
                }
            }
        }
        for key in SCENE_KEYS.iter().filter(|key| !table.contains_key(key.path)) {
            let path = scene_key(number, key.path);
            match key.preset {
                Preset::Whole(preset) => self.layer.insert(path, Setting::Whole(preset), Site::Preset),
                Preset::Required(example) => {
                    let hint = format!("write {} = {example} below it", key.path);
                    self.fault(span, format!("{path} is missing"), Some(hint));
                }
                Preset::Unset | Preset::Text(_) | Preset::Limit => {}
            }
        }
    }

    fn unique(&mut self, number: usize, name: &str, seen: &mut BTreeMap<String, String>) {
        let path = scene_key(number, name);
        let Some(entry) = self.layer.get(&path) else { return };
        let Site::File { span, .. } = entry.site.clone() else { return };
        let (value, hint) = match &entry.setting {
            Setting::Text(text) => (format!("{text:?}"), "give each scene a name of its own"),
            Setting::Whole(id) => (id.to_string(), "give each scene a number of its own"),
        };
        let site = entry.site.to_string();
        if let Some(first) = seen.get(&value) {
            let text = format!("{path}: {value} is taken by the scene at {first}");
            self.fault(&span, text, Some(hint.to_owned()));
        } else {
            seen.insert(value, site);
        }
    }

    fn value(&mut self, key: &Key, path: String, item: &Item, key_span: &Range<usize>) {
        let span = item.span().unwrap_or_else(|| key_span.clone());
        match key.kind.read(&given(item)) {
            Ok(setting) => {
                let line = Excerpt::of(self.file, &span).line();
                let site = Site::File { name: self.file.name.to_owned(), line, span };
                self.layer.insert(path, setting, site);
            }
            Err(Complaint { text, hint }) => {
                self.check.touched.insert(path.clone());
                self.fault(&span, format!("{path}: {text}"), hint);
            }
        }
    }

    fn unknown_key(&mut self, path: String, name: &str, known: &[&str], span: &Range<usize>) {
        let hint = match nearest(name, known.iter().copied()) {
            Some(word) => format!("did you mean {word}?"),
            None => format!("its section knows {}", known.join(", ")),
        };
        self.unknown(span, format!("{path}: there is no such key"), hint);
    }

    fn unknown_section(&mut self, name: &str, item: &Item, span: &Range<usize>) {
        if item.is_value() {
            let belongs = KEYS.iter().find(|key| key.name() == name).map(|key| key.section());
            let hint = match belongs {
                Some(section) => format!("did you mean it to stand below [{section}]?"),
                None => format!("sections are {}", SECTIONS.join(", ")),
            };
            return self.unknown(span, format!("{name}: there is no such key outside the sections"), hint);
        }
        let hint = match nearest(name, SECTIONS) {
            Some(SCENES) => "did you mean [[scenes]]?".to_owned(),
            Some(section) => format!("did you mean [{section}]?"),
            None => format!("sections are {}", SECTIONS.join(", ")),
        };
        self.unknown(span, format!("[{name}]: there is no such section"), hint);
    }

    fn unknown(&mut self, span: &Range<usize>, text: String, hint: String) {
        let place = Place::Line(Excerpt::of_key(self.file, span));
        self.check.faults.push(Fault::new(place, text).hint(Some(hint)));
    }

    fn fault(&mut self, span: &Range<usize>, text: String, hint: Option<String>) {
        self.check.faults.push(Fault::new(Place::Line(Excerpt::of(self.file, span)), text).hint(hint));
    }
}

fn scene_key(number: usize, name: &str) -> String {
    format!("{SCENES}[{number}].{name}")
}

fn key_span(table: &dyn TableLike, name: &str) -> Range<usize> {
    table.key(name).and_then(toml_edit::Key::span).unwrap_or(0..0)
}

type SceneTable<'a> = (&'a dyn TableLike, Option<Range<usize>>);

/// Both spellings: `[[scenes]]` and `scenes = [{ .. }]`.
fn scene_tables(item: &Item) -> Option<Vec<SceneTable<'_>>> {
    if let Some(tables) = item.as_array_of_tables() {
        return Some(tables.iter().map(|table| (table as &dyn TableLike, table.span())).collect());
    }
    let tables = item.as_array()?.iter().map(|value| {
        let table = value.as_inline_table()?;
        Some((table as &dyn TableLike, table.span()))
    });
    tables.collect()
}

fn given(item: &Item) -> Given<'_> {
    match item {
        Item::Value(Value::String(text)) => Given::Text(text.value()),
        Item::Value(Value::Integer(number)) => Given::Whole(*number.value()),
        Item::Value(
            Value::Float(_) | Value::Boolean(_) | Value::Datetime(_) | Value::Array(_) | Value::InlineTable(_),
        )
        | Item::None
        | Item::Table(_)
        | Item::ArrayOfTables(_) => Given::Other(words(item)),
    }
}

fn words(item: &Item) -> &'static str {
    match item {
        Item::None => "nothing",
        Item::Table(_) | Item::Value(Value::InlineTable(_)) => "a table",
        Item::ArrayOfTables(_) | Item::Value(Value::Array(_)) => "a list",
        Item::Value(Value::String(_)) => "a text",
        Item::Value(Value::Integer(_)) => "a whole number",
        Item::Value(Value::Float(_)) => "a number with a point",
        Item::Value(Value::Boolean(_)) => "true or false",
        Item::Value(Value::Datetime(_)) => "a date",
    }
}
