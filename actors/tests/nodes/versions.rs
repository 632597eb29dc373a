//! Two nodes whose programs are not the same: who cannot be read at the target is told so before it has stopped, and
//! who can be read by a migration arrives.

use std::cell::Cell;

use slipgate_actors::scene::{Question, SpawnOrder};
use slipgate_cluster::moves::{Outcome, Refusal};
use slipgate_cluster::schema::Versions;
use slipgate_entity::game::{Context, Data, Types};
use slipgate_entity::{OnlineId, TypeName};
use slipgate_macros::{Component, Entity, Message, handlers};

use crate::node::{ask, until};
use crate::two_nodes::Cluster;

#[actix_rt::test]
async fn whoever_is_of_a_type_that_the_target_lacks_does_not_stop() {
    let cluster = Cluster::of([build(Types::builder().entity::<old::Hero>()), crate::node::walkers()]);
    let hero = spawn(&cluster, 0).await;
    assert_eq!(cluster.migrate(hero, 0, 1).await, Outcome::Refused(Refusal::NoType { type_name: name("hero") }));
    goes_on(&cluster, hero).await;
}

#[actix_rt::test]
async fn whoever_is_of_a_version_that_the_target_does_not_read_does_not_stop() {
    let strangers = build(Types::builder().entity::<strange::Hero>());
    let cluster = Cluster::of([build(Types::builder().entity::<old::Hero>()), strangers]);
    let hero = spawn(&cluster, 0).await;
    let theirs = Versions { oldest: 2, newest: 2 };
    let expected = Refusal::SchemaDiffers { part: name("hero"), ours: 1, theirs };
    assert_eq!(cluster.migrate(hero, 0, 1).await, Outcome::Refused(expected));
    goes_on(&cluster, hero).await;
}

#[actix_rt::test]
async fn whoever_was_given_a_component_that_the_target_lacks_does_not_stop() {
    let with_charm = Types::builder().entity::<old::Hero>().component::<old::Charm>();
    let cluster = Cluster::of([build(with_charm), build(Types::builder().entity::<old::Hero>())]);
    let (hero, other) = (spawn(&cluster, 0).await, spawn(&cluster, 0).await);
    assert_eq!(cluster.nodes[0].node.say(hero, old::Charmed {}).await.applied, 1);
    let expected = Refusal::NoComponent { component: name("charm") };
    assert_eq!(cluster.migrate(hero, 0, 1).await, Outcome::Refused(expected));
    goes_on(&cluster, hero).await;
    assert!(matches!(cluster.migrate(other, 0, 1).await, Outcome::Moved { .. }), "one without it moves");
}

#[actix_rt::test]
async fn whoever_is_of_an_earlier_version_arrives_by_its_migration_and_does_not_get_back() {
    let cluster =
        Cluster::of([build(Types::builder().entity::<old::Hero>()), build(Types::builder().entity::<new::Hero>())]);
    let hero = spawn(&cluster, 0).await;
    assert!(matches!(cluster.migrate(hero, 0, 1).await, Outcome::Moved { .. }));
    until("it is in the scene", || new::SEEN.get().is_some()).await;
    assert_eq!(new::SEEN.get(), Some(70));
    let shown = cluster.nodes[1].show(hero).await.expect("it lives there");
    assert!(shown.contains(r#""hp":70"#) && shown.contains(r#""title":"brave""#), "{shown}");
    let expected = Refusal::SchemaDiffers { part: name("hero"), ours: 2, theirs: Versions { oldest: 1, newest: 1 } };
    assert_eq!(cluster.migrate(hero, 1, 0).await, Outcome::Refused(expected));
}

fn build(builder: slipgate_entity::game::TypesBuilder) -> Types {
    builder.build().expect("nothing is wrong")
}

fn name(text: &str) -> TypeName {
    TypeName(text.to_owned())
}

async fn spawn(cluster: &Cluster, at: usize) -> OnlineId {
    let data = Data::default().with("hero", serde_json::json!({ "percent": 7, "title": "brave" }));
    let order = |reply| Question::Spawn(SpawnOrder { data, ..SpawnOrder::of("hero", reply) });
    ask(&cluster.nodes[at].scene(), order).await.expect("room and an id")
}

/// It was never on its way.
async fn goes_on(cluster: &Cluster, hero: OnlineId) {
    assert_eq!(STOPPED.get(), 0);
    assert_eq!(cluster.nodes[1].node.say(hero, old::Look {}).await.applied, 1);
    assert_eq!(cluster.nodes[1].show(hero).await, None);
}

thread_local! {
    /// How often a hero has stopped. The scenes run on the thread of their test.
    static STOPPED: Cell<u32> = const { Cell::new(0) };
}

mod old {
    use super::*;

    #[derive(Debug, Default, Entity)]
    #[entity(crate = "slipgate_entity")]
    pub(super) struct Hero {
        percent: u8,
        title: String,
    }

    #[derive(Debug, Default, Component)]
    #[component(crate = "slipgate_entity")]
    pub(super) struct Charm {}

    #[handlers(crate = "slipgate_entity")]
    impl Charm {}

    #[derive(Debug, Message)]
    #[message(crate = "slipgate_entity")]
    pub(super) struct Charmed {}

    #[derive(Debug, Message)]
    #[message(crate = "slipgate_entity")]
    pub(super) struct Look {}

    #[handlers(crate = "slipgate_entity")]
    impl Hero {
        #[from(cluster)]
        fn charmed(&mut self, _: Charmed, cx: &mut Context<'_>) {
            cx.add(Charm {}).expect("it is registered");
        }

        #[from(cluster)]
        fn look(&mut self, _: Look) {}

        #[hook]
        fn deactivate(&mut self) {
            STOPPED.set(STOPPED.get() + 1);
        }
    }
}

/// Reads the old ones.
mod new {
    use slipgate_macros::State;

    use super::*;

    thread_local! {
        /// The hp of whoever arrived.
        pub(super) static SEEN: Cell<Option<u32>> = const { Cell::new(None) };
    }

    #[derive(Debug, Default, Entity)]
    #[entity(crate = "slipgate_entity", version = 2)]
    pub(super) struct Hero {
        hp: u32,
        title: String,
    }

    #[derive(Default, State)]
    #[state(crate = "slipgate_entity", default)]
    struct HeroV1 {
        percent: u8,
        title: String,
    }

    #[handlers(crate = "slipgate_entity")]
    impl Hero {
        #[hook]
        fn arrived(&mut self) {
            SEEN.set(Some(self.hp));
        }

        #[migrate_from(1)]
        fn from_percent(old: HeroV1) -> Self {
            Self { hp: 10 * u32::from(old.percent), title: old.title }
        }
    }
}

/// Does not.
mod strange {
    use super::*;

    #[derive(Debug, Default, Entity)]
    #[entity(crate = "slipgate_entity", version = 2)]
    pub(super) struct Hero {}

    #[handlers(crate = "slipgate_entity")]
    impl Hero {}
}
