//! Global entities: which there are, by name, as every node knows it.
//!
//! ```text
//!   scenes of this node --Here--> Globals --Globals n, all of them--> every other member
//!                                    |   <----GlobalsNoted n--------
//!                                    +--Names--> scenes of this node
//! ```
//!
//! Each node tells every other which global entities live on it, whole and under a number that rises, until that is noted. An
//! entity keeps its id over its moves, so a move changes nothing of what is found; between a list without it and another with it
//! its name is kept for a while.
//!
//! Keeps: of several with one name the one with the lowest id is found, everywhere alike once all have heard; what a node
//! tells is bounded, and is gone with its session.
//! Leaves out: where they are. Whoever writes to one writes to an id, as to anybody.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use slipgate_entity::{OnlineId, SceneId};

use crate::bounds::{GLOBALS, LABEL_BYTES};
use crate::message::Control;
use crate::pace::Pace;
use crate::{Now, Place, Port, Session, View};

/// Ids of global entities, by their names.
pub type Names = BTreeMap<String, OnlineId>;

/// A global entity.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Global {
    /// The entity.
    pub entity: OnlineId,
    /// Its label, or the name of its type if it has none.
    pub name: String,
}

/// What this is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Input {
    /// The global entities of a scene of this node; nobody if it is over.
    Here {
        /// The scene.
        scene: SceneId,
        /// All of them.
        entities: BTreeMap<OnlineId, String>,
    },
    /// Another node says something.
    Heard {
        /// From where.
        from: Place,
        /// What.
        control: Control,
    },
    /// The cluster has changed.
    View(Arc<View>),
    /// Time passes.
    Tick,
}

/// What this wants done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Output {
    /// Tell another node.
    Tell {
        /// Whom.
        to: Place,
        /// What.
        control: Control,
    },
    /// What is found from here on.
    Names(Arc<Names>),
    /// So many of this node are more than others are told of; said when it changes.
    LeftOut(usize),
}

/// The global entities, as a node knows them.
#[derive(Clone, Debug)]
pub struct Globals {
    me: Session,
    here: BTreeMap<SceneId, BTreeMap<OnlineId, String>>,
    /// Of what is here; rises with every change.
    number: u64,
    left_out: usize,
    others: BTreeMap<Session, Other>,
    known: BTreeSet<Global>,
    /// Whether `known` may have changed.
    is_news: bool,
    /// Those that nobody tells of any more, and until when they are found all the same.
    parting: BTreeMap<Global, Now>,
    names: Arc<Names>,
}

/// Another member.
#[derive(Clone, Debug)]
struct Other {
    /// The number of this node's list that it has noted.
    noted: u64,
    pace: Pace,
    /// Its own list.
    number: u64,
    globals: Vec<Global>,
}

impl Globals {
    /// What session `me` knows at first: nobody.
    #[must_use]
    pub fn new(me: Session) -> Self {
        Self {
            me,
            here: BTreeMap::new(),
            number: 0,
            left_out: 0,
            others: BTreeMap::new(),
            known: BTreeSet::new(),
            is_news: false,
            parting: BTreeMap::new(),
            names: Arc::default(),
        }
    }

    /// Takes one input and appends what should follow.
    pub fn handle(&mut self, input: Input, now: Now, out: &mut Vec<Output>) {
        match input {
            Input::Here { scene, entities } => self.change(scene, entities, out),
            Input::Heard { from, control: Control::Globals { number, globals } } => {
                self.hear(from, number, globals, out);
            }
            Input::Heard { from, control: Control::GlobalsNoted { number } } => {
                if let Some(other) = self.others.get_mut(&from.session).filter(|_| number == self.number) {
                    other.noted = number;
                }
            }
            Input::Heard { .. } | Input::Tick => {}
            Input::View(view) => self.see(&view),
        }
        self.tell(now, out);
        self.find(now, out);
    }

