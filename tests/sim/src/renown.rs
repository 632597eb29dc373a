//! Global entities: each life tells every other which of those who take turns on it are, and hears the same.
//!
//! Of the walkers every third is global, and several have one name. Once faults have ceased, each life must find the one with the
//! lowest id under each name, and, once those who parted are forgotten, nobody else.
//!
//! Leaves out: game code that looks a name up.

use std::collections::BTreeMap;

use slipgate_cluster::globals::{Input, Names, Output};
use slipgate_cluster::message::Message;
use slipgate_cluster::{Port, globals};
use slipgate_entity::OnlineId;

use crate::cast::{Cast, Staged};
use crate::cluster::Cluster;
use crate::life::LifeIndex;
use crate::mutant::Mutant;

impl<C: Cast> Cluster<C> {
    /// What has changed in the scenes of a life, and that time passes.
    pub(crate) fn tick_globals(&mut self, life: LifeIndex) {
        for stage in 0..self.stages.len() {
            if self.stages[stage].life() == life {
                let scene = self.stages[stage].me().scene;
                let entities = C::globals(&self.stages[stage]);
                let told = self.lives[life].renowned.entry(scene).or_default();
                if *told != entities {
                    told.clone_from(&entities);
                    self.tell_globals(life, Input::Here { scene, entities });
                }
            }
        }
        self.tell_globals(life, Input::Tick);
    }

    /// The latest view first, as the shell does.
    pub(crate) fn tell_globals(&mut self, life: LifeIndex, input: globals::Input) {
        let now = self.clock(self.lives[life].node);
        let (mut out, at) = (Vec::new(), &mut self.lives[life]);
        let view = at.member.view();
        if view.version > at.globals_view {
            at.globals_view = view.version;
            at.globals.handle(Input::View(view.clone()), now, &mut out);
        }
        at.globals.handle(input, now, &mut out);
        self.events += 1;
        let me = at.place(Port::Directory);
        for output in out {
            match output {
                Output::Tell { .. } if self.is(Mutant::KeepsGlobalsToItself) => {}
                Output::Tell { to, control } => self.send(me, to, Message::Control(control)),
                Output::Names(names) => {
                    let before = std::mem::replace(&mut self.lives[life].names, names);
                    let is_passed = |(name, entity): (&String, &OnlineId)| {
                        self.lives[life].names.get(name).is_some_and(|other| other != entity)
                    };
                    if before.iter().any(is_passed) {
                        self.history.count("a name went over to another");
                    }
                    self.history.count("found by name");
                }
                Output::LeftOut(_) => {}
            }
        }
    }

    /// Whom everybody is to find.
    pub(crate) fn renowned(&self) -> Names {
        let mut names = Names::new();
        for stage in self.open_stages() {
            for (entity, name) in C::globals(stage) {
                let first = names.entry(name).or_insert(entity);
                *first = entity.min(*first);
            }
        }
        names
    }
}

/// Of those who take turns in a scene, the global ones.
pub(crate) fn among(active: &[OnlineId]) -> BTreeMap<OnlineId, String> {
    let is_global = |entity: &&OnlineId| entity.counter().is_multiple_of(3);
    active.iter().filter(is_global).map(|entity| (*entity, format!("g{}", entity.counter() % 2))).collect()
}
