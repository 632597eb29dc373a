//! A scene on its arbiter: the mailbox, the timers and the post of its [`Troupe`].
//!
//! ```text
//!   mail, questions, ticks --> troupe --> envelopes: one batch a turn, to the post
//!                                     --> orders: the directory, the router, the chronicle, the keeper
//! ```
//!
//! Keeps: what a turn wants done is done in its order, and before anything of it leaves.
//! Leaves out: what a turn is (`troupe`), decisions.

mod bodies;
mod closing;
mod episode;
mod evacuating;
mod fresh;
mod meters;
mod outlook;
mod question;
mod report;
mod returns;
mod room;
mod story;
mod troupe;
mod turns;

use std::collections::BTreeMap;
use std::time::Duration;

use actix::{Actor, ActorContext, AsyncContext, Context, Handler, Message};
use slipgate_cluster::scene::{Input, Settings, Ticket};
use slipgate_cluster::{Envelope, Session};
use slipgate_entity::OnlineId;
use slipgate_entity::game::Types;

pub use self::closing::CloseScene;
pub use self::episode::Episode;
pub use self::evacuating::{Cause, Evacuate, HowFar, Remaining};
pub use self::fresh::Fresh;
use self::meters::Meters;
pub use self::outlook::Outlook;
pub use self::question::{
    AskScene, Despawn, DespawnAnswer, MoveAnswer, MoveOrder, Question, SceneCensus, SceneEntity, SpawnError,
    SpawnOrder, Spawned, UnparkAnswer, Which,
};
pub use self::report::{entity_report, entity_row, move_report};
pub use self::story::{Story, explain, outcome_word, place_after, scene_text};
pub use self::troupe::{Means, Order, Troupe};
use crate::chronicle::{Chronicle, take_down};
use crate::clock::NodeClock;
use crate::directory::{DirectoryActor, GlobalsHere, Register};
use crate::mailbox::{Halt, Mail, Mailbox};
use crate::post::Post;
use crate::router::{Adopt, RouterActor};
use crate::rows::{self, Rows};
use crate::scenes::keeper::{SceneKeeper, SceneTells};
use crate::voices::Voices;

/// The directory's answer to a registration.
#[derive(Debug, Message)]
#[rtype(result = "()")]
pub struct Registered {
    /// The spawn.
    pub ticket: Ticket,
    /// The id; none while the node has no range.
    pub entity: Option<OnlineId>,
}

/// The link to a session is lost, or the session is over.
#[derive(Clone, Copy, Debug, Message)]
#[rtype(result = "()")]
pub struct PeerLost(pub Session);

/// The node drains, goes on or stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Message)]
#[rtype(result = "()")]
pub enum Wind {
    /// Take nobody in any more; who lives here may leave.
    Drain,
    /// The drain is called off.
    Reopen,
    /// Begin nothing more.
    Down,
    /// Answer every move that is still under way.
    Up,
}

/// What a scene's actor needs of its node.
#[derive(Clone, Debug)]
pub struct Surroundings {
    /// Where envelopes go.
    pub post: Post,
    /// The node's clock.
    pub clock: NodeClock,
    /// The types that it can host.
    pub types: Types,
    /// What of what entities say goes into the log.
    pub voices: Voices,
    /// The node's directory.
    pub directory: Mailbox<DirectoryActor>,
    /// The router of the same arbiter.
    pub router: Mailbox<RouterActor>,
    /// The node's chronicle.
    pub chronicle: Mailbox<Chronicle>,
    /// Hears how far a scene is that can be closed while the node goes on.
    pub keeper: Option<Mailbox<SceneKeeper>>,
}

/// A scene's actor.
#[derive(Debug)]
pub struct SceneActor {
    troupe: Troupe,
    around: Surroundings,
    mailbox: Option<Mailbox<SceneActor>>,
    meters: Meters,
    rows: Rows,
}

impl SceneActor {
    /// The scene that `settings` describe, without entities; the first tenant of a slot has `first_generation`.
    #[must_use]
    pub fn new(settings: Settings, around: Surroundings, first_generation: u32) -> Self {
        let means = Means {
            types: around.types.clone(),
            voices: around.voices.clone(),
            budget: around.post.budget().clone(),
            fresh: Fresh::of_system(),
            first_generation,
        };
        Self {
            troupe: Troupe::new(settings, means, around.outlook()),
            around,
            mailbox: None,
            meters: Meters::default(),
            rows: Rows::new("slipgate_scene_rows"),
        }
    }

