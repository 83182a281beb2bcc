//! Processor time and memory of another process.

use std::{fs, time::Duration};

/// Fields of `/proc/PID/stat` between the name's closing bracket and `utime`.
const FIELDS_BEFORE_UTIME: usize = 11;

/// What the process has used so far, in user and in kernel mode; `None` where there is no `/proc`.
pub(crate) fn used(pid: u32) -> Option<Duration> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name may hold anything, brackets and blanks too.
    let (_, rest) = stat.rsplit_once(')')?;
    let mut times = rest.split_whitespace().skip(FIELDS_BEFORE_UTIME);
    let ticks: u64 = times.next()?.parse::<u64>().ok()? + times.next()?.parse::<u64>().ok()?;
    Some(Duration::from_millis(ticks * 1000 / rustix::param::clock_ticks_per_second()))
}

/// Memory of the process that is resident, in MiB; `None` where there is no `/proc`.
pub(crate) fn resident_mib(pid: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    line.split_whitespace().next()?.parse::<u64>().ok().map(|kib| kib / 1024)
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;

    #[test]
    #[cfg(target_os = "linux")]
    fn work_shows_as_processor_time() {
        let (begun, own) = (Instant::now(), std::process::id());
        let before = used(own).unwrap();
        while used(own).unwrap() - before < Duration::from_millis(30) {
            assert!(begun.elapsed() < Duration::from_secs(60), "30 ms of work never show");
        }
    }
}
