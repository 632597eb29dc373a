//! What a peer may speak of: for itself, and for nobody else.
//!
//! | said | only by |
//! |---|---|
//! | the record of an entity, or that there is none here | the home of its range |
//! | an acknowledgement | the owner that it names |
//! | that an entity went elsewhere | a scene |
//! | a copy | the source that it names |
//! | a step of a hand-off | a scene |
//! | that a stream is done with | a router |
//! | that a stream is closed | a scene |
//! | what a scene knows of the entities of a range | that scene |
//! | a question to scenes about a range, its records that are handed over | a directory; the machines check that it is the home |
//! | a wish to have a scene opened or closed | a desk |
//! | the manager's answers | a manager's port; the receivers check that it is the manager's node |
//!
//! Inside a cluster a peer is believed in what it says of itself: an owner that acknowledges what it did not
//! apply, or claims an epoch far ahead, spoils the streams to the entities that it claims. But a peer that is
//! broken, or speaks nonsense, is kept from moving, burying or acknowledging what others own.
//!
//! Leaves out: the session, which is the link's; what the machines compare (nonces, epochs, ids of moves).

use slipgate_cluster::manager::ManagerRequest;
use slipgate_cluster::message::{Control, ManagerMessage, Message};
use slipgate_cluster::{Envelope, Place, Port};
use slipgate_entity::OnlineId;

/// Whether whoever says this may say it; `home_of` tells the home of an entity, as far as this node knows.
pub(super) fn may_say(envelope: &Envelope, home_of: impl FnOnce(OnlineId) -> Option<Place>) -> bool {
    let from = envelope.from;
    let is_scene = matches!(from.port, Port::Scene(_));
    match &envelope.message {
        Message::Control(control) => match control {
            Control::RecordIs { entity, .. } => home_of(*entity) == Some(from),
            Control::Ack { owner, .. } => from == Place::from(*owner),
            Control::Reclaim { me, .. } => from == Place::from(*me),
            Control::Redirect { .. }
            | Control::NotOwner { .. }
            | Control::Reserve(_)
            | Control::Reserved { .. }
            | Control::Refused { .. }
            | Control::IsActive { .. }
            | Control::Arrived { .. }
            | Control::HandedOn { .. }
            | Control::Settled { .. }
            | Control::Closed { .. }
            | Control::Cas { .. } => is_scene,
            Control::Claims { .. } => is_scene,
            // Whose range it is, and who was its home before, the machines compare with the view.
            Control::AskClaims { .. } | Control::Bequest { .. } | Control::Inherited { .. } => {
                from.port == Port::Directory
            }
            Control::Close { .. } => matches!(from.port, Port::Router(_)),
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
        Message::Data(_) => matches!(from.port, Port::Scene(_) | Port::Router(_)),
        Message::Tool(_) => from.port == Port::Admin,
    }
}

#[cfg(test)]
mod tests {
    use slipgate_cluster::message::Nonce;
    use slipgate_cluster::stream::StreamId;
    use slipgate_cluster::{Epoch, Own, Record, Session};
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
        let to = place(1, Port::Scene(SceneId(1)));
        let envelope = Envelope { from, to, message: Message::Control(control.clone()) };
        // The home of everything is node 2.
        let said = may_say(&envelope, |_| Some(place(2, Port::Directory)));
        assert_eq!(said, expected, "{control:?} from {from:?}");
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
    }

    #[test]
    fn whoever_was_taken_for_the_home_may_say_that_it_is_none() {
        check(place(3, Port::Directory), Control::NotHome { entity: entity(), nonce: Nonce(1) }, true);
        check(place(3, Port::Admin), Control::NotHome { entity: entity(), nonce: Nonce(1) }, false);
    }
}
