//! A program with entity types of its own: what it sends, and what is wrong with it.

use slipgate::prelude::*;
use slipgate::serde_json::json;

#[derive(Entity, Default, Debug)]
struct Door {
    open: bool,
    knocks: u32,
}

#[derive(Message, Debug)]
struct Push {
    open: bool,
}

#[handlers]
impl Door {
    #[from(cluster)]
    fn push(&mut self, push: Push) {
        self.open = push.open;
    }
}

#[derive(Entity, Default, Debug)]
struct Bell {
    rung: u32,
}

#[derive(Message, Debug)]
struct Ring;

#[handlers]
impl Bell {
    #[from(cluster)]
    fn ring(&mut self, _: Ring) {
        self.rung += 1;
    }
}

fn alone(test: impl AsyncFnOnce(&Cluster)) {
    slipgate::block_on(async {
        let cluster = Cluster::builder().node("n1", ["house"]).start().await.expect("a cluster");
        test(&cluster).await;
        cluster.stop().await.expect("a clean end");
    });
}

#[test]
fn a_message_of_another_type_is_not_sent_and_the_error_says_what_would_be_taken() {
    alone(async |cluster| {
        let door = cluster.scene("house").spawn(Door { open: false, knocks: 2 }).await.expect("spawned");
        let error = door.send(Ring).await.expect_err("a door does not ring");
        assert_eq!(error.to_string(), "door takes no message named \"ring\"; it takes: push");
        door.send(Push { open: true }).await.expect("applied");
        let shown = door.show().await.expect("shown");
        let door: Door = shown.part().expect("a door");
        assert_eq!((door.open, door.knocks, shown.applied), (true, 2, 1));
        assert_eq!(shown.part::<Bell>().expect_err("it is none").to_string(), "this door has no bell");
    });
}

#[test]
fn a_type_or_field_that_is_misspelt_is_told_with_what_was_meant() {
    alone(async |cluster| {
        let house = cluster.scene("house");
        let error = house.spawn_named("dor").await.expect_err("there is none").to_string();
        assert!(error.contains("did you mean \"door\"?"), "{error}");
        let data = json!({ "opne": true });
        let error = house.spawn_named("door").with_fields("door", data).await.expect_err("no such field").to_string();
        assert!(error.contains("did you mean \"open\"?"), "{error}");
        let error = cluster.scene("hose").spawn(Bell::default()).await.expect_err("no such scene").to_string();
        assert!(error.contains("there is no scene \"hose\""), "{error}");
    });
}
