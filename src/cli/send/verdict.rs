//! What messages came to that were sent: the first thing that went wrong, if anything did.
//!
//! An entity that is parked is looked at once more, for what the panic said that parked it; whoever asks for more than one
//! reason at a time reads the counts.

use slipgate_entity::game::Fate;
use slipgate_proto::admin::{EntityReport, SendReport};

use crate::cli::console::printable;
use crate::cli::failure::{Exit, Failure};
use crate::client::{Client, segment};

/// Messages to one entity, and how sending them went.
#[derive(Clone, Copy, Debug)]
pub(in crate::cli) struct Outcome<'a> {
    /// What the entity was called.
    pub(in crate::cli) name: &'a str,
    /// What became of those that were sent.
    pub(in crate::cli) total: &'a SendReport,
    /// How many were not even tried.
    pub(in crate::cli) unsent: u32,
    /// Whether the outcome was waited for.
    pub(in crate::cli) waited: bool,
}

impl Outcome<'_> {
    /// What went wrong first, if anything.
    pub(in crate::cli) fn verdict(&self, client: &Client) -> Result<(), Failure> {
        let Self { name, total, .. } = *self;
        let failure = if total.busy > 0 {
            self.busy()
        } else if total.dead > 0 {
            self.dead()
        } else if total.refused > 0 {
            self.refused()
        } else if total.failed > 0 {
            self.failed()
        } else if total.parked > 0 {
            self.parked(client)
        } else if total.lost > 0 {
            self.lost()
        } else if total.unknown > 0 {
            let text =
                format!("{name} was lost with its node, and whether {} reached it is unknown", messages(total.unknown));
            Failure::new(Exit::Failed, "unknown", text)
                .with_state("it was applied before that, or never will be")
                .with_hint("slipgate entities --lost")
        } else if total.passed > 0 {
            let text =
                format!("{} came to {name}, and what became of it there was lost on the way", messages(total.passed));
            Failure::new(Exit::Failed, "passed", text)
                .with_state("it was applied, unless the entity takes no such message; it is not sent again")
                .with_hint(format!("slipgate show {name}"))
        } else if self.waited && total.open > 0 {
            let text = format!("{} to {name} had no answer in time", messages(total.open));
            Failure::new(Exit::Timeout, "open", text)
                .with_state("what was accepted is delivered once, in order, as soon as its way is free")
                .with_hint(format!("slipgate show {name}"))
        } else {
            return Ok(());
        };
        Err(failure)
    }

    fn busy(&self) -> Failure {
        let Self { name, total, unsent, .. } = *self;
        let rest = messages(total.busy + unsent);
        let text = format!("{rest} did not go: too many wait for {name} already");
        let state = format!("{} went before, and will be applied in order", messages(total.accepted));
        Failure::new(Exit::Refused, "busy", text).with_state(state).with_hint("send the rest a little later")
    }

    fn dead(&self) -> Failure {
        let Self { name, total, .. } = *self;
        let text =
            format!("{} to {name} found nobody: it is gone, or nobody has had that id yet", messages(total.dead));
        Failure::new(Exit::NotFound, "dead", text)
            .with_state("nothing was applied; the id of an entity that is gone is never given out again")
            .with_hint("slipgate entities")
    }

    fn lost(&self) -> Failure {
        let Self { name, total, .. } = *self;
        let text = format!("{} to {name} did not leave: it was lost with its node before", messages(total.lost));
        Failure::new(Exit::NotFound, "lost", text)
            .with_state("nothing of that was applied; the id of an entity that is gone is never given out again")
            .with_hint("slipgate entities --lost")
    }

    fn refused(&self) -> Failure {
        let Self { name, total, .. } = *self;
        let why = total.refusals.first().map(|refusal| format!(": {}", printable(&refusal.why))).unwrap_or_default();
        let text = format!("{name} did not take {}{why}", messages(total.refused));
        let state = format!("{} applied; those are not", messages_were(total.applied));
        Failure::new(Exit::Refused, "not_taken", text)
            .with_state(state)
            .with_hint(format!("slipgate show {name}      slipgate schema export"))
    }

    fn failed(&self) -> Failure {
        let Self { name, total, .. } = *self;
        let first = total.failures.first();
        let why = first.map_or_else(
            || "its handler panicked; what the panic said was lost on the way".to_owned(),
            |failure| printable(&failure.why),
        );
        let text = format!("{} to {name} failed: {why}", messages(total.failed));
        let (fate, hint) = match first.map(|failure| failure.fate) {
            Some(Fate::Despawned) => (
                format!("{name} is despawned, as [entities] on_panic of its node says"),
                "slipgate entities".to_owned(),
            ),
            Some(Fate::Parked) => (
                format!("{name} is parked and takes no messages until it is unparked"),
                format!("slipgate show {name}      slipgate unpark {name}"),
            ),
            None => (format!("{name} is parked, or gone, as its node's policy is"), format!("slipgate show {name}")),
        };
        let behind = match total.parked {
            0 => String::new(),
            parked => format!("; {} behind that came to nothing", messages(parked)),
        };
        Failure::new(Exit::Failed, "failed", text)
            .with_state(format!("what the handler had done by then is done; {fate}{behind}"))
            .with_hint(hint)
    }

    fn parked(&self, client: &Client) -> Failure {
        let Self { name, total, .. } = *self;
        let shown = client.get::<EntityReport>(&format!("/api/v1/entities/{}", segment(name)));
        let why = shown.ok().and_then(|report| report.parked).map(|parked| printable(&parked.why));
        let why = why.unwrap_or_else(|| "a handler of it panicked".to_owned());
        let text = format!("{} to {name} came to nothing: it is parked since {why}", messages(total.parked));
        Failure::new(Exit::Refused, "parked", text)
            .with_state(format!("they are not applied later either; {name} takes no messages until it is unparked"))
            .with_hint(format!("slipgate show {name}      slipgate unpark {name}"))
    }
}

fn messages(count: u32) -> String {
    if count == 1 { "1 message".into() } else { format!("{count} messages") }
}

fn messages_were(count: u32) -> String {
    if count == 1 { "1 message was".into() } else { format!("{count} messages were") }
}
