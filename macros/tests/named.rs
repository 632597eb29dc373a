//! The crate may have another name than `slipgate`: then `crate = ".."` says it.

use slipgate_entity::__private::{Part, Types};
use slipgate_macros::{Component, Entity, Message, State, handlers};

#[derive(State, Debug, Default)]
#[state(crate = "slipgate_entity")]
struct Colour {
    red: u8,
}

#[derive(Message, Debug)]
#[message(crate = "::slipgate_entity")]
struct Paint {
    colour: Colour,
}

#[derive(Component, Debug, Default)]
#[component(crate = "slipgate_entity")]
struct Coat {
    colour: Colour,
}

#[handlers(crate = "slipgate_entity")]
impl Coat {
    #[from(cluster)]
    fn paint(&mut self, paint: Paint) {
        self.colour = paint.colour;
    }
}

mod renamed {
    pub(crate) use slipgate_entity::__private;
}

#[derive(Entity, Debug, Default)]
#[entity(crate = "crate::renamed", components(Coat))]
struct Wall {}

#[handlers(crate = "crate::renamed")]
impl Wall {}

#[test]
fn types_under_another_name_of_the_crate_register_themselves() {
    let types = Types::linked().expect("two parts of different names");
    assert!(types.entity(Wall::NAME).is_some());
    assert_eq!(types.components().collect::<Vec<_>>(), ["coat"]);
}
