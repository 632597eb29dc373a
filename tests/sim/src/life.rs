//! A node: a machine with a clock, and the lives that it leads one after the other.

use std::collections::BTreeMap;
use std::sync::Arc;

use slipgate_cluster::directory::Directory;
use slipgate_cluster::globals::{Globals, Names};
use slipgate_cluster::manager::Ticket;
use slipgate_cluster::member::{Member, Welcome};
use slipgate_cluster::range::RangeStock;
use slipgate_cluster::router::Router;
use slipgate_cluster::{Now, Place, Port, Session};
use slipgate_entity::{OnlineId, RangeId, SceneId};

use crate::network::NodeIndex;
use crate::plan::Plan;

/// Index of a life among all lives of the cluster.
pub(crate) type LifeIndex = usize;

/// What a node is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Doing {
    /// Its process is gone; it starts again then.
    Down { until: Now },
    /// It asks to join, and once more if it has not heard by then.
    Joining { ticket: Ticket, asked: Now, again_at: Now },
    /// It leads a life.
    Living(LifeIndex),
}

/// A node.
#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) doing: Doing,
    /// How far its clock is ahead.
    pub(crate) ahead_us: u64,
    /// Its process is stopped until then.
    pub(crate) stopped_until: Now,
    /// The highest range that it ever heard of.
    pub(crate) seen: Option<RangeId>,
    /// The same, before its present life.
    pub(crate) seen_before: Option<RangeId>,
}

/// A session of a node, apart from its scenes.
#[derive(Debug)]
pub(crate) struct Life {
    pub(crate) session: Session,
    pub(crate) node: NodeIndex,
    pub(crate) member: Member,
    pub(crate) directory: Directory,
    pub(crate) stock: RangeStock,
    pub(crate) router: Router,
    /// Messages of streams that its router went on with, all in all: they were accepted elsewhere.
    pub(crate) adopted: usize,
    pub(crate) is_retiring: bool,
    /// Its process is gone, or it was told that it is over.
    pub(crate) is_gone: bool,
    /// Whether what it held was noted as touched: it is gone, or there was a verdict on it.
    pub(crate) is_mourned: bool,
    /// Global entities, as this life knows them; what its scenes have told of, and whom it finds.
    pub(crate) globals: Globals,
    pub(crate) renowned: BTreeMap<SceneId, BTreeMap<OnlineId, String>>,
    pub(crate) names: Arc<Names>,
    pub(crate) directory_view: u64,
    pub(crate) globals_view: u64,
    pub(crate) router_view: u64,
}

impl Life {
    pub(crate) fn new(node: NodeIndex, welcome: Welcome, plan: &Plan, seed: u64) -> Self {
        let (session, rules) = (welcome.session, plan.rules());
        let router = Router::new(Place { session, port: Port::Router(0) }, plan.limits.clone());
        Self {
            session,
            node,
            member: Member::new(welcome).under(rules),
            directory: Directory::new(session).with_page(PAGE).under(rules),
            stock: RangeStock::new(session, seed).under(rules),
            router: router.under(rules),
            adopted: 0,
            is_retiring: false,
            is_gone: false,
            is_mourned: false,
            globals: Globals::new(session),
            renowned: BTreeMap::new(),
            names: Arc::default(),
            directory_view: 0,
            globals_view: 0,
            router_view: 0,
        }
    }

    pub(crate) fn place(&self, port: Port) -> Place {
        Place { session: self.session, port }
    }
}

/// Records in a page that is handed over: a node has a few entities.
const PAGE: usize = 2;
