//! What is said in a cluster, in the words of the project.

use slipgate_cluster::claim::{Claim, Stake};
use slipgate_cluster::directory::HomeEvent;
use slipgate_cluster::legacy::Legacy;
use slipgate_cluster::manager::{ManagerEvent, ManagerReply, ManagerRequest};
use slipgate_cluster::message::{Control, Data, ManagerMessage, Message, Prepare, Reserve};
use slipgate_cluster::moves::Outcome;
use slipgate_cluster::roster::RosterNews;
use slipgate_cluster::scene::{Answer, Event, MoveDone};
use slipgate_entity::OnlineId;

use super::names::{Names, node};
use crate::walker::{Speech, Walker};

impl Names {
    /// A message, its kind first.
    pub(crate) fn words(&self, message: &Message) -> String {
        match message {
            Message::Control(control) => self.control(control),
            Message::Data(data) => self.data(data),
            Message::Prepare(prepare) => self.prepare(prepare),
            Message::Manager(ManagerMessage::Request(request)) => request_words(request),
            Message::Manager(ManagerMessage::Reply(reply)) => reply_words(reply),
            Message::Tool(_) => "a question of a tool".into(),
        }
    }

    fn data(&self, data: &Data) -> String {
        let Speech { number, tell } = Speech::read(&data.payload);
        let tell = tell.map_or_else(String::new, |to| format!(", to be told on to {}", self.entity(to)));
        let hops = if data.hops > 0 { ", handed on" } else { "" };
        format!("{} to {}{tell}{hops}", self.message(number), self.entity(data.entity))
    }

    fn prepare(&self, prepare: &Prepare) -> String {
        let heard = self.heard(&Walker::decode(&prepare.image.body));
        format!("Prepare {} {:?}, who has heard {heard}", self.entity(prepare.entity), prepare.label)
    }

    /// What a body has applied, sender by sender.
    pub(crate) fn heard(&self, body: &Walker) -> String {
        let list =
            |numbers: &Vec<u64>| numbers.iter().map(|number| self.message(*number)).collect::<Vec<_>>().join(" ");
        let heard: Vec<_> = body.applied.values().filter(|numbers| !numbers.is_empty()).map(list).collect();
        if heard.is_empty() { "nothing".into() } else { heard.join(" ") }
    }

    fn control(&self, control: &Control) -> String {
        let name = |entity: &OnlineId| self.entity(*entity);
        match control {
            Control::Cas { entity, owner, epoch, new, .. } => {
                format!("Cas {}: {} {epoch:?} -> {}", name(entity), self.own(*owner), self.record(new))
            }
            Control::Query { entity, .. } => format!("Query {}", name(entity)),
            Control::Reclaim { entity, me, .. } => format!("Reclaim {} for {}", name(entity), self.own(*me)),
            Control::RecordIs { entity, record, .. } => format!("RecordIs {}: {}", name(entity), self.record(record)),
            Control::NotHome { entity, .. } => format!("NotHome of {}", name(entity)),
            Control::Ack { entity, upto, owner, epoch, .. } => {
                format!("Ack of {} up to {upto}, {} {epoch:?}", name(entity), self.own(*owner))
            }
            Control::Redirect { entity, owner, epoch, .. } => {
                format!("Redirect {}: {} {epoch:?}", name(entity), self.own(*owner))
            }
            Control::NotOwner { entity, .. } => format!("NotOwner of {}", name(entity)),
            Control::Reserve(Reserve { entity, label, .. }) => format!("Reserve {} {label:?}", name(entity)),
            Control::Reserved { entity, label, .. } => format!("Reserved {} {label:?}", name(entity)),
            Control::Refused { entity, label, reason, .. } => {
                format!("Refused {} {label:?}: {}", name(entity), self.named(&reason.to_string()))
            }
            Control::IsActive { entity, .. } => format!("IsActive {}", name(entity)),
            Control::Arrived { entity, epoch, .. } => format!("Arrived {} {epoch:?}", name(entity)),
            Control::HandedOn { entity, held, .. } => {
                let count: u64 = held.iter().map(|held| held.count).sum();
                format!("HandedOn {}: {count} held", name(entity))
            }
            Control::Settled { entity, delivered, .. } => format!("Settled {}: {delivered} applied", name(entity)),
            Control::Release { entity, .. } => format!("Release {}", name(entity)),
            Control::Stopped { entity, upto, .. } => format!("Stopped {} at {upto}", name(entity)),
            Control::Close { entity, .. } => format!("Close to {}", name(entity)),
            Control::Closed { entity, .. } => format!("Closed to {}", name(entity)),
            Control::AskStream { entity, .. } => format!("AskStream to {}", name(entity)),
            Control::Reply { entity, .. } => format!("Reply of {}", name(entity)),
            Control::AskClaims { range, term, .. } => format!("AskClaims of range {range}, term {term}"),
            Control::Claims { claims, .. } => {
                format!("Claims: {}", self.list(claims.iter().map(|claim| self.claim(claim))))
            }
            Control::Bequest { range, legacy, .. } => format!("Bequest of range {range}: {}", self.legacy(legacy)),
            Control::Inherited { range, .. } => format!("Inherited range {range}"),
            Control::Roster { news, .. } => {
                format!("Roster: {}", self.list(news.iter().flat_map(|news| self.roster(news))))
            }
            Control::RosterNoted { .. } => "RosterNoted".into(),
            Control::AskRoster { range, .. } => format!("AskRoster of range {range}"),
            Control::RosterIs { range, rows, .. } => {
                let rows = rows.iter().map(|row| self.entity(row.entity));
                format!("RosterIs of range {range}: {}", self.list(rows))
            }
            Control::Globals { .. } => "Globals".into(),
            Control::GlobalsNoted { .. } => "GlobalsNoted".into(),
        }
    }

