//! A peer that says anything that decodes: every variant, with values at the ends of what they can be.

use std::collections::BTreeMap;
use std::sync::Arc;

use slipgate_cluster::claim::{Claim, Stake, Title};
use slipgate_cluster::legacy::{Heirloom, Legacy};
use slipgate_cluster::manager::{Counter, ManagerReply, ManagerRequest, SceneNews};
use slipgate_cluster::message::{
    Control, Data, Held, Identity, Image, ManagerMessage, Message, Nonce, Parked, Prepare, Reserve, Sender, ToolMessage,
};
use slipgate_cluster::moves::{MoveId, Refusal};
use slipgate_cluster::roster::{Bereft, Born, RosterNews};
use slipgate_cluster::schema::{Part, Parts};
use slipgate_cluster::stream::{Received, SendStream, Stopped, StreamId};
use slipgate_cluster::view::Clearing;
use slipgate_cluster::{Epoch, NodeName, Now, Own, Place, Port, Record, Session, View};
use slipgate_entity::{OnlineId, PersistId, PlayerId, RangeId, SceneId, TypeName};
use slipgate_proto::codec;
use uuid::Uuid;

/// The speaker. One seed is one speech.
#[derive(Debug)]
pub(crate) struct Speaker {
    state: u64,
}

impl Speaker {
    pub(crate) fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// Splitmix64.
    fn roll(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.state ^ (self.state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub(crate) fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.roll() % end as u64).expect("below an index")
    }

    fn pick<T: Copy, const N: usize>(&mut self, items: [T; N]) -> T {
        items[self.below(N)]
    }

    pub(crate) fn number(&mut self) -> u64 {
        let any = self.roll();
        self.pick([0, 1, 2, 3, 5, 64, 1 << 32, 1 << 62, u64::MAX - 1, u64::MAX, any])
    }

    pub(crate) fn entity(&mut self) -> OnlineId {
        let range = self.pick([1, 1, 1, 2, 9, u32::MAX]);
        let counter = self.pick([0, 1, 2, 3, 4, 5, 6, 1_000_000, u32::MAX]);
        OnlineId::new(RangeId(range), counter)
    }

    pub(crate) fn session(&mut self) -> Session {
        self.pick([Session::new(1, 1), Session::new(2, 1), Session::new(2, 2), Session::new(u16::MAX, u32::MAX)])
    }

    pub(crate) fn own(&mut self) -> Own {
        Own::new(self.session(), self.scene())
    }

    fn scene(&mut self) -> SceneId {
        SceneId(self.pick([0, 1, 2, u32::from(u16::MAX), 1 << 16, u32::MAX]))
    }

    pub(crate) fn place(&mut self) -> Place {
        let scene = self.scene();
        let ports = [
            Port::Scene(scene),
            Port::Router(0),
            Port::Router(9),
            Port::Directory,
            Port::Manager,
            Port::Member,
            Port::Admin,
        ];
        Place { session: self.session(), port: self.pick(ports) }
    }

    pub(crate) fn epoch(&mut self) -> Epoch {
        let term = self.pick([0, 0, 0, 0, 1, u32::MAX]);
        Epoch::new(term, self.pick([0, 1, 2, 3, 4, 7, u32::MAX - 1, u32::MAX]))
    }

    fn base(&mut self) -> Epoch {
        let any = self.epoch();
        self.pick([Epoch::ZERO, Epoch::ZERO, any])
    }

    pub(crate) fn record(&mut self) -> Record {
        let owner = self.own();
        let me = Own::new(Session::new(1, 1), SceneId(1));
        let owner = self.pick([None, Some(owner), Some(owner), Some(me)]);
        let (epoch, data) = (self.epoch(), self.epoch());
        let (data, lost) = (self.pick([data, epoch, Epoch::FIRST]), self.pick([false, true]));
        Record { owner, epoch, data, lost, base: self.base() }
    }

    fn nonce(&mut self) -> Nonce {
        Nonce(self.number())
    }

    fn id(&mut self) -> MoveId {
        MoveId(Uuid::from_u128(u128::from(self.pick([0, 1, 2, 3, u64::MAX]))))
    }

