//! Open files: as many as the system lets this process have.
//!
//! A service manager or a shell often gives 1,024, which two floods of connections would use up; then a node could
//! dial nobody. The hard limit is there to be asked for, and asking is what servers do.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Raises the limit of this process to what it may be.
pub(super) fn raise_limit() {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let wanted = Some(maximum.map_or(FILES_MAX, |maximum| maximum.min(FILES_MAX)));
    if current.is_some_and(|current| Some(current) < wanted)
        && let Err(error) = setrlimit(Resource::Nofile, Rlimit { current: wanted, maximum })
    {
        tracing::info!(event = "node.files", "the limit of open files stays as it is: {error}");
    }
}

/// Far above what the gate, the links and the admin interface together may use.
const FILES_MAX: u64 = 65_536;
