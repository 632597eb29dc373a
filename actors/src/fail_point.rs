//! Places in a move where a node can be held, so that something happens to the cluster just then.
//!
//! Only with the feature `fail-points`, which no program that is shipped has
//! ([ADR 24](../../docs/adr/0024-a-node-is-held-at-a-step-of-a-move.md)). Whoever holds the other end of the strings arms one point for one entity; the thread
//! that reaches it says so and waits for the word.
//!
//! ```text
//!   test --- arm staged 4.7 --> node      one at a time
//!        <-- armed ------------
//!        <-- at staged --------           the thread waits: nothing that it has ordered has left
//!        --- go -------------->
//! ```
//!
//! | [`Point`] | is reached by | when |
//! |---|---|---|
//! | `reserve.sent` | source | the question for room is about to leave |
//! | `reserve.arrived` | target | it is there, and not looked at |
//! | `reserved.arrived` | source | the answer is there, and the entity still takes turns |
//! | `frozen` | source | the entity takes none any more, and is not encoded |
//! | `prepare.arrived` | target | the state is there, and not decoded |
//! | `staged` | target | it is decoded, and the compare-and-set is about to leave |
//! | `cas.arrived` | home | that is there, and nothing is compared |
//! | `decided` | home | the record names the target, and nobody knows it |
//! | `taken_over` | target | the entity is active there, and nobody else knows it |
//! | `handed_on` | source | its copy is removed, and what it held is about to leave |
//! | `settled` | source | it knows that all is over, and has not told |
//!
//! Keeps: machines know nothing of it; a node whose strings are cut goes on.
//! Leaves out: what happens meanwhile. A thread that is held holds all actors on it.

use std::io::{self, BufRead, BufReader, Write};
use std::net::TcpStream;
use std::str::FromStr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;

use slipgate_cluster::directory;
use slipgate_cluster::message::{Control, Message};
use slipgate_cluster::moves::Outcome;
use slipgate_cluster::scene::{Departure, Event, Output};
use slipgate_cluster::{Envelope, Own, Place};
use slipgate_entity::OnlineId;

/// A step of a move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Point {
    /// The source is about to ask for room.
    ReserveSent,
    /// The target has the question.
    ReserveArrived,
    /// The source has the answer.
    ReservedArrived,
    /// The source has frozen the entity.
    Frozen,
    /// The target has the state.
    PrepareArrived,
    /// The target is about to ask the home.
    Staged,
    /// The home has the question.
    CasArrived,
    /// The home has decided for the target.
    Decided,
    /// The target is the owner.
    TakenOver,
    /// The source has let go.
    HandedOn,
    /// The source knows that all is over.
    Settled,
}

/// All of them, with their names, in the order of a move.
pub const POINTS: [(&str, Point); 11] = [
    ("reserve.sent", Point::ReserveSent),
    ("reserve.arrived", Point::ReserveArrived),
    ("reserved.arrived", Point::ReservedArrived),
    ("frozen", Point::Frozen),
    ("prepare.arrived", Point::PrepareArrived),
    ("staged", Point::Staged),
    ("cas.arrived", Point::CasArrived),
    ("decided", Point::Decided),
    ("taken_over", Point::TakenOver),
    ("handed_on", Point::HandedOn),
    ("settled", Point::Settled),
];

/// What a process hangs on: one for all its actors.
static STRINGS: OnceLock<Strings> = OnceLock::new();
/// Whether a point is armed: what a turn looks at.
static ARMED: AtomicBool = AtomicBool::new(false);

#[derive(Debug)]
struct Strings {
    state: Mutex<State>,
    changed: Condvar,
    said: Mutex<TcpStream>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Slack,
    Armed(Point, OnlineId),
    Held,
}

/// Hangs this process, which is the node `name`, on the strings that are held at `address`.
///
/// # Errors
///
/// If nobody listens there.
///
/// # Panics
///
/// If the process hangs on strings already.
pub fn hang_on(address: &str, name: &str) -> io::Result<()> {
    let mut wire = TcpStream::connect(address)?;
    wire.set_nodelay(true)?;
    writeln!(wire, "{name}")?;
    let heard = BufReader::new(wire.try_clone()?);
    let strings = Strings { state: Mutex::new(State::Slack), changed: Condvar::new(), said: Mutex::new(wire) };
    STRINGS.set(strings).expect("a process hangs on one pair of strings");
    thread::spawn(move || obey(heard));
    Ok(())
}