    fn stream(&mut self) -> StreamId {
        StreamId { opened_at: self.place(), generation: self.number() }
    }

    fn type_name(&mut self) -> TypeName {
        let name = self.pick(["walker", "walker", "walker", "", "nobody", "\u{1b}[2J"]);
        TypeName(name.repeat(self.pick([1, 1, 1, 1000])))
    }

    fn payload(&mut self) -> Vec<u8> {
        vec![7; self.pick([0, 1, 10, 300])]
    }

    fn sender(&mut self) -> Sender {
        let (entity, session) = (Sender::Entity(self.entity()), Sender::Tool(self.session()));
        self.pick([entity, session])
    }

    pub(crate) fn data(&mut self) -> Data {
        Data {
            entity: self.entity(),
            stream: self.stream(),
            seq: self.number(),
            sender: self.sender(),
            reply_to: self.place(),
            hops: self.pick([0, 7, 8, 255]),
            payload: Arc::from(self.payload()),
            base: self.base(),
            epoch: self.epoch(),
        }
    }

    /// Tables with any numbers, as only their bytes can carry them.
    fn image(&mut self) -> Image {
        let open: BTreeMap<Sender, (StreamId, u64, Place, Epoch, Option<Stopped>)> = (0..self.below(4))
            .map(|_| {
                let stopped = self.pick([None, None, Some(Stopped::Failed), Some(Stopped::Parked)]);
                (self.sender(), (self.stream(), self.number(), self.place(), self.epoch(), stopped))
            })
            .collect();
        let floors: BTreeMap<Place, (u64, u64)> =
            (0..self.below(3)).map(|_| (self.place(), (self.number(), self.number()))).collect();
        let wide: BTreeMap<Session, (u64, u64)> =
            (0..self.below(2)).map(|_| (self.session(), (self.number(), self.number()))).collect();
        let received = (open, floors, wide, self.number(), self.pick([0, 0, u64::MAX]), self.number());
        let sending: Vec<_> = (0..self.below(3))
            .map(|_| {
                let unacked: Vec<Vec<u8>> = (0..self.below(4)).map(|_| self.payload()).collect();
                let known = (self.own(), self.epoch(), self.base());
                (self.stream(), self.entity(), self.number(), unacked, self.pick([None, Some(known)]))
            })
            .collect();
        let label = self.pick([None, Some("ann"), Some(""), Some("\n")]);
        Image {
            identity: Identity {
                type_name: self.type_name(),
                type_version: self.pick([0, 1, 1, u16::MAX]),
                label: label.map(|label| label.repeat(self.pick([1, 1, 100]))),
                persist: PersistId(Uuid::from_u128(1)),
                player: PlayerId::NONE,
            },
            body: self.payload(),
            received: reread::<_, Received>(&received),
            sending: reread::<_, Vec<SendStream>>(&sending),
            base: self.base(),
            parked: self
                .pick([None, None, Some("ow"), Some("")])
                .map(|why| Parked { why: why.repeat(self.pick([1, 1, 1_000])), since_ms: self.number() }),
        }
    }

    pub(crate) fn prepare(&mut self) -> Prepare {
        Prepare { entity: self.entity(), id: self.id(), from: self.own(), label: self.epoch(), image: self.image() }
    }

    fn parts(&mut self) -> Parts {
        let own = Part { name: self.type_name(), version: self.pick([0, 1, 1]) };
        let components = (0..self.pick([0, 0, 1, 63])).map(|_| Part { name: self.type_name(), version: 1 }).collect();
        Parts::new(own, components).expect("at most 64 parts")
    }

    fn refusal(&mut self) -> Refusal {
        match self.below(7) {
            6 => Refusal::Vetoed { reason: "no".repeat(self.pick([0, 1, 10_000])) },
            0 => Refusal::NoScene { scene: SceneId(9) },
            1 => Refusal::NoType { type_name: self.type_name() },
            2 => Refusal::TooLarge { bytes: self.number(), bytes_max: self.number() },
            3 => Refusal::Full { capacity: u32::MAX },
            4 => Refusal::AlreadyThere,
            _ => Refusal::Unreadable { reason: "no".repeat(self.pick([0, 1, 10_000])) },
        }
    }

