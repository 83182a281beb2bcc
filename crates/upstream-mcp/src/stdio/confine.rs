//! Resource limits of a running child. Linux alone can limit another process; elsewhere children run without.

use std::io;

use rustix::process::Pid;

/// Sets the limits, which the child's own children inherit. None is raised above what this process has itself.
#[cfg(target_os = "linux")]
pub(super) fn limit(child: Pid) -> io::Result<()> {
    use rustix::process::{Resource, Rlimit, getrlimit, prlimit};

    use crate::limits::{CHILD_CPU_SECONDS, CHILD_DATA_BYTES, CHILD_FILE_BYTES, CHILD_OPEN_FILES};

    for (resource, most) in [
        (Resource::Nofile, CHILD_OPEN_FILES),
        (Resource::Cpu, CHILD_CPU_SECONDS),
        (Resource::Fsize, CHILD_FILE_BYTES),
        (Resource::Data, CHILD_DATA_BYTES),
        (Resource::Core, 0),
    ] {
        let most = Some(getrlimit(resource).maximum.map_or(most, |inherited| most.min(inherited)));
        prlimit(Some(child), resource, Rlimit { current: most, maximum: most })?;
    }
    Ok(())
}

#[cfg(not(target_os = "linux"))]
pub(super) fn limit(_child: Pid) -> io::Result<()> {
    Ok(())
}
