//! The bodies of a scene's entities, in their slots; and copies that are not active yet.
//!
//! ```text
//!   online id, persist id --> handle --> seat: who it is, and its body, but while that takes a turn
//!   type, place           --> ids
//!   moment                --> ids: whose timers are due
//! ```
//!
//! Game code is called here and nowhere else. What it does when it panics is its entity's affair: nothing of that
//! reaches the scene but the news (`life`). That holds when the scene ends with its entities, too: none of their destructors
//! ends the node.
//!
//! Keeps: all tables know the same entities; whoever takes no turns is in no list of what is due.
//! Leaves out: what becomes of effects (`turns`), and of an entity (the machine).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use slipgate_cluster::Now;
use slipgate_cluster::globals::Names;
use slipgate_cluster::schema::Part;
use slipgate_entity::game::{
    Audience, Body, Description, Effect, Entered, Flags, Lookup, Moment, SceneInfo, TypeNumber, Types, World,
};
use slipgate_entity::registry::Ids;
use slipgate_entity::{Grid, Handle, LookupError, OnlineId, PersistId, Registry, Runtime, TypeName};

use crate::labels::Labels;
use crate::panic::guarded;
use crate::restraint::Restraint;

pub(super) use self::apart::Apart;
use self::arrivals::Arrivals;
pub(super) use self::life::{NotApplied, Panicked, Turned};

mod apart;
mod arrivals;
mod life;

#[derive(Debug)]
pub(super) struct Bodies {
    seats: Registry<Seat>,
    /// By type number.
    of_type: Vec<BTreeSet<OnlineId>>,
    grid: Grid,
    due: BTreeSet<(Moment, OnlineId)>,
    staged: Arrivals,
    /// Those that are not in the scene, though they live here, and how they will come into it: they have left for a move,
    /// or for good, which is not decided; or they were parked when they arrived.
    away: BTreeMap<OnlineId, Entered>,
    /// Those that take no turns.
    parked: BTreeSet<OnlineId>,
    types: Types,
    scene: SceneInfo,
    /// When the scene was opened: its ticks count from here.
    opened: Now,
    /// Those here that are found from everywhere, and whether there is news of them.
    global: BTreeSet<OnlineId>,
    is_global_news: bool,
    /// All that are found from everywhere.
    names: Arc<Names>,
    /// So that messages that nobody takes do not fill the log.
    refused: Restraint<()>,
    /// Kept for its room: the size of a body is asked for before each move.
    scratch: Vec<u8>,
}

#[derive(Debug)]
struct Seat {
    who: Arc<Description>,
    body: Option<Box<Body>>,
    /// As the tables know it.
    due: Option<Moment>,
    place: Option<[f32; 2]>,
    /// Whether its position has panicked, which is told once.
    is_lost: bool,
    /// Whether it is found from everywhere.
    is_global: bool,
    /// Whether it never came to life: it is to be despawned, and nobody meets it.
    is_stillborn: bool,
}

impl Lookup for Bodies {
    fn find(&self, handle: Handle) -> Result<&Description, LookupError> {
        self.seats.get(handle).map(|seat| &*seat.who)
    }

    fn handle_of(&self, entity: OnlineId) -> Option<Handle> {
        self.handle(entity)
    }

    fn handle_of_persist(&self, persist: PersistId) -> Option<Handle> {
        self.seats.by_persist(persist).map(|(handle, _)| handle)
    }

    fn of_type(&self, kind: TypeNumber) -> Vec<OnlineId> {
        let mut all: Vec<_> = self.types.below(kind).flat_map(|kind| &self.of_type[kind.index()]).copied().collect();
        all.sort_unstable();
        all
    }

    fn global(&self, name: &str) -> Option<OnlineId> {
        self.names.get(name).copied()
    }
}

impl Bodies {
    pub(super) fn new(scene: SceneInfo, opened: Now, capacity: u32, first_generation: u32, types: Types) -> Self {
        let runtime = Runtime::new(scene.id).with_room_for(capacity).with_first_generation(first_generation);
        let seats = Registry::over(runtime);
        let of_type = types.entities().map(|_| BTreeSet::new()).collect();
        Self {
            seats,
            of_type,
            grid: Grid::new(CELL),
            due: BTreeSet::new(),
            staged: Arrivals::default(),
            away: BTreeMap::new(),
            parked: BTreeSet::new(),
            types,
            scene,
            opened,
            global: BTreeSet::new(),
            is_global_news: false,
            names: Arc::default(),
            refused: Restraint::default(),
            scratch: Vec::new(),
        }
    }

