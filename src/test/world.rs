//! A simulated cluster in a test: time, faults, and what must be so.

use std::cell::{RefCell, RefMut};
use std::fmt::Write as _;
use std::time::Duration;

use slipgate_actors::scene::{Question, Which};
use slipgate_entity::OnlineId;
use slipgate_entity::game::Entity;
use slipgate_sim::games;

use super::reference::Ref;
use super::spawn::Spawn;
use crate::cluster::Untyped;

/// A simulated cluster, all of whose nodes have joined. Time passes while a call waits, and in [`run_for`](Self::run_for) and
/// its like; nowhere else.
///
/// Whoever names a node or a scene that there is not has made a mistake in the test, and it panics.
#[derive(Debug)]
pub struct World {
    inside: RefCell<games::World>,
    seed: u64,
}

impl World {
    pub(super) fn new(inside: games::World, seed: u64) -> Self {
        Self { inside: RefCell::new(inside), seed }
    }

    pub(super) fn inside(&self) -> RefMut<'_, games::World> {
        self.inside.borrow_mut()
    }

    pub(super) fn into_inner(self) -> games::World {
        self.inside.into_inner()
    }

    /// The seed of this run.
    #[must_use]
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// A number below `end`, which is not 0: what is random in a test comes from its seed.
    #[must_use]
    pub fn roll(&self, end: u64) -> u64 {
        self.inside().roll(end)
    }

    /// Simulated time since the first node has started.
    #[must_use]
    pub fn now(&self) -> Duration {
        self.inside().now()
    }

    /// Lets time pass; in steps of ten milliseconds.
    pub fn run_for(&self, time: Duration) {
        self.inside().run_for(time);
    }

    /// Lets time pass until something is so.
    ///
    /// # Panics
    ///
    /// If it is not so after a minute.
    #[track_caller]
    pub fn run_until(&self, is_so: impl Fn(&Self) -> bool) {
        let end = self.now() + MINUTE;
        while !is_so(self) {
            assert!(self.now() < end, "it is not so after {MINUTE:?}");
            self.inside().tick();
        }
    }

    /// A new entity that begins as `own`, with the components that its type lists.
    ///
    /// # Panics
    ///
    /// If there is none. [`spawning`](Self::spawning) can say more of it, and tell.
    #[track_caller]
    pub fn spawn<T: Entity>(&self, scene: &str, own: T) -> Ref<'_, T> {
        match self.spawning(scene, own).make() {
            Ok(reference) => reference,
            Err(error) => panic!("no {} is spawned in {scene}: {error}", T::NAME),
        }
    }

    /// The same, to be described first: `.label("ann").make()`.
    pub fn spawning<T: Entity>(&self, scene: &str, own: T) -> Spawn<'_, T> {
        Spawn::new(self, scene, own)
    }

    /// The entity of that id, for one whose type is known.
    #[must_use]
    pub fn entity<T: Entity>(&self, id: OnlineId) -> Ref<'_, T> {
        Ref::new(self, id, Some(T::NAME))
    }

    /// All entities that wear a label, wherever they are, by their ids.
    #[must_use]
    pub fn labelled(&self, label: &str) -> Vec<Ref<'_, Untyped>> {
        let mut inside = self.inside();
        let scenes: Vec<_> = inside.view().present_scenes().map(|scene| scene.id).collect();
        let mut found = Vec::new();
        for scene in scenes {
            let Some(own) = inside.view().host_of(scene) else { continue };
            let which = Which::Matching(label.to_owned());
            let asked = inside.ask(own, |reply| Question::List { which, limit: usize::MAX, reply });
            let rows = asked.map(|asked| inside.wait(asked, Duration::ZERO)).and_then(Result::ok).unwrap_or_default();
            found.extend(rows.into_iter().filter(|row| row.stand.identity.label.as_deref() == Some(label)));
        }
        drop(inside);
        found.sort_by_key(|row| row.entity);
        found.into_iter().map(|row| Ref::new(self, row.entity, None)).collect()
    }

    /// Loses messages between nodes from here on, with this chance: 0.1 is one in ten. They are said again.
    ///
    /// # Panics
    ///
    /// If it is not from 0 to 1.
    #[track_caller]
    pub fn lose(&self, chance: f64) {
        self.inside().lose(per_mille(chance));
    }

    /// Lets messages between nodes arrive twice from here on, with this chance.
    ///
    /// # Panics
    ///
    /// If it is not from 0 to 1.
    #[track_caller]
    pub fn double(&self, chance: f64) {
        self.inside().double(per_mille(chance));
    }

    /// Lets each message between nodes take up to so long from here on, at least two milliseconds; a later one may overtake it.
    pub fn delay(&self, longest: Duration) {
        self.inside().delay(longest);
    }

    /// Lets the seed say how bad the network is from here on: what is lost, doubled and late.
    pub fn storm(&self) {
        self.inside().storm();
    }

    /// Lets nothing pass between two nodes from here on.
    pub fn cut(&self, one: &str, other: &str) {
        self.inside().cut(one, other);
    }

    /// Lets messages pass between two nodes again.
    pub fn mend(&self, one: &str, other: &str) {
        self.inside().mend(one, other);
    }

    /// Ends the process of a node at once, with all that it held; of the manager only its disk is left.
    pub fn crash(&self, node: &str) {
        self.inside().crash(node);
    }

    /// Starts the process of a node that has crashed again. It joins as a new life, without what it held.
    pub fn restart(&self, node: &str) {
        self.inside().restart(node);
    }

    /// Lets the process of a node stand still for so long, as a debugger or a machine without time for it does. The others go on.
    pub fn pause(&self, node: &str, time: Duration) {
        self.inside().pause(node, time);
    }

    /// Makes the network whole, and starts whoever has crashed.
    pub fn heal(&self) {
        self.inside().heal();
    }

    /// Heals everything, and lets time pass until nothing is under way: no move, no spawn, no message, no verdict. Timers are not
    /// waited for.
    ///
    /// # Panics
    ///
    /// If something is still under way after two minutes, as where entities never cease to talk: says what.
    #[track_caller]
    pub fn settle(&self) {
        self.heal();
        let rest = self.inside().rest(2 * MINUTE);
        if let Err(left) = rest {
            let left: Vec<_> = left.into_iter().map(|(what, count)| format!("{what}: {count}")).collect();
            panic!("it does not come to rest within {:?}; {}", 2 * MINUTE, left.join(", "));
        }
    }

    /// Demands that an entity lives, and once: that exactly one scene of the whole cluster lets it take turns, and its home names that
    /// scene. Waits up to a minute for the end of what it is in.
    ///
    /// # Panics
    ///
    /// If it is not so: says where it takes turns, and what its home says.
    #[track_caller]
    pub fn assert_exactly_one(&self, entity: impl Into<OnlineId>) {
        let entity = entity.into();
        let found = self.inside().exactly_one(entity, MINUTE);
        if let Err(what) = found {
            panic!("expected {entity} to live in exactly one scene: {what}");
        }
    }

    /// Whether an entity was lost: with its node, or with the home of its id before others knew of it.
    #[must_use]
    pub fn is_lost(&self, entity: impl Into<OnlineId>) -> bool {
        self.inside().is_lost(entity.into())
    }

    /// Takes the panics of game code so far, as texts: for a test of a game that panics. Those that are left fail the test.
    #[must_use]
    pub fn take_panics(&self) -> Vec<String> {
        self.inside().take_panics().into_iter().map(|panic| panic.text).collect()
    }

    /// What happened so far, for people: moves, lives, faults.
    #[must_use]
    pub fn story(&self) -> Vec<String> {
        self.inside().story().to_vec()
    }

    /// The test has returned: what is under way may end, and then nobody may have panicked.
    pub(super) fn end(&self) {
        self.heal();
        // A game whose entities always talk never comes to rest, and that is well.
        let _ = self.inside().rest(MINUTE);
        let mut told = String::new();
        for panic in self.take_panics() {
            write!(told, "\n  {panic}").expect("a text takes text");
        }
        assert!(told.is_empty(), "game code panicked, and the test has not taken it:{told}");
    }
}

#[track_caller]
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is from 0 to 1000")]
fn per_mille(chance: f64) -> u64 {
    assert!((0.0..=1.0).contains(&chance), "a chance is from 0 to 1, not {chance}");
    (chance * 1000.0).round() as u64
}

const MINUTE: Duration = Duration::from_secs(60);
