//! Makes scene actors, each on the thread that has the fewest.

use std::collections::BTreeMap;
use std::sync::Arc;

use actix::{Actor, Addr};
use actix_rt::ArbiterHandle;
use slipgate_cluster::scene::{OnPanic, Settings};
use slipgate_cluster::schema::Schema;
use slipgate_cluster::{Limits, Own, Port};
use slipgate_entity::game::Types;
use slipgate_entity::{SceneId, TypeName};

use super::Scenes;
use super::keeper::SceneKeeper;
use crate::chronicle::Chronicle;
use crate::clock::NodeClock;
use crate::directory::DirectoryActor;
use crate::mailbox::Mailbox;
use crate::post::Post;
use crate::router::RouterActor;
use crate::scene::{SceneActor, Surroundings};
use crate::voices::Voices;

/// What scenes are made of.
#[derive(Debug)]
pub struct Materials {
    /// Where envelopes go.
    pub post: Post,
    /// The node's clock.
    pub clock: NodeClock,
    /// The types that it can host.
    pub types: Types,
    /// What of what entities say goes into the log.
    pub voices: Voices,
    /// Bounds and deadlines.
    pub limits: Limits,
    /// What becomes of an entity whose handler panics.
    pub on_panic: OnPanic,
    /// The node's directory.
    pub directory: Mailbox<DirectoryActor>,
    /// The node's chronicle.
    pub chronicle: Mailbox<Chronicle>,
    /// Threads for scenes; at least one.
    pub threads: Vec<Thread>,
}

/// A thread that scenes can be on.
#[derive(Debug)]
pub struct Thread {
    /// Its arbiter; none for the thread that makes the scenes.
    pub arbiter: Option<ArbiterHandle>,
    /// Its router.
    pub router: Mailbox<RouterActor>,
}

/// A scene to be made.
#[derive(Debug)]
pub struct Plan {
    /// Its id.
    pub scene: SceneId,
    /// Entities it may hold.
    pub capacity: u32,
    /// Generation of the first tenant of a slot: above all that an earlier scene of the number gave out here.
    pub first_generation: u32,
    /// Hears how far it is; none for a scene that is there from start to stop.
    pub keeper: Option<Mailbox<SceneKeeper>>,
}

/// Makes a node's scenes.
#[derive(Debug)]
pub struct Workshop {
    materials: Materials,
    scenes: Scenes,
    /// Which thread each scene is on.
    on_thread: BTreeMap<SceneId, usize>,
}

impl Workshop {
    /// A workshop that puts what it makes among `scenes`.
    #[must_use]
    pub fn new(materials: Materials, scenes: Scenes) -> Self {
        assert!(!materials.threads.is_empty(), "expected a thread for scenes");
        Self { materials, scenes, on_thread: BTreeMap::new() }
    }

    /// The scenes that are there.
    #[must_use]
    pub fn scenes(&self) -> &Scenes {
        &self.scenes
    }

    /// What happens to scenes is taken down there.
    pub(super) fn chronicle(&self) -> &Mailbox<Chronicle> {
        &self.materials.chronicle
    }

    /// Makes a scene and opens its port.
    pub fn open(&mut self, plan: Plan) {
        let Plan { scene, capacity, first_generation, keeper } = plan;
        let thread = self.emptiest_thread();
        let Materials { post, clock, types, voices, limits, on_panic, directory, chronicle, threads } = &self.materials;
        let settings = Settings {
            me: Own::new(post.me(), scene),
            capacity,
            schema: schema_of(types),
            limits: limits.clone(),
            on_panic: *on_panic,
        };
        let around = Surroundings {
            post: post.clone(),
            clock: *clock,
            types: types.clone(),
            voices: voices.clone(),
            directory: directory.clone(),
            router: threads[thread].router.clone(),
            chronicle: chronicle.clone(),
            keeper,
        };
        let actor = SceneActor::new(settings, around, first_generation);
        let addr = start_on(threads[thread].arbiter.as_ref(), actor);
        let mailbox = Mailbox::within(post.budget(), addr, MAILBOX);
        post.open(Port::Scene(scene), Arc::new(mailbox.clone()));
        self.on_thread.insert(scene, thread);
        self.scenes.put(scene, &mailbox);
    }

    /// Closes the port of a scene, and forgets it.
    pub(super) fn close(&mut self, scene: SceneId) -> Option<Mailbox<SceneActor>> {
        let mailbox = self.scenes.get_even_if_over(scene);
        self.materials.post.close(Port::Scene(scene));
        self.on_thread.remove(&scene);
        self.scenes.remove(scene);
        mailbox
    }

    fn emptiest_thread(&self) -> usize {
        let scenes_on = |thread: usize| self.on_thread.values().filter(|on| **on == thread).count();
        (0..self.materials.threads.len()).min_by_key(|thread| scenes_on(*thread)).unwrap_or(0)
    }
}

/// What a scene can read that hosts these types.
#[must_use]
pub fn schema_of(types: &Types) -> Schema {
    let readable = types.readable().into_iter();
    readable.map(|(name, oldest, newest)| (TypeName(name.to_owned()), oldest, newest)).collect()
}

/// Starts an actor on a thread; on this one, if none is given.
pub fn start_on<A>(arbiter: Option<&ArbiterHandle>, actor: A) -> Addr<A>
where
    A: Actor<Context = actix::Context<A>> + Send,
{
    match arbiter {
        Some(arbiter) => A::start_in_arbiter(arbiter, |_| actor),
        None => actor.start(),
    }
}

/// Messages that may wait for a scene: some busy turns of it.
const MAILBOX: usize = 1 << 16;