    /// What only the home of an entity may say. A link lets nobody else say it.
    pub(crate) fn word_of_a_home(&mut self) -> Control {
        let (entity, record, nonce) = (self.entity(), self.record(), self.nonce());
        match self.below(8) {
            0 => Control::NotHome { entity, nonce },
            _ => Control::RecordIs { entity, record, nonce: self.pick([None, Some(nonce), Some(nonce)]) },
        }
    }

    /// Anything else.
    pub(crate) fn control(&mut self) -> Control {
        let (entity, id, stream, epoch, nonce) = (self.entity(), self.id(), self.stream(), self.epoch(), self.nonce());
        match self.below(23) {
            21 => Control::Release { entity, id },
            0 => Control::Cas { entity, owner: self.own(), epoch, new: self.record(), nonce },
            1 => Control::Query { entity, nonce },
            2 => Control::Reclaim { entity, me: self.own(), nonce },
            3 => Control::Ack { entity, stream, upto: self.number(), owner: self.own(), epoch, base: self.base() },
            4 => Control::Redirect { entity, stream, owner: self.own(), epoch },
            5 => Control::NotOwner { entity, stream },
            6 => {
                let (parts, bytes) = (self.parts(), self.number());
                Control::Reserve(Reserve { entity, id, label: epoch, parts, bytes })
            }
            7 => Control::Reserved { entity, id, label: epoch },
            8 => Control::Refused { entity, id, label: epoch, reason: self.refusal() },
            9 => Control::IsActive { entity, id },
            10 => Control::Arrived { entity, id, epoch },
            11 => {
                let held = (0..self.below(4))
                    .map(|_| Held {
                        stream: self.stream(),
                        sender: self.sender(),
                        upto: self.number(),
                        count: self.number(),
                    })
                    .collect();
                Control::HandedOn { entity, id, held, source: self.own() }
            }
            12 => Control::AskClaims { range: entity.range(), term: self.term(), after: self.after() },
            13 => self.claims(),
            14 => Control::Close { entity, stream, sender: self.sender() },
            15 => Control::Closed { entity, stream, floor: self.number(), doubt: self.pick([false, true]) },
            16 => Control::Stopped {
                entity,
                stream,
                upto: self.number(),
                failed: self.pick([false, true]),
                owner: self.own(),
                epoch,
                base: self.base(),
            },
            17 => self.roster(),
            18 => Control::RosterNoted { number: self.number() },
            19 => Control::AskRoster { range: entity.range(), term: self.term(), after: self.after() },
            20 => Control::AskStream { entity, stream, sender: self.entity() },
            _ => Control::Settled { entity, id, delivered: self.number() },
        }
    }

    fn term(&mut self) -> u32 {
        self.pick([0, 1, 1, 1, u32::MAX])
    }

    fn after(&mut self) -> Option<OnlineId> {
        let entity = self.entity();
        self.pick([None, None, Some(entity)])
    }

    /// What a scene may say to a home that is rebuilt.
    pub(crate) fn claims(&mut self) -> Control {
        let mut entities: Vec<_> = (0..self.below(6)).map(|_| self.entity()).collect();
        if self.below(4) > 0 {
            entities.sort();
        }
        let claims = entities.into_iter().map(|entity| {
            let title = Title { epoch: self.epoch(), data: self.epoch(), base: self.base() };
            let stake = match self.below(5) {
                0 => Stake::Active(title),
                1 => Stake::Leaving { title, target: self.own(), is_late: self.pick([false, true]) },
                2 => Stake::Despawning(title),
                3 => Stake::Staged { label: self.epoch(), source: self.own(), nonce: self.nonce() },
                _ => Stake::Gone(self.record()),
            };
            Claim { entity, label: None, stake }
        });
        let claims = claims.collect();
        let (range, more) = (RangeId(self.pick([1, 1, 2])), self.below(2) == 0);
        Control::Claims { range, term: self.term(), after: self.after(), claims, more }
    }

    /// What a home may tell its witness.
    pub(crate) fn roster(&mut self) -> Control {
        let news = (0..self.below(3))
            .map(|_| {
                let born = (0..self.below(4)).map(|_| Born { entity: self.entity(), label: None }).collect();
                let dead = (0..self.below(3)).map(|_| self.entity()).collect();
                RosterNews { range: RangeId(self.pick([1, 1, 2])), term: self.term(), born, dead }
            })
            .collect();
        Control::Roster { number: self.number(), anew: self.pick([false, true]), news }
    }

