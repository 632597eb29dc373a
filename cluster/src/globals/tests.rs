//! Nodes tell each other of global entities.

use std::collections::VecDeque;

use slipgate_entity::RangeId;

use super::*;
use crate::node::NodeName;
use crate::view::Member;
use crate::{Incarnation, NodeId};

fn session(node: u16) -> Session {
    Session::new(node, 1)
}

fn entity(counter: u32) -> OnlineId {
    OnlineId::new(RangeId(1), counter)
}

fn view(version: u64, nodes: &[u16], dead: &[u16]) -> Arc<View> {
    let member = |node: &u16| {
        let name = NodeName::new(format!("n{node}")).expect("a name");
        (NodeId(*node), Member { session: session(*node), name, address: String::new(), admin: String::new() })
    };
    let dead = dead.iter().map(|node| (NodeId(*node), Incarnation(1))).collect();
    Arc::new(View { version, members: nodes.iter().map(member).collect(), dead, ..View::default() })
}

/// Nodes and what is on its way between them.
struct Town {
    now: Now,
    nodes: BTreeMap<u16, Globals>,
    names: BTreeMap<u16, Arc<Names>>,
    wire: VecDeque<(u16, Place, Control)>,
}

impl Town {
    fn new(nodes: &[u16]) -> Self {
        let fresh = |node: &u16| (*node, Globals::new(session(*node)));
        let all = nodes.iter().map(fresh).collect();
        let mut town = Self { now: Now(1), nodes: all, names: BTreeMap::new(), wire: VecDeque::new() };
        town.see(&view(1, nodes, &[]));
        town
    }

    fn see(&mut self, view: &Arc<View>) {
        for node in self.nodes.keys().copied().collect::<Vec<_>>() {
            self.give(node, Input::View(view.clone()));
        }
    }

    fn give(&mut self, node: u16, input: Input) {
        let mut out = Vec::new();
        self.nodes.get_mut(&node).expect("it is there").handle(input, self.now, &mut out);
        for output in out {
            match output {
                Output::Tell { to, control } => self.wire.push_back((node, to, control)),
                Output::Names(names) => drop(self.names.insert(node, names)),
                Output::LeftOut(_) => {}
            }
        }
    }

    fn here(&mut self, node: u16, scene: u16, entities: &[(u32, &str)]) {
        let entities = entities.iter().map(|(counter, name)| (entity(*counter), (*name).to_owned())).collect();
        self.give(node, Input::Here { scene: SceneId(scene.into()), entities });
    }

    fn deliver(&mut self) {
        while let Some((from, to, control)) = self.wire.pop_front() {
            let from = Place { session: session(from), port: Port::Directory };
            if self.nodes.contains_key(&to.session.node.0) {
                self.give(to.session.node.0, Input::Heard { from, control });
            }
        }
    }

    fn wait(&mut self, time: Duration) {
        self.now = self.now + time;
        for node in self.nodes.keys().copied().collect::<Vec<_>>() {
            self.give(node, Input::Tick);
        }
    }

    fn found(&self, node: u16, name: &str) -> Option<u32> {
        Some(self.names.get(&node)?.get(name)?.counter())
    }
}

#[test]
fn a_global_entity_is_found_from_everywhere() {
    let mut town = Town::new(&[1, 2, 3]);
    town.here(1, 7, &[(4, "auction")]);
    assert_eq!((town.found(1, "auction"), town.found(2, "auction")), (Some(4), None));
    town.deliver();
    assert_eq!([1, 2, 3].map(|node| town.found(node, "auction")), [Some(4); 3]);
    town.wait(Duration::from_secs(60));
    assert!(town.wire.is_empty(), "what is noted is not said again");
}

#[test]
fn what_is_lost_on_the_way_is_said_again_until_it_is_noted() {
    let mut town = Town::new(&[1, 2]);
    town.here(1, 7, &[(4, "auction")]);
    town.wire.clear();
    town.wait(Duration::from_secs(1));
    town.deliver();
    assert_eq!(town.found(2, "auction"), Some(4));
}

#[test]
fn a_late_list_changes_nothing() {
    let mut town = Town::new(&[1, 2]);
    town.here(1, 7, &[(4, "auction")]);
    let late = town.wire.clone();
    town.deliver();
    town.here(1, 7, &[(4, "auction"), (5, "bank")]);
    town.deliver();
    town.wire = late;
    town.deliver();
    assert_eq!((town.found(2, "auction"), town.found(2, "bank")), (Some(4), Some(5)));
}

