//! The directory on its arbiter: records of this node's ranges, and its stock of ids.
//!
//! A spawn is registered here before anybody hears of the entity: the id comes from the node's own
//! stock, so its home is here and registering costs no message to another node.
//!
//! The post has the latest view; the machine takes it up at the beginning of a turn, so nothing is answered
//! by an older one.

mod losses;
mod news;

use std::collections::BTreeMap;
use std::time::Duration;

use actix::{Actor, ActorContext, AsyncContext, Context, Handler, Message};
use serde_json::json;
use slipgate_cluster::directory::{Directory, HomeEvent, Input, Output, Standing};
use slipgate_cluster::drain::Homes;
use slipgate_cluster::globals::{self, Globals};
use slipgate_cluster::manager::{ManagerReply, ManagerRequest};
use slipgate_cluster::message::{Control, ManagerMessage, Message as Said};
use slipgate_cluster::range::{self, RangeStock};
use slipgate_cluster::scene::Ticket;
use slipgate_cluster::{Envelope, Own, Port, Record};
use slipgate_entity::{OnlineId, SceneId};
use tokio::sync::{oneshot, watch};

use self::losses::Losses;
pub use self::losses::LostEntity;
use crate::chronicle::{Chronicle, Happening, take_down};
use crate::clock::NodeClock;
use crate::mailbox::{Halt, Mail, Mailbox};
use crate::post::Post;
use crate::rows::{self, Rows};
use crate::scene::{Registered, SceneActor};
use crate::words::counted;

/// Asks for a fresh id for an entity of a scene of this node.
#[derive(Debug, Message)]
#[rtype(result = "()")]
pub struct Register {
    /// The spawn.
    pub ticket: Ticket,
    /// The scene.
    pub owner: Own,
    /// The entity's label.
    pub label: Option<String>,
    /// Where the answer goes.
    pub scene: Mailbox<SceneActor>,
}

/// The global entities of a scene of this node; nobody, once it is over.
#[derive(Debug, Message)]
#[rtype(result = "()")]
pub struct GlobalsHere {
    /// The scene.
    pub scene: SceneId,
    /// Their names.
    pub entities: BTreeMap<OnlineId, String>,
}

/// The post has a newer view.
#[derive(Clone, Copy, Debug, Message)]
#[rtype(result = "()")]
pub struct ViewChanged;

/// The node is about to stop: nothing is spawned here any more, and the homes are given away.
#[derive(Debug, Message)]
#[rtype(result = "()")]
pub struct GiveAway {
    /// Told how far it is, until nothing is left to give, or nobody is there to take it.
    pub told: watch::Sender<Homes>,
}

/// The node goes on after all; it asks for a range of its own again. What it has given away stays so.
#[derive(Clone, Copy, Debug, Message)]
#[rtype(result = "()")]
pub struct StayHome;

/// Asks for entities that were lost, latest first.
#[derive(Debug, Message)]
#[rtype(result = "()")]
pub struct AskLost {
    /// At most so many.
    pub limit: usize,
    /// Takes the answer.
    pub reply: oneshot::Sender<Vec<LostEntity>>,
}

/// Asks what the directory holds.
#[derive(Debug, Message)]
#[rtype(result = "()")]
pub struct Census {
    /// Takes the answer.
    pub reply: oneshot::Sender<Holdings>,
}

/// What the directory holds.
#[derive(Clone, Copy, Debug, Default)]
pub struct Holdings {
    /// Ranges that this node is the home of.
    pub ranges: u32,
    /// Ids left in stock.
    pub ids_left: u64,
    /// Living entities whose home is here.
    pub records: u64,
    /// Ranges that are being rebuilt or handed over.
    pub unsettled: u32,
    /// Entities that were called lost here.
    pub lost: u64,
}

/// Asks for one record.
#[derive(Debug, Message)]
#[rtype(result = "()")]
pub struct Look {
    /// The entity.
    pub entity: OnlineId,
    /// Takes the record, if this is the entity's home; once it is complete.
    pub reply: oneshot::Sender<Option<Record>>,
}