    fn change(&mut self, scene: SceneId, entities: BTreeMap<OnlineId, String>, out: &mut Vec<Output>) {
        let before = if entities.is_empty() {
            self.here.remove(&scene).unwrap_or_default()
        } else {
            self.here.insert(scene, entities.clone()).unwrap_or_default()
        };
        if before == entities {
            return;
        }
        self.number += 1;
        self.is_news = true;
        self.others.values_mut().for_each(|other| other.pace = Pace::fresh());
        let left_out = self.here.values().map(BTreeMap::len).sum::<usize>().saturating_sub(GLOBALS);
        if std::mem::replace(&mut self.left_out, left_out) != left_out {
            out.push(Output::LeftOut(left_out));
        }
    }

    fn hear(&mut self, from: Place, number: u64, mut globals: Vec<Global>, out: &mut Vec<Output>) {
        let Some(other) = self.others.get_mut(&from.session).filter(|_| from.port == Port::Directory) else { return };
        if number > other.number {
            globals.retain(|global| global.name.len() <= LABEL_BYTES);
            globals.truncate(GLOBALS);
            (other.number, other.globals) = (number, globals);
            self.is_news = true;
        }
        out.push(Output::Tell { to: from, control: Control::GlobalsNoted { number } });
    }

    fn see(&mut self, view: &View) {
        self.others.retain(|session, _| view.is_live(*session));
        self.is_news = true;
        let members = view.members.values().map(|member| member.session);
        for session in members.filter(|session| *session != self.me && view.is_live(*session)) {
            let other = || Other { noted: 0, pace: Pace::fresh(), number: 0, globals: Vec::new() };
            self.others.entry(session).or_insert_with(other);
        }
    }

    /// Says what has changed, and says it again.
    fn tell(&mut self, now: Now, out: &mut Vec<Output>) {
        let is_behind = |other: &mut Other| other.noted < self.number && other.pace.is_due(now);
        let others = self.others.iter_mut();
        let behind: Vec<_> = others.filter_map(|(session, other)| is_behind(other).then_some(*session)).collect();
        if behind.is_empty() {
            return;
        }
        let mut globals: Vec<_> = self.all_here().collect();
        globals.sort_unstable();
        globals.truncate(GLOBALS);
        for session in behind {
            let control = Control::Globals { number: self.number, globals: globals.clone() };
            out.push(Output::Tell { to: Place { session, port: Port::Directory }, control });
        }
    }

    fn all_here(&self) -> impl Iterator<Item = Global> + '_ {
        let all = self.here.values().flatten();
        all.map(|(entity, name)| Global { entity: *entity, name: name.clone() })
    }

    fn find(&mut self, now: Now, out: &mut Vec<Output>) {
        let is_over = self.parting.values().any(|until| *until <= now);
        if !std::mem::take(&mut self.is_news) && !is_over {
            return;
        }
        let heard = self.others.values().flat_map(|other| other.globals.iter().cloned());
        let known: BTreeSet<_> = self.all_here().chain(heard).collect();
        for gone in self.known.difference(&known) {
            // Whoever tells of ever new ones keeps nobody else's, and not many of its own.
            if self.parting.len() < PARTING_MAX {
                self.parting.insert(gone.clone(), now + KEPT);
            }
        }
        self.parting.retain(|global, until| *until > now && !known.contains(global));
        self.known = known;
        let mut names = Names::new();
        // Those that live come first: a name goes over to the next at once.
        for Global { entity, name } in self.known.iter().chain(self.parting.keys()) {
            names.entry(name.clone()).or_insert(*entity);
        }
        if names != *self.names {
            self.names = Arc::new(names);
            out.push(Output::Names(self.names.clone()));
        }
    }
}

/// Names kept that nobody tells of: more than there are on a few nodes.
const PARTING_MAX: usize = 4 * GLOBALS;
/// How long a name is kept that nobody tells of: longer than a move takes, and than the two lists are apart.
const KEPT: Duration = Duration::from_secs(10);