#[test]
fn a_move_never_makes_it_vanish_and_an_end_does_after_a_while() {
    let mut town = Town::new(&[1, 2, 3]);
    town.here(1, 7, &[(4, "auction")]);
    town.deliver();
    town.here(1, 7, &[]);
    town.deliver();
    assert_eq!([1, 2, 3].map(|node| town.found(node, "auction")), [Some(4); 3]);
    town.here(2, 8, &[(4, "auction")]);
    town.deliver();
    town.wait(KEPT * 2);
    assert_eq!([1, 2, 3].map(|node| town.found(node, "auction")), [Some(4); 3]);
    town.here(2, 8, &[]);
    town.deliver();
    town.wait(KEPT);
    assert_eq!([1, 2, 3].map(|node| town.found(node, "auction")), [None; 3]);
}

#[test]
fn of_two_with_one_name_the_eldest_is_found_and_then_the_next() {
    let mut town = Town::new(&[1, 2]);
    town.here(1, 7, &[(9, "auction")]);
    town.here(2, 8, &[(4, "auction")]);
    town.deliver();
    assert_eq!([1, 2].map(|node| town.found(node, "auction")), [Some(4); 2]);
    town.here(2, 8, &[]);
    town.deliver();
    assert_eq!([1, 2].map(|node| town.found(node, "auction")), [Some(9); 2], "who lives comes before who has gone");
}

#[test]
fn whoever_joins_is_told_and_what_a_dead_session_told_is_gone() {
    let mut town = Town::new(&[1, 2]);
    town.here(1, 7, &[(4, "auction")]);
    town.deliver();
    town.nodes.insert(3, Globals::new(session(3)));
    town.see(&view(2, &[1, 2, 3], &[]));
    town.deliver();
    assert_eq!(town.found(3, "auction"), Some(4));
    town.nodes.remove(&1);
    town.see(&view(3, &[1, 2, 3], &[1]));
    town.wait(KEPT);
    assert_eq!([2, 3].map(|node| town.found(node, "auction")), [None; 2]);
}

#[test]
fn what_a_node_tells_is_bounded_on_both_sides() {
    let mut town = Town::new(&[1, 2]);
    let all = (0..GLOBALS + 5).map(|at| (entity(u32::try_from(at).expect("few")), format!("g{at}")));
    let mut out = Vec::new();
    let input = Input::Here { scene: SceneId(7), entities: all.collect() };
    town.nodes.get_mut(&1).expect("it is there").handle(input, Now(2), &mut out);
    let told = out.iter().find_map(|output| match output {
        Output::Tell { control: Control::Globals { globals, .. }, .. } => Some(globals.len()),
        Output::Tell { .. } | Output::Names(_) | Output::LeftOut(_) => None,
    });
    assert!(out.contains(&Output::LeftOut(5)) && told == Some(GLOBALS), "{told:?}");

    let long = "x".repeat(LABEL_BYTES + 1);
    let many =
        (0..GLOBALS + 9).map(|at| Global { entity: entity(u32::try_from(at).expect("few")), name: format!("h{at}") });
    let globals = [Global { entity: entity(1), name: long }].into_iter().chain(many).collect();
    let from = Place { session: session(1), port: Port::Directory };
    town.give(2, Input::Heard { from, control: Control::Globals { number: 1, globals } });
    assert_eq!(town.names[&2].len(), GLOBALS);
    for number in 2..99 {
        let globals = (0..GLOBALS).map(|at| (number * 1_000 + at, format!("{number}.{at}")));
        let global = |(at, name)| Global { entity: entity(u32::try_from(at).expect("few")), name };
        let control = Control::Globals { number: number as u64, globals: globals.map(global).collect() };
        town.give(2, Input::Heard { from, control });
    }
    assert!(town.names[&2].len() <= GLOBALS + PARTING_MAX, "{}", town.names[&2].len());
    let before = town.names[&2].len();
    let from = Place { session: session(9), port: Port::Directory };
    town.give(2, Input::Heard { from, control: Control::Globals { number: 9, globals: Vec::new() } });
    assert_eq!(town.names[&2].len(), before, "a stranger is not heard");
}