/// The directory's actor.
#[derive(Debug)]
pub struct DirectoryActor {
    machine: Directory,
    globals: Globals,
    stock: RangeStock,
    /// Whether the homes are given away; then no id is given out.
    retiring: bool,
    /// Who is told how far that is, while it is under way.
    giving: Option<watch::Sender<Homes>>,
    /// Who wants a record of a home that is not complete yet.
    looks: Vec<Look>,
    view_version: u64,
    losses: Losses,
    post: Post,
    clock: NodeClock,
    manager: String,
    /// What watchers read.
    chronicle: Mailbox<Chronicle>,
    rows: Rows,
}

impl DirectoryActor {
    /// A directory of a session that has just joined; `manager` is the name of the manager's node.
    #[must_use]
    pub fn new(post: Post, clock: NodeClock, manager: String, chronicle: Mailbox<Chronicle>) -> Self {
        let stock = RangeStock::new(post.me(), fastrand::u64(..));
        Self {
            machine: Directory::new(post.me()),
            globals: Globals::new(post.me()),
            stock,
            retiring: false,
            giving: None,
            looks: Vec::new(),
            view_version: 0,
            losses: Losses::default(),
            post,
            clock,
            manager,
            chronicle,
            rows: Rows::new("slipgate_home_rows"),
        }
    }

    /// Hands inputs in, after the latest view.
    fn turn(&mut self, inputs: impl IntoIterator<Item = Input>) {
        let now = self.clock.now();
        let mut out = Vec::new();
        let view = self.post.view();
        if view.version > self.view_version {
            self.view_version = view.version;
            self.losses.see(&view);
            self.meet_globals([globals::Input::View(view.clone())]);
            self.machine.handle(Input::View(view), now, &mut out);
        }
        for input in inputs {
            self.machine.handle(input, now, &mut out);
        }
        self.perform(out);
        self.answer_looks();
    }

    /// Hands in what there is of global entities, and carries out what comes of it.
    fn meet_globals(&mut self, inputs: impl IntoIterator<Item = globals::Input>) {
        let (now, from) = (self.clock.now(), self.post.here(Port::Directory));
        let mut out = Vec::new();
        for input in inputs {
            self.globals.handle(input, now, &mut out);
        }
        let mut letters = Vec::new();
        for output in out {
            match output {
                globals::Output::Tell { to, control } => {
                    letters.push(Envelope { from, to, message: Said::Control(control) });
                }
                globals::Output::Names(names) => self.post.set_globals(names),
                globals::Output::LeftOut(0) => {
                    tracing::info!(event = "globals.told", "all global entities are told of again")
                }
                globals::Output::LeftOut(left_out) => tracing::warn!(
                    event = "globals.left_out",
                    left_out,
                    "{left_out} global entities are more than a node tells the others of: they are found here alone"
                ),
            }
        }
        self.post.send(letters);
    }

    /// A tool that has given up waiting has gone; the others are answered once their home is complete.
    fn answer_looks(&mut self) {
        let standing = |look: &Look| self.machine.standing(look.entity.range());
        let ready: Vec<_> = self
            .looks
            .extract_if(.., |look| look.reply.is_closed() || standing(look) != Standing::Incomplete)
            .collect();
        for Look { entity, reply } in ready {
            // Nobody listens any more if the asker has given up; then nobody misses the answer.
            let _ = reply.send(self.machine.record(entity));
        }
    }