    /// Lets the troupe do something, and carries out what it wants done.
    fn act(&mut self, what: impl FnOnce(&mut Troupe)) {
        self.troupe.see(self.around.outlook());
        what(&mut self.troupe);
        for order in self.troupe.take_orders() {
            self.carry_out(order);
        }
        self.around.post.send(self.troupe.take_letters());
    }

    fn carry_out(&self, order: Order) {
        let around = &self.around;
        match order {
            Order::Register { ticket, label } => {
                let scene = self.mailbox.clone().expect("the mailbox is made when the actor starts");
                around.directory.tell(Register { ticket, owner: self.troupe.me(), label, scene });
            }
            Order::Adopt(orphans) => around.router.tell(Adopt(orphans)),
            Order::TakeDown(happening) => take_down(&around.chronicle, happening),
            Order::Globals(entities) => self.tell_globals(entities),
            Order::Tell(news) => {
                if let Some(keeper) = &around.keeper {
                    keeper.tell(SceneTells { scene: self.troupe.me().scene, news });
                }
            }
        }
    }

    fn tell_globals(&self, entities: BTreeMap<OnlineId, String>) {
        self.around.directory.tell(GlobalsHere { scene: self.troupe.me().scene, entities });
    }
}

impl Surroundings {
    fn outlook(&self) -> Outlook {
        let Self { post, clock, .. } = self;
        Outlook {
            now: clock.now(),
            unix_ms: clock.unix_ms(),
            may_act: post.lease().is_held(),
            view: post.view(),
            globals: post.globals(),
            lost: post.lost(),
        }
    }
}

impl Actor for SceneActor {
    type Context = Context<Self>;

    fn started(&mut self, ctx: &mut Context<Self>) {
        self.mailbox = Some(Mailbox::new(ctx.address(), MAILBOX));
        ctx.run_interval(TICK, |actor, _| actor.act(|troupe| troupe.turn([Input::Tick])));
        // Whoever scrapes finds the scene however short its life is.
        self.tell_gauges();
        ctx.run_interval(GAUGES, |actor, _| actor.tell_gauges());
        ctx.run_interval(ROWS, |actor, _| actor.rows.tell(rows::of_scene(&actor.troupe.machine.tables())));
    }
}

impl Handler<Halt> for SceneActor {
    type Result = ();

    fn handle(&mut self, Halt: Halt, ctx: &mut Context<Self>) {
        self.take_share_back();
        self.rows.take_back();
        self.tell_globals(BTreeMap::new());
        ctx.stop();
    }
}

impl Handler<Mail> for SceneActor {
    type Result = ();

    fn handle(&mut self, mail: Mail, _: &mut Context<Self>) {
        #[cfg(feature = "fail-points")]
        crate::fail_point::scene_heard(&mail.envelopes);
        let heard = |Envelope { from, message, .. }| Input::Heard { from, message };
        self.act(|troupe| troupe.turn(mail.envelopes.into_iter().map(heard)));
    }
}

impl Handler<Registered> for SceneActor {
    type Result = ();

    fn handle(&mut self, Registered { ticket, entity }: Registered, _: &mut Context<Self>) {
        let input = match entity {
            Some(entity) => Input::Registered { ticket, entity },
            None => Input::NotRegistered { ticket },
        };
        self.act(|troupe| troupe.turn_or_defer([input]));
    }
}

impl Handler<PeerLost> for SceneActor {
    type Result = ();

    fn handle(&mut self, PeerLost(session): PeerLost, _: &mut Context<Self>) {
        self.act(|troupe| troupe.turn_or_defer([Input::PeerLost(session)]));
    }
}

impl Handler<Wind> for SceneActor {
    type Result = ();

    fn handle(&mut self, wind: Wind, _: &mut Context<Self>) {
        let input = match wind {
            Wind::Drain => Input::Drain,
            Wind::Reopen => Input::Reopen,
            Wind::Down => Input::Shut,
            Wind::Up => Input::Stop,
        };
        self.act(|troupe| troupe.turn_or_defer([input]));
    }
}

/// Messages to entities that may wait for a scene. Some turns of a busy one.
const MAILBOX: usize = 1 << 16;
/// How often waits are looked at: a scene's turn at 20 Hz would be too coarse for the first repeats.
const TICK: Duration = Duration::from_millis(20);
/// How often gauges are told.
const GAUGES: Duration = Duration::from_secs(1);
/// How often rows of tables are counted, which walks over all entities: some milliseconds for 100,000.
const ROWS: Duration = Duration::from_secs(5);
