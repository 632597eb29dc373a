//! The shells around a home and around the router of the one tool.

use std::collections::BTreeMap;
use std::sync::Arc;

use slipgate_cluster::directory::{self, Directory};
use slipgate_cluster::message::{Control, Message};
use slipgate_cluster::router::{self, Router, ToSend};
use slipgate_cluster::{Envelope, Now, Own, Place, View};
use slipgate_entity::{OnlineId, RangeId};

use super::body::speech;
use super::canon::TICK_US;
use super::cue::{Cue, Effects};
use super::mutant::Mutant;
use super::plan::{Plan, home};

/// A home.
#[derive(Clone, Debug)]
pub(crate) struct Home {
    pub(crate) directory: Directory,
    me: Place,
    /// Verdicts that it has heard of.
    verdicts: usize,
    mutant: Mutant,
}

impl Home {
    pub(crate) fn new(plan: &Plan, me: Place) -> Self {
        let mut directory = Directory::new(me.session);
        let range = RangeId(u32::from(me.session.node.0));
        directory.handle(directory::Input::Opened { range }, Now(0), &mut Vec::new());
        Self { directory, me, verdicts: 0, mutant: plan.mutant }
    }

    pub(crate) fn register(&mut self, entity: OnlineId, owner: Own) {
        self.directory.handle(directory::Input::Registered { entity, owner, label: None }, Now(0), &mut Vec::new());
    }

    pub(crate) fn play(&mut self, cue: &Cue) -> Effects {
        let input = match cue.clone() {
            Cue::Hear(Envelope { from, message: Message::Control(control), .. }) => {
                let control = self.mutant.asked(&self.directory, control);
                directory::Input::Heard { from, control }
            }
            // A member takes no view that is older than its own.
            Cue::Sentenced(dead) if dead.len() > self.verdicts && self.mutant != Mutant::NobodyIsSentenced => {
                self.verdicts = dead.len();
                directory::Input::View(Arc::new(View { version: dead.len() as u64, dead, ..View::default() }))
            }
            Cue::Sentenced(_) | Cue::Tick => return Effects::default(),
            cue @ (Cue::Hear(_) | Cue::Late | Cue::Forget | Cue::PeerLost(_) | Cue::Adopt(_))
            | cue @ (Cue::Migrate { .. } | Cue::Despawn { .. } | Cue::Say { .. }) => {
                panic!("expected a home's cue, got {cue:?}")
            }
        };
        let mut out = Vec::new();
        self.directory.handle(input, Now(0), &mut out);
        let tell = |output| match output {
            directory::Output::Tell { to, control } => {
                Some(Envelope { from: self.me, to, message: Message::Control(control) })
            }
            directory::Output::Lost(_)
            | directory::Output::Ask(_)
            | directory::Output::GivenAway
            | directory::Output::Event(_) => None,
        };
        Effects { says: out.into_iter().filter_map(tell).collect(), ..Effects::default() }
    }
}

/// What became of a message that the tool sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    Accepted,
    Busy,
    Applied,
    Dead,
    Unknown,
}

/// The router, and the tool behind it.
#[derive(Clone, Debug)]
pub(crate) struct Desk {
    pub(crate) router: Router,
    pub(crate) now: Now,
    me: Place,
    /// By number.
    pub(crate) fates: BTreeMap<u8, Fate>,
    mutant: Mutant,
}

impl Desk {
    pub(crate) fn new(plan: &Plan, me: Place) -> Self {
        let router = Router::new(me, plan.limits());
        Self { router, now: Now(1), me, fates: BTreeMap::new(), mutant: plan.mutant }
    }

    pub(crate) fn play(&mut self, cue: &Cue) -> Effects {
        let input = match cue.clone() {
            Cue::Hear(Envelope { message: Message::Control(control), .. }) => router::Input::Heard(control),
            Cue::Say { number, entity, tell } => {
                let ticket = router::Ticket(u64::from(number));
                router::Input::Send(vec![ToSend { ticket, entity, payload: speech(number, tell) }])
            }
            Cue::Adopt(streams) => router::Input::Adopt(streams),
            Cue::Tick if self.mutant == Mutant::RouterNeverRepeats => return Effects::default(),
            Cue::Tick => {
                self.now.0 += TICK_US;
                router::Input::Tick
            }
            cue @ (Cue::Hear(_) | Cue::Sentenced(_) | Cue::Late | Cue::Forget | Cue::PeerLost(_))
            | cue @ (Cue::Migrate { .. } | Cue::Despawn { .. }) => panic!("expected a router's cue, got {cue:?}"),
        };
        let mut out = Vec::new();
        self.router.handle(input, self.now, &mut out);
        let mut effects = Effects::default();
        for output in out {
            self.perform(output, &mut effects);
        }
        effects
    }

    fn perform(&mut self, output: router::Output, effects: &mut Effects) {
        let (ticket, fate) = match output {
            router::Output::Data { to, data } => {
                effects.says.push(Envelope { from: self.me, to: to.into(), message: Message::Data(data) });
                return;
            }
            router::Output::AskHome { entity, mut nonce } => {
                nonce.0 = 0;
                let message = Message::Control(Control::Query { entity, nonce });
                effects.says.push(Envelope { from: self.me, to: home(entity), message });
                return;
            }
            router::Output::Accepted(ticket) => (ticket, Fate::Accepted),
            router::Output::Busy(ticket) => (ticket, Fate::Busy),
            router::Output::Applied(ticket) => (ticket, Fate::Applied),
            router::Output::Dead(ticket) => (ticket, Fate::Dead),
            router::Output::Unknown(ticket) => (ticket, Fate::Unknown),
        };
        let number = u8::try_from(ticket.0).expect("few messages");
        let before = self.fates.insert(number, fate);
        if before.is_some_and(|before| before != Fate::Accepted) {
            effects.faults.push(format!("message {number} is answered twice: {before:?}, then {fate:?}"));
        }
    }
}
