//! What breaks under the server: files of its folder, and the room on its disk.

mod disk;

use std::{
    fs,
    path::{Path, PathBuf},
};

use tempfile::TempDir;
use toolgate_api_proto::v1::Tool;
use toolgate_test_support::{
    mcp_server::ScriptedServer,
    server::{Exited, Server},
};

use crate::{
    report,
    steps::{approve, entry, register, sync, tools},
};

/// How often something is damaged.
const TRIALS: usize = 36;

/// What is done to a file at a place.
#[derive(Debug, Clone, Copy)]
enum Damage {
    FlippedBit,
    Zeroed,
    Truncated,
    Removed,
}

impl Damage {
    fn apply(self, file: &Path, at: usize) {
        const ZEROED_BYTES: usize = 4096;
        let mut bytes = fs::read(file).unwrap();
        match self {
            Self::FlippedBit => bytes[at] ^= 0x10,
            Self::Zeroed => {
                let end = bytes.len().min(at + ZEROED_BYTES);
                bytes[at..end].fill(0);
            }
            Self::Truncated => bytes.truncate(at),
            Self::Removed => return fs::remove_file(file).unwrap(),
        }
        fs::write(file, bytes).unwrap();
    }
}

/// Files of the folder with something in them, by name.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        match entry.file_type().unwrap().is_dir() {
            true => files.extend(self::files(&entry.path())),
            false if entry.metadata().unwrap().len() > 0 => files.push(entry.path()),
            false => {}
        }
    }
    files.sort_unstable();
    files
}

/// The trials: every small file in each way, and the rest over the places of the large ones.
fn trials(folder: &Path) -> Vec<(PathBuf, Damage, usize)> {
    let len = |file: &PathBuf| usize::try_from(fs::metadata(file).unwrap().len()).unwrap();
    let (small, large): (Vec<_>, Vec<_>) = files(folder).into_iter().partition(|file| len(file) < 4096);
    let mut trials = Vec::new();
    for file in &small {
        for damage in [Damage::FlippedBit, Damage::Truncated, Damage::Removed] {
            trials.push((file.clone(), damage, len(file) / 2));
        }
    }
    let places = TRIALS - trials.len();
    for n in 0..places {
        let file = &large[n % large.len()];
        // Most of sled's file is room that is not used yet; what is in it stands at its beginning.
        let used = fs::read(file).unwrap().iter().rposition(|byte| *byte != 0).unwrap_or_default();
        let damage = [Damage::FlippedBit, Damage::Zeroed, Damage::Truncated][n % 3];
        trials.push((file.clone(), damage, used * n / places));
    }
    trials
}

/// A folder that a server filled and left, with what it showed.
async fn filled() -> (Server, Vec<Tool>) {
    let mut server = Server::start().await;
    for slug in ["one", "two", "three"] {
        let scripted = ScriptedServer::start().await;
        let entries: Vec<String> =
            (0..60).map(|n| entry(&format!("t{n:02}"), &slug.repeat(n * 10))).collect();
        scripted.list(&entries);
        register(&server, slug, &scripted.url()).await;
        sync(&server, slug).await;
    }
    for tool in tools(&server).await.iter().step_by(7) {
        approve(&server, tool).await.unwrap();
    }
    let shown = tools(&server).await;
    server.stop().await;
    (server, shown)
}

fn copy_of(folder: &Path) -> TempDir {
    let copy = tempfile::tempdir().unwrap();
    for file in files(folder) {
        let to = copy.path().join(file.strip_prefix(folder).unwrap());
        fs::create_dir_all(to.parent().unwrap()).unwrap();
        fs::copy(&file, to).unwrap();
    }
    copy
}

/// All there is, without what each start seals anew or a failed listing moves.
fn comparable(tools: Vec<Tool>) -> Vec<Tool> {
    tools.into_iter().map(|tool| Tool { etag: String::new(), ..tool }).collect()
}

/// BR-099.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_damaged_folder_is_refused_with_a_reason_or_served_whole_and_never_less() {
    let (server, shown) = filled().await;
    let shown = comparable(shown);
    let trials = trials(server.data_dir());
    assert!(trials.len() >= TRIALS);
    let control = Server::builder().on(copy_of(server.data_dir()).path()).start().await;
    assert!(comparable(tools(&control).await) == shown, "a copy without damage is served whole");
    drop(control);
    let (mut refused, mut served) = (0, 0);
    for (file, damage, at) in &trials {
        let name = file.strip_prefix(server.data_dir()).unwrap();
        let trial = format!("{} {damage:?} at {at}", name.display());
        let copy = copy_of(server.data_dir());
        damage.apply(&copy.path().join(name), *at);
        match Server::builder().on(copy.path()).try_start().await {
            Err(exited) => {
                assert_refused_well(&trial, &exited);
                refused += 1;
            }
            Ok(started) => {
                assert!(comparable(tools(&started).await) == shown, "{trial}: not what was there before");
                served += 1;
            }
        }
    }
    report(&format!(
        "damage: {} trials, {refused} refused with a reason, {served} served whole",
        trials.len()
    ));
    assert!(refused > 0, "no damage was noticed");
}

/// A code and a text that say what to do, and nothing that looks like a crash.
fn assert_refused_well(trial: &str, exited: &Exited) {
    let code = exited.code.unwrap_or_else(|| panic!("{trial}: a signal ended it: {}", exited.log));
    assert!(code != 0, "{trial}: {}", exited.log);
    let looks_like_a_crash = exited.log.contains("panicked at") || exited.log.contains("RUST_BACKTRACE");
    assert!(!looks_like_a_crash, "{trial}: {}", exited.log);
    let says_what_to_do = ["restore", "backup", "cannot open"].iter().any(|word| exited.log.contains(word));
    assert!(says_what_to_do, "{trial}: {}", exited.log);
}
