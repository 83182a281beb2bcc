//! A disk that fills up: a small file system in memory, where the test may mount one.

use std::{
    fs,
    path::Path,
    process::{Command, Stdio},
};

use tempfile::TempDir;
use tonic::Code;
use toolgate_api_proto::v1::{DisableToolRequest, EnableToolRequest};
use toolgate_test_support::{eventually::eventually, server::Server};

use crate::{
    refusal::{metadata, reason},
    report,
    steps::{approve, entry, register, sync, tool, tools},
};

/// Of the small disk; the server keeps a reserve of 64 MiB.
const DISK_MIB: usize = 128;
const MIB: usize = 1024 * 1024;

/// A file system of its own; unmounted when dropped.
struct SmallDisk(TempDir);

impl SmallDisk {
    /// `None` where nothing may be mounted.
    fn mount() -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", &format!("size={DISK_MIB}m"), "tmpfs"]).arg(folder.path());
        let mounted = mount.stdin(Stdio::null()).stderr(Stdio::null()).status();
        mounted.is_ok_and(|status| status.success()).then_some(Self(folder))
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    /// Takes all room but so much.
    fn fill(&self, left_mib: usize) {
        let free = fs_free_bytes(self.path());
        let taken = free.saturating_sub(left_mib * MIB);
        fs::write(self.path().join("filler"), vec![1; taken]).unwrap();
    }

    fn empty(&self) {
        fs::remove_file(self.path().join("filler")).unwrap();
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        // What cannot be unmounted now is a few megabytes of memory until the machine stops.
        let _ = Command::new("umount").arg("-l").arg(self.path()).status();
    }
}

fn fs_free_bytes(folder: &Path) -> usize {
    let stat = Command::new("stat").args(["-f", "-c", "%a %S"]).arg(folder).output().unwrap();
    let text = String::from_utf8(stat.stdout).unwrap();
    let (blocks, size) = text.trim().split_once(' ').unwrap();
    blocks.parse::<usize>().unwrap() * size.parse::<usize>().unwrap()
}

async fn readiness(server: &Server) -> (u16, bool) {
    let ready = server.admin("/readyz").await;
    (ready.status, ready.text().contains("the disk is full"))
}

async fn disable(server: &Server, id: &str) -> Result<(), tonic::Status> {
    let request = DisableToolRequest { id: id.into(), ..Default::default() };
    server.governance().disable_tool(request).await.map(drop)
}

#[tokio::test]
async fn a_full_disk_refuses_writes_keeps_reading_and_takes_writes_again_when_there_is_room() {
    let Some(disk) = SmallDisk::mount() else {
        return report("not run: a full disk: nothing may be mounted here");
    };
    let scripted = toolgate_test_support::mcp_server::ScriptedServer::start().await;
    scripted.list(&[entry("a", "d"), entry("b", "d")]);
    let mut server = Server::builder().on(&disk.path().join("data")).start().await;
    register(&server, "srv", &scripted.url()).await;
    sync(&server, "srv").await;
    approve(&server, &tool(&server, "srv__a").await).await.unwrap();
    let shown = tools(&server).await;
    assert_eq!(readiness(&server).await, (200, false));

    disk.fill(48);
    let id = &shown[0].id;
    let refused = disable(&server, id).await.unwrap_err();
    assert_eq!((refused.code(), reason(&refused).as_str()), (Code::Unavailable, "STORE_UNAVAILABLE"));
    assert_eq!(metadata(&refused)["outcome"], "unchanged");
    eventually("readiness is degraded", async || (readiness(&server).await == (200, true)).then_some(()))
        .await;
    assert_eq!(tools(&server).await, shown, "reading goes on");
    assert_eq!(server.get("/client/mcp/tools", &[]).await.status, 200);

    server.restart().await;
    assert_eq!(tools(&server).await, shown, "a start takes no room");
    assert_eq!(disable(&server, id).await.unwrap_err().code(), Code::Unavailable);

    disk.empty();
    disable(&server, id).await.unwrap();
    let request = EnableToolRequest { id: id.clone(), ..Default::default() };
    server.governance().enable_tool(request).await.unwrap();
    eventually("it is well again", async || (readiness(&server).await == (200, false)).then_some(())).await;
    server.restart().await;
    let now = tools(&server).await;
    assert_eq!((now.len(), now[0].state(), now[1].state()), (2, shown[0].state(), shown[1].state()));
}
