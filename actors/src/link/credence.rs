//! What a peer may speak of: for itself, and for nobody else.
//!
//! | said | only by |
//! |---|---|
//! | the record of an entity, or that there is none here | the home of its range |
//! | an acknowledgement, or that a stream has stopped | the owner that it names |
//! | a message | where its sender lives: the router of its session for a tool; a scene that hands it on. In a stream that a router opened: that router |
//! | that an entity went elsewhere | a scene; the machines check that it is the one whom they asked |
//! | a copy | the source that it names |
//! | a step of a hand-off | a scene |
//! | that a stream is done with | a router; that of its session for a tool, its opener if that is a router. A scene, in a stream of an entity that no router opened |
//! | the question whether a stream is still its sender's | a scene |
//! | that a stream is closed | a scene; the machines check that it is the receiver's |
//! | what a scene knows of the entities of a range | that scene |
//! | a question to scenes about a range, its records that are handed over | a directory; the machines check that it is the home |
//! | who was born and who died, and what a witness was told of that | a directory; the machines check that it is the home, or was asked |
//! | a wish to have a scene opened or closed | a desk |
//! | the manager's answers | a manager's port; the receivers check that it is the manager's node |
//!
//! Inside a cluster a peer is believed in what it says of itself: an owner that acknowledges what it did not
//! apply, or claims an epoch far ahead, spoils the streams to the entities that it claims. A change of
//! owner is asked for by whoever takes over, and a home takes it from there alone: a peer that names owner and epoch
//! rightly, with itself as the next, is believed to have the copy. But a peer that is broken, or speaks nonsense, is
//! kept from handing to third ones, burying or acknowledging what others own.
//!
//! Leaves out: the session, which is the link's; what the machines compare (nonces, epochs, ids of moves).

use slipgate_cluster::manager::ManagerRequest;
use slipgate_cluster::message::{Control, Data, ManagerMessage, Message, Sender};
use slipgate_cluster::stream::StreamId;
use slipgate_cluster::{Envelope, Epoch, Place, Port, Session};
use slipgate_entity::OnlineId;

/// Whether whoever says this may say it; `home_of` tells the home of an entity, as far as this node knows.
pub(super) fn may_say(envelope: &Envelope, home_of: impl FnOnce(OnlineId) -> Option<Place>) -> bool {
    let from = envelope.from;
    let is_scene = matches!(from.port, Port::Scene(_));
    let is_router = matches!(from.port, Port::Router(_));
    match &envelope.message {
        Message::Control(control) => match control {
            Control::RecordIs { entity, .. } => home_of(*entity) == Some(from),
            Control::Ack { owner, .. } | Control::Stopped { owner, .. } => from == Place::from(*owner),
            Control::Reclaim { me, .. } => from == Place::from(*me),
            Control::Redirect { .. }
            | Control::NotOwner { .. }
            | Control::Reserve(_)
            | Control::Reserved { .. }
            | Control::Refused { .. }
            | Control::Release { .. }
            | Control::IsActive { .. }
            | Control::Arrived { .. }
            | Control::HandedOn { .. }
            | Control::Settled { .. }
            | Control::Closed { .. }
            | Control::Reply { .. }
            | Control::AskStream { .. }
            | Control::Cas { .. } => is_scene,
            Control::Claims { .. } => is_scene,
            // Whose range it is, and who was its home before, the machines compare with the view.
            Control::AskClaims { .. }
            | Control::Bequest { .. }
            | Control::Inherited { .. }
            | Control::Roster { .. }
            | Control::RosterNoted { .. }
            | Control::AskRoster { .. }
            | Control::RosterIs { .. }
            | Control::Globals { .. }
            | Control::GlobalsNoted { .. } => from.port == Port::Directory,
            Control::Close { sender, stream, .. } => {
                let is_told = is_in_session_of(*sender, from) && is_told_by_its_opener(*stream, from);
                is_told && (is_router || is_scene && matches!(sender, Sender::Entity(_)))
            }
            Control::NotHome { .. } => from.port == Port::Directory,
            Control::Query { .. } => true,
        },
        Message::Prepare(prepare) => from == Place::from(prepare.from),
        Message::Manager(ManagerMessage::Reply(_)) => from.port == Port::Manager,
        Message::Manager(ManagerMessage::Request(request)) => match request {
            ManagerRequest::OpenScene { .. } | ManagerRequest::CloseScene { .. } => from.port == Port::Admin,
            ManagerRequest::Renew { .. }
            | ManagerRequest::Range { .. }
            | ManagerRequest::Drain { .. }
            | ManagerRequest::Resume { .. }
            | ManagerRequest::Retire { .. }
            | ManagerRequest::SceneIs { .. } => matches!(from.port, Port::Member | Port::Directory),
        },
        Message::Data(data) => may_speak(data, from),
        Message::Tool(_) => from.port == Port::Admin,
    }
}

