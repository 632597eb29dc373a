//! The node's side of its membership: renewals of the lease, and the view of the cluster.
//!
//! The lease is counted by the node's own clock from the *sending* of the renewal that was answered
//! last, never from the answer; so the node's count ends before the manager's does.
//!
//! Keeps: the view's version only rises; the lease is only prolonged by an answer to this session;
//! once superseded, a member asks for nothing any more.
//! A lease that has ended may be regained: as long as the manager has passed no verdict on the session,
//! nobody else has acted on its end, and the session goes on where it paused. After a verdict the manager
//! answers that the session is no member, and it is over.
//!
//! Leaves out: pausing while there is no lease (`slipgate_actors::lease`); ranges (`range`); and joining: a
//! member begins with its welcome.

use std::sync::Arc;
use std::time::Duration;

use crate::manager::{ManagerReply, ManagerRequest};
use crate::{Now, Rule, Rules, Session, View};

/// What happens to a member.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Input {
    /// Time passed.
    Tick,
    /// This node is about to stop: the manager is told until the view says so.
    Drain,
    /// It goes on after all: the manager is told until the view says so.
    Resume,
    /// Somebody waits for the latest view: the manager is asked at once whether there is one.
    CatchUp,
    /// The manager said something. Ranges and requests about scenes are not a member's business and are ignored.
    Reply(ManagerReply),
}

/// What a member orders.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Output {
    /// Asks the manager.
    Ask(ManagerRequest),
    /// Hands a newer view to whoever needs one.
    View(Arc<View>),
    /// The session is not the latest life of its node any more: the node must stop. Said once.
    Superseded,
}

/// What a session knows at its welcome.
#[derive(Clone, Debug)]
pub struct Welcome {
    /// The session.
    pub session: Session,
    /// The cluster.
    pub view: Arc<View>,
    /// How long a lease lasts.
    pub lease: Duration,
    /// When the join was sent, by the node's own clock: the first lease counts from here.
    pub asked: Now,
}

/// A session as its node sees it.
#[derive(Debug)]
pub struct Member {
    session: Session,
    view: Arc<View>,
    lease: Duration,
    lease_until: Now,
    renew_at: Now,
    /// Whether the view should say that this session is about to stop.
    drains: bool,
    /// When the manager is told again, while the view says otherwise.
    insist_at: Now,
    superseded: bool,
    rules: Rules,
}

impl Member {
    /// Begins the session that was welcomed.
    #[must_use]
    pub fn new(welcome: Welcome) -> Self {
        let Welcome { session, view, lease, asked } = welcome;
        let (lease_until, renew_at) = (asked + lease, asked + lease / RENEWALS_PER_LEASE);
        Self {
            session,
            view,
            lease,
            lease_until,
            renew_at,
            drains: false,
            insist_at: Now(0),
            superseded: false,
            rules: Rules::default(),
        }
    }

    /// The same, keeping these rules alone.
    #[must_use]
    pub fn under(self, rules: Rules) -> Self {
        Self { rules, ..self }
    }

    /// The session.
    #[must_use]
    pub fn session(&self) -> Session {
        self.session
    }

    /// The cluster as the manager last told it.
    #[must_use]
    pub fn view(&self) -> &Arc<View> {
        &self.view
    }

    /// When the lease ends.
    #[must_use]
    pub fn lease_until(&self) -> Now {
        self.lease_until
    }

    /// How much is left of the lease; zero from its end on, and once superseded.
    #[must_use]
    pub fn lease_left(&self, now: Now) -> Duration {
        if self.superseded { Duration::ZERO } else { Duration::from_micros(self.lease_until.since(now)) }
    }

    /// Takes one input and appends what is to be done.
    pub fn handle(&mut self, input: Input, now: Now, out: &mut Vec<Output>) {
        match input {
            Input::Tick => {
                self.renew(now, out);
                self.insist(now, out);
            }
            Input::CatchUp => {
                self.renew_at = now;
                self.renew(now, out);
            }
            Input::Drain => self.set_drains(true, now, out),
            Input::Resume => self.set_drains(false, now, out),
            Input::Reply(ManagerReply::Renewed { session, sent }) => self.renewed(session, sent, now),
            Input::Reply(ManagerReply::View(view)) => self.see(view, out),
            Input::Reply(ManagerReply::NotMember { session }) => {
                if session == self.session {
                    self.supersede(out);
                }
            }
            Input::Reply(ManagerReply::Range { .. } | ManagerReply::Scene { .. }) => {}
        }
    }

