//! Sources of values, checked one by one and laid over each other.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;

use config::{ConfigError, Map, Source, Value, ValueKind};

use super::fault::Place;
use super::kind::{Complaint, Given, Setting};
use super::origin::{Origin, Origins};
use super::schema::{self, KEYS, Key, PREFIX, Preset, SCENE_KEYS, SCENES};
use super::suggest::nearest;
use super::{Check, Config, Fault, LimitSettings};

/// What one source says, key by key; keys of scenes are `scenes[0].id`.
#[derive(Clone, Debug, Default)]
pub(super) struct Layer {
    entries: BTreeMap<String, Entry>,
}

/// A checked value and its place.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) setting: Setting,
    pub(super) site: Site,
}

/// Where a value stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Site {
    /// Built in.
    Preset,
    /// In the file: its name, the line, and the bytes.
    File { name: String, line: usize, span: Range<usize> },
    /// In a variable.
    Variable(String),
    /// In an override of this key.
    Override(String),
}

impl fmt::Display for Site {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Preset => f.write_str("default"),
            Self::File { name, line, .. } => write!(f, "{name}:{line}"),
            Self::Variable(name) => write!(f, "env {name}"),
            Self::Override(key) => write!(f, "flag --set {key}"),
        }
    }
}

impl Layer {
    pub(super) fn insert(&mut self, key: String, setting: Setting, site: Site) {
        self.entries.insert(key, Entry { setting, site });
    }

    pub(super) fn get(&self, key: &str) -> Option<&Entry> {
        self.entries.get(key)
    }

    /// Forgets all scenes: while other things are wrong, half a scene would only be told again.
    pub(super) fn drop_scenes(&mut self) {
        self.entries.retain(|key, _| !key.starts_with(SCENES));
    }
}

impl Source for Layer {
    fn clone_into_box(&self) -> Box<dyn Source + Send + Sync> {
        Box::new(self.clone())
    }

    fn collect(&self) -> Result<Map<String, Value>, ConfigError> {
        let value = |entry: &Entry| {
            let kind = match &entry.setting {
                Setting::Text(text) => ValueKind::String(text.clone()),
                Setting::Whole(number) => ValueKind::I64(*number),
            };
            Value::new(Some(&entry.site.to_string()), kind)
        };
        Ok(self.entries.iter().map(|(key, entry)| (key.clone(), value(entry))).collect())
    }
}

/// Lays the layers over each other, the last on top.
///
/// # Errors
///
/// Never for layers whose values were checked; else what crate `config` says.
pub(super) fn merge(layers: &[Layer]) -> Result<(Config, Origins), ConfigError> {
    let builder = layers.iter().fold(config::Config::builder(), |builder, layer| builder.add_source(layer.clone()));
    let merged = builder.build()?;
    let tree = merged.collect()?;
    let mut origins: Vec<Origin> = KEYS.iter().filter_map(|key| Origin::of(key, tree.get(key.section())?)).collect();
    if let Some(ValueKind::Array(scenes)) = tree.get(SCENES).map(|scenes| &scenes.kind) {
        for (number, scene) in scenes.iter().enumerate() {
            origins.extend(SCENE_KEYS.iter().filter_map(|key| Origin::of_scene(number, key, scene)));
        }
    }
    Ok((merged.try_deserialize()?, Origins::new(origins)))
}

/// The built-in values. Where something is wrong already, examples stand in for required keys, so
/// that relations between the others can be checked as well.
pub(super) fn presets(check: &Check) -> Layer {
    let limits = limit_presets();
    let mut layer = Layer::default();
    for key in &KEYS {
        let setting = match key.preset {
            Preset::Text(text) => Some(Setting::Text(text.to_owned())),
            Preset::Whole(number) => Some(Setting::Whole(number)),
            Preset::Limit => limits.get(key.name()).cloned(),
            Preset::Required(example) if !check.faults.is_empty() => Some(Setting::Text(example.to_owned())),
            Preset::Required(_) | Preset::Unset => None,
        };
        if let Some(setting) = setting {
            layer.insert(key.path.to_owned(), setting, Site::Preset);
        }
    }
    layer
}

