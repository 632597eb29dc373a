//! The manager, as a script: what it has done so far, and the cluster as it tells it after that.

use std::sync::Arc;

use slipgate_cluster::view::{Home, Member, ScenePlacement};
use slipgate_cluster::{NodeName, Rule, Session, View};
use slipgate_entity::RangeId;

use super::plan::{Plan, session};

/// Something that the manager does; each makes a new view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Deed {
    /// A node is declared dead.
    Declare(u16),
    /// A node that is about to stop gives its homes away.
    Retire(u16),
    /// A node joins, with its scenes.
    Join(u16),
}

/// What the manager has done so far, in order; a byte each, the latest lowest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Deeds(u64);

impl Deeds {
    pub(crate) fn and(self, deed: Deed) -> Self {
        let (kind, node) = match deed {
            Deed::Declare(node) => (1, node),
            Deed::Retire(node) => (2, node),
            Deed::Join(node) => (3, node),
        };
        assert!(self.0 >> 56 == 0 && node < 16, "expected at most eight deeds to nodes below 16");
        Self(self.0 << 8 | kind << 4 | u64::from(node))
    }

    pub(crate) fn iter(self) -> impl Iterator<Item = Deed> {
        self.0.to_be_bytes().into_iter().filter(|&byte| byte != 0).map(|byte| {
            let node = u16::from(byte & 15);
            match byte >> 4 {
                1 => Deed::Declare(node),
                2 => Deed::Retire(node),
                _ => Deed::Join(node),
            }
        })
    }

    pub(crate) fn contains(self, deed: Deed) -> bool {
        self.iter().any(|done| done == deed)
    }

    pub(crate) fn as_u64(self) -> u64 {
        self.0
    }

    /// The cluster as it is told after all of this.
    pub(crate) fn view(self, plan: &Plan) -> Arc<View> {
        let mut view = View { version: 1, ..View::default() };
        for node in plan.nodes().into_iter().filter(|node| !plan.joins.contains(node)) {
            join(&mut view, plan, node);
        }
        for start in &plan.entities {
            let range = RangeId(u32::from(start.home));
            view.homes.insert(range, Home::first(range, session(start.home)));
        }
        for deed in self.iter() {
            view.version += 1;
            match deed {
                Deed::Join(node) => join(&mut view, plan, node),
                Deed::Declare(node) => {
                    view.dead.insert(session(node).node, session(node).incarnation);
                }
                Deed::Retire(node) => {
                    view.draining.insert(session(node).node, session(node).incarnation);
                }
            }
            pass_homes(&mut view, plan);
        }
        Arc::new(view)
    }
}

fn join(view: &mut View, plan: &Plan, node: u16) {
    let name = |text: String| NodeName::try_from(text).expect("a letter and a number are a name");
    let (address, admin) = (String::new(), String::new());
    let member = Member { session: session(node), name: name(format!("n{}", node % 10)), address, admin };
    let node_id = member.session.node;
    view.members.insert(node_id, member);
    for index in (0..plan.scenes.len()).filter(|&index| plan.scenes[index] == node) {
        let id = plan.own(index).scene;
        view.scenes.insert(id, ScenePlacement::declared(id, name(format!("s{id}")), node_id, 8));
    }
}

/// A home that is dead or about to stop is passed on to the first of the plan's heirs that is neither.
fn pass_homes(view: &mut View, plan: &Plan) {
    let mut heirs = plan.heirs.iter().map(|&node| session(node));
    let Some(heir) = heirs.find(|&heir: &Session| view.takes_homes(heir)) else { return };
    let leaves = |home: &Home| !view.takes_homes(home.session);
    let pass = |home: &Home| {
        let passed = home.passed_to(heir)?;
        Some(if plan.rules.keep(Rule::TermsRise) { passed } else { Home { term: home.term, ..passed } })
    };
    let passed: Vec<_> = view.homes.values().filter(|home| leaves(home)).filter_map(pass).collect();
    view.homes.extend(passed.into_iter().map(|home| (home.range, home)));
}

#[test]
fn the_homes_of_a_node_that_dies_pass_to_the_next_heir_in_the_next_term() {
    let plan = Plan::new("deeds", &[1, 2], 3).heirs(&[4, 2]);
    let home = |deeds: Deeds| deeds.view(&plan).homes[&RangeId(3)];
    let first = Deeds::default();
    assert_eq!(home(first), Home::first(RangeId(3), session(3)));
    let retired = first.and(Deed::Retire(3));
    assert_eq!((home(retired).session, home(retired).term, home(retired).before), (session(4), 1, Some(session(3))));
    let dead = retired.and(Deed::Declare(4));
    assert_eq!((home(dead).session, home(dead).term, home(dead).before), (session(2), 2, Some(session(4))));
    assert_eq!(dead.iter().collect::<Vec<_>>(), [Deed::Retire(3), Deed::Declare(4)]);
}
