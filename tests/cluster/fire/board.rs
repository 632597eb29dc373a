//! Where the nodes are asked, while they come and go.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use slipgate::client::Client;

use crate::nodes::Node;

/// The nodes that can be asked just now, and those that are not blamed for being late.
/// Clones are the same board.
#[derive(Clone, Debug, Default)]
pub(crate) struct Board {
    clients: Arc<Mutex<BTreeMap<String, Client>>>,
    excused: Arc<Mutex<BTreeSet<String>>>,
}

impl Board {
    /// This is where a node is asked from now on.
    pub(crate) fn put(&self, node: &Node) {
        hold(&self.clients).insert(node.name.clone(), node.client());
        hold(&self.excused).remove(&node.name);
    }

    /// The node is not there.
    pub(crate) fn strike(&self, name: &str) {
        hold(&self.clients).remove(name);
    }

    /// Whoever asks this node may be left without an answer until it is put on the board again.
    pub(crate) fn excuse(&self, name: &str) {
        hold(&self.excused).insert(name.to_owned());
    }

    pub(crate) fn is_excused(&self, name: &str) -> bool {
        hold(&self.excused).contains(name)
    }

    pub(crate) fn client(&self, name: &str) -> Option<Client> {
        hold(&self.clients).get(name).cloned()
    }

    /// Every node that can be asked.
    pub(crate) fn clients(&self) -> Vec<(String, Client)> {
        hold(&self.clients).iter().map(|(name, client)| (name.clone(), client.clone())).collect()
    }

    /// One of the nodes that can be asked.
    pub(crate) fn any(&self, rng: &mut fastrand::Rng) -> Option<(String, Client)> {
        let clients = self.clients();
        rng.choice(clients)
    }
}

fn hold<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
