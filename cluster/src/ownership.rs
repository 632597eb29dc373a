//! skeleton
use crate::Own;
use slipgate_entity::OnlineId;
use std::collections::BTreeMap;
/// x
#[derive(Debug, Default)]
pub struct Ownership {
    map: BTreeMap<OnlineId, Own>,
    lists: BTreeMap<Own, Vec<OnlineId>>,
}
impl Ownership {
    /// x
    pub fn assign(&mut self, id: OnlineId, own: Own) {
        self.retire(id);
        self.map.insert(id, own);
        self.lists.entry(own).or_default().push(id);
    }
    /// x
    pub fn retire(&mut self, id: OnlineId) -> Option<Own> {
        let own = self.map.remove(&id)?;
        self.lists.get_mut(&own)?.retain(|&x| x != id);
        Some(own)
    }
    /// x
    pub fn owner_of(&self, id: OnlineId) -> Option<Own> {
        self.map.get(&id).copied()
    }
    /// x
    pub fn count(&self, own: Own) -> usize {
        self.list(own).len()
    }
    /// x
    pub fn list(&self, own: Own) -> &[OnlineId] {
        self.lists.get(&own).map_or(&[], |l| l)
    }
    /// x
    pub fn len(&self) -> usize {
        self.map.len()
    }
}
