//! A client in another language, generated from the protos as a customer would.

use tokio::process::Command;
use toolgate_api_proto::v1::ToolState;
use toolgate_test_support::server::OPERATOR_KEY;

use crate::{
    installed::{Installed, own_file},
    report,
    steps::{entry, state, sync, tool, with_scripted},
};

#[tokio::test]
async fn a_python_client_lists_approves_watches_and_is_told_of_a_stale_fingerprint() {
    let Some(installed) = Installed::find("the Python client") else { return };
    let names = ["a", "b", "moving", "d", "e"];
    let (server, scripted) = with_scripted(&names.map(|name| entry(name, "first"))).await;
    let stale = tool(&server, "srv__moving").await.definition_hash;
    scripted.list(&names.map(|name| entry(name, "second")));
    sync(&server, "srv").await;

    let output = Command::new(&installed.python)
        .arg(own_file("python/client.py"))
        .args([&server.addresses().grpc.to_string(), OPERATOR_KEY, "srv__moving", &stale])
        .env("PYTHONPATH", &installed.python_stubs)
        .kill_on_drop(true)
        .output()
        .await
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    said.lines().for_each(|line| report(&format!("python client: {line}")));
    assert_eq!(state(&server, "srv__moving").await, ToolState::Served);
}