    /// No handle that was given out here has a higher generation.
    pub(super) fn highest_generation(&self) -> u32 {
        self.seats.runtime().highest_generation()
    }

    /// The types that can live here.
    pub(super) fn types(&self) -> &Types {
        &self.types
    }

    /// The entity takes no turns.
    pub(super) fn park(&mut self, entity: OnlineId) {
        self.parked.insert(entity);
        self.look_at_entity(entity);
    }

    /// The entity cannot live, and is to be despawned: until then it takes no turns, and nobody meets it.
    pub(super) fn bear_still(&mut self, entity: OnlineId) {
        if let Some((_, seat)) = self.seats.by_online_mut(entity) {
            seat.is_stillborn = true;
            self.of_type[seat.who.type_number().index()].remove(&entity);
        }
        self.park(entity);
    }

    /// The entity takes turns again.
    pub(super) fn unpark(&mut self, entity: OnlineId) {
        self.parked.remove(&entity);
        self.look_at_entity(entity);
    }

    /// Whether the entity takes no turns.
    pub(super) fn is_parked(&self, entity: OnlineId) -> bool {
        self.parked.contains(&entity)
    }

    /// How many take no turns.
    pub(super) fn parked(&self) -> usize {
        self.parked.len()
    }

    /// Its components and their versions.
    pub(super) fn components(&self, entity: OnlineId) -> Vec<Part> {
        let parts = self.get(entity).into_iter().flat_map(|body| body.parts().skip(1));
        parts.map(|(name, version)| Part { name: TypeName(name.to_owned()), version }).collect()
    }

    /// Takes what is found from everywhere, from here on.
    pub(super) fn know(&mut self, names: Arc<Names>) {
        self.names = names;
    }

    /// Those here that are found from everywhere, with their names, if that has changed since it was asked.
    pub(super) fn global_news(&mut self) -> Option<BTreeMap<OnlineId, String>> {
        let name = |who: &Description| who.label().unwrap_or(who.type_name()).to_owned();
        let all = || self.global.iter().filter_map(|&entity| Some((entity, name(self.who(entity)?)))).collect();
        let news = self.is_global_news.then(all);
        self.is_global_news = false;
        news
    }

