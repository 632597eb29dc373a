//! A violation as a play: who heard what, what he did and said, and what was wrong in the end.

use std::fmt::Write as _;

use slipgate_cluster::message::{Control, Message};
use slipgate_cluster::view::Home;
use slipgate_cluster::{Envelope, Epoch, Own, Place, Port, Record, View};

use super::cue::Cue;
use super::ensemble::{CueId, Ensemble, Slot};
use super::plan::number;
use super::search::{Search, Violation};
use super::sight::{Here, Sight, Stand};
use super::world::{Step, World};

/// The play of a violation.
pub(crate) fn tell(search: &mut Search, violation: &Violation) -> String {
    let ensemble = &mut search.ensemble;
    let mut world = World::first(ensemble);
    let mut play = String::new();
    for (number, &step) in (1..).zip(&violation.steps) {
        let before = world.actors.clone();
        world.take(ensemble, step);
        match step {
            Step::Play(slot, cue) => line(&mut play, ensemble, number, (slot, cue), before[slot]),
            Step::Die(node) => put(&mut play, number, &format!("node {node} dies")),
            Step::Manage(deed) => put(&mut play, number, &format!("the manager: {deed:?}")),
        }
    }
    if !violation.given.is_empty() {
        play.push_str("  -- all that is on the way is lost; from here on nothing goes wrong --\n");
        world.judge(ensemble);
        let shown = violation.given.len().saturating_sub(REST_SHOWN);
        for (at, &(slot, cue)) in violation.given.iter().enumerate() {
            let before = world.actors[slot];
            world.actors[slot] = ensemble.outcome(before, cue).actor;
            if at < REST_SHOWN / 2 || at >= shown {
                line(&mut play, ensemble, violation.steps.len() + 1 + at, (slot, cue), before);
            }
        }
    }
    let _ = writeln!(play, "  ==> {}", violation.fault);
    play
}

fn put(play: &mut String, number: usize, text: &str) {
    let _ = writeln!(play, "{number:>4} {text}");
}

fn line(play: &mut String, ensemble: &mut Ensemble, number: usize, (slot, cue): (Slot, CueId), before: u32) {
    let outcome = ensemble.outcome(before, cue);
    let who = place(ensemble.places[slot]);
    put(play, number, &format!("{who} {}", what(ensemble.cue_of(cue))));
    if outcome.actor != before {
        let (was, is) = (standing(ensemble, before), standing(ensemble, outcome.actor));
        if was != is {
            let _ = writeln!(play, "       {was} => {is}");
        }
    }
    for &said in &outcome.says {
        if let Cue::Hear(envelope) = ensemble.cue_of(said) {
            let _ = writeln!(play, "       to {}: {}", place(envelope.to), message(envelope));
        }
    }
}

fn what(cue: &Cue) -> String {
    match cue {
        Cue::Hear(envelope) => format!("hears {} from {}", message(envelope), place(envelope.from)),
        Cue::View(view) => format!("is told view {}: homes {}, dead {:?}", view.version, homes(view), view.dead),
        Cue::Tick => "repeats what is unanswered".into(),
        Cue::Late => "finds that every deadline is over".into(),
        Cue::Forget => "forgets its tombstones".into(),
        Cue::PeerLost(session) => format!("loses the link to {session:?}"),
        Cue::Migrate { number, entity, to, with } => {
            format!("is asked to move {entity} to {}, with {with:?} (move {number})", own(*to))
        }
        Cue::Unpark { entity, .. } => format!("is asked to unpark {entity}"),
        Cue::Despawn { entity, .. } => format!("is asked to despawn {entity}"),
        Cue::Say { number, entity, tell } => {
            let tell = tell.map(|tell| format!(", to be told on to {tell}")).unwrap_or_default();
            format!("is to say {number} to {entity}{tell}")
        }
        Cue::Adopt(streams) => format!("goes on with {} streams of an entity that is gone", streams.len()),
    }
}

