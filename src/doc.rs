//! What the examples of this crate's documentation share: a small game, and a cluster that runs it.

use std::error::Error;

use slipgate_entity::game::Types;
pub use slipgate_entity::game::doc::{Health, Hit, Player};

use crate::{Cluster, block_on};

/// Runs an example in a cluster of two nodes, `n1` with `forest` and `n2` with `harbor`, that knows a [`Player`].
///
/// # Panics
///
/// If the example fails, or the cluster does not start or end well.
pub fn run(example: impl AsyncFnOnce(&Cluster) -> Result<(), Box<dyn Error>>) {
    let told = block_on(async {
        let types = Types::builder().entity::<Player>().build()?;
        let builder = Cluster::builder().node("n1", ["forest"]).node("n2", ["harbor"]).types(types);
        let cluster = builder.start().await?;
        example(&cluster).await?;
        Ok::<(), Box<dyn Error>>(cluster.stop().await?)
    });
    told.unwrap_or_else(|error| panic!("the example fails: {error}"));
}
