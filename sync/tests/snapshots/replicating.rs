//! Who gets a full snapshot, who a delta, and what it costs.

use std::sync::Arc;

use slipgate_sync::frame::{Encoded, HEADER_BYTES, Seen};
use slipgate_sync::reel::RING;
use slipgate_sync::{Account, Alias, ClientId, EntityState, Input, Output, Replicator, ViewId};

#[test]
fn whoever_has_acknowledged_nothing_gets_full_snapshots_until_it_does() {
    let mut node = Node::with([ANN]);
    assert_eq!([node.tick(), node.tick()], [vec![None], vec![None]]);
    node.acknowledges(ANN, 1);
    assert_eq!(node.tick(), [Some(1)]);
}

#[test]
fn a_baseline_is_the_latest_that_was_acknowledged_however_late_the_others_come() {
    let mut node = Node::with([ANN]);
    node.ticks(4);
    node.acknowledges(ANN, 3);
    node.acknowledges(ANN, 2);
    node.acknowledges(ANN, 3);
    assert_eq!(node.tick(), [Some(3)]);
}

#[test]
fn a_request_gives_a_full_snapshot_and_what_was_acknowledged_before_it_counts_no_more() {
    let mut node = Node::with([ANN]);
    node.ticks(3);
    node.acknowledges(ANN, 2);
    node.handle(Input::WantsFull { client: ANN });
    node.acknowledges(ANN, 3);
    assert_eq!(node.tick(), [None]);
    node.acknowledges(ANN, 4);
    assert_eq!(node.tick(), [Some(4)]);
}

#[test]
fn whoever_acknowledges_what_it_was_never_sent_gets_a_full_snapshot_and_is_counted() {
    let mut node = Node::with([ANN]);
    node.ticks(1);
    node.acknowledges(ANN, 1);
    node.acknowledges(ANN, 2);
    assert_eq!(node.tick(), [None]);
    assert_eq!(node.account(ANN).lies, 1);
}

#[test]
fn a_baseline_that_is_too_old_is_lost() {
    let mut node = Node::with([ANN]);
    node.ticks(1);
    node.acknowledges(ANN, 1);
    let baselines: Vec<_> = (0..=RING).map(|_| node.tick()).collect();
    assert_eq!(baselines[RING - 1], [Some(1)]);
    assert_eq!(baselines[RING], [None]);
}

#[test]
fn whoever_never_acknowledges_keeps_no_more_than_a_ring_of_ticks() {
    let mut node = Node::with([ANN]);
    let ring = u32::try_from(RING).expect("small");
    node.ticks(10 * ring);
    assert_eq!(node.replicator.oldest(), Some(9 * ring + 1));
}

#[test]
fn all_who_have_the_same_baseline_get_the_same_bytes_which_are_made_once() {
    let mut node = Node::with([ANN, BOB, CID]);
    let full = node.encoded();
    assert!(Arc::ptr_eq(&full[0], &full[1]) && Arc::ptr_eq(&full[1], &full[2]));
    node.acknowledges(ANN, 1);
    node.acknowledges(CID, 1);
    let mixed = node.encoded();
    assert!(Arc::ptr_eq(&mixed[0], &mixed[2]) && !Arc::ptr_eq(&mixed[0], &mixed[1]));
}

#[test]
fn whoever_looks_at_another_view_gets_the_difference_and_who_is_in_both_stays() {
    let mut node = Node::with([ANN]);
    let (here, there) = (VIEW, ViewId(2));
    let [both, here_alone, there_alone] = [1, 2, 3].map(Alias);
    for (view, alias) in [(here, both), (here, here_alone), (there, both), (there, there_alone)] {
        node.handle(Input::Shown { view, alias, state: EntityState::default() });
    }
    node.ticks(1);
    node.acknowledges(ANN, 1);
    node.handle(Input::Looks { client: ANN, view: there });
    let encoded = node.encoded().remove(0);
    let Ok(Seen::Delta(delta)) = Seen::read(&encoded.frame(1)) else { panic!("expected a delta over the crossing") };
    assert_eq!((delta.entries[0].alias, delta.entries.len(), delta.removed), (there_alone, 1, vec![here_alone]));
}

#[test]
fn a_view_that_is_over_is_empty_and_one_that_begins_again_is_another() {
    let mut node = Node::with([ANN]);
    let shown = |alias| Input::Shown { view: VIEW, alias, state: EntityState::default() };
    node.handle(shown(Alias(1)));
    node.ticks(1);
    node.acknowledges(ANN, 1);
    node.handle(Input::Over { view: VIEW });
    node.handle(shown(Alias(2)));
    let Ok(Seen::Delta(delta)) = Seen::read(&node.encoded()[0].frame(1)) else { panic!("expected a delta") };
    assert_eq!((delta.entries[0].alias, delta.removed), (Alias(2), vec![Alias(1)]));
}

#[test]
fn every_byte_is_counted_as_one_of_a_full_snapshot_or_of_a_delta() {
    let mut node = Node::with([ANN]);
    node.handle(Input::Shown { view: VIEW, alias: Alias(1), state: EntityState::default() });
    let bytes = |encoded: Vec<Arc<Encoded>>| (HEADER_BYTES + encoded[0].payload.len()) as u64;
    let full = bytes(node.encoded()) + bytes(node.encoded());
    node.acknowledges(ANN, 2);
    let delta = bytes(node.encoded());
    assert_eq!(node.account(ANN), Account { full, delta, full_frames: 2, delta_frames: 1, lies: 0 });
}

#[test]
fn a_client_that_has_gone_gets_nothing_and_holds_nothing() {
    let mut node = Node::with([ANN, BOB]);
    node.ticks(2);
    node.handle(Input::Left { client: ANN });
    node.acknowledges(ANN, 1);
    node.handle(Input::WantsFull { client: ANN });
    assert_eq!(node.tick(), [None]);
    node.handle(Input::Left { client: BOB });
    assert_eq!((node.tick(), node.replicator.oldest()), (vec![], None));
}

struct Node {
    replicator: Replicator,
    tick: u32,
}

impl Node {
    fn with(clients: impl IntoIterator<Item = ClientId>) -> Self {
        let mut node = Self { replicator: Replicator::default(), tick: 0 };
        clients.into_iter().for_each(|client| node.handle(Input::Looks { client, view: VIEW }));
        node
    }

    fn handle(&mut self, input: Input) {
        let mut out = Vec::new();
        self.replicator.handle(input, &mut out);
        assert!(out.is_empty(), "only a tick makes frames, found {out:?}");
    }

    fn acknowledges(&mut self, client: ClientId, tick: u32) {
        self.handle(Input::Acknowledged { client, tick });
    }

    fn frames(&mut self) -> Vec<Output> {
        self.tick += 1;
        let mut out = Vec::new();
        self.replicator.handle(Input::Tick { tick: self.tick }, &mut out);
        out
    }

    fn tick(&mut self) -> Vec<Option<u32>> {
        self.frames().into_iter().map(|Output::Frame { baseline, .. }| baseline).collect()
    }

    fn ticks(&mut self, ticks: u32) {
        (0..ticks).for_each(|_| drop(self.tick()));
    }

    fn encoded(&mut self) -> Vec<Arc<Encoded>> {
        self.frames().into_iter().map(|Output::Frame { encoded, .. }| encoded).collect()
    }

    fn account(&self, client: ClientId) -> Account {
        self.replicator.account(client).expect("a client")
    }
}

const ANN: ClientId = ClientId(1);
const BOB: ClientId = ClientId(2);
const CID: ClientId = ClientId(3);
const VIEW: ViewId = ViewId(1);
