//! Who gets what: each client the difference from what it last acknowledged, or all.
//!
//! ```text
//! views     forest: reel           harbor: reel
//! clients   ann: forest, acknowledged 7, sent 8, 9       bob: forest, nothing acknowledged
//! tick 10   ann: delta 7 -> 10     bob: full 10          whoever has the same baseline gets the same bytes
//! ```
//!
//! A client's baseline is the last snapshot that it acknowledged, of whatever view: one that looks elsewhere now, because its player
//! has crossed into another scene, gets the difference, and what stays in view stays.
//!
//! Any doubt gives a full snapshot, every tick until one is acknowledged: nothing acknowledged yet, a baseline that is older than
//! [`RING`] ticks, an acknowledgement of what was never sent, a request.
//!
//! Keeps: a baseline is a snapshot that this client was sent; one encoding for each pair of snapshots and tick; what a client
//! holds here is bounded by [`RING`] snapshots, which all clients of a view share.
//! Leaves out: bytes on sockets, who is a client, who is to be seen in which view.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use crate::frame::{Encoded, HEADER_BYTES};
use crate::reel::{RING, Reel};
use crate::snapshot::{Snapshot, ViewId};
use crate::state::{Alias, EntityState};

/// Numbers the clients of a [`Replicator`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ClientId(pub u64);

/// What a [`Replicator`] is told.
#[derive(Clone, Debug)]
pub enum Input {
    /// An entity is to be seen in a view, so.
    Shown {
        /// Where. A view begins with the first who is shown in it.
        view: ViewId,
        /// Who.
        alias: Alias,
        /// How.
        state: EntityState,
    },
    /// An entity is not to be seen in a view any more.
    Hidden {
        /// Where.
        view: ViewId,
        /// Who.
        alias: Alias,
    },
    /// A view is over. Clients that still look at it see nobody.
    Over {
        /// Which.
        view: ViewId,
    },
    /// A client looks at a view; for the first time, or from now on at this one.
    Looks {
        /// Who.
        client: ClientId,
        /// At what.
        view: ViewId,
    },
    /// A client has gone.
    Left {
        /// Who.
        client: ClientId,
    },
    /// A client has a snapshot.
    Acknowledged {
        /// Who.
        client: ClientId,
        /// Of which tick.
        tick: u32,
    },
    /// A client asks for all of it.
    WantsFull {
        /// Who.
        client: ClientId,
    },
    /// A tick is over: each client gets a frame. Ticks rise.
    Tick {
        /// Its number, from 1.
        tick: u32,
    },
}

/// What a [`Replicator`] wants done.
#[derive(Clone, Debug)]
pub enum Output {
    /// A client gets a frame.
    Frame {
        /// Who.
        client: ClientId,
        /// Which; shared with all who get the same.
        encoded: Arc<Encoded>,
        /// From which tick it leads on; none if it is full.
        baseline: Option<u32>,
    },
}

/// Bytes of frames of a client, headers included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Account {
    /// Of full snapshots.
    pub full: u64,
    /// Of deltas.
    pub delta: u64,
    /// Frames that were full.
    pub full_frames: u64,
    /// Frames that were deltas.
    pub delta_frames: u64,
    /// Acknowledgements of what was never sent.
    pub lies: u64,
}

/// The clients of a node, and what they look at.
///
/// ```
/// use slipgate_sync::{Alias, ClientId, EntityState, Input, Output, Replicator, ViewId};
///
/// let (mut replicator, mut out) = (Replicator::default(), Vec::new());
/// let (client, view) = (ClientId(1), ViewId(1));
/// replicator.handle(Input::Shown { view, alias: Alias(1), state: EntityState::default() }, &mut out);
/// replicator.handle(Input::Looks { client, view }, &mut out);
/// replicator.handle(Input::Tick { tick: 1 }, &mut out);
/// replicator.handle(Input::Acknowledged { client, tick: 1 }, &mut out);
/// replicator.handle(Input::Tick { tick: 2 }, &mut out);
/// let baselines: Vec<_> = out.iter().map(|Output::Frame { baseline, .. }| *baseline).collect();
/// assert_eq!(baselines, [None, Some(1)]);
/// ```
#[derive(Debug, Default)]
pub struct Replicator {
    views: BTreeMap<ViewId, Reel>,
    clients: BTreeMap<ClientId, Client>,
    tick: u32,
    /// Reels so far.
    reels: u64,
}

#[derive(Debug)]
struct Client {
    view: ViewId,
    baseline: Option<Snapshot>,
    /// Later than the baseline, in their order.
    sent: VecDeque<Snapshot>,
    /// The last one that it was sent, acknowledged or not.
    last: u32,
    account: Account,
}

