//! Progress: whatever has happened, if all that is on the way is lost and nothing goes wrong from here on,
//! everything comes to its answer.

use std::collections::VecDeque;

use slipgate_entity::FixedMap;

use super::cue::Cue;
use super::ensemble::{CueId, Ensemble, Slot};
use super::invariants::Sights;
use super::plan::session;
use super::world::World;

/// Runs to rest from states, each only once.
#[derive(Debug, Default)]
pub(crate) struct Rest {
    /// States of the actors from which rest is reached.
    known: FixedMap<u64, ()>,
}

/// A cue that was given on the way to rest.
pub(crate) type Given = (Slot, CueId);

impl Rest {
    /// Number of states from which rest was demanded.
    pub(crate) fn len(&self) -> usize {
        self.known.len()
    }

    /// Demands that rest is reached from `world`.
    ///
    /// # Errors
    ///
    /// What is wrong, and what happened on the way.
    pub(crate) fn demand(&mut self, ensemble: &mut Ensemble, world: &World) -> Result<(), (String, Vec<Given>)> {
        let mut run = Run { world: world.clone(), on_the_way: VecDeque::new(), given: Vec::new() };
        run.judge(ensemble);
        let mut passed = Vec::new();
        for _ in 0..ROUNDS_MAX {
            // Verdicts are told in the first round, which is the same for every state with these actors.
            let digest = run.world.digest_of_actors();
            if self.known.contains(&digest) {
                break;
            }
            passed.push(digest);
            let before = run.world.actors.clone();
            run.prompt(ensemble, &Cue::Tick)?;
            if before == run.world.actors {
                run.prompt(ensemble, &Cue::Late)?;
            }
            if before == run.world.actors {
                let sights = run.world.actors.iter().map(|&actor| &ensemble.part(actor).sight);
                let sights = Sights::new(&ensemble.plan, sights);
                sights.check_at_rest(run.world.script.safe).map_err(|fault| (fault, run.given.clone()))?;
                for digest in passed {
                    self.known.insert(digest, ());
                }
                return Ok(());
            }
        }
        if passed.len() == ROUNDS_MAX {
            return Err((format!("no rest after {ROUNDS_MAX} rounds"), run.given));
        }
        for digest in passed {
            self.known.insert(digest, ());
        }
        Ok(())
    }
}

struct Run {
    world: World,
    on_the_way: VecDeque<Given>,
    given: Vec<Given>,
}

impl Run {
    /// Everybody learns who is dead, and who the home of what is.
    fn judge(&mut self, ensemble: &mut Ensemble) {
        self.world.judge(ensemble);
        let views = self.world.views(ensemble);
        self.on_the_way.extend(views);
        let dead = self.world.dead_nodes(ensemble);
        let scenes = ensemble.plan.scenes.len();
        for slot in self.world.alive().filter(|&slot| slot < scenes) {
            for &node in &dead {
                let lost = ensemble.cue(Cue::PeerLost(session(node)), slot);
                self.on_the_way.push_back((slot, lost));
            }
        }
    }

    /// Gives everybody a cue, and delivers whatever is said.
    fn prompt(&mut self, ensemble: &mut Ensemble, cue: &Cue) -> Result<(), (String, Vec<Given>)> {
        let scenes = ensemble.plan.scenes.len();
        let router = ensemble.router();
        for slot in self.world.alive() {
            let has_deadlines = slot < scenes || slot == router && ensemble.plan.idles;
            if matches!(cue, Cue::Tick) || has_deadlines {
                let cue = ensemble.cue(cue.clone(), slot);
                self.on_the_way.push_back((slot, cue));
            }
        }
        let mut given = 0;
        while let Some((slot, cue)) = self.on_the_way.pop_front() {
            given += 1;
            if given > CUES_MAX {
                return Err((format!("after {CUES_MAX} messages of a round there are still more"), self.given.clone()));
            }
            self.give(ensemble, slot, cue)?;
        }
        Ok(())
    }

    fn give(&mut self, ensemble: &mut Ensemble, slot: Slot, cue: CueId) -> Result<(), (String, Vec<Given>)> {
        if self.world.alive().all(|alive| alive != slot) {
            return Ok(());
        }
        let outcome = ensemble.outcome(self.world.actors[slot], cue);
        let changed = self.world.actors[slot] != outcome.actor;
        if changed || !outcome.says.is_empty() {
            self.given.push((slot, cue));
        }
        self.world.actors[slot] = outcome.actor;
        self.on_the_way.extend(outcome.says.iter().map(|&said| (ensemble.hearer(said), said)));
        if let Some((slot, cue)) = outcome.hands {
            self.give(ensemble, slot, cue)?;
        }
        let verdict = outcome.fault.clone().map_or(Ok(()), Err);
        let verdict = verdict.and_then(|()| {
            let sights = self.world.actors.iter().map(|&actor| &ensemble.part(actor).sight);
            if changed { Sights::new(&ensemble.plan, sights).check() } else { Ok(()) }
        });
        verdict.map_err(|fault| (fault, self.given.clone()))
    }
}

/// Rounds until everything is at rest: far above what any takes.
const ROUNDS_MAX: usize = 100;

/// Messages of one round.
const CUES_MAX: usize = 10_000;