/// Whether a message comes from where its sender lives, or from a scene that hands it on. A router speaks for tools of
/// its session, and for entities that are gone.
fn may_speak(data: &Data, from: Place) -> bool {
    let is_tools_own = |session: Session| {
        let Place { session: opener, port } = data.stream.opened_at;
        (opener, data.reply_to.session) == (session, session)
            && matches!(port, Port::Router(_))
            && data.epoch == Epoch::ZERO
    };
    let is_consistent = match data.sender {
        Sender::Tool(session) => is_tools_own(session),
        Sender::Entity(_) => true,
    };
    let may = match from.port {
        Port::Scene(_) if data.hops > 0 => true,
        Port::Scene(_) => matches!(data.sender, Sender::Entity(_)) && data.reply_to == from,
        Port::Router(_) => data.hops == 0 && data.reply_to == from && is_in_session_of(data.sender, from),
        Port::Directory | Port::Manager | Port::Member | Port::Admin => false,
    };
    may && is_consistent && is_told_by_its_opener(data.stream, data.reply_to)
}

/// A stream that a router opened never leaves it; what a scene opened moves with its sender.
fn is_told_by_its_opener(stream: StreamId, by: Place) -> bool {
    !matches!(stream.opened_at.port, Port::Router(_)) || stream.opened_at == by
}