    fn renew(&mut self, now: Now, out: &mut Vec<Output>) {
        if self.superseded || now < self.renew_at {
            return;
        }
        self.renew_at = now + self.lease / RENEWALS_PER_LEASE;
        let Self { session, .. } = *self;
        out.push(Output::Ask(ManagerRequest::Renew { session, sent: now, version: self.view.version }));
    }

    fn set_drains(&mut self, drains: bool, now: Now, out: &mut Vec<Output>) {
        self.drains = drains;
        self.insist_at = now;
        self.insist(now, out);
    }

    /// Tells the manager whether this node is about to stop, for as long as the view says otherwise.
    fn insist(&mut self, now: Now, out: &mut Vec<Output>) {
        let Self { session, drains, .. } = *self;
        if self.superseded || self.view.is_draining(session) == drains || now < self.insist_at {
            return;
        }
        self.insist_at = now + INSIST_EVERY;
        let request = if drains { ManagerRequest::Drain { session } } else { ManagerRequest::Resume { session } };
        out.push(Output::Ask(request));
    }

    fn renewed(&mut self, session: Session, sent: Now, now: Now) {
        // What was sent in the future was not sent by this node; it would stretch the lease.
        if session == self.session && sent <= now {
            let from = if self.rules.keep(Rule::LeasesCountFromTheSending) { sent } else { now };
            self.lease_until = self.lease_until.max(from + self.lease);
        }
    }

    fn see(&mut self, view: Arc<View>, out: &mut Vec<Output>) {
        if view.version <= self.view.version {
            return;
        }
        let latest = view.members.get(&self.session.node).map(|member| member.session);
        self.view = view.clone();
        out.push(Output::View(view));
        let dead = self.view.is_dead(self.session);
        if dead || latest.is_some_and(|latest| latest.incarnation > self.session.incarnation) {
            self.supersede(out);
        }
    }

    fn supersede(&mut self, out: &mut Vec<Output>) {
        if !self.superseded && self.rules.keep(Rule::VerdictsEndSessions) {
            self.superseded = true;
            out.push(Output::Superseded);
        }
    }
}

/// Four renewals may be lost in a row before the lease ends.
const RENEWALS_PER_LEASE: u32 = 5;