    fn stock(&mut self, input: range::Input) {
        let mut out = Vec::new();
        self.stock.handle(input, self.clock.now(), &mut out);
        for output in out {
            match output {
                range::Output::Ask(request) => self.ask_manager(request),
                range::Output::Installed { range } => {
                    self.turn([Input::Opened { range }]);
                    if self.machine.issues(range) {
                        tracing::info!(
                            event = "range.opened",
                            range = range.0,
                            "this node is the home of a new range of ids"
                        );
                    } else {
                        self.stock.surrender();
                        tracing::info!(
                            event = "range.passed_on",
                            range = range.0,
                            "a range of ids was passed on before its grant came; another one is asked for"
                        );
                    }
                }
                range::Output::Refused { range, highest } => tracing::error!(
                    event = "range.refused",
                    range = range.0,
                    highest = highest.0,
                    "the manager granted a range that is not above the earlier ones, as if it ran on an old copy of its \
                     store; the range is not used, and spawning ends with the stock: bring the manager's own store back"
                ),
            }
        }
    }

    fn perform(&mut self, out: Vec<Output>) {
        #[cfg(feature = "fail-points")]
        crate::fail_point::home_performs(&out);
        let from = self.post.here(Port::Directory);
        let mut letters = Vec::new();
        let mut lost = BTreeMap::new();
        let (mut given, mut is_done) = (0, false);
        for output in out {
            match output {
                Output::Tell { to, control } => letters.push(Envelope { from, to, message: Said::Control(control) }),
                Output::Ask(request) => self.ask_manager(request),
                Output::GivenAway => is_done = true,
                Output::Event(event) => {
                    given += u64::from(matches!(event, HomeEvent::Bequeathed { .. }));
                    let view = self.post.view();
                    news::log(&event, &view);
                    let (event, fields) = news::for_watchers(&event, &view);
                    take_down(&self.chronicle, Happening::now(event, &fields, self.clock));
                }
                Output::Lost(entity) => {
                    metrics::counter!("slipgate_entities_lost_total").increment(1);
                    if let Some(scene) = entity.scene {
                        *lost.entry((entity.session, scene)).or_insert(0u64) += 1;
                    }
                    self.losses.add(entity);
                }
            }
        }
        for ((session, scene), entities) in lost {
            let place = self.losses.place_text(session, scene);
            // Whoever died without a goodbye has been warned of already: its link is lost, its lease late.
            tracing::info!(
                event = "entities.lost", at = %place, entities,
                "lost with that life of its node: {} of {place}: slipgate entities --lost",
                counted(entities, "entity", "entities")
            );
            let fields = json!({ "at": place, "entities": entities });
            take_down(&self.chronicle, Happening::now("entities.lost", &fields, self.clock));
        }
        self.tell_giving(given, is_done);
        self.post.send(letters);
    }

    /// Tells whoever follows it how far it is with giving homes away: so many more have been taken over.
    fn tell_giving(&mut self, more: u64, is_done: bool) {
        let Some(told) = &self.giving else { return };
        let left = self.machine.to_give() as u64;
        told.send_if_modified(|homes| {
            let before = *homes;
            *homes = Homes { given: before.given + more, left, is_done };
            *homes != before
        });
        if is_done {
            self.giving = None;
        }
    }

    fn ask_manager(&self, request: ManagerRequest) {
        if let Some(manager) = self.post.manager(&self.manager) {
            self.post.send_one(Port::Directory, manager, Said::Manager(ManagerMessage::Request(request)));
        }
    }
}

impl Actor for DirectoryActor {
    type Context = Context<Self>;

    fn started(&mut self, ctx: &mut Context<Self>) {
        self.turn([]);
        self.stock(range::Input::Tick);
        ctx.run_interval(TICK, |actor, _| {
            if !actor.retiring {
                actor.stock(range::Input::Tick);
            }
            actor.turn([Input::Tick]);
            actor.meet_globals([globals::Input::Tick]);
        });
        ctx.run_interval(ROWS, |actor, _| actor.rows.tell(rows::of_home(actor.machine.tables())));
    }
}

impl Handler<Halt> for DirectoryActor {
    type Result = ();

    fn handle(&mut self, Halt: Halt, ctx: &mut Context<Self>) {
        self.rows.take_back();
        ctx.stop();
    }
}

impl Handler<Mail> for DirectoryActor {
    type Result = ();

