//! Where the shells say that something happens: nothing is done unless a play is written down.

use slipgate_cluster::directory::{HomeEvent, Lost};
use slipgate_cluster::manager::ManagerEvent;
use slipgate_cluster::message::Message;
use slipgate_cluster::scene::{Answer, Event, Route, Ticket};
use slipgate_cluster::{Envelope, Own, Place, Port, Session, router};
use slipgate_entity::{OnlineId, Returned};

use super::names::node;
use super::play::Play;
use super::script::When;
use super::words::{home_words, is_housekeeping, is_idle_talk, manager_words};
use crate::cast::{Cast, Staged};
use crate::cluster::Cluster;
use crate::life::LifeIndex;
use crate::network::NodeIndex;

impl<C: Cast> Cluster<C> {
    /// Somebody is about to hear a message.
    pub(crate) fn play_mail(&mut self, envelope: Envelope) {
        self.play_cues(When::Before, &envelope);
        let Envelope { from, to, message } = &envelope;
        let life = self.life_of(to.session);
        let is_idle =
            life.is_some_and(|life| matches!(to.port, Port::Scene(_) | Port::Router(_)) && !self.may_act(life));
        let now = self.now;
        self.play_with(|play| {
            let (from, who) = (play.names.place(*from), play.names.place(*to));
            let (words, is_quiet) = (play.names.words(message), is_idle_talk(message));
            match life {
                None if is_quiet => {}
                None => play.falls_on_deaf_ears(now, &format!("nobody hears {words}, from {from} to {who}")),
                Some(_) => {
                    let hears = if is_idle { "does not look at" } else { "hears" };
                    play.begin_beat(now, &who, &format!("{hears} {words}, from {from}"), !is_quiet);
                }
            }
        });
        self.hear_mail(envelope.clone());
        if !is_idle {
            self.play_held(&envelope);
        }
        self.play_with(Play::end_beat);
        self.play_cues(When::Once, &envelope);
    }

    /// A message may have come for an entity that is frozen or staged.
    fn play_held(&mut self, Envelope { to, message, .. }: &Envelope) {
        let (Message::Data(data), Port::Scene(scene)) = (message, to.port) else { return };
        let stage = self.stage_of(Own::new(to.session, scene));
        if stage.is_some_and(|stage| self.stages[stage].machine().route(data.entity) == Route::Hold) {
            let now = self.now;
            self.play_with(|play| {
                let who = play.names.place(*to);
                play.remarks(now, &who, "holds it");
            });
        }
    }

    /// Somebody says something.
    pub(crate) fn play_say(&mut self, life: LifeIndex, from: Place, to: Place, message: &Message) {
        if self.play.is_none() || is_housekeeping(message) {
            return;
        }
        let (here, there) = (self.lives[life].node, self.numbers.get(&to.session.node).copied());
        let speaks_of_leases = matches!(from.port, Port::Member | Port::Manager);
        let is_cut = there.is_some_and(|there| here != there && self.network.is_cut(here, there, self.now));
        let loss = match (speaks_of_leases || self.may_act(life), is_cut) {
            (false, _) => " (not said: no lease)",
            (true, true) => " (lost: the link is cut)",
            (true, false) => "",
        };
        let now = self.now;
        self.play_with(|play| {
            let (who, to, words) = (play.names.place(from), play.names.place(to), play.names.words(message));
            play.says(now, &who, &to, &format!("{words}{loss}"));
        });
    }

    /// A scene has had its turn: how do the entities stand there?
    pub(crate) fn play_stage(&mut self, stage: usize) {
        let Some(mut play) = self.play.take() else { return };
        let here = &self.stages[stage];
        for (name, entity) in play.names.entities().to_vec() {
            let is = match (here.machine().stand(entity), here.machine().route(entity)) {
                (Some(stand), _) => format!("{} {:?}", stand.phase, stand.epoch),
                (None, Route::Hold) => "staged".into(),
                (None, Route::Owner(owner)) => format!("gone to {}", play.names.own(owner)),
                (None, Route::Unknown) => "not here".into(),
            };
            let was = play.stands.insert((stage, entity), is.clone()).unwrap_or_else(|| "not here".into());
            let is_forgotten = was.starts_with("gone") && is == "not here";
            if was != is && !is_forgotten {
                let who = play.names.own(here.me());
                play.stands(self.now, &who, format!("{name} at {who}: {was} => {is}"));
            }
        }
        self.play = Some(play);
    }