/// Between two times that the manager is told of a drain: above a round trip and its write to disk.
const INSIST_EVERY: Duration = Duration::from_millis(500);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::NodeName;
    use crate::view::Member as ViewMember;

    const ME: Session = Session { node: crate::NodeId(2), incarnation: crate::Incarnation(5) };

    fn view(version: u64, me: Session) -> Arc<View> {
        let name = NodeName::new("n2").expect("a name");
        let member = ViewMember { session: me, name, address: "127.0.0.1:1".into(), admin: "127.0.0.1:2".into() };
        Arc::new(View { version, members: [(me.node, member)].into(), ..View::default() })
    }

    fn member() -> Member {
        let welcome = Welcome { session: ME, view: view(3, ME), lease: Duration::from_secs(10), asked: s(100) };
        Member::new(welcome)
    }

    fn s(seconds: u64) -> Now {
        Now(seconds * 1_000_000)
    }

    fn give(member: &mut Member, now: Now, input: Input) -> Vec<Output> {
        let mut out = Vec::new();
        member.handle(input, now, &mut out);
        out
    }

    fn told(member: &mut Member, now: Now, reply: ManagerReply) -> Vec<Output> {
        give(member, now, Input::Reply(reply))
    }

    fn renew(sent: Now, version: u64) -> Vec<Output> {
        vec![Output::Ask(ManagerRequest::Renew { session: ME, sent, version })]
    }

    #[test]
    fn a_member_renews_five_times_per_lease() {
        let mut member = member();
        assert_eq!(give(&mut member, s(101), Input::Tick), []);
        assert_eq!(give(&mut member, s(102), Input::Tick), renew(s(102), 3));
        assert_eq!(give(&mut member, s(103), Input::Tick), []);
        assert_eq!(give(&mut member, s(104), Input::Tick), renew(s(104), 3));
    }

    #[test]
    fn whoever_has_to_catch_up_renews_at_once() {
        let mut member = member();
        assert_eq!(give(&mut member, s(101), Input::CatchUp), renew(s(101), 3));
        assert_eq!(give(&mut member, s(102), Input::Tick), []);
        assert_eq!(give(&mut member, s(103), Input::Tick), renew(s(103), 3));
    }

    #[test]
    fn the_first_lease_counts_from_the_sending_of_the_join() {
        let member = member();
        assert_eq!(member.lease_left(s(104)), Duration::from_secs(6));
        assert_eq!(member.lease_left(s(110)), Duration::ZERO);
        assert_eq!(member.lease_left(s(500)), Duration::ZERO);
    }

    #[test]
    fn a_lease_counts_from_the_sending_of_the_renewal_not_from_its_answer() {
        let mut member = member();
        give(&mut member, s(102), Input::Tick);
        told(&mut member, s(109), ManagerReply::Renewed { session: ME, sent: s(102) });
        assert_eq!(member.lease_left(s(109)), Duration::from_secs(3));
    }

    #[test]
    fn answers_out_of_order_or_to_another_session_or_from_the_future_prolong_nothing() {
        let mut member = member();
        told(&mut member, s(105), ManagerReply::Renewed { session: ME, sent: s(104) });
        told(&mut member, s(105), ManagerReply::Renewed { session: ME, sent: s(102) });
        told(&mut member, s(105), ManagerReply::Renewed { session: Session::new(2, 4), sent: s(105) });
        told(&mut member, s(105), ManagerReply::Renewed { session: ME, sent: s(106) });
        assert_eq!(member.lease_left(s(105)), Duration::from_secs(9));
    }

    #[test]
    fn only_a_higher_version_of_the_view_is_taken() {
        let mut member = member();
        assert_eq!(told(&mut member, s(101), ManagerReply::View(view(3, ME))), []);
        assert_eq!(told(&mut member, s(101), ManagerReply::View(view(2, ME))), []);
        let newer = view(5, ME);
        assert_eq!(told(&mut member, s(101), ManagerReply::View(newer.clone())), [Output::View(newer)]);
        assert_eq!(give(&mut member, s(102), Input::Tick), renew(s(102), 5));
    }

    #[test]
    fn a_superseded_member_says_so_once_and_asks_no_more() {
        let mut member = member();
        assert_eq!(told(&mut member, s(101), ManagerReply::NotMember { session: ME }), [Output::Superseded]);
        assert_eq!(told(&mut member, s(101), ManagerReply::NotMember { session: ME }), []);
        assert_eq!(give(&mut member, s(102), Input::Tick), []);
        assert_eq!(member.lease_left(s(102)), Duration::ZERO);
    }

    #[test]
    fn the_end_of_another_session_is_not_this_ones() {
        let mut member = member();
        assert_eq!(told(&mut member, s(101), ManagerReply::NotMember { session: Session::new(2, 4) }), []);
        assert_eq!(give(&mut member, s(102), Input::Tick), renew(s(102), 3));
    }

    #[test]
    fn the_manager_is_told_of_a_drain_and_of_its_end_until_the_view_says_so() {
        let mut member = member();
        let drain = vec![Output::Ask(ManagerRequest::Drain { session: ME })];
        assert_eq!(give(&mut member, s(101), Input::Drain), drain);
        assert_eq!(give(&mut member, s(101), Input::Tick), []);
        assert_eq!(give(&mut member, Now(101_500_000), Input::Tick), drain);
        let drains = View { draining: [(ME.node, ME.incarnation)].into(), ..View::clone(&view(4, ME)) };
        told(&mut member, Now(101_600_000), ManagerReply::View(Arc::new(drains)));
        assert_eq!(give(&mut member, Now(101_999_999), Input::Tick), []);
        let resume = vec![Output::Ask(ManagerRequest::Resume { session: ME })];
        assert_eq!(give(&mut member, Now(101_999_999), Input::Resume), resume);
        told(&mut member, Now(101_999_999), ManagerReply::View(view(5, ME)));
        assert_eq!(give(&mut member, s(102), Input::Tick), renew(s(102), 5));
    }

    #[test]
    fn a_view_with_a_later_life_of_the_node_supersedes_too() {
        let mut member = member();
        let newer = view(4, Session::new(2, 6));
        let out = told(&mut member, s(101), ManagerReply::View(newer.clone()));
        assert_eq!(out, [Output::View(newer), Output::Superseded]);
    }
}
