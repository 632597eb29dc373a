//! A replicator and its clients, with a network between them that loses, doubles and reorders what either says.

use std::collections::BTreeMap;

use proptest::prelude::*;
use slipgate_sync::frame::Seen;
use slipgate_sync::{Alias, ClientId, EntityState, Input, Output, Receiver, Replicator, Taken, ViewId};

use super::play::{Act, acts};

/// What happens at one tick.
#[derive(Clone, Debug)]
struct Turn {
    /// In each of the views.
    acts: [Vec<Act>; 2],
    /// Whose turn it is, and what of the things below happens.
    client: u64,
    what: What,
    /// What becomes of what is on the way, one for each, over and over.
    fates: Vec<Fate>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum What {
    Nothing,
    LooksElsewhere,
    WantsFull,
    BeginsAnew,
    /// Acknowledges what it was never sent.
    Lies,
}

#[derive(Clone, Copy, Debug)]
enum Fate {
    Arrives,
    Lost,
    Twice,
    Late,
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn nobody_ever_sees_a_state_that_never_was_and_everybody_sees_the_present_once_the_network_is_whole(
        turns in prop::collection::vec(turn(), 1..40),
    ) {
        let mut play = Play::new();
        for turn in &turns {
            play.turn(turn);
        }
        let whole = Turn { acts: [vec![], vec![]], client: 1, what: What::Nothing, fates: vec![Fate::Arrives] };
        for _ in 0..4 {
            play.turn(&whole);
        }
        for client in play.clients.values() {
            prop_assert_eq!(client.receiver.tick(), play.tick);
            prop_assert_eq!(client.receiver.sees(), &play.shown[&(client.view, play.tick)]);
        }
    }
}

fn turn() -> impl Strategy<Value = Turn> {
    let what = prop_oneof![
        6 => Just(What::Nothing),
        2 => Just(What::LooksElsewhere),
        1 => Just(What::WantsFull),
        1 => Just(What::BeginsAnew),
        1 => Just(What::Lies),
    ];
    let fate =
        prop_oneof![3 => Just(Fate::Arrives), 1 => Just(Fate::Lost), 1 => Just(Fate::Twice), 1 => Just(Fate::Late)];
    let acts = (acts(), acts()).prop_map(|(here, there)| [here, there]);
    (acts, 1..=CLIENTS, what, prop::collection::vec(fate, 1..8)).prop_map(|(acts, client, what, fates)| Turn {
        acts,
        client,
        what,
        fates,
    })
}

struct Play {
    replicator: Replicator,
    tick: u32,
    clients: BTreeMap<u64, Client>,
    /// What was to be seen, by view and tick.
    shown: BTreeMap<(ViewId, u32), BTreeMap<Alias, EntityState>>,
    present: BTreeMap<ViewId, BTreeMap<Alias, EntityState>>,
}

struct Client {
    view: ViewId,
    /// By tick: what it looked at then.
    looked: BTreeMap<u32, ViewId>,
    receiver: Receiver,
    frames: Vec<Vec<u8>>,
    acknowledgements: Vec<u32>,
}

impl Play {
    fn new() -> Self {
        let mut replicator = Replicator::default();
        let view = VIEWS[0];
        let clients = (1..=CLIENTS).map(|number| (number, Client::looking_at(view))).collect();
        for client in (1..=CLIENTS).map(ClientId) {
            replicator.handle(Input::Looks { client, view }, &mut Vec::new());
        }
        let present = VIEWS.map(|view| (view, BTreeMap::new())).into();
        Self { replicator, tick: 0, clients, shown: BTreeMap::new(), present }
    }