    /// A home has had its turn: what are its records?
    pub(crate) fn play_home(&mut self, life: LifeIndex) {
        let Some(mut play) = self.play.take() else { return };
        let home = &self.lives[life];
        for (name, entity) in play.names.entities().to_vec() {
            let record = home.directory.record(entity);
            let is = record.map_or_else(|| "none".into(), |record| play.names.record(&record));
            let was = play.records.insert((life, entity), is.clone()).unwrap_or_else(|| "none".into());
            if was != is {
                let who = play.names.place(home.place(Port::Directory));
                play.stands(self.now, &who, format!("record of {name} at {who}: {was} => {is}"));
            }
        }
        self.play = Some(play);
    }

    /// An id was given out, and registered.
    pub(crate) fn play_born(&mut self, life: LifeIndex, entity: OnlineId) {
        self.play_with(|play| {
            let name = play.awaited.take().expect("one is spawned after the other");
            play.names.born(name, entity);
        });
        self.play_home(life);
    }

    /// Whoever asked a scene hears from it.
    pub(crate) fn play_answer(&mut self, stage: usize, Ticket(ticket): Ticket, answer: &Answer) {
        let (now, me) = (self.now, self.stages[stage].me());
        self.play_with(|play| {
            let (who, words) = (play.names.own(me), play.names.answer(answer));
            let asked = play.asked.get(&ticket).cloned().unwrap_or_else(|| "something".into());
            play.news.hear(Ticket(ticket), answer);
            play.does(now, &who, format!("answers whoever asked {asked}: {words}"));
        });
    }

    /// An entity applies a message.
    pub(crate) fn play_apply(&mut self, stage: usize, entity: OnlineId, number: u64) {
        let (now, me) = (self.now, self.stages[stage].me());
        self.play_with(|play| {
            let (who, name, message) = (play.names.own(me), play.names.entity(entity), play.names.message(number));
            play.does(now, &who, format!("{name} applies {message}"));
        });
    }

    /// A message makes its receiver say another one.
    pub(crate) fn play_tell_on(&mut self, heard: u64, number: u64) {
        self.play_with(|play| play.names.says_on(heard, number));
    }

    /// A message comes back to the entity that said it.
    pub(crate) fn play_bounce(&mut self, entity: OnlineId, number: u64, why: Returned) {
        let now = self.now;
        self.play_with(|play| {
            let (who, message) = (play.names.entity(entity), play.names.message(number));
            play.does(now, &who, format!("{message} comes back to {who}: {why:?}"));
        });
    }

    pub(crate) fn play_event(&mut self, stage: usize, event: &Event) {
        let (now, me) = (self.now, self.stages[stage].me());
        self.play_with(|play| {
            let who = play.names.own(me);
            if let Some(words) = play.names.event(event) {
                play.does(now, &who, format!("logs {words}"));
            }
        });
    }

    pub(crate) fn play_home_event(&mut self, me: Place, event: &HomeEvent) {
        let now = self.now;
        self.play_with(|play| {
            if let HomeEvent::Bequeathed { .. } = event {
                play.news.bequeathed(me.session);
            }
            let who = play.names.place(me);
            play.does(now, &who, format!("logs: {}", home_words(event)));
        });
    }

    /// A home has nothing left to give away.
    pub(crate) fn play_given_away(&mut self, life: LifeIndex) {
        let session = self.lives[life].session;
        self.play_with(|play| play.news.gave_all(session));
    }

    pub(crate) fn play_lost(&mut self, life: LifeIndex, lost: &Lost) {
        let (now, me) = (self.now, self.lives[life].place(Port::Directory));
        self.play_with(|play| {
            let (who, name) = (play.names.place(me), play.names.entity(lost.entity));
            play.does(now, &who, format!("logs: {name} is lost with {}", node(lost.session)));
        });
    }

