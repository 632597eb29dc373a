//! Does what a script says, and demands rest in the end.

use std::fmt;

use slipgate_cluster::drain;
use slipgate_cluster::message::{Identity, Sender};
use slipgate_cluster::moves::{MoveId, Refusal};
use slipgate_cluster::router::{self, ToSend};
use slipgate_cluster::scene::{Companion, Input, MoveRequest, Ticket};
use slipgate_cluster::{Now, Own, Port};
use slipgate_entity::{OnlineId, PersistId, PlayerId, TypeName};
use uuid::Uuid;

use super::names::node;
use super::play::Play;
use super::script::{Direction, NEVER, Script, is_end};
use crate::cluster::{Cluster, scene_of};
use crate::history::Line;
use crate::life::Doing;
use crate::network::NodeIndex;
use crate::plan::Plan;
use crate::walker::Speech;

/// Why a script cannot be played: it is not one, or asks for what is not there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    what: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.what.fmt(f)
    }
}

impl std::error::Error for Fault {}

/// Plays the script at the head of a text, whatever transcript stands behind it, and returns the script with the
/// transcript of this time.
///
/// # Errors
///
/// If the script has a sentence that is none, or a cue that never comes.
///
/// # Panics
///
/// If a promise of the cluster is not kept, or it does not come to rest; or if a sentence asks for what is not there.
pub fn perform(text: &str) -> Result<String, Fault> {
    let script = Script::read(text).map_err(|unknown| Fault { what: unknown.to_string() })?;
    let head: Vec<_> = text.lines().take_while(|line| !is_end(line)).collect();
    let mut cluster = stage(&script);
    for (line, direction) in &script.directions {
        let is_of_the_script =
            matches!(direction, Direction::Rise | Direction::Pass { .. } | Direction::Quiet | Direction::Cue(_));
        if !is_of_the_script {
            cluster.play_direction(line);
        }
        cluster.direct(direction);
    }
    let cues: Vec<_> = cluster.play.iter().flat_map(|play| &play.cues).map(|cue| cue.words.clone()).collect();
    if !cues.is_empty() {
        return Err(Fault { what: format!("never heard, and waited for: {cues:?}") });
    }
    cluster.come_to_rest();
    cluster.curtain_falls();
    let mut play = cluster.play.take().expect("it is being written down");
    Ok(format!("{}\n{}\n{LEFT_OUT}\n\n{}", head.join("\n"), "=".repeat(WIDTH), play.text()))
}

/// The cluster of a script, before anything happens.
fn stage(script: &Script) -> Cluster {
    let count = u16::try_from(script.nodes.len()).expect("a few nodes");
    let scenes = script.nodes.first().map_or(0, |node| node.scenes.len());
    let plan = Plan::directed(count, u16::try_from(scenes).expect("a few scenes"), script.capacity);
    let mut cluster = Cluster::new(&plan, false);
    cluster.is_calm = true;
    let mut play = Play::default();
    for (index, place) in script.nodes.iter().enumerate() {
        cluster.nodes[index].ahead_us = 0;
        if !place.starts {
            cluster.nodes[index].doing = Doing::Down { until: NEVER };
        }
        let numbered = (0..).zip(&place.scenes);
        play.names.scenes.extend(numbered.map(|(number, name)| (scene_of(index, number), name.clone())));
    }
    cluster.play = Some(Box::new(play));
    cluster
}

impl Cluster {
    /// Does what a sentence says.
    pub(crate) fn direct(&mut self, direction: &Direction) {
        match direction {
            Direction::Rise => {
                let now = self.now;
                self.play_with(|play| play.rise(now));
            }
            Direction::Quiet => self.pass_until_quiet(),
            Direction::Pass { us } => self.pass(*us),
            Direction::Spawn { who, scene } => self.direct_spawn(who, scene),
            Direction::Move { who, to, objection } => self.direct_move(who, to, objection.as_ref()),
            Direction::Cancel { who } => self.direct_cancel(who),
            Direction::Despawn { who } => self.direct_despawn(who),
            Direction::Say { node, what, to, tell } => self.direct_say(*node, what, to, tell.as_ref()),
            Direction::Kill { node } => self.crash(*node, NEVER),
            Direction::Start { node } => {
                assert!(matches!(self.nodes[*node].doing, Doing::Down { .. }), "node {} runs already", node + 1);
                self.nodes[*node].doing = Doing::Down { until: self.now };
            }
            Direction::Stop { node, us } => self.nodes[*node].stopped_until = Now(self.now.0 + us),
            Direction::Cut { from, to, both_ways } => {
                for (&from, &to) in from.iter().flat_map(|from| to.iter().map(move |to| (from, to))) {
                    self.network.cut(from, to, NEVER);
                    if *both_ways {
                        self.network.cut(to, from, NEVER);
                    }
                }
            }
            Direction::Heal => self.network.heal(),
            Direction::Signal { node } => self.direct_drain(*node, drain::Input::Signal),
            Direction::Drain { node } => self.direct_drain(*node, drain::Input::Begin { timeout: None }),
            Direction::Cue(cue) => self.play_with(|play| play.cues.push(cue.clone())),
        }
    }