fn obey(heard: impl BufRead) {
    let strings = STRINGS.get().expect("they are made before anybody obeys");
    for line in heard.lines().map_while(Result::ok) {
        match line.split(' ').collect::<Vec<_>>().as_slice() {
            ["arm", point, entity] => strings.arm(point, entity),
            ["go"] => strings.turn_to(State::Slack),
            _ => panic!("expected a word for a fail point, found {line:?}"),
        }
    }
    // Whoever held the strings is gone.
    strings.turn_to(State::Slack);
}

impl Strings {
    fn arm(&self, point: &str, entity: &str) {
        let known = POINTS.iter().find(|(name, _)| *name == point);
        let (_, point) = known.unwrap_or_else(|| panic!("there is no fail point {point}"));
        let entity = OnlineId::from_str(entity).unwrap_or_else(|fault| panic!("{entity} is no entity: {fault}"));
        self.turn_to(State::Armed(*point, entity));
        self.say("armed");
    }

    fn turn_to(&self, state: State) {
        *self.state() = state;
        ARMED.store(matches!(state, State::Armed(..)), Ordering::SeqCst);
        self.changed.notify_all();
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn say(&self, word: &str) {
        let mut wire = self.said.lock().unwrap_or_else(PoisonError::into_inner);
        // Whoever held the strings may be gone; then nobody waits for the word either.
        let _ = writeln!(wire, "{word}");
    }

    fn reach(&self, point: Point, entity: OnlineId) {
        let mut state = self.state();
        if *state != State::Armed(point, entity) {
            return;
        }
        *state = State::Held;
        ARMED.store(false, Ordering::SeqCst);
        let (name, _) = POINTS.iter().find(|(_, known)| *known == point).expect("every point has a name");
        self.say(&format!("at {name}"));
        drop(self.changed.wait_while(state, |state| *state == State::Held));
    }
}

fn reach(found: Option<(Point, OnlineId)>) {
    if let (Some((point, entity)), Some(strings)) = (found, STRINGS.get()) {
        strings.reach(point, entity);
    }
}

/// A scene has its mail, and has looked at none of it.
pub(crate) fn scene_heard(mail: &[Envelope]) {
    if ARMED.load(Ordering::SeqCst) {
        mail.iter().for_each(|envelope| reach(in_mail_of_scene(&envelope.message)));
    }
}

/// A scene is about to carry out what its machine has ordered.
pub(crate) fn scene_performs(output: &Output, me: Own) {
    if ARMED.load(Ordering::SeqCst) {
        reach(in_order_of_scene(output, me));
    }
}

/// A home has its mail, and has looked at none of it.
pub(crate) fn home_heard(mail: &[Envelope]) {
    if ARMED.load(Ordering::SeqCst) {
        for envelope in mail {
            if let Message::Control(Control::Cas { entity, .. }) = &envelope.message {
                reach(Some((Point::CasArrived, *entity)));
            }
        }
    }
}

/// A home is about to tell what it has decided.
pub(crate) fn home_performs(out: &[directory::Output]) {
    if ARMED.load(Ordering::SeqCst) {
        for output in out {
            if let directory::Output::Tell { to, control: Control::RecordIs { entity, record, nonce: Some(_) } } =
                output
                && record.owner.map(Place::from) == Some(*to)
            {
                reach(Some((Point::Decided, *entity)));
            }
        }
    }
}

fn in_mail_of_scene(message: &Message) -> Option<(Point, OnlineId)> {
    if let Message::Prepare(prepare) = message {
        return Some((Point::PrepareArrived, prepare.entity));
    }
    let Message::Control(control) = message else { return None };
    if let Control::Reserve(reserve) = control {
        return Some((Point::ReserveArrived, reserve.entity));
    }
    if let Control::Reserved { entity, .. } = control { Some((Point::ReservedArrived, *entity)) } else { None }
}

fn in_order_of_scene(output: &Output, me: Own) -> Option<(Point, OnlineId)> {
    if let Output::Send { message: Message::Control(control), .. } = output {
        if let Control::Reserve(reserve) = control {
            return Some((Point::ReserveSent, reserve.entity));
        }
        if let Control::Cas { entity, owner, new, .. } = control {
            let takes_over = new.owner == Some(me) && *owner != me;
            return takes_over.then_some((Point::Staged, *entity));
        }
        return None;
    }
    if let Output::Encode { entity } = output {
        return Some((Point::Frozen, *entity));
    }
    if let Output::Remove { entity, why: Departure::Moved(_) } = output {
        return Some((Point::HandedOn, *entity));
    }
    let Output::Event(event) = output else { return None };
    if let Event::MoveArrived { entity, .. } = event {
        return Some((Point::TakenOver, *entity));
    }
    let Event::MoveEnded { done, .. } = event else { return None };
    matches!(done.outcome, Outcome::Moved { .. }).then_some((Point::Settled, done.entity))
}
