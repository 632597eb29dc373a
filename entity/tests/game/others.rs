//! What an entity learns of the others of its scene: by handle, by number, by type; and what kind they are.

use slipgate_entity::game::doc::{Actor, Health, Player};
use slipgate_entity::game::{
    Behaviour, Body, Caller, Callers, Component, Context, Description, Entity, Handlers, Lookup, Part, TypeNumber,
    Types, World,
};
use slipgate_entity::{Handle, LocalId, LookupError, OnlineId, PersistId};

use crate::stage::{Stage, handle, id, identity, tell, told};

data! {
    Scout { own: u8 }
    Hound {}
    Cat {}
    Look { counter: u32 }
}
message!(Look, "look_at", ());
part!(Scout, "scout");
part!(Hound, "hound");
part!(Cat, "cat");

impl Behaviour for Scout {
    fn handlers(table: &mut Handlers<Self>) {
        table.on(Callers::ANY, |_: &mut Self, Look { counter }: Look, cx: &mut Context<'_>| {
            let name = |who: Option<&Description>| who.map_or("nobody", Description::type_name).to_owned();
            let local = handle(counter).local().expect("a slot");
            let by_persist = cx.find_persist(PersistId(uuid::Uuid::from_u128(u128::from(counter))));
            tell([name(cx.lookup_local(local).ok()), name(by_persist), name(cx.find(id(counter)))].join(" "));
            let Ok(other) = cx.lookup(handle(counter)) else { return };
            let (me, types) = (cx.description(), cx.types());
            let is = [
                other.is_exact::<Scout>(types),
                other.is_a::<Scout>(types),
                other.is_a::<Actor>(types),
                other.is_exact::<Actor>(types),
                other.is_kind_of(me, types),
                me.is_kind_of(other, types),
            ];
            tell(is.map(|is| if is { "yes" } else { "no" }).join(" "));
            let kinds = [cx.of_type::<Scout>(), cx.of_type::<Actor>(), cx.of_type::<Hound>()].map(|kind| kind.len());
            tell(format!("{kinds:?} {} {}", cx.is_exact::<Actor>(), cx.is_a::<Actor>()));
        });
    }
}
impl Behaviour for Hound {}
impl Behaviour for Cat {}
impl Component for Cat {}

impl Entity for Scout {
    type Parent = Actor;
}
/// Of the kind of scouts.
impl Entity for Hound {
    type Parent = Scout;
}

/// A scene in which each lives whose counter is in the list.
struct Crowd(Vec<Body>, Types);

impl Crowd {
    fn one(&self, is: impl Fn(&Description) -> bool) -> Option<&Description> {
        self.0.iter().map(Body::description).find(|who| is(who))
    }
}

impl Lookup for Crowd {
    fn find(&self, handle: Handle) -> Result<&Description, LookupError> {
        self.one(|who| who.handle() == handle).ok_or(LookupError::NotFound)
    }

    fn handle_of(&self, entity: OnlineId) -> Option<Handle> {
        Some(self.one(|who| who.online() == entity)?.handle())
    }

    fn handle_of_persist(&self, persist: PersistId) -> Option<Handle> {
        Some(self.one(|who| who.persist() == persist)?.handle())
    }

    fn of_type(&self, kind: TypeNumber) -> Vec<OnlineId> {
        let kinds: Vec<_> = self.1.below(kind).collect();
        self.0
            .iter()
            .map(Body::description)
            .filter(|who| kinds.contains(&who.type_number()))
            .map(|w| w.online())
            .collect()
    }
}

fn look(counter: u32) -> String {
    let types = Types::builder().entity::<Hound>().entity::<Player>().component::<Cat>().build();
    let mut stage = Stage::new(types.expect("nothing is wrong"));
    let mut scout = stage.spawn("scout", 1);
    let others = [stage.spawn("hound", 2), stage.spawn("player", 3)];
    let crowd = Crowd(others.into(), stage.types.clone());
    stage.turn(|world, effects| {
        let world = World { handles: &crowd, ..*world };
        let payload = slipgate_entity::game::payload(&Look { counter });
        let incoming = slipgate_entity::game::Incoming { caller: Caller::Tool, payload: &payload };
        scout.call(incoming, &world, effects).expect("taken");
    });
    told()
}

#[test]
fn another_is_found_by_each_of_its_numbers_and_asked_for_its_kind() {
    assert_eq!(look(2), "hound hound hound no yes yes no yes no [1, 2, 1] false true");
    assert_eq!(look(3), "player player player no no yes no no no [1, 2, 1] false true");
}

#[test]
fn an_entity_finds_itself_and_is_of_its_own_kind() {
    assert_eq!(look(1), "scout scout scout yes yes yes no yes yes [1, 2, 1] false true");
    assert_eq!(look(4), "nobody nobody nobody");
}

#[test]
fn a_component_is_found_by_its_number() {
    let types = Types::builder().entity::<Player>().component::<Cat>().build().expect("nothing is wrong");
    let ann = Stage::new(types).spawn("player", 1);
    let health = ann.component_numbered(Health::number()).and_then(|part| part.downcast_ref::<Health>());
    assert_eq!(health, ann.component::<Health>());
    assert!(health.is_some() && ann.component_numbered(Cat::number()).is_none());
    assert!(ann.component_numbered(Player::number()).is_none(), "its own part is no component");
}

#[test]
fn a_local_id_is_a_number_of_64_bits_and_a_handle_in_its_scene() {
    let local = handle(7).local().expect("a slot");
    assert_eq!((local.as_u64(), LocalId::from_u64(local.as_u64())), (1 << 32 | 7, Some(local)));
    assert_eq!(Handle::of_local(handle(7).id().scene(), local), handle(7));
    assert_eq!(LocalId::from_u64(7), None, "no life has the generation 0");
    assert_eq!(identity(7).online, id(7));
}
