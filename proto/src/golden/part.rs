//! What messages are made of, and the codec's own rules by example.

use slipgate_cluster::message::{Held, Sender};
use slipgate_cluster::moves::Refusal;
use slipgate_cluster::schema::Versions;
use slipgate_cluster::{Epoch, Place, Port, Record};
use slipgate_entity::{SceneId, TypeName};

use super::{check, check_variants, sample, vector};

#[test]
fn numbers_texts_and_lists_are_written_by_the_codecs_rules() {
    check(
        "codec",
        &[
            vector("codec.u8.255", &255u8),
            vector("codec.u16.250", &250u16),
            vector("codec.u16.251", &251u16),
            vector("codec.u32.65536", &65_536u32),
            vector("codec.u64.4294967296", &4_294_967_296u64),
            vector("codec.i32.-1", &-1i32),
            vector("codec.i32.70000", &70_000i32),
            vector("codec.f32.1.5", &1.5f32),
            vector("codec.bool.true", &true),
            vector("codec.text.ann", &"ann".to_owned()),
            vector("codec.option.none", &None::<u8>),
            vector("codec.option.some", &Some(7u8)),
            vector("codec.list", &vec![1u16, 300]),
        ],
    );
}

#[test]
fn the_parts_of_messages_have_their_bytes() {
    let dead = Record { owner: None, ..sample::record() };
    let reset = Record { epoch: Epoch::new(1, 0), base: Epoch::new(1, 0), ..sample::record() };
    check(
        "part",
        &[
            vector("part.session", &sample::n1()),
            vector("part.own", &sample::forest()),
            vector("part.online_id", &sample::entity()),
            vector("part.epoch", &sample::epoch()),
            vector("part.record", &sample::record()),
            vector("part.record.dead", &dead),
            vector("part.record.reset", &reset),
            vector("part.move_id", &sample::id()),
            vector("part.place", &Place::from(sample::forest())),
            vector("part.stream_id", &sample::stream()),
            vector("part.held", &Held { stream: sample::stream(), sender: sample::data(1).sender, upto: 7, count: 2 }),
        ],
    );
}

#[test]
fn every_port_has_its_number() {
    let vectors = [
        vector("port.scene", &Port::Scene(SceneId(7))),
        vector("port.router", &Port::Router(1)),
        vector("port.directory", &Port::Directory),
        vector("port.manager", &Port::Manager),
        vector("port.member", &Port::Member),
        vector("port.admin", &Port::Admin),
    ];
    check("port", &vectors);
    check_variants::<Port>(&vectors);
}

#[test]
fn every_sender_has_its_number() {
    let vectors = [
        vector("sender.entity", &Sender::Entity(sample::entity())),
        vector("sender.tool", &Sender::Tool(sample::n2())),
    ];
    check("sender", &vectors);
    check_variants::<Sender>(&vectors);
}

#[test]
fn every_reason_to_refuse_a_copy_has_its_number() {
    let [type_name, part, component] = ["walker", "walker", "bag"].map(|name| TypeName(name.to_owned()));
    let differs = Refusal::SchemaDiffers { part, ours: 1, theirs: Versions { oldest: 2, newest: 4 } };
    let vectors = [
        vector("refusal.no_scene", &Refusal::NoScene { scene: SceneId(7) }),
        vector("refusal.no_type", &Refusal::NoType { type_name }),
        vector("refusal.schema_differs", &differs),
        vector("refusal.too_large", &Refusal::TooLarge { bytes: 2_097_152, bytes_max: 1_048_576 }),
        vector("refusal.full", &Refusal::Full { capacity: 100_000 }),
        vector("refusal.draining", &Refusal::Draining),
        vector("refusal.already_there", &Refusal::AlreadyThere),
        vector("refusal.busy", &Refusal::Busy { under_way: 4096 }),
        vector("refusal.unreadable", &Refusal::Unreadable { reason: "cut".to_owned() }),
        vector("refusal.closing", &Refusal::Closing),
        vector("refusal.not_movable", &Refusal::NotMovable),
        vector("refusal.vetoed", &Refusal::Vetoed { reason: "in combat".to_owned() }),
        vector("refusal.no_component", &Refusal::NoComponent { component }),
    ];
    check("refusal", &vectors);
    check_variants::<Refusal>(&vectors);
}