impl Replicator {
    /// Takes in what has happened; what is to be done is appended to `out`.
    ///
    /// # Panics
    ///
    /// If a tick is not later than the one before.
    pub fn handle(&mut self, input: Input, out: &mut Vec<Output>) {
        match input {
            Input::Shown { view, alias, state } => self.view(view).show(alias, state),
            Input::Hidden { view, alias } => {
                self.view(view).hide(alias);
            }
            Input::Over { view } => {
                self.views.remove(&view);
            }
            Input::Looks { client, view } => {
                self.clients.entry(client).or_insert_with(|| Client::new(view)).view = view;
            }
            Input::Left { client } => {
                self.clients.remove(&client);
            }
            Input::Acknowledged { client, tick } => {
                if let Some(client) = self.clients.get_mut(&client) {
                    client.acknowledge(tick);
                }
            }
            Input::WantsFull { client } => {
                if let Some(client) = self.clients.get_mut(&client) {
                    client.forget();
                }
            }
            Input::Tick { tick } => self.tick(tick, out),
        }
    }

    /// What a client was sent so far, if there is such a client.
    #[must_use]
    pub fn account(&self, client: ClientId) -> Option<Account> {
        Some(self.clients.get(&client)?.account)
    }

    /// The oldest tick that a client may still have as its baseline; none if nobody has any.
    #[must_use]
    pub fn oldest(&self) -> Option<u32> {
        self.clients.values().filter_map(Client::oldest).min()
    }

    fn view(&mut self, view: ViewId) -> &mut Reel {
        self.views.entry(view).or_insert_with(|| {
            self.reels += 1;
            Reel::numbered(view, self.reels, self.tick)
        })
    }

    fn tick(&mut self, tick: u32, out: &mut Vec<Output>) {
        assert!(tick > self.tick, "expected a tick after {}, found {tick}", self.tick);
        let looked_at: Vec<_> = self.clients.values().map(|client| client.view).collect();
        for view in looked_at {
            self.view(view);
        }
        self.tick = tick;
        for reel in self.views.values_mut() {
            reel.tick(tick);
        }
        let mut encoded = BTreeMap::new();
        for (&id, client) in &mut self.clients {
            let reel = &self.views[&client.view];
            let baseline = client.baseline(tick).map(|base| (base.view, base.tick));
            let encoded = encoded.entry((client.view, baseline)).or_insert_with(|| {
                Arc::new(match &client.baseline {
                    Some(base) => reel.delta_from(base),
                    None => reel.present().full(),
                })
            });
            client.send(reel.present().clone(), encoded);
            out.push(Output::Frame {
                client: id,
                encoded: Arc::clone(encoded),
                baseline: baseline.map(|(_, tick)| tick),
            });
        }
    }
}

impl Client {
    fn new(view: ViewId) -> Self {
        Self { view, baseline: None, sent: VecDeque::new(), last: 0, account: Account::default() }
    }

    fn acknowledge(&mut self, tick: u32) {
        match self.sent.iter().position(|snapshot| snapshot.tick == tick) {
            Some(place) => self.baseline = self.sent.drain(..=place).next_back(),
            None if tick > self.last => {
                self.account.lies += 1;
                self.forget();
            }
            // It comes late, and a later one has come or was asked for.
            None => {}
        }
    }

    fn forget(&mut self) {
        self.baseline = None;
        self.sent.clear();
    }

    /// The baseline for a frame of this tick.
    fn baseline(&mut self, tick: u32) -> Option<&Snapshot> {
        let is_lost = |base: &Snapshot| (tick - base.tick) as usize > RING;
        if self.baseline.as_ref().is_some_and(is_lost) {
            self.baseline = None;
        }
        self.baseline.as_ref()
    }

    fn send(&mut self, snapshot: Snapshot, encoded: &Encoded) {
        if self.sent.len() == RING {
            self.sent.pop_front();
        }
        self.last = snapshot.tick;
        self.sent.push_back(snapshot);
        let bytes = (HEADER_BYTES + encoded.payload.len()) as u64;
        if self.baseline.is_some() {
            (self.account.delta, self.account.delta_frames) =
                (self.account.delta + bytes, self.account.delta_frames + 1);
        } else {
            (self.account.full, self.account.full_frames) = (self.account.full + bytes, self.account.full_frames + 1);
        }
    }

    fn oldest(&self) -> Option<u32> {
        self.baseline.iter().chain(self.sent.front()).map(Snapshot::tick).min()
    }
}
