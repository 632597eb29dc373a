//! What a message weighs: its bytes beyond a fixed part, without encoding it.
//!
//! Lanes fill frames by it, mailboxes bound by it what waits in memory. It is at most about what the
//! message is when encoded, and never far below.
//!
//! Keeps: every part whose length the sender chooses is counted.

use slipgate_cluster::legacy::Legacy;
use slipgate_cluster::manager::{ManagerReply, SceneRefusal};
use slipgate_cluster::message::{Control, Image, ManagerMessage, Message, Reserve, ToolMessage};
use slipgate_cluster::moves::Refusal;

/// Bytes of a message beyond its fixed part.
#[must_use]
pub fn weight(message: &Message) -> usize {
    match message {
        Message::Data(data) => data.payload.len(),
        Message::Prepare(prepare) => weight_of_image(&prepare.image),
        Message::Tool(ToolMessage::Ask { question: bytes, .. } | ToolMessage::Answer { answer: bytes, .. }) => {
            bytes.len()
        }
        Message::Control(Control::HandedOn { held, .. }) => HELD_BYTES * held.len(),
        Message::Control(Control::Claims { claims, .. }) => {
            claims.iter().map(|claim| CLAIM_BYTES + claim.label.as_ref().map_or(0, String::len)).sum()
        }
        Message::Control(Control::Bequest { legacy: Legacy::Page { records, .. }, .. }) => {
            records.iter().map(|record| CLAIM_BYTES + record.label.as_ref().map_or(0, String::len)).sum()
        }
        Message::Control(Control::Roster { news, .. }) => news
            .iter()
            .map(|news| {
                let born: usize = news.born.iter().map(|born| row(born.label.as_ref())).sum();
                ROW_OF_ROSTER_BYTES * (1 + news.dead.len()) + born
            })
            .sum(),
        Message::Control(Control::RosterIs { rows, .. }) => rows.iter().map(|lost| row(lost.label.as_ref())).sum(),
        Message::Control(Control::Reply { payload, .. }) => payload.len(),
        Message::Control(Control::Globals { globals, .. }) => {
            globals.iter().map(|global| row(Some(&global.name))).sum()
        }
        Message::Control(Control::Refused {
            reason: Refusal::Unreadable { reason } | Refusal::Vetoed { reason },
            ..
        }) => reason.len(),
        Message::Control(Control::Refused {
            reason:
                Refusal::NoType { type_name: name }
                | Refusal::NoComponent { component: name }
                | Refusal::SchemaDiffers { part: name, .. },
            ..
        }) => name.0.len(),
        Message::Control(Control::Reserve(Reserve { parts, .. })) => {
            let components = parts.components().iter().map(|part| PART_BYTES + part.name.0.len());
            parts.own().name.0.len() + components.sum::<usize>()
        }
        Message::Manager(ManagerMessage::Reply(ManagerReply::View(view))) => {
            let texts: usize = view.members.values().map(|member| member.address.len() + member.admin.len()).sum();
            texts + ROW_BYTES * (view.members.len() + view.scenes.len() + view.homes.len())
        }
        Message::Manager(ManagerMessage::Reply(ManagerReply::Scene {
            result: Err(SceneRefusal::NodeGone { node }),
            ..
        })) => node.len(),
        Message::Control(_) | Message::Manager(_) => 0,
    }
}

fn weight_of_image(image: &Image) -> usize {
    let sent: usize = image.sending.iter().map(|stream| STREAM_BYTES * (1 + stream.waiting())).sum();
    let texts = image.identity.type_name.0.len() + image.identity.label.as_ref().map_or(0, String::len);
    let payloads: usize = image.sending.iter().map(slipgate_cluster::stream::SendStream::payload_bytes).sum();
    image.body.len() + HELD_BYTES * image.received.len() + sent + payloads + texts
}

/// One component of an entity, when encoded, without its name.
const PART_BYTES: usize = 4;
/// A row of a roster with its label.
fn row(label: Option<&String>) -> usize {
    ROW_OF_ROSTER_BYTES + label.map_or(0, String::len)
}

/// One entity of a roster, without its label.
const ROW_OF_ROSTER_BYTES: usize = 16;
/// One stream of a list, when encoded.
const HELD_BYTES: usize = 40;
/// One stream that an entity sends on, or one message of it without its payload.
const STREAM_BYTES: usize = 40;
/// One claim, or one record that is handed over, without its label.
const CLAIM_BYTES: usize = 48;
/// One row of a view, when encoded, without its addresses.
const ROW_BYTES: usize = 56;