    fn list(&self, items: impl Iterator<Item = String>) -> String {
        let items: Vec<_> = items.collect();
        if items.is_empty() { "nobody".into() } else { items.join(", ") }
    }

    fn roster(&self, news: &RosterNews) -> Vec<String> {
        let born = news.born.iter().map(|born| format!("{} lives", self.entity(born.entity)));
        born.chain(news.dead.iter().map(|dead| format!("{} is dead", self.entity(*dead)))).collect()
    }

    fn claim(&self, claim: &Claim) -> String {
        let stake = match &claim.stake {
            Stake::Active(title) => format!("active {:?}", title.epoch),
            Stake::Leaving { title, target, .. } => format!("leaving for {} {:?}", self.own(*target), title.epoch),
            Stake::Despawning(title) => format!("despawning {:?}", title.epoch),
            Stake::Staged { label, source, .. } => format!("staged {label:?} from {}", self.own(*source)),
            Stake::Gone(record) => format!("gone, {}", self.record(record)),
        };
        format!("{} {stake}", self.entity(claim.entity))
    }

    fn legacy(&self, legacy: &Legacy) -> String {
        match legacy {
            Legacy::Unknown => "never had the records".into(),
            Legacy::Page { records, .. } => self.list(
                records
                    .iter()
                    .map(|heirloom| format!("{} {}", self.entity(heirloom.entity), self.record(&heirloom.record))),
            ),
        }
    }

    /// What whoever asked a scene hears; nothing of what is no answer of its own.
    pub(crate) fn answer(&self, answer: &Answer) -> String {
        match answer {
            Answer::Spawned(entity) => format!("{} lives", self.entity(*entity)),
            Answer::NotSpawned(refusal) => format!("not spawned: {refusal}"),
            Answer::Despawned => "despawned".into(),
            Answer::Undecided => "undecided: the home has not answered yet".into(),
            Answer::Moved(done) => self.done(done),
            Answer::Cancelled => "cancelled".into(),
            Answer::Unparked => "unparked".into(),
            Answer::NotParked => "not parked".into(),
            Answer::Rejected(error) => format!("not taken up: {}", self.named(&error.to_string())),
        }
    }

    fn done(&self, done: &MoveDone) -> String {
        let outcome = self.named(&done.outcome.to_string());
        let pause = format!("paused {} ms", done.cost.pause_us / 1_000);
        let held = match done.cost.held {
            0 => String::new(),
            held => format!(", {held} held, {} of them applied", done.cost.delivered),
        };
        let along =
            done.companions.iter().map(|done| format!("; {}: {}", self.entity(done.entity), word(&done.outcome)));
        format!("{}: {outcome}; {pause}{held}{}", word(&done.outcome), along.collect::<String>())
    }

    /// A line of the log; none of what is told elsewhere.
    pub(crate) fn event(&self, event: &Event) -> Option<String> {
        match event {
            Event::MoveBegan { .. } | Event::MoveArrived { .. } | Event::MoveEnded { .. } => None,
            Event::MoveDecided { entity, owner, epoch, .. } => {
                let owner = owner.map_or_else(|| "nobody".into(), |owner| self.own(owner));
                Some(format!("move decided: {} is at {owner} {epoch:?}", self.entity(*entity)))
            }
        }
    }
}

/// The word for an outcome, as it stands in the log.
fn word(outcome: &Outcome) -> &'static str {
    match outcome {
        Outcome::Moved { .. } => "ok",
        Outcome::Refused(_) => "refused",
        Outcome::Timeout { .. } => "timeout",
        Outcome::NodeLost => "node_lost",
        Outcome::Cancelled => "cancelled",
        Outcome::Undecided => "undecided",
        Outcome::SceneStopped => "scene_stopped",
        Outcome::HomeUnreachable => "home_unreachable",
        Outcome::Lost => "lost",
    }
}

fn request_words(request: &ManagerRequest) -> String {
    match request {
        ManagerRequest::Renew { .. } => "Renew".into(),
        ManagerRequest::Range { .. } => "Range".into(),
        ManagerRequest::Drain { .. } => "Drain: it is about to stop".into(),
        ManagerRequest::Resume { .. } => "Resume: it goes on".into(),
        ManagerRequest::Retire { .. } => "Retire: others are to be the homes of its ranges".into(),
        ManagerRequest::OpenScene { .. } | ManagerRequest::CloseScene { .. } | ManagerRequest::SceneIs { .. } => {
            "a word about a scene made at run time".into()
        }
    }
}