    /// What a witness may say to a later home.
    pub(crate) fn bereft(&mut self) -> Control {
        let mut rows: Vec<_> =
            (0..self.below(5)).map(|_| Bereft { entity: self.entity(), label: None, home: self.session() }).collect();
        if self.below(4) > 0 {
            rows.sort_by_key(|row| row.entity);
        }
        Control::RosterIs { range: RangeId(self.pick([1, 1, 2])), term: self.term(), after: self.after(), rows }
    }

    /// What a former home may say to the next one.
    pub(crate) fn legacy(&mut self) -> Control {
        let heirloom = |entity, record| Heirloom { entity, record, label: None };
        let mut records: Vec<_> = (0..self.below(4)).map(|_| heirloom(self.entity(), self.record())).collect();
        match self.below(4) {
            0 => records.extend(records.first().map(|first| heirloom(first.entity, Record::never()))),
            1 => {}
            _ => {
                records.retain(|heirloom| heirloom.entity.range() == RangeId(1));
                records.sort_by_key(|heirloom| heirloom.entity);
            }
        }
        let page = Legacy::Page { records, more: self.below(2) == 0, absent_is_lost: false };
        let legacy = if self.below(9) == 0 { Legacy::Unknown } else { page };
        Control::Bequest { range: RangeId(1), term: self.term(), after: self.after(), legacy }
    }

    pub(crate) fn reply(&mut self) -> ManagerReply {
        let (session, request) = (self.session(), self.number());
        match self.below(5) {
            4 => ManagerReply::Scene { session, request, result: Ok(self.scene()) },
            0 => ManagerReply::Renewed { session, sent: Now(self.number()) },
            1 => {
                let range = RangeId(self.pick([0, 1, 2, u32::MAX]));
                ManagerReply::Range { session, request, counter: Counter::Online, range }
            }
            2 => ManagerReply::NotMember { session },
            _ => ManagerReply::View(Arc::new(View { version: self.number(), ..View::default() })),
        }
    }

    pub(crate) fn request(&mut self) -> ManagerRequest {
        let (session, number) = (self.session(), self.number());
        match self.below(8) {
            0 => ManagerRequest::Renew { session, sent: Now(number), version: self.number() },
            5 => {
                let name = NodeName::new(self.pick(["dungeon", "cave", "forest"])).expect("a name");
                let (node, capacity) = (self.pick([None, Some(session.node)]), self.pick([0, 1, u32::MAX]));
                ManagerRequest::OpenScene { session, request: number, name, node, capacity }
            }
            6 => {
                let clearing = self.pick([Clearing::Move, Clearing::Despawn]);
                ManagerRequest::CloseScene { session, request: number, scene: self.scene(), clearing }
            }
            7 => {
                let news =
                    self.pick([SceneNews::Opened, SceneNews::NotOpened, SceneNews::Cleared, SceneNews::Forgotten]);
                ManagerRequest::SceneIs { session, scene: self.scene(), news }
            }
            1 => ManagerRequest::Drain { session },
            2 => ManagerRequest::Resume { session },
            3 => ManagerRequest::Retire { session },
            _ => ManagerRequest::Range { session, request: number, counter: Counter::Online },
        }
    }

    /// Any message but the words of homes.
    pub(crate) fn message(&mut self) -> Message {
        match self.below(8) {
            0 => Message::Manager(ManagerMessage::Reply(self.reply())),
            1 => Message::Tool(ToolMessage::Answer { nonce: self.nonce(), answer: self.payload() }),
            2 | 3 => Message::Prepare(Arc::new(self.prepare())),
            4 | 5 => Message::Data(self.data()),
            _ => Message::Control(self.control()),
        }
    }
}

/// A value of one type from the bytes of another that is written alike.
fn reread<A: serde::Serialize, B: serde::de::DeserializeOwned>(value: &A) -> B {
    codec::decode(&codec::encode(value).expect("small")).expect("both are written alike")
}
