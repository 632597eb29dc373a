//! Control messages, and the enum that holds every family.

use std::sync::Arc;

use slipgate_cluster::claim::{Claim, Stake, Title};
use slipgate_cluster::globals::Global;
use slipgate_cluster::legacy::{Heirloom, Legacy};
use slipgate_cluster::manager::ManagerRequest;
use slipgate_cluster::message::{Control, Held, ManagerMessage, Message, Nonce, Reserve, ToolMessage};
use slipgate_cluster::moves::Refusal;
use slipgate_cluster::roster::{Bereft, Born, RosterNews};
use slipgate_cluster::{Epoch, Now, Record};
use slipgate_entity::{OnlineId, RangeId};

use super::{Vector, check, check_variants, sample, vector};

#[test]
fn every_control_message_has_its_bytes() {
    let vectors = [directory(), streams(), hand_off(), homes(), closing(), rosters(), replies(), globals()]
        .into_iter()
        .flatten()
        .collect::<Vec<_>>();
    check("control", &vectors);
    check_variants::<Control>(&vectors);
}

fn directory() -> Vec<Vector> {
    let (entity, nonce) = (sample::entity(), Nonce(11));
    let (owner, epoch, record) = (sample::forest(), sample::epoch(), sample::record());
    vec![
        vector("control.cas", &Control::Cas { entity, owner, epoch, new: record, nonce }),
        vector("control.query", &Control::Query { entity, nonce }),
        vector("control.reclaim", &Control::Reclaim { entity, me: sample::harbor(), nonce }),
        vector("control.record_is", &Control::RecordIs { entity, record, nonce: Some(nonce) }),
        vector("control.record_is.never", &Control::RecordIs { entity, record: Record::never(), nonce: None }),
        vector("control.not_home", &Control::NotHome { entity, nonce }),
    ]
}

fn replies() -> Vec<Vector> {
    let entity = sample::entity();
    vec![vector("control.reply", &Control::Reply { entity, payload: [3, 7, 7].as_slice().into() })]
}

fn globals() -> Vec<Vector> {
    let globals = vec![Global { entity: sample::entity(), name: "bank".into() }];
    vec![
        vector("control.globals", &Control::Globals { number: 7, globals }),
        vector("control.globals_noted", &Control::GlobalsNoted { number: 7 }),
    ]
}

fn streams() -> Vec<Vector> {
    let (entity, stream, owner, epoch) = (sample::entity(), sample::stream(), sample::forest(), sample::epoch());
    vec![
        vector("control.ack", &Control::Ack { entity, stream, upto: 2, owner, epoch, base: Epoch::ZERO }),
        vector("control.redirect", &Control::Redirect { entity, stream, owner, epoch }),
        vector("control.not_owner", &Control::NotOwner { entity, stream }),
        vector(
            "control.stopped",
            &Control::Stopped { entity, stream, upto: 2, failed: true, owner, epoch, base: Epoch::ZERO },
        ),
    ]
}

fn hand_off() -> Vec<Vector> {
    let (entity, id, label) = (sample::entity(), sample::id(), sample::epoch().next());
    let parts = sample::parts();
    let held = vec![Held { stream: sample::stream(), sender: sample::data(1).sender, upto: 7, count: 2 }];
    vec![
        vector("control.reserve", &Control::Reserve(Reserve { entity, id, label, parts, bytes: 61 })),
        vector("control.reserved", &Control::Reserved { entity, id, label }),
        vector("control.refused", &Control::Refused { entity, id, label, reason: Refusal::Draining }),
        vector("control.release", &Control::Release { entity, id }),
        vector("control.is_active", &Control::IsActive { entity, id }),
        vector("control.arrived", &Control::Arrived { entity, id, epoch: label }),
        vector("control.handed_on", &Control::HandedOn { entity, id, held, source: sample::forest() }),
        vector("control.settled", &Control::Settled { entity, id, delivered: 2 }),
    ]
}

fn closing() -> Vec<Vector> {
    let (entity, stream, sender) = (sample::entity(), sample::stream(), sample::data(1).sender);
    vec![
        vector("control.close", &Control::Close { entity, stream, sender }),
        vector("control.closed", &Control::Closed { entity, stream, floor: 9, doubt: false }),
        vector("control.ask_stream", &Control::AskStream { entity, stream, sender: entity }),
    ]
}

fn rosters() -> Vec<Vector> {
    let (entity, range, term, after) = (sample::entity(), RangeId(3), 2, Some(OnlineId::new(RangeId(3), 4)));
    let label = Some("ann".to_owned());
    let news = vec![RosterNews { range, term, born: vec![Born { entity, label: label.clone() }], dead: vec![entity] }];
    vec![
        vector("control.roster", &Control::Roster { number: 7, anew: true, news }),
        vector("control.roster_noted", &Control::RosterNoted { number: 7 }),
        vector("control.ask_roster", &Control::AskRoster { range, term, after }),
        vector(
            "control.roster_is",
            &Control::RosterIs { range, term, after, rows: vec![Bereft { entity, label, home: sample::n2() }] },
        ),
    ]
}

fn homes() -> Vec<Vector> {
    let (entity, range, term, after) = (sample::entity(), RangeId(3), 2, Some(OnlineId::new(RangeId(3), 4)));
    let title = Title { epoch: sample::epoch(), data: Epoch::new(0, 8), base: Epoch::new(0, 7) };
    let record = sample::record();
    let claim = |label: Option<&str>, stake| Claim { entity, label: label.map(str::to_owned), stake };
    let claims = vec![
        claim(Some("ann"), Stake::Active(title)),
        claim(None, Stake::Leaving { title, target: sample::harbor(), is_late: true }),
        claim(None, Stake::Despawning(title)),
        claim(None, Stake::Staged { label: sample::epoch().next(), source: sample::forest(), nonce: Nonce(11) }),
        claim(None, Stake::Gone(record)),
    ];
    let records = vec![Heirloom { entity, record, label: Some("ann".to_owned()) }];
    let page = Legacy::Page { records, more: true, absent_is_lost: false };
    vec![
        vector("control.ask_claims", &Control::AskClaims { range, term, after: None }),
        vector("control.claims", &Control::Claims { range, term, after, claims, more: true }),
        vector("control.bequest", &Control::Bequest { range, term, after: None, legacy: page }),
        vector("control.bequest.unknown", &Control::Bequest { range, term, after: None, legacy: Legacy::Unknown }),
        vector("control.inherited", &Control::Inherited { range, term, after }),
    ]
}

#[test]
fn every_family_of_messages_has_its_number() {
    let renew = ManagerRequest::Renew { session: sample::n2(), sent: Now(1), version: 5 };
    let vectors = [
        vector("message.control", &Message::Control(Control::Query { entity: sample::entity(), nonce: Nonce(11) })),
        vector("message.data", &Message::Data(sample::data(1))),
        vector("message.prepare", &Message::Prepare(Arc::new(sample::prepare()))),
        vector("message.manager", &Message::Manager(ManagerMessage::Request(renew))),
        vector("message.tool", &Message::Tool(ToolMessage::Ask { nonce: Nonce(11), question: vec![1, 1] })),
    ];
    check("message", &vectors);
    check_variants::<Message>(&vectors);
}