fn reply_words(reply: &ManagerReply) -> String {
    match reply {
        ManagerReply::Renewed { .. } => "Renewed".into(),
        ManagerReply::Range { range, .. } => format!("Range {range}"),
        ManagerReply::NotMember { .. } => "NotMember".into(),
        ManagerReply::View(_) => "View".into(),
        ManagerReply::Scene { .. } => "a word about a scene made at run time".into(),
    }
}

/// Whether a message is of those that go round at all times and say nothing of the story.
pub(crate) fn is_housekeeping(message: &Message) -> bool {
    match message {
        Message::Control(Control::Roster { news, .. }) => {
            news.iter().all(|news| news.born.is_empty() && news.dead.is_empty())
        }
        Message::Control(Control::RosterIs { rows, .. }) => rows.is_empty(),
        Message::Control(Control::Claims { claims, .. }) => claims.is_empty(),
        Message::Control(control) => matches!(
            control,
            Control::Close { .. }
                | Control::Closed { .. }
                | Control::AskStream { .. }
                | Control::RosterNoted { .. }
                | Control::AskRoster { .. }
                | Control::Globals { .. }
                | Control::GlobalsNoted { .. }
        ),
        Message::Manager(ManagerMessage::Request(request)) => {
            matches!(request, ManagerRequest::Renew { .. } | ManagerRequest::Range { .. })
        }
        Message::Manager(ManagerMessage::Reply(reply)) => {
            matches!(reply, ManagerReply::Renewed { .. } | ManagerReply::View(_) | ManagerReply::Range { .. })
        }
        Message::Data(_) | Message::Prepare(_) | Message::Tool(_) => false,
    }
}

/// Whether nothing is worth a line of which somebody hears it and has nothing to say.
pub(crate) fn is_idle_talk(message: &Message) -> bool {
    matches!(message, Message::Control(Control::AskClaims { .. })) || is_housekeeping(message)
}

/// What the manager does, in words; none of what is of no interest to a play.
pub(crate) fn manager_words(event: &ManagerEvent) -> Option<String> {
    Some(match event {
        ManagerEvent::Joined { session, replaces: None, .. } => format!("{} joins", node(*session)),
        ManagerEvent::Joined { session, replaces: Some(before), .. } => {
            format!("{} joins, in place of {}", node(*session), node(*before))
        }
        ManagerEvent::Asking { holder, .. } => format!("a join waits: {} is asked whether it lives", node(*holder)),
        ManagerEvent::JoinRefused { refusal, .. } => format!("a join is refused: {refusal}"),
        ManagerEvent::Drains { session } => format!("{} is about to stop", node(*session)),
        ManagerEvent::Resumed { session } => format!("{} goes on after all", node(*session)),
        ManagerEvent::Left { session } => format!("{} has said goodbye", node(*session)),
        ManagerEvent::Granted { session, range, .. } => format!("range {range} is granted to {}", node(*session)),
        ManagerEvent::HomesPassed { from, to, .. } => {
            format!("the home of what {} was the home of is {}", node(*from), node(*to))
        }
        ManagerEvent::CounterExhausted { session, .. } => format!("{} gets no further range", node(*session)),
        ManagerEvent::NotMember { session } => format!("{} is no member", node(*session)),
        ManagerEvent::SpokeForAnother { from, .. } => format!("{} spoke for another", node(*from)),
        ManagerEvent::Dead { session } => format!("{} is dead", node(*session)),
        ManagerEvent::LeaseEnded { session } => format!("the lease of {} has ended", node(*session)),
        ManagerEvent::StoreIsOld { .. } => "its store is old".into(),
        ManagerEvent::SceneOpening { .. }
        | ManagerEvent::SceneOpened { .. }
        | ManagerEvent::SceneClosing { .. }
        | ManagerEvent::SceneOver { .. } => return None,
    })
}

/// What a home tells people.
pub(crate) fn home_words(event: &HomeEvent) -> String {
    match event {
        HomeEvent::Rebuilding { range, term, scenes } => {
            format!("rebuilds range {range} in term {term}: {scenes} scenes are asked")
        }
        HomeEvent::Rebuilt { range, tally, .. } => {
            let (kept, reset, lost, dead) = (tally.kept, tally.reset, tally.lost, tally.dead);
            format!("range {range} is rebuilt: {kept} kept, {reset} reset, {lost} lost, {dead} dead")
        }
        HomeEvent::Inherited { range, from, kept, .. } => {
            format!("has range {range} of {}: {kept} live", node(*from))
        }
        HomeEvent::Bequeathed { range, to, kept } => format!("has given range {range} to {}: {kept} live", node(*to)),
        HomeEvent::Named { range, home, witness, lost } => {
            format!("{} has named {lost} of range {range} who died with {}", node(*witness), node(*home))
        }
    }
}
