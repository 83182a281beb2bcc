use toolgate_cli::Exit;

use crate::double::Script;
use crate::{Double, id};

#[tokio::test]
async fn a_new_client_is_told_with_its_id_and_what_comes_next() {
    let double = Double::start(Script::default()).await;
    let made = double.run(&["client", "create", "acme"]).await;
    assert_eq!(made.out, format!("made acme  {}\n", id(7)));
    assert!(made.err.contains(&format!("key create --client {}", id(7))), "{}", made.err);
    let taken = double.run(&["client", "create", "default"]).await;
    assert_eq!(taken.exit, Exit::Conflict);
    assert!(taken.err.contains("toolgate client list"), "{}", taken.err);
    let listed = double.run(&["client", "list"]).await;
    assert!(listed.out.contains(&format!("default  {}", id(0))), "{}", listed.out);
}