fn message(envelope: &Envelope) -> String {
    match &envelope.message {
        Message::Control(Control::Cas { entity, owner, epoch, new, nonce }) => {
            format!("Cas {entity} ({}, {epoch:?}) -> {} [{}]", own(*owner), record(new), nonce.0)
        }
        Message::Control(Control::RecordIs { entity, record: is, nonce }) => {
            format!("RecordIs {entity} {} [{}]", record(is), nonce.map_or("-".into(), |nonce| nonce.0.to_string()))
        }
        Message::Control(Control::Ack { entity, upto, owner, epoch, .. }) => {
            format!("Ack {entity} up to {upto} by {} at {epoch:?}", own(*owner))
        }
        Message::Control(Control::Redirect { entity, owner, epoch, .. }) => {
            format!("Redirect {entity} to {} at {epoch:?}", own(*owner))
        }
        Message::Control(Control::Reserve(reserve)) => format!("Reserve {} label {:?}", reserve.entity, reserve.label),
        Message::Control(Control::Reserved { entity, label, .. }) => format!("Reserved {entity} label {label:?}"),
        Message::Control(Control::NotOwner { entity, .. }) => format!("NotOwner {entity}"),
        Message::Control(Control::Query { entity, .. }) => format!("Query {entity}"),
        Message::Control(control) => format!("{control:?}"),
        Message::Data(data) => format!("Data {} number {} ({:?})", data.entity, data.seq, &data.payload[..1]),
        Message::Prepare(prepare) => {
            format!("Prepare {} label {:?} from {}", prepare.entity, prepare.label, own(prepare.from))
        }
        Message::Manager(_) | Message::Tool(_) => "something that no scene, home or router says".into(),
    }
}

fn homes(view: &View) -> String {
    let home = |home: &Home| format!("{} at node {} in term {}", home.range, number(home.session), home.term);
    view.homes.values().map(home).collect::<Vec<_>>().join(", ")
}

fn record(record: &Record) -> String {
    let owner = match record.owner {
        Some(owner) => own(owner),
        None if record.lost => "lost".into(),
        None => "dead".into(),
    };
    let base = if record.base > Epoch::ZERO { format!(", base {:?}", record.base) } else { String::new() };
    format!("({owner}, {:?}, data {:?}{base})", record.epoch, record.data)
}

fn own(own: Own) -> String {
    format!("S{}@{}", own.scene, number(own.session))
}

fn place(place: Place) -> String {
    let node = number(place.session);
    match place.port {
        Port::Scene(scene) => format!("S{scene}@{node}"),
        Port::Directory => format!("home@{node}"),
        Port::Router(_) => format!("router@{node}"),
        port @ (Port::Manager | Port::Member | Port::Admin) => format!("{port:?}@{node}"),
    }
}

fn standing(ensemble: &Ensemble, actor: u32) -> String {
    let part = ensemble.part(actor);
    match &part.sight {
        Sight::Scene(scene) => {
            let held = |here: &Option<Here>| here.as_ref().map_or("nothing".into(), here_text);
            scene.here.iter().map(held).collect::<Vec<_>>().join(", ")
        }
        Sight::Home(records) => records.iter().flatten().map(record).collect::<Vec<_>>().join(", "),
        Sight::Desk(tool) => format!("{:?}", tool.fates),
        Sight::Gone => "gone".into(),
    }
}

fn here_text(here: &Here) -> String {
    let stand = match here.stand {
        Stand::Active => "active",
        Stand::Frozen => "frozen",
        Stand::Deciding => "deciding",
        Stand::Staged => "staged",
    };
    let heard: Vec<_> = here.body.heard.values().collect();
    format!("{stand} {:?} data {:?} heard {heard:?}", here.epoch, here.data)
}

/// Lines of a run to rest that are shown: the first and the last.
const REST_SHOWN: usize = 60;
