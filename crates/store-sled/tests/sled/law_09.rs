//! What is acknowledged is on disk, seen in the system calls.

use std::{collections::HashMap, path::Path, process::Command};

use tempfile::TempDir;
use toolgate_store::{Commit, Store};
use toolgate_store_sled::{Options, SledStore};

use crate::child;

const COMMITS: usize = 40;

/// A system call of the child; the lines of the trace at which it began and ended.
#[derive(Debug)]
struct Call {
    name: String,
    text: String,
    begun: usize,
    ended: usize,
}

impl Call {
    fn is_on_data(&self) -> bool {
        self.text.contains("/db>")
    }

    fn is_write(&self) -> bool {
        self.name.contains("write") && self.is_on_data()
    }

    fn is_sync(&self) -> bool {
        matches!(self.name.as_str(), "fsync" | "fdatasync") && self.is_on_data() && self.text.ends_with("= 0")
    }

    fn is_acknowledgement(&self, number: usize) -> bool {
        self.name == "write" && self.text.contains(&format!("\"ACK {number}\\n\""))
    }
}

/// After the last write of a commit's data and before its acknowledgement, the file was synced to the end.
#[test]
fn law_09_an_acknowledged_commit_is_on_disk_before_the_answer() {
    if let Some(folder) = child::folder() {
        return commit_and_acknowledge(&folder);
    }
    let Some(calls) = trace("law_09::law_09_an_acknowledged_commit_is_on_disk_before_the_answer") else {
        assert!(!child::in_ci(), "strace is missing");
        return println!("NOT RUN: strace is missing");
    };
    let mut before = 0;
    for number in 0..COMMITS {
        let answer = calls.iter().find(|call| call.is_acknowledgement(number)).unwrap().begun;
        let written =
            calls.iter().filter(|call| call.is_write() && call.begun > before && call.begun < answer);
        let written = written.map(|call| call.ended).max();
        let written =
            written.unwrap_or_else(|| panic!("commit {number} was answered before its data was written"));
        let synced = calls.iter().any(|call| call.is_sync() && call.begun > written && call.ended < answer);
        assert!(synced, "commit {number} was answered before its data was synced");
        before = answer;
    }
}

#[tokio::main(flavor = "current_thread")]
async fn commit_and_acknowledge(folder: &Path) {
    let store = SledStore::open(folder, Options::default()).unwrap();
    for number in 0..COMMITS {
        store.commit(Commit::new().put(format!("k/{number}"), vec![7; 2048])).await.unwrap();
        child::acknowledge(&number.to_string());
    }
    store.close().await.unwrap();
}

/// The calls that write and sync, of the child that runs `test`; `None` without strace.
fn trace(test: &str) -> Option<Vec<Call>> {
    let scratch = TempDir::new().unwrap();
    let trace = scratch.path().join("trace");
    let calls = "trace=write,writev,pwrite64,pwritev,fsync,fdatasync,sync_file_range";
    let mut strace = Command::new("strace");
    strace.args(["-f", "-qq", "-y", "-s", "16", "-e", "signal=none", "-e", calls, "-o"]).arg(&trace);
    let output = strace.args(child::command(test, &scratch.path().join("store"))).output().ok()?;
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(parse(&std::fs::read_to_string(trace).unwrap()))
}

/// Joins the two halves of calls that another thread's came between.
fn parse(trace: &str) -> Vec<Call> {
    let mut calls = Vec::new();
    let mut unfinished = HashMap::new();
    for (line, text) in trace.lines().enumerate() {
        let (process, text) = text.split_once(' ').unwrap();
        let text = text.trim_start();
        if let Some(begun) = text.strip_suffix(" <unfinished ...>") {
            unfinished.insert(process, (line, begun));
        } else if text.starts_with("<... ") {
            let (begun, start) = unfinished.remove(process).unwrap();
            calls.push(call(&format!("{start}{text}"), begun, line));
        } else {
            calls.push(call(text, line, line));
        }
    }
    calls
}

fn call(text: &str, begun: usize, ended: usize) -> Call {
    let name = text.split('(').next().unwrap_or_default();
    Call { name: name.into(), text: text.into(), begun, ended }
}
