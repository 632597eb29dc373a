//! The shells around a home and around the router of the one tool.

use std::collections::BTreeMap;
use std::sync::Arc;

use slipgate_cluster::directory::{self, Directory};
use slipgate_cluster::message::{Control, Message};
use slipgate_cluster::router::{self, Router, ToSend};
use slipgate_cluster::{Envelope, Epoch, Now, Own, Place, View};
use slipgate_entity::OnlineId;

use super::body::speech;
use super::canon::{LATE_US, TICK_US};
use super::cue::{Cue, Effects};
use super::plan::Plan;

/// A home.
#[derive(Clone, Debug)]
pub(crate) struct Home {
    pub(crate) directory: Directory,
    pub(crate) now: Now,
    me: Place,
}

impl Home {
    pub(crate) fn new(plan: &Plan, me: Place, view: Arc<View>) -> Self {
        let mut directory = Directory::new(me.session).without_witness().under(plan.rules);
        directory.handle(directory::Input::View(view), Now(1), &mut Vec::new());
        Self { directory, now: Now(1), me }
    }

    pub(crate) fn register(&mut self, entity: OnlineId, owner: Own) {
        let input = directory::Input::Registered { entity, owner, label: None };
        self.directory.handle(input, self.now, &mut Vec::new());
    }

    pub(crate) fn play(&mut self, cue: &Cue) -> Effects {
        let mut out = Vec::new();
        let input = match cue.clone() {
            Cue::Hear(Envelope { from, message: Message::Control(control), .. }) => {
                directory::Input::Heard { from, control }
            }
            Cue::View(view) => directory::Input::View(view),
            Cue::Tick => {
                self.now.0 += TICK_US;
                directory::Input::Tick
            }
            cue @ (Cue::Hear(_) | Cue::Late | Cue::Forget | Cue::PeerLost(_) | Cue::Adopt(_))
            | cue @ (Cue::Migrate { .. } | Cue::Despawn { .. } | Cue::Unpark { .. } | Cue::Say { .. }) => {
                panic!("expected a home's cue, got {cue:?}")
            }
        };
        self.directory.handle(input, self.now, &mut out);
        let tell = |output| match output {
            directory::Output::Tell { to, control } => {
                Some(Envelope { from: self.me, to, message: Message::Control(control) })
            }
            directory::Output::Lost(_)
            | directory::Output::Event(_)
            | directory::Output::Ask(_)
            | directory::Output::GivenAway => None,
        };
        Effects { says: out.into_iter().filter_map(tell).collect(), ..Effects::default() }
    }
}

/// What became of a message that the tool sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    Accepted,
    Busy,
    /// Under which base its number counted.
    Applied(Epoch),
    Dead,
    Unknown,
    Lost,
    /// Under which base its number counted.
    Failed(Epoch),
    Parked,
}

/// The router, and the tool behind it.
#[derive(Clone, Debug)]
pub(crate) struct Desk {
    pub(crate) router: Router,
    pub(crate) now: Now,
    me: Place,
    /// Where a question to a home may come.
    ears: Vec<Place>,
    /// By number.
    pub(crate) fates: BTreeMap<u8, Fate>,
}

impl Desk {
    pub(crate) fn new(plan: &Plan, me: Place) -> Self {
        let router = Router::new(me, plan.limits()).under(plan.rules);
        Self { router, now: Now(1), me, ears: plan.ears(), fates: BTreeMap::new() }
    }

    pub(crate) fn play(&mut self, cue: &Cue) -> Effects {
        let mut base = Epoch::ZERO;
        let input = match cue.clone() {
            Cue::Hear(Envelope { from, message: Message::Control(control), .. }) => {
                if let Control::Ack { base: counted, .. } | Control::Stopped { base: counted, .. } = control {
                    base = counted;
                }
                router::Input::Heard { from, control }
            }
            Cue::Say { number, entity, tell } => {
                let ticket = router::Ticket(u64::from(number));
                router::Input::Send(vec![ToSend { ticket, entity, payload: speech(number, tell) }])
            }
            Cue::Adopt(orphans) => router::Input::Adopt(orphans),
            Cue::Tick => {
                self.now.0 += TICK_US;
                router::Input::Tick
            }
            Cue::Late => {
                self.now.0 += LATE_US;
                router::Input::Tick
            }
            cue @ (Cue::Hear(_) | Cue::View(_) | Cue::Forget | Cue::PeerLost(_))
            | cue @ (Cue::Migrate { .. } | Cue::Despawn { .. } | Cue::Unpark { .. }) => {
                panic!("expected a router's cue, got {cue:?}")
            }
        };
        let mut out = Vec::new();
        self.router.handle(input, self.now, &mut out);
        let mut effects = Effects::default();
        for output in out {
            self.perform(output, base, &mut effects);
        }
        effects
    }

    fn perform(&mut self, output: router::Output, base: Epoch, effects: &mut Effects) {
        let (ticket, fate) = match output {
            router::Output::Data { to, data } => {
                effects.says.push(Envelope { from: self.me, to: to.into(), message: Message::Data(data) });
                return;
            }
            router::Output::Close { to, entity, stream, sender } => {
                let message = Message::Control(Control::Close { entity, stream, sender });
                effects.says.push(Envelope { from: self.me, to: to.into(), message });
                return;
            }
            router::Output::AskHome { entity, mut nonce } => {
                nonce.0 = 0;
                let query = |&to: &Place| {
                    let message = Message::Control(Control::Query { entity, nonce });
                    Envelope { from: self.me, to, message }
                };
                effects.says.extend(self.ears.iter().map(query));
                return;
            }
            router::Output::Accepted(ticket) => (ticket, Fate::Accepted),
            router::Output::Busy(router::ToSend { ticket, .. }) => (ticket, Fate::Busy),
            router::Output::Applied(ticket) => (ticket, Fate::Applied(base)),
            router::Output::Dead(ticket) => (ticket, Fate::Dead),
            router::Output::Unknown(ticket) => (ticket, Fate::Unknown),
            router::Output::Lost(ticket) => (ticket, Fate::Lost),
            router::Output::Failed(ticket) => (ticket, Fate::Failed(base)),
            router::Output::Parked(ticket) => (ticket, Fate::Parked),
        };
        let number = u8::try_from(ticket.0).expect("few messages");
        let before = self.fates.insert(number, fate);
        if before.is_some_and(|before| before != Fate::Accepted) {
            effects.faults.push(format!("message {number} is answered twice: {before:?}, then {fate:?}"));
        }
    }
}