    fn pass(&mut self, us: u64) {
        let until = Now(self.now.0 + us);
        while self.now < until {
            self.tick();
            self.pass_for_drains();
            self.play_leases();
            self.check_memory();
        }
    }

    fn pass_until_quiet(&mut self) {
        let mut quiet = 0;
        for _ in 0..TICKS_MAX {
            self.pass(1);
            let is_quiet = self.leftovers().iter().all(|(_, count)| *count == 0);
            quiet = if is_quiet { quiet + 1 } else { 0 };
            if quiet == QUIET {
                return;
            }
        }
        panic!("it does not become quiet: {:?}", self.leftovers());
    }

    /// Where an entity lives that is awake or frozen somewhere.
    pub(crate) fn whereabouts(&self, entity: OnlineId) -> Option<(usize, Own)> {
        let here = |stage: &usize| {
            let stage = &self.stages[*stage];
            stage.bodies.contains_key(&entity) && !self.lives[stage.life].is_gone
        };
        let stage = (0..self.stages.len()).find(here)?;
        Some((stage, self.stages[stage].me()))
    }

    fn entity(&self, name: &str) -> OnlineId {
        let found = self.play.as_ref().and_then(|play| play.names.find(name));
        found.unwrap_or_else(|| panic!("expected somebody of the cast, got {name}"))
    }

    /// The scene of that name, in its latest life.
    fn scene(&self, name: &str) -> Own {
        let scene = self.play.as_ref().and_then(|play| play.names.find_scene(name));
        let own = scene.and_then(|scene| self.seat.disk.view.host_of(scene));
        let last = || self.stages.iter().rfind(|stage| Some(stage.me().scene) == scene).map(crate::stage::Stage::me);
        own.or_else(last).unwrap_or_else(|| panic!("expected a scene that there was, got {name}"))
    }

    /// Where somebody lives, and his name there.
    fn home_stage(&self, name: &str) -> (usize, OnlineId) {
        let entity = self.entity(name);
        let (stage, _) = self.whereabouts(entity).unwrap_or_else(|| panic!("{name} is nowhere"));
        (stage, entity)
    }

    pub(crate) fn asks(&mut self, stage: usize, what: String) -> Ticket {
        let ticket = self.history.ask(self.stages[stage].me());
        let (now, me) = (self.now, self.stages[stage].me());
        self.play_with(|play| {
            let who = play.names.own(me);
            play.begin_beat(now, &who, &format!("is asked {what}"), false);
            play.asked.insert(ticket.0, what);
        });
        ticket
    }

    fn direct_spawn(&mut self, who: &str, scene: &str) {
        let stage = self.stage_of(self.scene(scene)).unwrap_or_else(|| panic!("{scene} is not there"));
        let number = self.history.number();
        let identity = Identity {
            type_name: TypeName("walker".into()),
            type_version: 1,
            label: Some(who.to_owned()),
            persist: PersistId(Uuid::from_u128(u128::from(number))),
            player: PlayerId::NONE,
        };
        let ticket = self.asks(stage, format!("to spawn {who}"));
        self.play_with(|play| play.awaited = Some(who.to_owned()));
        self.tell_scene_or_defer(stage, Input::Spawn { ticket, identity });
        self.play_with(|play| {
            play.awaited = None;
            play.end_beat();
        });
    }

    fn direct_move(&mut self, who: &[String], to: &str, objection: Option<&String>) {
        let (stage, entity) = self.home_stage(&who[0]);
        let to = Ok(self.scene(to));
        let ticket = self.asks(stage, format!("to move {}", who.join(" and ")));
        let mut movers: Vec<_> = who.iter().map(|name| self.mover_of(stage, self.entity(name), objection)).collect();
        let Companion { id, body_bytes, components, objection, .. } = movers.remove(0);
        let companions = movers;
        let ticket = Some(ticket);
        let request = MoveRequest { ticket, id, entity, to, body_bytes, components, objection, companions };
        self.tell_scene(stage, Input::Migrate(Box::new(request)));
        self.play_with(Play::end_beat);
    }

