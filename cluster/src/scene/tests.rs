//! The rows of the scene's table, each by name, through [`Scene::handle`](super::Scene::handle) alone.

mod active;
mod arrive;
mod bounds;
mod claims;
mod close;
mod closing;
mod deciding;
mod direct;
mod driver;
mod frozen;
mod graves;
mod parked;
mod party;
mod request;
mod reserve;
mod reset;
mod settle;
mod streams;
mod terms;
mod verdicts;
