use toolgate_cli::Exit;

use crate::double::Script;
use crate::{Double, Seat, id};

#[tokio::test]
async fn a_new_client_is_told_with_its_id_and_what_comes_next() {
    let double = Double::start(Script::default()).await;
    let made = double.run(&["client", "create", "acme"]).await;
    assert_eq!(made.out, format!("made acme  {}\n", id(7)));
    let next = format!("key create --client {} --scope mcp:read,mcp:write,mcp:call,mcp:admin\n", id(7));
    assert!(made.err.ends_with(&next), "{}", made.err);
    let taken = double.run(&["client", "create", "default"]).await;
    assert_eq!(taken.exit, Exit::Conflict);
    assert!(taken.err.contains("toolgate client list"), "{}", taken.err);
    let listed = double.run(&["client", "list"]).await;
    assert!(listed.out.contains(&format!("default  {}", id(0))), "{}", listed.out);
}

#[tokio::test]
async fn a_client_is_deleted_by_its_name_or_id_once_a_person_said_yes_to_what_goes() {
    let double = Double::start(Script::default()).await;
    let no = double.run_as(Seat::Person("n\n"), &["client", "delete", "acme"]).await;
    assert_eq!(no.exit, Exit::Failure);
    let what = format!("acme  {} with 2 upstreams, 30 tools, 4 keys", id(7));
    assert!(no.err.contains(&what) && no.err.contains("Delete it?"), "{}", no.err);
    assert!(double.script().deleted_clients.is_empty());
    let yes = double.run_as(Seat::Person("y\n"), &["client", "delete", &id(7)]).await;
    assert_eq!((yes.exit, yes.out), (Exit::Ok, format!("deleted: {what}\n")));
    assert_eq!(double.script().deleted_clients, [id(7)]);
}

#[tokio::test]
async fn a_script_deletes_a_client_with_yes_alone() {
    let double = Double::start(Script::default()).await;
    let unasked = double.run(&["client", "delete", "acme"]).await;
    assert_eq!(unasked.exit, Exit::Usage);
    assert!(unasked.err.contains("--yes"), "{}", unasked.err);
    let dry = double.run(&["client", "delete", "acme", "--dry-run"]).await;
    assert!(dry.out.contains("nothing was deleted"), "{}", dry.out);
    assert!(double.script().deleted_clients.is_empty());
    let done = double.run(&["client", "delete", "acme", "--yes", "--json"]).await;
    let client = format!(r#"{{"id":"{}","name":"acme"}}"#, id(7));
    let expected = format!(r#"{{"client":{client},"upstreamCount":2,"toolCount":30,"apiKeyCount":4}}"#);
    assert_eq!(done.out.trim_end(), expected);
    let unknown = double.run(&["client", "delete", "nobody", "--yes"]).await;
    assert_eq!(unknown.exit, Exit::NotFound);
    assert!(unknown.err.contains("toolgate client list"), "{}", unknown.err);
    assert_eq!(double.script().deleted_clients.len(), 1);
}
