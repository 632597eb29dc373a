//! Directories and what is said between them, step by step: node 1 was the home of range 3, node 2 is the next.
//!
//! Scenes 1, 2 and 3 are on the nodes of their numbers.

use slipgate_entity::{OnlineId, RangeId, SceneId};

use super::super::{Directory, HomeEvent, Input, Lost, Output};
use crate::claim::{Claim, Stake, Title};
use crate::message::{Control, Nonce};
use crate::view::{Home, Member, ScenePlacement, View};
use crate::{Epoch, Incarnation, NodeId, NodeName, Now, Own, Place, Port, Record, Session};

pub(super) const RANGE: RangeId = RangeId(3);

/// One directory, its view, and all that it has said.
pub(super) struct Town {
    pub(super) directory: Directory,
    pub(super) view: View,
    pub(super) now: Now,
}

impl Town {
    /// The directory of node `node`, with a view of three nodes, in which node 1 is the home.
    pub(super) fn new(node: u16) -> Self {
        let directory = Directory::new(session(node)).without_witness();
        let view = View {
            members: (1..=3).map(|node| (NodeId(node), member(session(node)))).collect(),
            scenes: (1..=3).map(|number| (SceneId::from(number), placement(number))).collect(),
            homes: [(RANGE, Home::first(RANGE, session(1)))].into(),
            ..View::default()
        };
        Self { directory, view, now: Now(0) }
    }

    /// The same, with a directory that tells a witness, and asks for witnesses, a page of so many at a time.
    pub(super) fn with_witness(node: u16, page: usize) -> Self {
        Self { directory: Directory::new(session(node)).with_page(page), ..Self::new(node) }
    }

    /// Node 2, just named the home after node 1, of which there is a verdict.
    pub(super) fn of_a_dead_home() -> (Self, Vec<Output>) {
        let mut town = Self::new(2);
        town.dies(1);
        town.named(2);
        let out = town.see();
        (town, out)
    }

    /// Another home is named in the view.
    pub(super) fn named(&mut self, node: u16) {
        let home = self.view.homes[&RANGE].passed_to(session(node)).expect("terms are left");
        self.view.homes.insert(RANGE, home);
    }

    pub(super) fn dies(&mut self, node: u16) {
        self.view.dead.insert(NodeId(node), Incarnation(1));
    }

    pub(super) fn see(&mut self) -> Vec<Output> {
        self.view.version += 1;
        self.give(Input::View(self.view.clone().into()))
    }

    pub(super) fn give(&mut self, input: Input) -> Vec<Output> {
        let mut out = Vec::new();
        self.directory.handle(input, self.now, &mut out);
        out
    }

    pub(super) fn hear(&mut self, from: Place, control: Control) -> Vec<Output> {
        self.give(Input::Heard { from, control })
    }

    pub(super) fn pass(&mut self, ms: u64) -> Vec<Output> {
        self.now = Now(self.now.0 + ms * 1000);
        self.give(Input::Tick)
    }

    /// A scene says all that it knows, in one page.
    pub(super) fn claims(&mut self, scene: u16, claims: Vec<Claim>) -> Vec<Output> {
        self.page(scene, None, claims, false)
    }

    pub(super) fn page(&mut self, scene: u16, after: Option<u32>, claims: Vec<Claim>, more: bool) -> Vec<Output> {
        let (term, after) = (self.view.homes[&RANGE].term, after.map(entity));
        self.hear(own(scene).into(), Control::Claims { range: RANGE, term, after, claims, more })
    }

    pub(super) fn query(&mut self, counter: u32) -> Vec<Output> {
        self.hear(own(3).into(), Control::Query { entity: entity(counter), nonce: Nonce(7) })
    }
}

pub(super) fn session(node: u16) -> Session {
    Session::new(node, 1)
}

pub(super) fn own(node: u16) -> Own {
    Own::new(session(node), SceneId::from(node))
}

pub(super) fn home_at(node: u16) -> Place {
    Place { session: session(node), port: Port::Directory }
}

pub(super) fn entity(counter: u32) -> OnlineId {
    OnlineId::new(RANGE, counter)
}

pub(super) fn member(session: Session) -> Member {
    let name = NodeName::new(format!("n{}", session.node.0)).expect("a name");
    Member { session, name, address: String::new(), admin: String::new() }
}

fn placement(number: u16) -> ScenePlacement {
    let name = NodeName::new(format!("s{number}")).expect("a name");
    ScenePlacement::declared(SceneId::from(number), name, NodeId(number), 9)
}

/// It is active where this is said, at epoch `count` of term 0, with a copy of the same epoch.
pub(super) fn active(counter: u32, count: u32) -> Claim {
    claim(counter, Stake::Active(title(count)))
}

pub(super) fn claim(counter: u32, stake: Stake) -> Claim {
    Claim { entity: entity(counter), label: Some(format!("e{counter}")), stake }
}

pub(super) fn title(count: u32) -> Title {
    Title { epoch: Epoch::new(0, count), data: Epoch::new(0, count), base: Epoch::ZERO }
}

/// The record of a copy made at epoch `count` of term 0, in term `term`, as it begins.
pub(super) fn passed(owner: u16, count: u32, term: u32) -> Record {
    Record::handed_to(own(owner), Epoch::new(0, count), Epoch::ZERO).in_term(term)
}

/// Which scenes are asked for claims, after which entity.
pub(super) fn asked(out: &[Output]) -> Vec<(Place, Option<OnlineId>)> {
    let asked = |output: &Output| {
        let Output::Tell { to, control: Control::AskClaims { range: RANGE, after, .. } } = output else { return None };
        Some((*to, *after))
    };
    out.iter().filter_map(asked).collect()
}

/// Records told: to whom, of which entity, in answer to what.
pub(super) fn told(out: &[Output]) -> Vec<(Place, u32, Record, Option<Nonce>)> {
    let told = |output: &Output| {
        let Output::Tell { to, control: Control::RecordIs { entity, record, nonce } } = output else { return None };
        Some((*to, entity.counter(), *record, *nonce))
    };
    out.iter().filter_map(told).collect()
}

pub(super) fn lost(out: &[Output]) -> Vec<(u32, Option<String>, Own)> {
    let lost = |output: &Output| {
        let Output::Lost(Lost { entity, label, session, scene: Some(scene) }) = output else { return None };
        Some((entity.counter(), label.clone(), Own::new(*session, *scene)))
    };
    out.iter().filter_map(lost).collect()
}

pub(super) fn events(out: &[Output]) -> Vec<HomeEvent> {
    let event = |output: &Output| {
        let Output::Event(event) = output else { return None };
        Some(event.clone())
    };
    out.iter().filter_map(event).collect()
}
