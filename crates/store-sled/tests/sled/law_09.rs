//! What is acknowledged or read is on disk, seen in the system calls.

use std::{collections::HashMap, path::Path, process::Command, sync::Arc};

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

    fn says(&self, line: &str) -> bool {
        self.name == "write" && self.text.contains(&format!("\"{line}\\n\""))
    }
}

#[test]
fn law_09_an_acknowledged_commit_is_on_disk_before_the_answer() {
    if let Some(folder) = child::folder() {
        return commit_and_say(&folder);
    }
    synced_before("ACK", "law_09::law_09_an_acknowledged_commit_is_on_disk_before_the_answer");
}

#[test]
fn law_09_nobody_reads_what_is_not_on_disk() {
    if let Some(folder) = child::folder() {
        return commit_and_say(&folder);
    }
    synced_before("READ", "law_09::law_09_nobody_reads_what_is_not_on_disk");
}

/// Between the last write of a commit's data and the child's `word` about it, the file was synced to the end.
fn synced_before(word: &str, test: &str) {
    let Some(calls) = trace(test) else {
        assert!(!child::in_ci(), "strace is missing");
        return println!("NOT RUN: strace is missing");
    };
    let mut before = 0;
    for number in 0..COMMITS {
        let said = calls.iter().find(|call| call.says(&format!("{word} {number}"))).unwrap().begun;
        let written = calls.iter().filter(|call| call.is_write() && call.begun > before && call.begun < said);
        let written = written.map(|call| call.ended).max();
        let written =
            written.unwrap_or_else(|| panic!("{word} {number} was said before its data was written"));
        let synced = calls.iter().any(|call| call.is_sync() && call.begun > written && call.ended < said);
        assert!(synced, "{word} {number} was said before its data was synced");
        before = said;
    }
}

/// Commits one after the other; of each says when a reader sees it, and when it is acknowledged.
#[tokio::main]
async fn commit_and_say(folder: &Path) {
    let store = Arc::new(SledStore::open(folder, Options::default()).unwrap());
    for number in 0..COMMITS {
        let writer = store.clone();
        let commit = Commit::new().put("key", [number.to_be_bytes().as_slice(), &[7; 2048]].concat());
        let committed = tokio::spawn(async move { writer.commit(commit).await });
        while !store
            .get(b"key")
            .await
            .unwrap()
            .is_some_and(|row| row.value.starts_with(&number.to_be_bytes()))
        {
            tokio::task::yield_now().await;
        }
        child::say(&format!("READ {number}"));
        committed.await.unwrap().unwrap();
        child::say(&format!("ACK {number}"));
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