    pub(crate) fn mover_of(&mut self, stage: usize, entity: OnlineId, objection: Option<&String>) -> Companion {
        let id = MoveId(Uuid::from_u128(u128::from(self.history.number())));
        let body_bytes = self.stages[stage].bodies.get(&entity).map_or(0, |body| body.encode().len() as u64);
        let objection = objection.map(|reason| Refusal::Vetoed { reason: reason.clone() });
        Companion { entity, id, body_bytes, components: Vec::new(), objection }
    }

    fn direct_cancel(&mut self, who: &str) {
        let (stage, entity) = self.home_stage(who);
        let open = self.history.moves.iter().find(|(_, story)| story.entity == entity && story.ended.is_empty());
        let id = *open.unwrap_or_else(|| panic!("{who} is not on the way")).0;
        let ticket = self.asks(stage, format!("to cancel the move of {who}"));
        self.tell_scene(stage, Input::Cancel { ticket, id });
        self.play_with(Play::end_beat);
    }

    fn direct_despawn(&mut self, who: &str) {
        let (stage, entity) = self.home_stage(who);
        let ticket = self.asks(stage, format!("to despawn {who}"));
        self.tell_scene(stage, Input::Despawn { ticket: Some(ticket), entity });
        self.play_with(Play::end_beat);
    }

    fn direct_say(&mut self, node: NodeIndex, what: &[String], to: &str, tell: Option<&String>) {
        let Doing::Living(life) = self.nodes[node].doing else { panic!("node {} does not live", node + 1) };
        let may_act = self.may_act(life);
        let entity = self.entity(to);
        let tell = tell.map(|name| self.entity(name));
        let mut batch = Vec::new();
        for name in what {
            let number = self.history.says(entity);
            self.play_with(|play| play.names.says(name, number));
            batch.push(ToSend { ticket: router::Ticket(number), entity, payload: Speech { number, tell }.payload() });
        }
        let (now, place) = (self.now, self.lives[life].place(Port::Router(0)));
        self.play_with(|play| {
            let who = play.names.place(place);
            match may_act {
                true => play.begin_beat(now, &who, "takes it", false),
                false => play.begin_beat(now, &who, "has no lease, and does not take it", true),
            }
        });
        self.tell_router(life, router::Input::Send(batch));
        self.play_with(Play::end_beat);
    }

    /// How it all ended: where everybody is, and what became of what was said.
    fn curtain_falls(&mut self) {
        let Some(mut play) = self.play.take() else { return };
        play.stage_direction(self.now, "all is at rest");
        for (name, entity) in play.names.entities().to_vec() {
            let record = self.record(entity).map_or_else(|| "no record".into(), |record| play.names.record(&record));
            let body = self.whereabouts(entity).map(|(stage, _)| &self.stages[stage].bodies[&entity]);
            let heard = body.map_or_else(String::new, |body| format!(", has heard {}", play.names.heard(body)));
            play.detail(&format!("{name}: {record}{heard}"));
        }
        for ((sender, receiver), line) in &self.history.lines {
            let who = match sender {
                Sender::Tool(session) => format!("a tool at {}", node(*session)),
                Sender::Entity(entity) => play.names.entity(*entity),
            };
            let is_there = match sender {
                Sender::Tool(session) => self.life_of(*session).is_some(),
                Sender::Entity(entity) => self.whereabouts(*entity).is_some(),
            };
            for number in &line.accepted {
                let (what, to) = (play.names.message(*number), play.names.entity(*receiver));
                play.detail(&format!("{what} of {who} to {to}: {}", fate(line, *number, is_there)));
            }
        }
        self.play = Some(play);
    }
}

/// What became of a message, and what its sender knows of that.
fn fate(line: &Line, number: u64, is_there: bool) -> String {
    let told =
        [(&line.acknowledged, "applied"), (&line.dead, "dead"), (&line.unknown, "unknown"), (&line.lost, "lost")];
    let told = told.iter().find(|(numbers, _)| numbers.contains(&number)).map(|(_, word)| *word);
    let is_applied = line.applied.contains(&number);
    match (told, is_applied) {
        (Some("unknown"), true) => "applied by a copy that is lost, and told as unknown".into(),
        (Some(word), _) => word.into(),
        (None, true) => "applied".into(),
        (None, false) if is_there => "not applied".into(),
        (None, false) => "not applied, and nobody is left to be told".into(),
    }
}

/// Said at the head of each transcript.
const LEFT_OUT: &str = "\
Milliseconds since the curtain rose. Left out: leases, requests for ranges, views of which nothing follows, rosters and claims
without a name, closed streams, and whatever changes nothing and was said before, word for word.";
/// Length of the line between script and transcript.
const WIDTH: usize = 100;
/// Virtual ticks within which it must become quiet: two minutes.
const TICKS_MAX: u32 = 12_000;
/// Ticks at rest that are quiet.
const QUIET: u32 = 10;
