//! Messages to entities, and an entity's state on its way.

use slipgate_cluster::message::Data;

use super::{check, sample, vector};

#[test]
fn a_message_to_an_entity_has_its_bytes() {
    let handed_on = Data { hops: 1, ..sample::data(2) };
    check("data", &[vector("data.first", &sample::data(1)), vector("data.handed_on", &handed_on)]);
}

#[test]
fn a_copy_of_an_entity_and_each_of_its_parts_have_their_bytes() {
    check(
        "image",
        &[
            vector("image.identity", &sample::identity()),
            vector("image.received", &sample::received()),
            vector("image.sending", &sample::sending()),
            vector("image.whole", &sample::image()),
            vector("image.prepare", &sample::prepare()),
        ],
    );
}
