//! What has to be on the machine before anything can run.

use std::{fs, process::Command};

use crate::{command, error::TaskError};

struct Prerequisite {
    what: &'static str,
    /// A command that succeeds exactly where the prerequisite is met.
    probe: &'static [&'static str],
    /// Debian packages that bring it; an old release may have older ones than are needed.
    debian: &'static [&'static str],
}

const PREREQUISITES: &[Prerequisite] = &[
    Prerequisite { what: "git", probe: &["git", "--version"], debian: &["git"] },
    Prerequisite { what: "a C compiler (cc)", probe: &["cc", "--version"], debian: &["build-essential"] },
    Prerequisite {
        what: "Node.js 20 or newer (node)",
        probe: &["node", "--eval", "process.exit(parseInt(process.versions.node) >= 20 ? 0 : 1)"],
        debian: &["nodejs"],
    },
    Prerequisite { what: "npm", probe: &["npm", "--version"], debian: &["npm"] },
    Prerequisite {
        what: "Python 3.11 or newer with venv (python3)",
        probe: &["python3", "-c", "import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))"],
        debian: &["python3", "python3-venv"],
    },
    #[cfg(target_os = "linux")]
    Prerequisite { what: "strace", probe: &["strace", "--version"], debian: &["strace"] },
];

/// On Debian as root installs what is missing; elsewhere, or where that did not help, names it.
pub(crate) fn require() -> Result<(), TaskError> {
    let mut missing = missing();
    let packages: Vec<_> = missing.iter().flat_map(|prerequisite| prerequisite.debian).collect();
    if !packages.is_empty() && is_debian() && is_root() {
        command::run(Command::new("apt-get").args(["update", "--quiet"]))?;
        command::run(
            Command::new("apt-get")
                .args(["install", "--quiet", "--yes", "--no-install-recommends"])
                .args(packages)
                .env("DEBIAN_FRONTEND", "noninteractive"),
        )?;
        missing = self::missing();
    }
    if missing.is_empty() {
        return Ok(());
    }
    Err(TaskError::Missing(missing.into_iter().map(describe).collect()))
}

fn describe(prerequisite: &Prerequisite) -> String {
    format!("{} (on Debian: apt-get install {})", prerequisite.what, prerequisite.debian.join(" "))
}

fn missing() -> Vec<&'static Prerequisite> {
    PREREQUISITES.iter().filter(|prerequisite| !is_met(prerequisite)).collect()
}

fn is_met(prerequisite: &Prerequisite) -> bool {
    let (program, args) = prerequisite.probe.split_first().expect("each probe names a program");
    Command::new(program).args(args).output().is_ok_and(|output| output.status.success())
}

/// Debian itself and what descends from it.
fn is_debian() -> bool {
    let release = fs::read_to_string("/etc/os-release").unwrap_or_default();
    release.lines().any(|line| {
        line.strip_prefix("ID=")
            .or_else(|| line.strip_prefix("ID_LIKE="))
            .is_some_and(|id| id.contains("debian"))
    })
}

fn is_root() -> bool {
    command::output(Command::new("id").arg("-u")).is_ok_and(|id| id == "0")
}