    pub(crate) fn play_manager(&mut self, event: &ManagerEvent) {
        let now = self.now;
        self.play_with(|play| {
            if let Some(words) = manager_words(event) {
                play.stage_direction(now, &format!("manager: {words}"));
            }
        });
    }

    /// A tool hears of what it said.
    pub(crate) fn play_tool(&mut self, life: LifeIndex, output: &router::Output) {
        let (ticket, words) = match output {
            router::Output::Busy(to_send) => (to_send.ticket, "busy: not taken up"),
            router::Output::Applied(ticket) => (*ticket, "applied"),
            router::Output::Dead(ticket) => (*ticket, "dead"),
            router::Output::Unknown(ticket) => (*ticket, "unknown"),
            router::Output::Lost(ticket) => (*ticket, "lost"),
            router::Output::Failed(ticket) => (*ticket, "failed"),
            router::Output::Parked(ticket) => (*ticket, "parked"),
            router::Output::Accepted(_)
            | router::Output::Data { .. }
            | router::Output::Close { .. }
            | router::Output::AskHome { .. } => return,
        };
        let (now, me) = (self.now, self.lives[life].place(Port::Router(0)));
        self.play_with(|play| {
            let who = play.names.place(me);
            let message = play.names.message(ticket.0);
            play.does(now, &who, format!("tells the tool that said {message}: {words}"));
        });
    }

    pub(crate) fn play_join(&mut self, node: NodeIndex) {
        let now = self.now;
        self.play_with(|play| {
            play.stage_direction(now, &format!("manager hears Join, from the process of node {}", node + 1))
        });
    }

    pub(crate) fn play_begin(&mut self, session: Session) {
        let now = self.now;
        self.play_with(|play| play.stage_direction(now, &format!("{} is let in, and lives", node(session))));
    }

    pub(crate) fn play_superseded(&mut self, life: LifeIndex) {
        let (now, session) = (self.now, self.lives[life].session);
        let what = format!("{} hears that it is over: its process is to join anew", node(session));
        self.play_with(|play| play.stage_direction(now, &what));
    }

    /// Time is told: who has no lease any more, or has one again?
    pub(crate) fn play_leases(&mut self) {
        let lives: Vec<_> = self.living().filter(|life| !self.is_stopped(self.lives[*life].node)).collect();
        for life in lives {
            let (now, is_paused, session) = (self.now, !self.may_act(life), self.lives[life].session);
            self.play_with(|play| {
                let was_paused = if is_paused { !play.paused.insert(life) } else { play.paused.remove(&life) };
                match (was_paused, is_paused) {
                    (false, true) => play.stage_direction(now, &format!("{} has no lease, and pauses", node(session))),
                    (true, false) => play.stage_direction(now, &format!("{} has a lease, and goes on", node(session))),
                    (..) => {}
                }
            });
        }
    }

    /// A sentence of the script is about to be done.
    pub(crate) fn play_direction(&mut self, line: &str) {
        let now = self.now;
        self.play_with(|play| play.stage_direction(now, line));
    }

    fn play_cues(&mut self, when: When, envelope: &Envelope) {
        let Some(play) = &mut self.play else { return };
        let (who, words) = (play.names.place(envelope.to), play.names.words(&envelope.message));
        let is_it = |cue: &super::script::Cue| cue.when == when && cue.who == who && starts_with(&words, &cue.words);
        let Some(at) = play.cues.iter().position(is_it) else { return };
        let cue = play.cues.remove(at);
        for (text, direction) in &cue.then {
            self.play_direction(text);
            C::direct(self, direction);
        }
    }

    pub(crate) fn play_with(&mut self, act: impl FnOnce(&mut Play)) {
        if let Some(play) = &mut self.play {
            act(play);
        }
    }
}

/// Whether a text begins with another, word for word.
fn starts_with(text: &str, start: &str) -> bool {
    text.strip_prefix(start).is_some_and(|rest| !rest.starts_with(|next: char| next.is_alphanumeric() || next == '\''))
}