    fn turn(&mut self, turn: &Turn) {
        for (view, acts) in VIEWS.into_iter().zip(&turn.acts) {
            for &act in acts {
                self.act(view, act);
            }
        }
        self.do_what(turn);
        self.tick += 1;
        let mut out = Vec::new();
        self.replicator.handle(Input::Tick { tick: self.tick }, &mut out);
        for view in VIEWS {
            self.shown.insert((view, self.tick), self.present[&view].clone());
        }
        for Output::Frame { client, encoded, .. } in out {
            let client = self.clients.get_mut(&client.0).expect("a client");
            client.looked.insert(self.tick, client.view);
            client.frames.push(encoded.frame(self.tick));
        }
        let mut fates = turn.fates.iter().copied().cycle();
        for (&number, client) in &mut self.clients {
            for frame in fated(&mut client.frames, &mut fates) {
                client.hears(&frame, &self.shown);
            }
            for tick in fated(&mut client.acknowledgements, &mut fates) {
                self.replicator.handle(Input::Acknowledged { client: ClientId(number), tick }, &mut Vec::new());
            }
        }
    }

    fn act(&mut self, view: ViewId, act: Act) {
        let present = self.present.get_mut(&view).expect("a view");
        let input = match act {
            Act::Show(alias, state) => {
                present.insert(alias, state);
                Input::Shown { view, alias, state }
            }
            Act::Hide(alias) => {
                present.remove(&alias);
                Input::Hidden { view, alias }
            }
        };
        self.replicator.handle(input, &mut Vec::new());
    }

    fn do_what(&mut self, turn: &Turn) {
        let id = ClientId(turn.client);
        let client = self.clients.get_mut(&turn.client).expect("a client");
        let inputs = match turn.what {
            What::Nothing => vec![],
            What::LooksElsewhere => {
                client.view = VIEWS[usize::from(client.view == VIEWS[0])];
                vec![Input::Looks { client: id, view: client.view }]
            }
            What::WantsFull => vec![Input::WantsFull { client: id }],
            What::BeginsAnew => {
                *client = Client::looking_at(client.view);
                vec![Input::Left { client: id }, Input::Looks { client: id, view: client.view }]
            }
            What::Lies => vec![Input::Acknowledged { client: id, tick: self.tick + 1000 }],
        };
        for input in inputs {
            self.replicator.handle(input, &mut Vec::new());
        }
    }
}

impl Client {
    fn looking_at(view: ViewId) -> Self {
        let (receiver, looked) = (Receiver::default(), BTreeMap::new());
        Self { view, looked, receiver, frames: Vec::new(), acknowledgements: Vec::new() }
    }

    fn hears(&mut self, frame: &[u8], shown: &BTreeMap<(ViewId, u32), BTreeMap<Alias, EntityState>>) {
        let seen = Seen::read(frame).unwrap_or_else(|error| panic!("{error}: {frame:02x?}"));
        match self.receiver.take(seen) {
            Ok(Taken::Sees { tick }) => {
                assert_eq!(
                    self.receiver.sees(),
                    &shown[&(self.looked[&tick], tick)],
                    "a state that never was, at tick {tick}"
                );
                self.acknowledgements.push(tick);
            }
            Ok(Taken::Old { .. }) => {}
            // It acknowledged that baseline, or it would not be one; so it had it, and has forgotten it by going on.
            Err(error) => panic!("{error}"),
        }
    }
}

/// Takes what arrives now; what is late stays, behind what is said until then.
fn fated<T: Clone>(on_the_way: &mut Vec<T>, fates: &mut impl Iterator<Item = Fate>) -> Vec<T> {
    let mut arrived = Vec::new();
    let mut late = Vec::new();
    for said in on_the_way.drain(..) {
        match fates.next().expect("they go round") {
            Fate::Arrives => arrived.push(said),
            Fate::Lost => {}
            Fate::Twice => arrived.extend([said.clone(), said]),
            Fate::Late => late.push(said),
        }
    }
    // Those that are late overtake each other.
    late.reverse();
    *on_the_way = late;
    arrived
}

const CLIENTS: u64 = 3;
const VIEWS: [ViewId; 2] = [ViewId(1), ViewId(2)];