/// Whether a router may speak for the sender, as far as the sender's name tells.
fn is_in_session_of(sender: Sender, router: Place) -> bool {
    match sender {
        Sender::Tool(session) => session == router.session,
        Sender::Entity(_) => true,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use slipgate_cluster::message::Nonce;
    use slipgate_cluster::{Own, Record};
    use slipgate_entity::{RangeId, SceneId};

    use super::*;

    fn place(node: u16, port: Port) -> Place {
        Place { session: Session::new(node, 1), port }
    }

    fn own(node: u16) -> Own {
        Own::new(Session::new(node, 1), SceneId(1))
    }

    fn entity() -> OnlineId {
        OnlineId::new(RangeId(1), 1)
    }

    fn check(from: Place, control: Control, expected: bool) {
        check_message(from, Message::Control(control), expected);
    }

    fn check_message(from: Place, message: Message, expected: bool) {
        let to = place(1, Port::Scene(SceneId(1)));
        let envelope = Envelope { from, to, message };
        // The home of everything is node 2.
        let said = may_say(&envelope, |_| Some(place(2, Port::Directory)));
        assert_eq!(said, expected, "{:?} from {from:?}", envelope.message);
    }

    /// What a tool of node 2 says to an entity.
    fn from_a_tool() -> Data {
        let router = place(2, Port::Router(0));
        Data {
            entity: entity(),
            stream: StreamId { opened_at: router, generation: 1 },
            seq: 1,
            sender: Sender::Tool(router.session),
            reply_to: router,
            hops: 0,
            payload: Arc::from([7].as_slice()),
            base: Epoch::ZERO,
            epoch: Epoch::ZERO,
        }
    }

    fn check_data(from: Place, data: Data, expected: bool) {
        check_message(from, Message::Data(data), expected);
    }

    #[test]
    fn a_tool_is_heard_through_the_router_of_its_session_alone() {
        let (router, scene) = (place(2, Port::Router(0)), place(2, Port::Scene(SceneId(1))));
        check_data(router, from_a_tool(), true);
        check_data(place(3, Port::Router(0)), from_a_tool(), false);
        check_data(place(3, Port::Router(0)), Data { reply_to: place(3, Port::Router(0)), ..from_a_tool() }, false);
        check_data(scene, Data { reply_to: scene, ..from_a_tool() }, false);
        check_data(place(2, Port::Member), from_a_tool(), false);
        let close = |sender| Control::Close { entity: entity(), stream: from_a_tool().stream, sender };
        check(router, close(Sender::Tool(router.session)), true);
        check(place(3, Port::Router(0)), close(Sender::Tool(router.session)), false);
    }

    #[test]
    fn a_tool_has_no_epoch_and_no_stream_but_its_routers_whoever_hands_it_on() {
        let scene = place(3, Port::Scene(SceneId(1)));
        let handed_on = || Data { hops: 1, ..from_a_tool() };
        check_data(scene, handed_on(), true);
        check_data(scene, Data { epoch: Epoch::FIRST, ..handed_on() }, false);
        check_data(scene, Data { reply_to: scene, ..handed_on() }, false);
        for opened_at in [place(3, Port::Router(0)), place(2, Port::Scene(SceneId(1)))] {
            check_data(scene, Data { stream: StreamId { opened_at, generation: 1 }, ..handed_on() }, false);
        }
    }

    #[test]
    fn an_entity_is_heard_from_where_it_says_that_it_lives() {
        let (here, gone) = (place(3, Port::Scene(SceneId(1))), place(3, Port::Router(0)));
        let said = |reply_to| Data {
            sender: Sender::Entity(OnlineId::new(RangeId(1), 2)),
            stream: StreamId { opened_at: place(2, Port::Scene(SceneId(4))), generation: 1 },
            reply_to,
            epoch: Epoch::FIRST,
            ..from_a_tool()
        };
        check_data(here, said(here), true);
        check_data(gone, said(gone), true);
        check_data(here, said(place(2, Port::Scene(SceneId(1)))), false);
        check_data(gone, said(place(2, Port::Router(0))), false);
    }

    #[test]
    fn a_stream_that_a_router_opened_is_spoken_in_and_closed_by_that_router_alone() {
        let (opener, other) = (place(2, Port::Router(0)), place(3, Port::Router(0)));
        let sender = Sender::Entity(OnlineId::new(RangeId(1), 2));
        let said = |reply_to| Data { sender, reply_to, epoch: Epoch::FIRST, ..from_a_tool() };
        let close = Control::Close { entity: entity(), stream: from_a_tool().stream, sender };
        for (router, expected) in [(opener, true), (other, false), (place(2, Port::Router(1)), false)] {
            check_data(router, said(router), expected);
            check(router, close.clone(), expected);
        }
        let scene = place(3, Port::Scene(SceneId(1)));
        check_data(scene, said(scene), false);
        check_data(scene, Data { hops: 1, ..said(other) }, false);
        check_data(scene, Data { hops: 1, ..said(opener) }, true);
    }

    #[test]
    fn a_scene_closes_what_an_entity_opened_and_nothing_of_a_tool_or_a_router() {
        let scene = place(3, Port::Scene(SceneId(1)));
        let (entity, sender) = (entity(), Sender::Entity(OnlineId::new(RangeId(1), 2)));
        let opened_at = |port| StreamId { opened_at: place(2, port), generation: 1 };
        let stream = opened_at(Port::Scene(SceneId(4)));
        check(scene, Control::Close { entity, stream, sender }, true);
        check(scene, Control::Close { entity, stream, sender: Sender::Tool(scene.session) }, false);
        check(scene, Control::Close { entity, stream: opened_at(Port::Router(0)), sender }, false);
        check(scene, Control::AskStream { entity, stream, sender: entity }, true);
        check(place(3, Port::Router(0)), Control::AskStream { entity, stream, sender: entity }, false);
    }

    #[test]
    fn a_record_is_believed_from_its_home_alone() {
        let record = Record::registered(own(3));
        let told = |nonce| Control::RecordIs { entity: entity(), record, nonce };
        check(place(2, Port::Directory), told(Some(Nonce(1))), true);
        check(place(2, Port::Directory), told(None), true);
        check(place(3, Port::Directory), told(Some(Nonce(1))), false);
        check(place(2, Port::Scene(SceneId(1))), told(Some(Nonce(1))), false);
    }

    #[test]
    fn an_acknowledgement_is_believed_from_the_owner_that_it_names() {
        let stream = StreamId { opened_at: place(1, Port::Router(0)), generation: 1 };
        let ack =
            |owner| Control::Ack { entity: entity(), stream, upto: 1, owner, epoch: Epoch::FIRST, base: Epoch::ZERO };
        check(own(2).into(), ack(own(2)), true);
        check(own(3).into(), ack(own(2)), false);
        check(place(2, Port::Router(0)), ack(own(2)), false);
        let (epoch, base) = (Epoch::FIRST, Epoch::ZERO);
        let stopped = |owner| Control::Stopped { entity: entity(), stream, upto: 1, failed: true, owner, epoch, base };
        check(own(2).into(), stopped(own(2)), true);
        check(own(3).into(), stopped(own(2)), false);
    }

    #[test]
    fn whoever_was_taken_for_the_home_may_say_that_it_is_none() {
        check(place(3, Port::Directory), Control::NotHome { entity: entity(), nonce: Nonce(1) }, true);
        check(place(3, Port::Admin), Control::NotHome { entity: entity(), nonce: Nonce(1) }, false);
    }
}
