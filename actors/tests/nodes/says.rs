//! What entities of a real scene say goes into the log, by their types.

use std::fmt::{self, Debug};
use std::sync::{Arc, Mutex};

use slipgate_actors::scene::Question;
use slipgate_actors::voices::{TARGET, Voices};
use slipgate_cluster::Own;
use slipgate_cluster::moves::Outcome;
use slipgate_entity::SceneId;
use slipgate_entity::game::{Context, Level, Types};
use slipgate_macros::{Entity, Message, handlers};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::subscriber::DefaultGuard;
use tracing::{Event, Metadata, Subscriber};

use crate::node::{Make, Node, ask, me, migrate, spawn, view};

const HERE: SceneId = SceneId(1);
const THERE: SceneId = SceneId(2);

#[actix_rt::test]
async fn what_an_entity_says_is_a_line_at_its_level_with_its_id_and_its_type() {
    let (lines, _guard) = Lines::of_this_thread();
    let node = start("trace");
    let magpie = spawn(&node.scene(HERE), "magpie").await;
    node.say(magpie, Chatter {}).await;
    let expected = ["ERROR 1", "WARN 2", "INFO 3", "DEBUG 4", "TRACE 5"]
        .map(|line| format!("{line} event=entity.says entity={magpie} type=magpie"));
    assert_eq!(lines.taken(), expected);
}

#[actix_rt::test]
async fn a_type_is_as_loud_as_its_name_in_the_configuration_lets_it() {
    let (lines, _guard) = Lines::of_this_thread();
    let node = start("error,magpie=debug");
    for (type_name, expected) in [("magpie", 4), ("raven", 1)] {
        let bird = spawn(&node.scene(HERE), type_name).await;
        node.say(bird, Chatter {}).await;
        assert_eq!(lines.taken().len(), expected, "{type_name}");
    }
}

#[actix_rt::test]
async fn whoever_goes_is_heard_to_its_end() {
    let (lines, _guard) = Lines::of_this_thread();
    let node = start("info");
    let [mover, ender] = [spawn(&node.scene(HERE), "magpie").await, spawn(&node.scene(HERE), "magpie").await];
    let moved = migrate(&node.scene(HERE), mover, Own::new(me(), THERE)).await;
    assert!(matches!(moved, Outcome::Moved { .. }));
    let said = |text: &str, who| format!("INFO {text} event=entity.says entity={who} type=magpie");
    assert_eq!(lines.taken(), [said("leaves s1", mover), said("has left s1", mover)]);
    let gone = ask(&node.scene(HERE), |reply| Question::Despawn { entity: ender, reply }).await;
    gone.expect("it lived there");
    assert_eq!(lines.taken(), [said("leaves s1", ender)]);
}

fn start(voices: &str) -> Node {
    let types = Types::builder().entity::<Magpie>().entity::<Raven>().build().expect("types");
    let voices: Voices = voices.parse().expect("levels");
    let view = view(1, &[(1, HERE), (1, THERE)]);
    Node::start(me(), Make { view, types, voices, scenes: vec![HERE, THERE], ..Make::default() }).0
}

/// The lines of entities, as long as it is the log of its thread.
#[derive(Clone, Debug, Default)]
struct Lines(Arc<Mutex<Vec<String>>>);

impl Lines {
    fn of_this_thread() -> (Self, DefaultGuard) {
        let lines = Self::default();
        let guard = tracing::subscriber::set_default(lines.clone());
        (lines, guard)
    }

    fn taken(&self) -> Vec<String> {
        std::mem::take(&mut *self.0.lock().expect("no holder panics"))
    }
}

impl Subscriber for Lines {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target() == TARGET
    }

    fn event(&self, event: &Event<'_>) {
        let mut line = Line { head: event.metadata().level().to_string(), fields: String::new() };
        event.record(&mut line);
        self.0.lock().expect("no holder panics").push(line.head + &line.fields);
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

struct Line {
    head: String,
    fields: String,
}

impl Visit for Line {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        let text = format!("{value:?}");
        match field.name() {
            "message" => self.head = format!("{} {text}", self.head),
            name => self.fields += &format!(" {}={text}", name.trim_start_matches("r#")),
        }
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.record_debug(field, &Plain(value));
    }
}

/// Text without quotes.
struct Plain<'t>(&'t str);

impl Debug for Plain<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

#[derive(Debug, Message)]
#[message(crate = "slipgate_entity")]
struct Chatter {}

impl Chatter {
    fn aloud(&self, cx: &mut Context<'_>) {
        let levels = [Level::Error, Level::Warn, Level::Info, Level::Debug, Level::Trace];
        for (number, level) in (1..).zip(levels) {
            cx.log(level, format!("{number}"));
        }
    }
}

#[derive(Debug, Default, Entity)]
#[entity(crate = "slipgate_entity")]
struct Magpie {}

#[handlers(crate = "slipgate_entity")]
impl Magpie {
    #[from(cluster)]
    fn chatter(&mut self, chatter: Chatter, cx: &mut Context<'_>) {
        chatter.aloud(cx);
    }

    #[hook]
    fn on_leave_scene(&mut self, cx: &mut Context<'_>) {
        cx.log(Level::Info, format!("leaves {}", cx.scene().name));
    }

    #[hook]
    fn left(&mut self, cx: &mut Context<'_>) {
        cx.log(Level::Info, format!("has left {}", cx.scene().name));
    }
}

#[derive(Debug, Default, Entity)]
#[entity(crate = "slipgate_entity")]
struct Raven {}

#[handlers(crate = "slipgate_entity")]
impl Raven {
    #[from(cluster)]
    fn chatter(&mut self, chatter: Chatter, cx: &mut Context<'_>) {
        chatter.aloud(cx);
    }
}
