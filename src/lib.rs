//! Entities that walk between scene servers without their players noticing.
//!
//! | module | holds |
//! |---|---|
//! | [`config`] | file, environment and flags to checked values |
//! | [`telemetry`] | log lines, for people and for machines |

pub mod config;
pub mod telemetry;
