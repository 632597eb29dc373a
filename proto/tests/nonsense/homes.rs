//! Homes: those that work, and those that come to be.

use std::collections::BTreeMap;
use std::sync::Arc;

use slipgate_cluster::directory::{self, Directory};
use slipgate_cluster::view::{Home, Member, ScenePlacement};
use slipgate_cluster::{Epoch, Incarnation, NodeId, NodeName, Now, Place, Port, Record, Session, View};
use slipgate_entity::{RangeId, SceneId};

use crate::peer;
use crate::speaker::Speaker;
use crate::stage::{HONEST, ME, honest};

#[test]
fn a_home_answers_everybody_and_changes_nothing_that_it_should_not() {
    let mut home = Directory::new(ME.session);
    let mut out = Vec::new();
    home.handle(directory::Input::Opened { range: RangeId(1) }, Now(0), &mut out);
    for counter in 0..HONEST {
        home.handle(directory::Input::Registered { entity: honest(counter), owner: ME, label: None }, Now(0), &mut out);
    }
    let mut speaker = Speaker::new(1);
    let mut epochs = [Epoch::ZERO; HONEST as usize];
    for _ in 0..100_000 {
        // A third node: neither the old owner's nor the new one's.
        let from = Place { session: Session::new(7, 1), port: Port::Scene(SceneId(1)) };
        home.handle(directory::Input::Heard { from, control: speaker.control() }, Now(0), &mut out);
        assert!(out.len() <= 2);
        out.clear();
    }
    for counter in 0..HONEST {
        assert_eq!(home.record(honest(counter)), Some(Record::registered(ME)), "a stranger changed {counter}");
    }
    for _ in 0..100_000 {
        home.handle(directory::Input::Heard { from: speaker.place(), control: speaker.control() }, Now(0), &mut out);
        out.clear();
        for (counter, before) in (0..).zip(&mut epochs) {
            let epoch = home.record(honest(counter)).expect("a record").epoch;
            assert!(epoch >= *before && !epoch.is_last());
            *before = epoch;
        }
    }
    assert!(home.ownership().len() <= HONEST as usize);
}

#[test]
fn a_home_that_comes_to_be_survives_whatever_scenes_and_its_predecessor_say() {
    let member = |node| Member {
        session: Session::new(node, 1),
        name: NodeName::new(format!("n{node}")).expect("a name"),
        address: String::new(),
        admin: String::new(),
    };
    let scene = |number: u16| {
        let name = NodeName::new(format!("s{number}")).expect("a name");
        ScenePlacement::declared(SceneId::from(number), name, NodeId(number), 9)
    };
    let home = Home { range: RangeId(1), session: ME.session, term: 1, before: Some(Session::new(2, 1)) };
    let named = View {
        version: 1,
        members: (1..=2).map(|node| (NodeId(node), member(node))).collect(),
        scenes: (1..=2).map(|number| (SceneId::from(number), scene(number))).collect(),
        homes: [(RangeId(1), home)].into(),
        ..View::default()
    };
    let mut came_to_be = 0;
    for seed in 0..200 {
        let mut speaker = Speaker::new(seed);
        let mut home = Directory::new(ME.session);
        let mut out = Vec::new();
        // Whose entities are lost as soon as the home is complete.
        let mut dead = BTreeMap::from([(NodeId(u16::MAX), Incarnation(u32::MAX))]);
        if seed % 2 == 0 {
            dead.insert(NodeId(2), Incarnation(1));
        }
        home.handle(directory::Input::View(Arc::new(View { dead, ..named.clone() })), Now(0), &mut out);
        for step in 0..300 {
            let (from, said) = match speaker.below(if seed % 2 == 0 { 1 } else { 3 }) {
                0 => (Place::from(ME), speaker.claims()),
                1 => (peer(), speaker.claims()),
                _ => (Place { port: Port::Directory, ..peer() }, speaker.legacy()),
            };
            let (witness, named) = (Place { port: Port::Directory, ..peer() }, speaker.bereft());
            home.handle(directory::Input::Heard { from: witness, control: named }, Now(step * 50_000), &mut out);
            home.handle(directory::Input::Heard { from, control: said }, Now(step * 50_000), &mut out);
            home.handle(directory::Input::Tick, Now(step * 50_000), &mut out);
            home.handle(
                directory::Input::Heard { from: speaker.place(), control: speaker.control() },
                Now(step * 50_000),
                &mut out,
            );
        }
        assert!(home.ownership().len() <= 300 * 4, "seed {seed}");
        came_to_be += usize::from(home.standing(RangeId(1)) == directory::Standing::Complete);
    }
    assert!(came_to_be > 100, "{came_to_be} of 200 came to be");
}
