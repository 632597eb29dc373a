//! The manager, and what members take from it.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use slipgate_cluster::manager::{self, Counter, JoinRequest, Manager, ManagerReply, ManagerRequest, Stored, Waits};
use slipgate_cluster::member::{self, Welcome};
use slipgate_cluster::range::{self, RangeStock};
use slipgate_cluster::{NodeName, Now, Session, View, bounds};

use crate::speaker::Speaker;

#[test]
fn a_member_and_a_stock_take_what_the_manager_would_not_say_without_a_panic() {
    let me = Session::new(1, 1);
    let mut speaker = Speaker::new(3);
    let welcome =
        Welcome { session: me, view: Arc::new(View::default()), lease: Duration::from_secs(10), asked: Now(0) };
    let (mut member, mut stock) = (member::Member::new(welcome), RangeStock::new(me, 1));
    let mut ids = BTreeSet::new();
    for step in 0..50_000 {
        let now = Now(step * 1_000);
        let reply = speaker.reply();
        let mut out = Vec::new();
        if let ManagerReply::Range { session, request, counter, range } = reply {
            stock.handle(range::Input::Reply { session, request, counter, range }, now, &mut Vec::new());
        }
        member.handle(member::Input::Reply(reply), now, &mut out);
        member.handle(member::Input::Tick, now, &mut out);
        stock.handle(range::Input::Tick, now, &mut Vec::new());
        assert!(member.lease_left(now) <= Duration::from_secs(10), "nobody prolongs a lease beyond its length");
        if let Ok(id) = stock.take() {
            assert!(ids.insert(id), "{id} came twice");
        }
    }
}

#[test]
fn a_manager_answers_members_alone_and_a_greedy_one_gets_no_more_than_its_part() {
    let mut manager = Manager::load(Stored::default(), Waits::default(), Now(0));
    let mut out = Vec::new();
    let name = NodeName::new("n1").expect("a name");
    let request = JoinRequest { name, address: "n1:1".into(), admin: "n1:2".into(), scenes: Vec::new(), seen: None };
    manager.handle(manager::Input::Join { ticket: manager::Ticket(1), own_node: true, request }, Now(0), &mut out);
    let mut speaker = Speaker::new(4);
    for step in 0..50_000 {
        out.clear();
        let (from, session) = (speaker.session(), speaker.session());
        let input = match speaker.below(5) {
            0 => manager::Input::LinkUp(session),
            1 => manager::Input::LinkDown(session),
            2 => manager::Input::ProbeAnswered(session),
            _ => manager::Input::Request { from, request: speaker.request() },
        };
        manager.handle(input, Now(step), &mut out);
        assert!(out.len() < 10);
    }
    let session = Session::new(1, 1);
    for request in 1..5_000 {
        let request = ManagerRequest::Range { session, request, counter: Counter::Online };
        manager.handle(manager::Input::Request { from: session, request }, Now(0), &mut out);
        out.clear();
    }
    assert!(manager.view().homes.len() as u64 <= bounds::RANGES_PER_SESSION);
}

#[test]
fn a_cluster_takes_no_more_nodes_than_its_view_has_room_for() {
    let mut manager = Manager::load(Stored::default(), Waits::default(), Now(0));
    let mut out = Vec::new();
    for number in 0..bounds::NODES as u64 + 10 {
        let name = NodeName::new(format!("n{number}")).expect("a name");
        let request = JoinRequest { name, address: "a:1".into(), admin: "a:2".into(), scenes: Vec::new(), seen: None };
        let ticket = manager::Ticket(number);
        manager.handle(manager::Input::Join { ticket, own_node: false, request }, Now(0), &mut out);
        out.clear();
    }
    assert_eq!(manager.view().members.len(), bounds::NODES);
}
