//! skeleton
/// x
#[derive(Debug)]
pub struct LookupError;
/// x
#[derive(Debug)]
pub struct Runtime;
