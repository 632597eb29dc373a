//! Configuration: text from four places in, one checked value out.
//!
//! ```text
//! built-in  <  cluster.toml  <  SLIPGATE__SECTION__KEY  <  command line
//!     \              \                  |                    /
//!      +--------------+--- layers ------+-------------------+
//!                              | each value checked by its kind, where it stands
//!                              v
//!                  merged (crate `config`), relations checked  ->  Config, Origins
//! ```
//!
//! Nothing is guessed and nothing is ignored: a key that is not known, a unit that is missing, two
//! values that contradict each other are faults, each with its place, a caret, and what to write.
//!
//! Keeps: all faults are reported at once; a secret is in no message and no dump.
//! Leaves out: reading the process environment and opening sockets; the caller hands both in.
//!
//! | module | holds |
//! |---|---|
//! | [`settings`] | the checked values, by section |
//! | [`limits`] | `[limits]`, and the machines' limits made of it |
//! | [`address`] | what others dial |
//! | [`secret`] | texts that no dump shows |
//! | [`fault`] | what is wrong, where, and what to write |
//! | [`origin`] | where each value comes from |
//! | [`render`] | `config show` |
//! | `schema`, `kind`, `layer`, `document`, `relation`, `suggest` | how text is checked |

pub mod address;
mod document;
pub mod fault;
mod kind;
mod layer;
pub mod limits;
pub mod origin;
mod relation;
pub mod render;
mod schema;
pub mod secret;
pub mod settings;
mod suggest;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::path::Path;

pub use address::DialAddress;
pub use fault::{ConfigErrors, Fault};
pub use limits::LimitSettings;
pub use origin::{Origin, Origins};
pub use secret::Secret;
pub use settings::{Admin, Cluster, Colour, Config, Drain, Entities, Format, Log, Manager, Node, OnPanic, Scene};

use layer::Layer;
pub(crate) use suggest::nearest;

/// A configuration that holds together, and where each of its values comes from.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// The values.
    pub config: Config,
    /// Where they come from.
    pub origins: Origins,
}

/// The text of a configuration file, under the name by which faults call it.
#[derive(Clone, Copy, Debug)]
pub struct FileText<'a> {
    /// Path as the user wrote it.
    pub name: &'a str,
    /// Its content.
    pub text: &'a str,
}

impl Config {
    /// Reads the file, if one is named, and lays the environment and the overrides over it.
    ///
    /// `env` may hold any variables; only those that start with `SLIPGATE__` count. An override is a
    /// key such as `node.name` and its value as text.
    ///
    /// # Errors
    ///
    /// Every fault found, not only the first; nothing is returned besides them.
    pub fn load(
        path: Option<&Path>,
        env: impl Iterator<Item = (String, String)>,
        overrides: &[(String, String)],
    ) -> Result<Loaded, ConfigErrors> {
        let Some(path) = path else { return Self::from_text(None, env, overrides) };
        let name = path.display().to_string();
        match std::fs::read_to_string(path) {
            Ok(text) => Self::from_text(Some(FileText { name: &name, text: &text }), env, overrides),
            Err(error) => Err(ConfigErrors::new(vec![Fault::unreadable(&name, &error)])),
        }
    }

    /// As [`Config::load`], from a text that is at hand: touches neither disk nor environment.
    ///
    /// # Errors
    ///
    /// As [`Config::load`].
    ///
    /// ```
    /// use slipgate::config::{Config, FileText};
    /// let text = "[node]\nname = 'n1'\n[cluster]\nname = 'demo'\n[manager]\nnode = 'n1'\nlease = '5 parsecs'\n";
    /// let file = FileText { name: "cluster.toml", text };
    /// let errors = Config::from_text(Some(file), std::iter::empty(), &[]).expect_err("parsecs measure distance");
    /// assert!(errors.to_string().starts_with("cluster.toml:7:9: manager.lease: \"5 parsecs\" is not a duration"));
    /// ```
    pub fn from_text(
        file: Option<FileText<'_>>,
        env: impl Iterator<Item = (String, String)>,
        overrides: &[(String, String)],
    ) -> Result<Loaded, ConfigErrors> {
        let mut check = Check::default();
        let document = file.map(|file| document::read(file, &mut check));
        let readable = document.as_ref().is_none_or(Option::is_some);
        let env = layer::from_env(env, &mut check);
        let flags = layer::from_overrides(overrides, &mut check);
        let mut given: Vec<Layer> = document.flatten().into_iter().chain([env, flags]).collect();
        if readable {
            layer::check_required(file.map(|file| file.name), &given, &mut check);
        }
        if !check.faults.is_empty() {
            given.iter_mut().for_each(Layer::drop_scenes);
        }
        let layers: Vec<Layer> = std::iter::once(layer::presets(&check)).chain(given).collect();
        match layer::merge(&layers) {
            Ok((config, origins)) => {
                relation::check(&config, file, &layers, &mut check);
                if check.faults.is_empty() { Ok(Loaded { config, origins }) } else { Err(check.into()) }
            }
            Err(error) => {
                check.faults.push(Fault::new(fault::Place::Nowhere, error.to_string()));
                Err(check.into())
            }
        }
    }
}

/// The variables of this process that may be text; others cannot name a key.
pub fn process_env() -> impl Iterator<Item = (String, String)> {
    std::env::vars_os().filter_map(|(name, value)| {
        let name = name.into_string().ok()?;
        Some((name, value.to_string_lossy().into_owned()))
    })
}

/// Faults found so far, and the keys they touch: what is wrong already is not complained about twice.
#[derive(Debug, Default)]
struct Check {
    faults: Vec<Fault>,
    touched: BTreeSet<String>,
}

impl Check {
    fn key(&mut self, key: &str, fault: Fault) {
        self.touched.insert(key.to_owned());
        self.faults.push(fault);
    }
}

impl From<Check> for ConfigErrors {
    fn from(check: Check) -> Self {
        Self::new(check.faults)
    }
}
