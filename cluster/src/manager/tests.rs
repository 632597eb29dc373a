//! The manager's rules, each by name, on a manager with a disk and a clock of its own.

mod grants;
mod heirs;
mod joins;
mod scenes;
mod verdicts;

use slipgate_entity::{RangeId, SceneId};

use super::*;

/// A manager, its disk, and a clock.
struct World {
    manager: Manager,
    disk: Stored,
    now: Now,
    last_ticket: Ticket,
}

impl World {
    fn new() -> Self {
        let disk = Stored::default();
        let manager = Manager::load(disk.clone(), Waits::default(), Now(0));
        Self { manager, disk, now: Now(0), last_ticket: Ticket(0) }
    }

    fn restart(&mut self) {
        self.manager = Manager::load(self.disk.clone(), Waits::default(), self.now);
    }

    fn wait_ms(&mut self, ms: u64) {
        self.now = Now(self.now.0 + ms * 1000);
    }

    fn give(&mut self, input: Input) -> Vec<Output> {
        let mut out = Vec::new();
        self.manager.handle(input, self.now, &mut out);
        for output in &out {
            if let Output::Persist(writes) = output {
                writes.iter().for_each(|write| self.disk.apply(write));
            }
        }
        out
    }

    fn ask(&mut self, node: &str, scenes: &[(u16, &str)]) -> Vec<Output> {
        self.send_join(node, scenes, false)
    }

    fn ask_as_own(&mut self, node: &str) -> Vec<Output> {
        self.send_join(node, &[], true)
    }

    fn send_join(&mut self, node: &str, scenes: &[(u16, &str)], own_node: bool) -> Vec<Output> {
        self.last_ticket = Ticket(self.last_ticket.0 + 1);
        let declare =
            |&(id, scene): &(u16, &str)| SceneDeclaration { id: SceneId::from(id), name: name(scene), capacity: 9 };
        let request = JoinRequest {
            name: name(node),
            address: format!("{node}:1"),
            admin: format!("{node}:2"),
            scenes: scenes.iter().map(declare).collect(),
            seen: None,
        };
        self.give(Input::Join { ticket: self.last_ticket, own_node, request })
    }

    fn send_join_having_seen(&mut self, node: &str, seen: Option<RangeId>, own_node: bool) -> Vec<Output> {
        self.last_ticket = Ticket(self.last_ticket.0 + 1);
        let (address, admin) = (format!("{node}:1"), format!("{node}:2"));
        let request = JoinRequest { name: name(node), address, admin, scenes: Vec::new(), seen };
        self.give(Input::Join { ticket: self.last_ticket, own_node, request })
    }

    fn join(&mut self, node: &str) -> Session {
        welcomed(&self.ask(node, &[]))
    }

    fn link(&mut self, session: Session, up: bool) -> Vec<Output> {
        self.give(if up { Input::LinkUp(session) } else { Input::LinkDown(session) })
    }

    /// What a session hears that renews with no view at all; reports left out.
    fn renew(&mut self, session: Session) -> Vec<Output> {
        let request = ManagerRequest::Renew { session, sent: self.now, version: 0 };
        let mut out = self.give(Input::Request { from: session, request });
        out.retain(|output| kind(output) != "event");
        out
    }

    fn ask_range(&mut self, session: Session, request: u64) -> Vec<Output> {
        let request = ManagerRequest::Range { session, request, counter: Counter::Online };
        self.give(Input::Request { from: session, request })
    }

    fn range(&mut self, session: Session, request: u64) -> Option<RangeId> {
        self.ask_range(session, request).into_iter().find_map(|output| {
            let Output::Tell { reply: ManagerReply::Range { range, .. }, .. } = output else { return None };
            Some(range)
        })
    }
}

fn name(text: &str) -> NodeName {
    NodeName::new(text).expect("a name")
}

fn name_taken(node: &str) -> JoinReply {
    JoinReply::Refused(JoinRefusal::NameTaken { name: name(node), address: format!("{node}:1") })
}

fn not_member(session: Session) -> Output {
    Output::Tell { to: session, reply: ManagerReply::NotMember { session } }
}

fn answers(out: &[Output]) -> Vec<JoinReply> {
    let replies = out.iter().filter_map(|output| {
        let Output::JoinAnswer { reply, .. } = output else { return None };
        Some(reply.clone())
    });
    replies.collect()
}

fn answer(out: &[Output]) -> JoinReply {
    let [answer] = <[JoinReply; 1]>::try_from(answers(out)).expect("one answer");
    answer
}

fn welcomed(out: &[Output]) -> Session {
    let sessions: Vec<Session> = answers(out)
        .iter()
        .filter_map(|reply| match reply {
            JoinReply::Welcome { session, .. } => Some(*session),
            JoinReply::Refused(_) => None,
        })
        .collect();
    assert_eq!(sessions.len(), 1, "one welcome in {out:?}");
    sessions[0]
}

fn kind(output: &Output) -> &'static str {
    match output {
        Output::Persist(_) => "persist",
        Output::Tell { .. } => "tell",
        Output::TellAll(_) => "tell all",
        Output::JoinAnswer { .. } => "answer",
        Output::Probe(_) => "probe",
        Output::Event(_) => "event",
    }
}
