//! Components against a plain map, over random operations.

use std::collections::BTreeMap;

use proptest::prelude::*;
use slipgate_entity::game::{AddError, Behaviour, Body, Component, Context, Data, Entity, Moment, Types};

use crate::stage::{Stage, identity};

data! { Host {} One { value: u32 } Two { value: u32 } Three { value: u32 } Four { value: u32 } }
part!(Host, "host");
part!(One, "one");
part!(Two, "two");
part!(Three, "three");
part!(Four, "four");
impl Behaviour for Host {}
impl Entity for Host {
    type Parent = ();
}

macro_rules! odd {
    ($($type:ident),*) => {$(
        impl Component for $type {}
        impl Behaviour for $type {
            fn init(&mut self, _: &mut Context<'_>) -> Result<(), String> {
                if self.value % 2 == 1 { Err("odd".to_owned()) } else { Ok(()) }
            }
        }
    )*};
}
odd!(One, Two, Three, Four);

#[derive(Clone, Copy, Debug)]
enum Step {
    Add(usize, u32),
    AddAll([u32; 4]),
    Change(usize, u32),
    Move,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (0..4usize, 0..9u32).prop_map(|(which, value)| Step::Add(which, value)),
        1 => prop::array::uniform4(0..9u32).prop_map(Step::AddAll),
        3 => (0..4usize, 0..9u32).prop_map(|(which, value)| Step::Change(which, value)),
        1 => Just(Step::Move),
    ]
}

const NAMES: [&str; 4] = ["one", "two", "three", "four"];

fn add(stage: &mut Stage, body: &mut Body, which: usize, value: u32) -> Result<(), AddError> {
    stage.turn(|world, effects| match which {
        0 => body.add(One { value }, world, effects),
        1 => body.add(Two { value }, world, effects),
        2 => body.add(Three { value }, world, effects),
        _ => body.add(Four { value }, world, effects),
    })
}

fn value(body: &mut Body, which: usize) -> Option<&mut u32> {
    match which {
        0 => body.component_mut::<One>().map(|part| &mut part.value),
        1 => body.component_mut::<Two>().map(|part| &mut part.value),
        2 => body.component_mut::<Three>().map(|part| &mut part.value),
        _ => body.component_mut::<Four>().map(|part| &mut part.value),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100_000))]
    #[test]
    fn components_agree_with_a_map(steps in prop::collection::vec(step(), 1..16)) {
        let builder = Types::builder().entity::<Host>().component::<One>().component::<Two>();
        let mut stage = Stage::new(builder.component::<Three>().component::<Four>().build().expect("nothing is wrong"));
        let mut body = stage.spawn("host", 1);
        let (mut model, mut order) = (BTreeMap::new(), Vec::new());
        for step in steps {
            match step {
                Step::Add(which, new) => {
                    let fits = !model.contains_key(&which) && new % 2 == 0;
                    prop_assert_eq!(add(&mut stage, &mut body, which, new).is_ok(), fits);
                    if fits {
                        model.insert(which, new);
                        order.push(which);
                    }
                }
                Step::AddAll(values) => {
                    let fits = model.is_empty() && values.iter().all(|value| value % 2 == 0);
                    let data = values.iter().zip(NAMES).fold(Data::default(), |data, (value, name)| {
                        data.with(name, serde_json::json!({ "value": value }))
                    });
                    let result = stage.turn(|world, effects| body.init_components(&data, world, effects));
                    prop_assert_eq!(result.is_ok(), fits);
                    if fits {
                        model = (0..).zip(values).collect();
                        // In the order of their names.
                        order = vec![3, 0, 2, 1];
                    }
                }
                Step::Change(which, new) => {
                    prop_assert_eq!(value(&mut body, which).map(|value| std::mem::replace(value, new)), model.get(&which).copied());
                    model.entry(which).and_modify(|value| *value = new);
                }
                Step::Move => {
                    let mut bytes = Vec::new();
                    body.encode(Moment(stage.now), None, &mut bytes).expect("it is small");
                    body = stage.types.decode("host", identity(1), &bytes, Moment(stage.now)).expect("its own bytes");
                }
            }
            let names: Vec<_> = body.parts().skip(1).map(|(name, _)| name).collect();
            prop_assert_eq!(names, order.iter().map(|&which| NAMES[which]).collect::<Vec<_>>());
            for which in 0..4 {
                prop_assert_eq!(value(&mut body, which).copied(), model.get(&which).copied());
            }
        }
    }
}
