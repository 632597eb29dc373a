//! The sample file at the root: it loads, explains every key, and tells the truth about defaults.

use slipgate_cluster::Limits;

use super::super::Config;
use super::super::schema::{KEYS, Preset};
use super::{load, loaded};

const SAMPLE: &str = include_str!("../../../cluster.toml");

fn placed(config: &Config) -> Vec<(u16, &str, &str)> {
    config.scenes.iter().map(|scene| (scene.id, scene.name.as_str(), scene.node.as_str())).collect()
}

#[test]
fn the_sample_starts_the_first_of_three_nodes_on_loopback() {
    let config = loaded(SAMPLE).config;
    assert_eq!((config.node.name.as_str(), config.manager.node.as_str()), ("n1", "n1"));
    assert!(config.node.listen.ip().is_loopback() && config.admin.listen.ip().is_loopback());
    assert_eq!(placed(&config), [(1, "forest", "n1"), (2, "harbor", "n2"), (3, "keep", "n3"), (4, "tower", "n1")]);
}

#[test]
fn the_sample_explains_every_key_with_its_variable() {
    for key in &KEYS {
        let set = format!("{} = ", key.name());
        let lines = || SAMPLE.lines().map(|line| line.trim_start_matches("# "));
        assert!(lines().any(|line| line.starts_with(&set)), "{} does not stand in cluster.toml", key.path);
        assert!(SAMPLE.contains(&key.variable()), "{} does not stand in cluster.toml", key.variable());
    }
}

#[test]
fn what_the_sample_sets_is_the_default_unless_it_must_be_set() {
    let sample = loaded(SAMPLE);
    let presets = loaded(super::LEAST);
    for key in &KEYS {
        let value = |loaded: &super::Loaded| loaded.origins.get(key.path).map(|origin| origin.value.clone());
        if !matches!(key.preset, Preset::Required(_)) && key.path != "manager.address" {
            assert_eq!(value(&sample), value(&presets), "{}", key.path);
        }
    }
    assert_eq!(Limits::from(&sample.config.limits), Limits::default());
}

#[test]
fn a_container_makes_the_sample_its_own_by_variables() {
    let env = [
        ("SLIPGATE__NODE__NAME", "n2"),
        ("SLIPGATE__NODE__LISTEN", "0.0.0.0:7700"),
        ("SLIPGATE__NODE__ADVERTISE", "n2:7700"),
        ("SLIPGATE__NODE__DATA", "/data"),
        ("SLIPGATE__ADMIN__LISTEN", "0.0.0.0:7780"),
        ("SLIPGATE__ADMIN__ADVERTISE", "n2:7780"),
        ("SLIPGATE__ADMIN__TOKEN", "dev-only"),
        ("SLIPGATE__MANAGER__ADDRESS", "n1:7700"),
        ("SLIPGATE__LOG__FORMAT", "pretty"),
    ];
    let config = load(SAMPLE, &env, &[]).expect("it loads").config;
    assert_eq!(config.node.data_folder(), std::path::Path::new("/data/n2"));
    assert_eq!(config.manager.address.expect("an address").as_str(), "n1:7700");
}
