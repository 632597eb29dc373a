//! The scenes of this node, as they are now: those that its configuration declares, and those made at run time.
//!
//! ```text
//!   view --> keeper (decides by `slipgate_cluster::hosting`) --> workshop: makes scene actors
//!                                                            --> Scenes: who is there, for all who ask
//! ```
//!
//! Keeps: the list is changed by the keeper alone, whole; whoever reads it gets it as it was at one moment.

pub mod keeper;
pub mod room;
pub mod workshop;

use std::collections::BTreeMap;
use std::sync::Arc;

use arc_swap::ArcSwap;
use slipgate_entity::SceneId;

use crate::mailbox::Mailbox;
use crate::scene::SceneActor;

/// The scenes of a node; cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct Scenes {
    all: Arc<ArcSwap<BTreeMap<SceneId, Entry>>>,
}

#[derive(Clone, Debug)]
struct Entry {
    mailbox: Mailbox<SceneActor>,
    /// Nobody is in it any more; it only knows where everybody went.
    is_over: bool,
}

impl Scenes {
    /// Those in which somebody may be, by number.
    #[must_use]
    pub fn present(&self) -> Vec<(SceneId, Mailbox<SceneActor>)> {
        let all = self.all.load();
        let present = all.iter().filter(|(_, entry)| !entry.is_over);
        present.map(|(id, entry)| (*id, entry.mailbox.clone())).collect()
    }

    /// All that are there, those included that are over.
    #[must_use]
    pub fn all(&self) -> Vec<Mailbox<SceneActor>> {
        self.all.load().values().map(|entry| entry.mailbox.clone()).collect()
    }

    /// A scene in which somebody may be.
    #[must_use]
    pub fn get(&self, scene: SceneId) -> Option<Mailbox<SceneActor>> {
        self.all.load().get(&scene).filter(|entry| !entry.is_over).map(|entry| entry.mailbox.clone())
    }

    /// The same, or one that is over.
    #[must_use]
    pub fn get_even_if_over(&self, scene: SceneId) -> Option<Mailbox<SceneActor>> {
        self.all.load().get(&scene).map(|entry| entry.mailbox.clone())
    }

    /// How many are there in which somebody may be, and how many that are over.
    #[must_use]
    pub fn count(&self) -> (usize, usize) {
        let all = self.all.load();
        let over = all.values().filter(|entry| entry.is_over).count();
        (all.len() - over, over)
    }

    fn put(&self, scene: SceneId, mailbox: &Mailbox<SceneActor>) {
        self.change(|all| drop(all.insert(scene, Entry { mailbox: mailbox.clone(), is_over: false })));
    }

    fn set_over(&self, scene: SceneId) {
        self.change(|all| {
            if let Some(entry) = all.get_mut(&scene) {
                entry.is_over = true;
            }
        });
    }

    fn remove(&self, scene: SceneId) {
        self.change(|all| drop(all.remove(&scene)));
    }

    fn change(&self, change: impl Fn(&mut BTreeMap<SceneId, Entry>)) {
        self.all.rcu(|all| {
            let mut all = BTreeMap::clone(all);
            change(&mut all);
            all
        });
    }
}