    /// Name of its type.
    pub(super) fn type_name(&self, entity: OnlineId) -> &'static str {
        self.who(entity).map_or("?", |who| who.type_name())
    }

    pub(super) fn handle(&self, entity: OnlineId) -> Option<Handle> {
        self.seats.by_online(entity).map(|(handle, _)| handle)
    }

    /// Who is known by a number that lasts over restarts.
    pub(super) fn by_persist(&self, persist: PersistId) -> Option<OnlineId> {
        self.seats.by_persist(persist).map(|(_, seat)| seat.who.online())
    }

    /// Those who wear one of these labels.
    pub(super) fn labelled<'a>(&'a self, labels: &'a Labels) -> impl Iterator<Item = OnlineId> + 'a {
        let wears = |who: &Description| who.label().is_some_and(|label| labels.have(label));
        self.seats.iter().filter_map(move |(_, ids, seat)| wears(&seat.who).then_some(ids.online))
    }

    /// Those of an audience but for who speaks, by id.
    pub(super) fn audience(&self, speaker: OnlineId, audience: &Audience) -> Vec<OnlineId> {
        let mut listeners: Vec<_> = match *audience {
            Audience::Scene => self.of_type.iter().flatten().copied().collect(),
            Audience::Type(kind) => Lookup::of_type(self, kind),
            Audience::Around { position, radius } => self.grid.within([position.x, position.y], radius),
        };
        listeners.sort_unstable();
        listeners.retain(|&listener| listener != speaker);
        listeners
    }

    /// Who it is, for whoever tells of it later.
    pub(super) fn who(&self, entity: OnlineId) -> Option<&Arc<Description>> {
        self.seats.by_online(entity).map(|(_, seat)| &seat.who)
    }

    fn get(&self, entity: OnlineId) -> Option<&Body> {
        self.seats.by_online(entity)?.1.body.as_deref()
    }

    fn put(&mut self, entity: OnlineId, body: Box<Body>) {
        let who = body.shared_description();
        let (ids, kind) = (Ids { online: entity, persist: who.persist() }, who.type_number());
        let seat = Seat {
            who,
            body: Some(body),
            due: None,
            place: None,
            is_lost: false,
            is_global: false,
            is_stillborn: false,
        };
        // Capacity is 32 bits, and a slot is retired only after 2^32 lives; whoever has its ids was looked for.
        let handle =
            self.seats.spawn(ids, seat).unwrap_or_else(|error| panic!("expected a seat for {entity}: {error}"));
        let seat = self.seats.get_mut(handle).expect("it was put there");
        let body = seat.body.as_mut().expect("it was put there");
        body.settle(handle);
        seat.who = body.shared_description();
        self.of_type[kind.index()].insert(entity);
        self.look_at(handle);
    }

    /// Lets a body take a turn: out of its seat, so that it can look up the others.
    fn turn<R>(
        &mut self,
        entity: OnlineId,
        now: Now,
        run: impl FnOnce(&mut Body, &World<'_>, &mut Vec<Effect>) -> R,
    ) -> (R, Vec<Effect>) {
        let (handle, seat) = self.seats.by_online_mut(entity).expect("the machine speaks of entities that have a body");
        let mut body = seat.body.take().expect("a body takes one turn at a time");
        let mut effects = Vec::new();
        let result = run(&mut body, &self.world(now), &mut effects);
        let type_name = body.description().type_name();
        body.bury(&mut |part, end| {
            if let Err(panic) = guarded(end) {
                tracing::error!(
                    event = "entity.panicked", entity = %entity, r#type = type_name, r#where = panic.place,
                    "the end of {part} panicked: {}; it had been taken away again", panic.text
                );
            }
        });
        self.seats.get_mut(handle).expect("a handle lives as long as its body").body = Some(body);
        self.look_at(handle);
        (result, effects)
    }

    fn world(&self, now: Now) -> World<'_> {
        let tick = now.since(self.opened) / TICK_US;
        World { types: &self.types, scene: &self.scene, tick, now: Moment(now.0), handles: self }
    }

    /// Notes where an entity stands, and what of it is due.
    fn look_at(&mut self, handle: Handle) {
        let seat = self.seats.get_mut(handle).expect("a handle lives as long as its body");
        let Some(body) = &seat.body else { return };
        let entity = seat.who.online();
        let is_global = body.flags().has(Flags::IS_GLOBAL) && !seat.is_stillborn;
        if is_global != seat.is_global {
            seat.is_global = is_global;
            self.is_global_news = true;
            if is_global {
                self.global.insert(entity)
            } else {
                self.global.remove(&entity)
            };
        }
        let takes_turns = !self.parked.contains(&entity) && !self.away.contains_key(&entity);
        let due = if takes_turns { body.due() } else { None };
        if due != seat.due {
            let before = std::mem::replace(&mut seat.due, due);
            before.map(|before| self.due.remove(&(before, entity)));
            due.map(|due| self.due.insert((due, entity)));
        }
        // Whoever panics over that stands nowhere.
        let place = guarded(|| body.position()).unwrap_or_else(|panic| {
            if !std::mem::replace(&mut seat.is_lost, true) {
                tracing::error!(
                    event = "entity.panicked", entity = %entity, r#type = seat.who.type_name(), r#where = panic.place,
                    "its position panicked: {}; it stands nowhere as long as it does", panic.text
                );
            }
            None
        });
        let place = place.filter(|_| !seat.is_stillborn).map(|position| [position.x, position.y]);
        if place != seat.place {
            seat.place = place;
            self.grid.place(entity, place);
        }
    }

    fn look_at_entity(&mut self, entity: OnlineId) {
        if let Some(handle) = self.handle(entity) {
            self.look_at(handle);
        }
    }
}

impl Drop for Bodies {
    fn drop(&mut self) {
        for (_, _, seat) in self.seats.iter_mut() {
            if let Some(body) = seat.body.take() {
                life::end(*body, "its scene has ended");
            }
        }
    }
}

/// Length of a cell of the grid, in units of the game: some tens of metres, which is how far most games look. A guess.
const CELL: f32 = 32.0;
/// Length of a scene's tick: 20 Hz.
const TICK_US: u64 = 50_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scene_counts_its_ticks_from_when_it_was_opened() {
        let scene = SceneInfo { id: slipgate_entity::SceneId(1), name: "forest".to_owned(), node: "n1".to_owned() };
        let types = Types::builder().build().expect("nothing is wrong");
        let bodies = Bodies::new(scene, Now(1_000_000), 9, 1, types);
        let tick = |now| bodies.world(Now(now)).tick;
        assert_eq!([1_000_000, 1_049_999, 1_050_000, 2_000_000].map(tick), [0, 0, 1, 20]);
    }
}
