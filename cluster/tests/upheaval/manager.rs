//! The manager's part, played by the simulation: what it tells is on its way to each node for a time of its own.
//!
//! Heirs are drawn, not counted: also a node that is dead already, if nobody knows it yet.

use std::collections::BTreeMap;
use std::sync::Arc;

use slipgate_cluster::view::{Home, Member, ScenePlacement, View};
use slipgate_cluster::{Incarnation, NodeId, NodeName, Now, Session};
use slipgate_entity::{RangeId, SceneId};

use super::dice::Dice;

#[derive(Debug)]
pub(crate) struct Manager {
    pub(crate) view: Arc<View>,
    /// Views on their way: when they come, and to which node of the simulation.
    on_the_way: BTreeMap<(Now, u64), (usize, Arc<View>)>,
    /// When sessions that have crashed are declared dead.
    verdicts: BTreeMap<(Now, u64), Session>,
    told: u64,
    ranges: u32,
    dice: Dice,
}

impl Manager {
    pub(crate) fn new(dice: Dice) -> Self {
        let (on_the_way, verdicts) = (BTreeMap::new(), BTreeMap::new());
        Self { view: Arc::default(), on_the_way, verdicts, told: 0, ranges: 0, dice }
    }

    /// A life of a node joins, with its scenes.
    pub(crate) fn join(&mut self, session: Session, scenes: &[SceneId]) {
        let view = Arc::make_mut(&mut self.view);
        let name = |text: String| NodeName::new(text).expect("a name");
        let member = Member {
            session,
            name: name(format!("n{}", session.node.0)),
            address: String::new(),
            admin: String::new(),
        };
        view.members.insert(session.node, member);
        for &scene in scenes {
            let placement = ScenePlacement::declared(scene, name(format!("s{scene}")), session.node, 99);
            view.scenes.insert(scene, placement);
        }
        self.change();
    }

    /// A fresh range for a session, which knows at once.
    pub(crate) fn grant(&mut self, session: Session) -> RangeId {
        self.ranges += 1;
        let range = RangeId(self.ranges);
        Arc::make_mut(&mut self.view).homes.insert(range, Home::first(range, session));
        self.change();
        range
    }

    /// A session has crashed: the manager will find out.
    pub(crate) fn miss(&mut self, session: Session, now: Now) {
        let late = self.dice.within(20_000..400_000);
        self.told += 1;
        self.verdicts.insert((Now(now.0 + late), self.told), session);
    }

    /// Passes the verdicts that are due. Returns whether there were any.
    pub(crate) fn judge(&mut self, now: Now) -> bool {
        let mut any = false;
        while let Some(entry) = self.verdicts.first_entry().filter(|entry| entry.key().0 <= now) {
            let Session { node, incarnation } = entry.remove();
            let dead = &mut Arc::make_mut(&mut self.view).dead;
            let upto = dead.entry(node).or_insert(Incarnation(0));
            *upto = (*upto).max(incarnation);
            any = true;
        }
        if any {
            self.change();
        }
        any
    }

    /// A session gives its homes away.
    pub(crate) fn retire(&mut self, session: Session) {
        self.pass_on(|home| home.session == session, Some(session));
        self.change();
    }

    /// Every range whose home is dead has another one, and the version rises.
    fn change(&mut self) {
        let view = self.view.clone();
        self.pass_on(|home| view.is_dead(home.session), None);
        Arc::make_mut(&mut self.view).version += 1;
    }

    fn pass_on(&mut self, leaves: impl Fn(&Home) -> bool, but: Option<Session>) {
        let view = Arc::make_mut(&mut self.view);
        let members = view.members.values().map(|member| member.session);
        let heirs: Vec<_> = members.filter(|s| !view.is_dead(*s) && Some(*s) != but).collect();
        for home in view.homes.values_mut().filter(|home| leaves(home)) {
            if let Some(heir) = self.dice.pick(&heirs) {
                *home = home.passed_to(*heir).expect("terms are left");
            }
        }
    }

    /// Sends the view to a node.
    pub(crate) fn tell(&mut self, node: usize, now: Now, is_calm: bool) {
        let slow = !is_calm && self.dice.chance(200);
        let delay = self.dice.within(if slow { 20_000..400_000 } else { 100..20_000 });
        self.told += 1;
        self.on_the_way.insert((Now(now.0 + delay), self.told), (node, self.view.clone()));
    }

    /// The next view that has come by `until`.
    pub(crate) fn take(&mut self, until: Now) -> Option<(usize, Arc<View>)> {
        let first = self.on_the_way.first_entry().filter(|first| first.key().0 <= until)?;
        Some(first.remove())
    }

    pub(crate) fn is_quiet(&self) -> bool {
        self.on_the_way.is_empty() && self.verdicts.is_empty()
    }

    pub(crate) fn is_latest(&self, session: Session) -> bool {
        self.view.members.get(&session.node).is_some_and(|member| member.session == session)
    }

    pub(crate) fn next_life(&self, node: NodeId) -> Session {
        let Session { incarnation, .. } = self.view.members[&node].session;
        Session { node, incarnation: Incarnation(incarnation.0 + 1) }
    }
}
