//! `unpark`: a parked entity goes on.

use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use slipgate_proto::admin::EntityRow;

use super::console::{Console, printable};
use super::failure::Failure;
use crate::admin::body::UnparkBody;
use crate::client::{Client, segment};

/// Options of `unpark`.
#[derive(Args, Clone, Debug)]
pub struct UnparkArgs {
    /// An id, a unique prefix of one, or a unique label
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    pub entity: String,
}

/// Lets a parked entity take messages again, with the state that its handler left.
///
/// # Errors
///
/// If there is no answer, no such entity, or it is not parked.
pub fn run(args: &UnparkArgs, client: &Client, console: &mut Console<'_>) -> Result<(), Failure> {
    let timeout_ms = u64::try_from(client.timeout().as_millis()).unwrap_or(u64::MAX);
    let path = format!("/api/v1/entities/{}/unpark", segment(&args.entity));
    let row: EntityRow = client.post(&path, &UnparkBody { timeout_ms })?;
    let name = row.label.as_ref().unwrap_or(&row.entity);
    let text = format!("{name} takes messages again in {}@{}", row.scene, row.node);
    Ok(console.object(&row, || printable(&text))?)
}
