use toolgate_api_proto::v1::ApiKey;
use toolgate_cli::Exit;

use crate::double::Script;
use crate::{Double, id};

#[tokio::test]
async fn a_new_key_is_the_only_thing_on_standard_output() {
    let double = Double::start(Script::default()).await;
    let ended =
        double.run(&["key", "create", "--scope", "mcp:read", "--expires-in", "1h", "--operator"]).await;
    assert_eq!(ended.out, "tg_5_secret\n");
    let note = format!(
        "key {} of client {} with mcp:read until 1970-01-01T01:00:00Z; it cannot be shown again\n",
        id(5),
        id(0)
    );
    assert_eq!(ended.err, note);
}

#[tokio::test]
async fn keys_are_listed_with_their_ends_and_revoked_by_id() {
    let key = ApiKey {
        id: id(5),
        client_id: id(0),
        display_name: "ci\u{1b}[2J".into(),
        scopes: vec!["mcp:read".into(), "mcp:call".into()],
        operator: true,
        create_time: Some(Default::default()),
        revoke_time: Some(Default::default()),
        ..Default::default()
    };
    let double = Double::start(Script { api_keys: vec![key], ..Default::default() }).await;

    let listed = double.run(&["key", "list"]).await;
    assert!(listed.out.contains("mcp:read,mcp:call (operator)  1970-01-01T00:00:00Z  -"), "{}", listed.out);
    assert!(!listed.out.contains('\u{1b}'));

    let revoked = double.run(&["key", "revoke", &id(5)]).await;
    assert_eq!(revoked.out, format!("revoked {}\n", id(5)));
    let unknown = double.run(&["key", "revoke", &id(6)]).await;
    assert_eq!(unknown.exit, Exit::NotFound);
    assert!(unknown.err.contains("toolgate key list"), "{}", unknown.err);
}
