//! Clients: made by operators, each with a name of its own.

use std::num::NonZeroUsize;

use toolgate_domain::{Caller, Fault};

use crate::workbench::Workbench;

#[tokio::test]
async fn clients_are_made_by_operators_and_listed_by_name() {
    let bench = Workbench::new().await;
    let (operator, mut made) = (bench.caller(), vec!["default".to_owned()]);
    for name in ["zulu", "acme", "b-c"] {
        let client = bench.governance.create_client(&operator, name, false).await.unwrap();
        assert!(bench.governance.catalog().snapshot(client.id, None).await.is_ok());
        made.push(client.name);
    }
    made.sort();
    let (mut seen, mut last) = (Vec::new(), None);
    loop {
        let size = NonZeroUsize::new(3).unwrap();
        let page = bench.governance.list_clients(&operator, last, size).await.unwrap();
        seen.extend(page.clients.into_iter().map(|client| client.name));
        last = page.more_after;
        if last.is_none() {
            break;
        }
    }
    assert_eq!(seen, made);
}

#[tokio::test]
async fn a_name_is_given_once_and_only_by_an_operator() {
    let bench = Workbench::new().await;
    let plain = Caller { operator: false, ..bench.caller() };
    let refused = bench.governance.create_client(&plain, "acme", false).await.unwrap_err();
    assert_eq!(refused, Fault::OperatorRequired);
    let size = NonZeroUsize::MIN;
    assert!(bench.governance.list_clients(&plain, None, size).await.is_err());
    let operator = bench.caller();
    for validate_only in [true, false] {
        bench.governance.create_client(&operator, "acme", validate_only).await.unwrap();
    }
    for validate_only in [true, false] {
        let refused = bench.governance.create_client(&operator, "acme", validate_only).await.unwrap_err();
        assert_eq!(refused, Fault::ClientNameTaken { name: "acme".into() });
    }
    let refused = bench.governance.create_client(&operator, "Not a name", false).await.unwrap_err();
    assert!(matches!(refused, Fault::Invalid(_)));
}
