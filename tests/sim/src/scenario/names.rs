//! Who is in a play, and by which names.
//!
//! | who | name |
//! |---|---|
//! | scenes, entities, messages | as the script has them |
//! | the home, router, member at node 2 | `home@2`, `router@2`, `node 2` |
//! | the same in the node's third life | `home@2#3` |
//! | what an entity says because it was told `m1` | `m1'` |

use std::collections::BTreeMap;

use slipgate_cluster::{Own, Place, Port, Record, Session};
use slipgate_entity::{OnlineId, SceneId};

/// The names.
#[derive(Clone, Debug, Default)]
pub(crate) struct Names {
    pub(crate) scenes: BTreeMap<SceneId, String>,
    entities: Vec<(String, OnlineId)>,
    messages: BTreeMap<u64, String>,
}

impl Names {
    pub(crate) fn born(&mut self, name: String, entity: OnlineId) {
        self.entities.push((name, entity));
    }

    pub(crate) fn says(&mut self, name: &str, number: u64) {
        self.messages.insert(number, name.to_owned());
    }

    /// A message has made another one.
    pub(crate) fn says_on(&mut self, heard: u64, number: u64) {
        let name = format!("{}'", self.message(heard));
        self.messages.insert(number, name);
    }

    pub(crate) fn entities(&self) -> &[(String, OnlineId)] {
        &self.entities
    }

    pub(crate) fn find(&self, name: &str) -> Option<OnlineId> {
        self.entities.iter().find(|(known, _)| known == name).map(|(_, entity)| *entity)
    }

    pub(crate) fn find_scene(&self, name: &str) -> Option<SceneId> {
        self.scenes.iter().find(|(_, known)| *known == name).map(|(scene, _)| *scene)
    }

    pub(crate) fn entity(&self, entity: OnlineId) -> String {
        let known = self.entities.iter().find(|(_, known)| *known == entity);
        known.map_or_else(|| entity.to_string(), |(name, _)| name.clone())
    }

    pub(crate) fn message(&self, number: u64) -> String {
        self.messages.get(&number).cloned().unwrap_or_else(|| format!("message {number}"))
    }

    pub(crate) fn own(&self, own: Own) -> String {
        let name = self.scenes.get(&own.scene).cloned().unwrap_or_else(|| format!("scene {}", own.scene));
        name + &life(own.session)
    }

    pub(crate) fn place(&self, Place { session, port }: Place) -> String {
        match port {
            Port::Scene(scene) => self.own(Own::new(session, scene)),
            Port::Directory => format!("home@{}{}", session.node.0, life(session)),
            Port::Router(_) => format!("router@{}{}", session.node.0, life(session)),
            Port::Manager => "manager".into(),
            Port::Member | Port::Admin => node(session),
        }
    }

    pub(crate) fn record(&self, record: &Record) -> String {
        if *record == Record::dead() {
            return "dead".into();
        }
        let owner = match record.owner {
            Some(owner) => self.own(owner),
            None if record.lost => "lost".into(),
            None => "nobody".into(),
        };
        let Record { epoch, data, base, .. } = record;
        let copy = if data == epoch { String::new() } else { format!(", copy of {data:?}") };
        let reset = if *base > slipgate_cluster::Epoch::ZERO { format!(", reset at {base:?}") } else { String::new() };
        format!("{owner} {epoch:?}{copy}{reset}")
    }

    /// A text of the machines for people, with names for ids.
    pub(crate) fn named(&self, text: &str) -> String {
        self.entities.iter().fold(text.to_owned(), |text, (name, entity)| text.replace(&entity.to_string(), name))
    }
}

/// A node, in one of its lives.
pub(crate) fn node(session: Session) -> String {
    format!("node {}{}", session.node.0, life(session))
}

fn life(session: Session) -> String {
    match session.incarnation.0 {
        1 => String::new(),
        later => format!("#{later}"),
    }
}
