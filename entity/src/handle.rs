//! skeleton
/// x
#[derive(Debug)]
pub struct Handle;