    fn handle(&mut self, mail: Mail, _: &mut Context<Self>) {
        #[cfg(feature = "fail-points")]
        crate::fail_point::home_heard(&mail.envelopes);
        let mut heard = Vec::new();
        for Envelope { from, message, .. } in mail.envelopes {
            match message {
                Said::Control(control @ (Control::Globals { .. } | Control::GlobalsNoted { .. })) => {
                    self.meet_globals([globals::Input::Heard { from, control }]);
                }
                Said::Control(control) => heard.push(Input::Heard { from, control }),
                Said::Manager(ManagerMessage::Reply(ManagerReply::Range { session, request, counter, range }))
                    if self.post.is_of_node(from, &self.manager) && !self.retiring =>
                {
                    self.stock(range::Input::Reply { session, request, counter, range });
                }
                Said::Manager(_) | Said::Data(_) | Said::Prepare(_) | Said::Tool(_) => {}
            }
        }
        self.turn(heard);
    }
}

impl Handler<GlobalsHere> for DirectoryActor {
    type Result = ();

    fn handle(&mut self, GlobalsHere { scene, entities }: GlobalsHere, _: &mut Context<Self>) {
        self.meet_globals([globals::Input::Here { scene, entities }]);
    }
}

impl Handler<ViewChanged> for DirectoryActor {
    type Result = ();

    fn handle(&mut self, ViewChanged: ViewChanged, _: &mut Context<Self>) {
        self.turn([]);
    }
}

impl Handler<GiveAway> for DirectoryActor {
    type Result = ();

    fn handle(&mut self, GiveAway { told }: GiveAway, _: &mut Context<Self>) {
        self.retiring = true;
        self.stock.surrender();
        self.giving = Some(told);
        self.turn([Input::Retire]);
    }
}

impl Handler<StayHome> for DirectoryActor {
    type Result = ();

    fn handle(&mut self, StayHome: StayHome, _: &mut Context<Self>) {
        self.retiring = false;
        self.giving = None;
        self.turn([Input::Stay]);
    }
}

impl Handler<AskLost> for DirectoryActor {
    type Result = ();

    fn handle(&mut self, AskLost { limit, reply }: AskLost, _: &mut Context<Self>) {
        let _ = reply.send(self.losses.latest(limit));
    }
}

impl Handler<Register> for DirectoryActor {
    type Result = ();

    fn handle(&mut self, Register { ticket, owner, label, scene }: Register, _: &mut Context<Self>) {
        self.turn([]);
        let mut entity = self.stock.take().ok();
        if let Some(id) = entity {
            if self.machine.issues(id.range()) {
                let registered = Input::Registered { entity: id, owner, label };
                self.machine.handle(registered, self.clock.now(), &mut Vec::new());
            } else {
                // The range was given away, and this session goes on after all: it needs another one.
                self.stock.surrender();
                entity = None;
            }
        }
        scene.tell(Registered { ticket, entity });
    }
}

impl Handler<Look> for DirectoryActor {
    type Result = ();

    fn handle(&mut self, look: Look, _: &mut Context<Self>) {
        if self.looks.len() < LOOKS_MAX {
            self.looks.push(look);
        }
        self.answer_looks();
    }
}

impl Handler<Census> for DirectoryActor {
    type Result = ();

    fn handle(&mut self, Census { reply }: Census, _: &mut Context<Self>) {
        let records = self.machine.ownership().len() as u64;
        let count = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        let (ranges, unsettled) = (count(self.machine.homes()), count(self.machine.unsettled()));
        let _ =
            reply.send(Holdings { ranges, ids_left: self.stock.left(), records, unsettled, lost: self.losses.count() });
    }
}

/// Tools that may wait at once for a home to be complete.
const LOOKS_MAX: usize = 4_096;
/// How often the stock is looked at; well below the first wait between its requests.
const TICK: Duration = Duration::from_millis(50);
/// How often rows of tables are told.
const ROWS: Duration = Duration::from_secs(5);