fn limit_presets() -> BTreeMap<String, Setting> {
    let limits = serde_json::to_value(LimitSettings::default()).expect("numbers and texts have a JSON form");
    let fields = limits.as_object().cloned().unwrap_or_default();
    fields
        .into_iter()
        .map(|(name, value)| match (value.as_i64(), value.as_str()) {
            (Some(number), _) => (name, Setting::Whole(number)),
            (None, text) => (name, Setting::Text(text.unwrap_or_default().to_owned())),
        })
        .collect()
}

/// The variables that start with [`PREFIX`].
pub(super) fn from_env(env: impl Iterator<Item = (String, String)>, check: &mut Check) -> Layer {
    let variables: BTreeMap<String, String> = env.filter(|(name, _)| name.starts_with(PREFIX)).collect();
    let mut layer = Layer::default();
    for (name, value) in variables {
        let place = Place::Variable(name.clone());
        match KEYS.iter().find(|key| key.variable() == name) {
            Some(key) => read_bare(&mut layer, key, &value, (place, Site::Variable(name)), check),
            None if name[PREFIX.len()..].starts_with("SCENES") => check.faults.push(
                Fault::new(place, "scenes cannot be set by the environment".to_owned())
                    .hint(Some("write [[scenes]] into the file".to_owned())),
            ),
            None => {
                let known: Vec<String> = KEYS.iter().map(Key::variable).collect();
                let hint = match nearest(&name, known.iter().map(String::as_str)) {
                    Some(variable) => format!("did you mean {variable}?"),
                    None => format!("names are {PREFIX}SECTION__KEY, such as SLIPGATE__NODE__NAME"),
                };
                check.faults.push(Fault::new(place, "there is no such key".to_owned()).hint(Some(hint)));
            }
        }
    }
    layer
}

/// Overrides of the command line.
pub(super) fn from_overrides(overrides: &[(String, String)], check: &mut Check) -> Layer {
    let mut layer = Layer::default();
    for (path, value) in overrides {
        let place = Place::Override(path.clone());
        let Some(key) = schema::key(path) else {
            let hint = nearest(path, KEYS.iter().map(|key| key.path)).map(|key| format!("did you mean {key}?"));
            check.faults.push(Fault::new(place, "there is no such key".to_owned()).hint(hint));
            continue;
        };
        read_bare(&mut layer, key, value, (place, Site::Override(path.clone())), check);
    }
    layer
}

fn read_bare(layer: &mut Layer, key: &'static Key, value: &str, (place, site): (Place, Site), check: &mut Check) {
    if value.is_empty() {
        let hint = Some("give it a value, or take it away".to_owned());
        return check.key(key.path, Fault::new(place, format!("{}: the value is empty", key.path)).hint(hint));
    }
    match key.kind.read(&Given::Bare(value)) {
        Ok(setting) => layer.insert(key.path.to_owned(), setting, site),
        Err(Complaint { text, hint }) => {
            check.key(key.path, Fault::new(place, format!("{}: {text}", key.path)).hint(hint));
        }
    }
}

/// Complains about required keys that no source sets.
pub(super) fn check_required(file: Option<&str>, given: &[Layer], check: &mut Check) {
    for key in &KEYS {
        let Preset::Required(example) = key.preset else { continue };
        if check.touched.contains(key.path) || given.iter().any(|layer| layer.get(key.path).is_some()) {
            continue;
        }
        let place = file.map_or(Place::Nowhere, |name| Place::File(name.to_owned()));
        let hint = format!("write [{}] {} = \"{example}\", or set {}", key.section(), key.name(), key.variable());
        check.key(key.path, Fault::new(place, format!("{} is missing", key.path)).hint(Some(hint)));
    }
}
