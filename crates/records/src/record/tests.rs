use prost::Message;
use toolgate_definition::{Effect, locks::Locks};
use toolgate_domain::{
    AttachmentId, OxpVersion, OxpVersions, Scope,
    agent::{Attachment, AttachmentKind},
    ruling::{Act, AgentAct, Ruling},
    sync_issue::SyncIssue,
    sync_status::Health,
    tool::{Approval, EarlierTexts},
    upstream::{Auth, CallPolicy, Freshness, Isolation, NamePolicy, Protocol, Sealed, Tombstone, Transport},
};

use super::*;
use crate::chain;

const CLIENT: ClientId = ClientId::from_bytes([1; 16]);
const UPSTREAM: UpstreamId = UpstreamId::from_bytes([2; 16]);

fn at(ms: i64) -> Moment {
    Moment::from_unix_ms(ms)
}

fn upstream(transport: Transport<Sealed>) -> Record {
    Record::Upstream(Upstream {
        id: UPSTREAM,
        client: CLIENT,
        slug: "files".parse().unwrap(),
        display_name: "Files".into(),
        description: "All files.".into(),
        path: vec!["Business".into(), "Files".into()],
        transport,
        name_policy: NamePolicy::Repair,
        is_per_user: true,
        protocol: Protocol::Oxp,
        calls: CallPolicy { freshness: Freshness::Refuse, isolation: Isolation::PerSession },
        binding_epoch: 3,
        created_at: at(5),
    })
}

fn locks() -> Locks {
    Locks::parse(r#"{"n":1.0}"#).unwrap()
}

fn attachment(kind: AttachmentKind) -> Attachment {
    Attachment {
        id: AttachmentId::from_bytes([8; 16]),
        name: "files".into(),
        kind,
        display_name: "Files".into(),
        description: "d".into(),
        created_at: at(6),
    }
}

fn attachments() -> Vec<Attachment> {
    let function = AttachmentKind::Function { parameters: "{ }".into() };
    let search = AttachmentKind::FileSearch { vector_store_id: "vs_1".into() };
    [AttachmentKind::Mcp(UPSTREAM), function, search].map(attachment).into()
}

fn about_agent(act: AgentAct) -> Record {
    ruling(Act::Agent { agent: AgentId::from_bytes([3; 16]), name: "support".into(), act })
}

fn ruling(act: Act) -> Record {
    let ruling = Ruling {
        sequence: 0,
        at: at(8),
        subject: "key:x".into(),
        upstream: (!matches!(act, Act::Agent { .. } | Act::DeleteClient)).then_some(UPSTREAM),
        tool_name: "t\0u".into(),
        act,
    };
    Record::Ruling(CLIENT, chain::append(&ChainHead::EMPTY, ruling).0)
}

fn one_of_each() -> Vec<Record> {
    let fingerprint = Fingerprint::from_bytes([7; 32]);
    let issue = SyncIssue {
        code: "DUPLICATE_KEY".into(),
        tool_name: None,
        position: 4,
        path: "/inputSchema".into(),
        message: "m".into(),
        entries: 1,
    };
    let observed = Observed {
        fingerprint,
        first_seen_at: at(1),
        changed_at: at(2),
        removed_at: Some(at(3)),
        conflicted: true,
        canonical_name: Some("files__a".into()),
        binding_epoch: 3,
        earlier: EarlierTexts { kept: 3, kept_bytes: 1 << 40, dropped: 2 },
    };
    let text = Some("{\"n\": 1.0}".to_owned());
    let (seen, returned) = (
        SeenDefinition { text, first_seen_at: Some(at(1)), returned_at: None },
        SeenDefinition { text: None, first_seen_at: Some(at(1)), returned_at: Some(at(2)) },
    );
    let approval = Approval { fingerprint, binding_epoch: 9 };
    vec![
        Record::Client(CLIENT, "default".into(), at(1)),
        upstream(Transport::Http {
            url: "https://a.example/".into(),
            headers: vec![("X-A".into(), Sealed(vec![1, 2]))],
            allow_private: true,
        }),
        upstream(Transport::Stdio {
            command: "/bin/x".into(),
            args: vec!["-y".into(), String::new()],
            env: vec![("A".into(), Sealed(vec![]))],
        }),
        Record::SlugClaim(CLIENT, "files".into(), UPSTREAM),
        Record::NameClaim(
            CLIENT,
            "files__a".into(),
            Some(NameHolder { upstream: UPSTREAM, tool_name: "a".into() }),
        ),
        Record::NameClaim(CLIENT, "files__b".into(), None),
        Record::UpstreamTombstone(
            CLIENT,
            UPSTREAM,
            Tombstone {
                slug: "files".parse().unwrap(),
                deleted_at: at(6),
                subject: "key:x".into(),
                tool_count: 3,
            },
        ),
        Record::UpstreamSweep(CLIENT, UPSTREAM, true),
        Record::Listing(
            CLIENT,
            UPSTREAM,
            LastListing { entries_read: 7, protocol_version: "2025-11-25".into(), issues: vec![issue] },
        ),
        Record::Observed(CLIENT, UPSTREAM, "a".into(), observed),
        Record::Definition(CLIENT, UPSTREAM, "a".into(), fingerprint, seen),
        Record::Definition(CLIENT, UPSTREAM, "b".into(), fingerprint, returned),
        Record::Ruled(
            CLIENT,
            UPSTREAM,
            "a".into(),
            Ruled {
                approval: Some(approval),
                disabled: true,
                changed_at: Some(at(4)),
                effect: Some(Effect::Reads),
                description: Some(String::new()),
                served_name: Some("n".into()),
                locks: locks(),
                versions: OxpVersions::from_given(vec![
                    (fingerprint, OxpVersion { major: 3 }),
                    (Fingerprint::from_bytes([8; 32]), OxpVersion { major: 4 }),
                ]),
            },
        ),
        Record::Ruled(CLIENT, UPSTREAM, "a".into(), Ruled::default()),
        ruling(Act::Approve { fingerprint, binding_epoch: 1 }),
        ruling(Act::RevokeApproval),
        ruling(Act::Disable),
        ruling(Act::Enable),
        ruling(Act::SetEffect(Some(Effect::Changes))),
        ruling(Act::SetEffect(None)),
        ruling(Act::SetDescription(Some("d".into()))),
        ruling(Act::SetDescription(None)),
        ruling(Act::Rename(Some("n".into()))),
        ruling(Act::Rename(None)),
        ruling(Act::SetLocks(locks())),
        ruling(Act::SetLocks(Locks::default())),
        ruling(Act::DeleteClient),
        ruling(Act::ChangeEndpoint {
            before: "https://a.example/".into(),
            after: "/bin/x -y".into(),
            keeps_approvals: true,
        }),
        ruling(Act::DeleteUpstream { slug: "files".into(), tool_count: 3 }),
        about_agent(AgentAct::Create { display_name: "Support".into() }),
        about_agent(AgentAct::Delete),
        about_agent(AgentAct::Attach(attachments().remove(1))),
        about_agent(AgentAct::Detach { id: AttachmentId::from_bytes([8; 16]), name: "files".into() }),
        Record::Agent(Agent {
            id: AgentId::from_bytes([3; 16]),
            client: CLIENT,
            name: "support".parse().unwrap(),
            display_name: "Support".into(),
            created_at: at(5),
            updated_at: at(6),
            attachments: attachments(),
        }),
        Record::AgentName(CLIENT, "support".into(), AgentId::from_bytes([3; 16])),
        Record::AgentDeletions(CLIENT, 7),
        Record::ChainHead(CLIENT, ChainHead { sequence: 4, hash: [5; 32] }),
        Record::ApiKey(ApiKey {
            id: KeyId::from_bytes([4; 16]),
            client: CLIENT,
            display_name: "ci".into(),
            scopes: [Scope::Read, Scope::Admin].into_iter().collect(),
            operator: true,
            agent: Some(AgentId::from_bytes([3; 16])),
            digest: [6; 32],
            created_at: at(9),
            expires_at: Some(at(10)),
            revoked_at: Some(at(11)),
        }),
        Record::Status(
            CLIENT,
            UPSTREAM,
            SyncStatus {
                health: Health::Incomplete,
                last_complete_at: Some(at(1)),
                last_attempt_at: None,
                last_error: "e".into(),
                earlier_text_bytes: 5,
            },
        ),
        Record::ApiKeyOwner(KeyId::from_bytes([4; 16]), CLIENT),
        Record::ClientName("default".into(), CLIENT),
        Record::Bootstrap(KeyId::from_bytes([4; 16])),
        Record::DeletedClient(
            CLIENT,
            DeletedClient { name: "acme".into(), created_at: at(1), deleted_at: at(2), is_swept: true },
        ),
        Record::KeyCheck(Sealed(vec![3, 1])),
    ]
}

#[test]
fn every_kind_of_row_reads_back_as_written() {
    for record in one_of_each() {
        let (key, value) = record.encode();
        assert_eq!(Record::decode(&key, &value), Ok(record));
    }
}

#[test]
fn rows_from_before_there_was_a_history_are_still_read() {
    let fingerprint = Fingerprint::from_bytes([7; 32]);
    let key = Key::Definition(CLIENT, UPSTREAM, "a".into(), fingerprint);
    let (row, kept) = (stored::Definition { text: "{}".into(), ..Default::default() }, Some("{}".to_owned()));
    let seen = SeenDefinition { text: kept, first_seen_at: None, returned_at: None };
    assert_eq!(row.encode_to_vec(), b"\x0a\x02{}", "as it was written then");
    let encoded = key.encode();
    let expected = Record::Definition(CLIENT, UPSTREAM, "a".into(), fingerprint, seen);
    assert_eq!(Record::decode(&encoded, &codec::encode(&encoded, &row)), Ok(expected));

    let key = Key::Observed(CLIENT, UPSTREAM, "a".into()).encode();
    let row = stored::Observed { fingerprint: vec![7; 32], first_seen_at_ms: 1, ..Default::default() };
    let Ok(Record::Observed(.., observed)) = Record::decode(&key, &codec::encode(&key, &row)) else {
        panic!("an observed row is read as one")
    };
    assert_eq!(observed.earlier, EarlierTexts::default());
}

#[test]
fn an_upstream_from_before_users_had_credentials_has_its_own() {
    let key = Key::Upstream(CLIENT, UPSTREAM).encode();
    let http = stored::Http { url: "https://a.example/".into(), ..Default::default() };
    let transport = Some(stored::Transport::Http(http));
    let row = stored::Upstream { slug: "srv".into(), transport, ..Default::default() };
    let Ok(Record::Upstream(upstream)) = Record::decode(&key, &codec::encode(&key, &row)) else {
        panic!("an upstream is read as one")
    };
    assert_eq!(upstream.auth(), Auth::None);
}

#[test]
fn what_was_approved_before_versions_were_given_has_the_first() {
    let key = Key::Ruled(CLIENT, UPSTREAM, "a".into()).encode();
    let approval = stored::Approval { fingerprint: vec![7; 32], binding_epoch: 1 };
    let row = stored::Ruled { approval: Some(approval), ..Default::default() };
    let Ok(Record::Ruled(.., ruled)) = Record::decode(&key, &codec::encode(&key, &row)) else {
        panic!("a ruled row is read as one")
    };
    assert_eq!(ruled.versions, OxpVersions::first(Fingerprint::from_bytes([7; 32])));
}

#[test]
fn a_row_of_one_kind_cannot_be_read_as_another() {
    let rows: Vec<_> = one_of_each().iter().map(Record::encode).collect();
    for (key, _) in &rows {
        for (other, value) in &rows {
            assert!(key == other || Record::decode(key, value).is_err());
        }
    }
}

#[test]
fn a_ruling_under_another_sequence_number_is_refused() {
    let Record::Ruling(_, mut chained) = ruling(Act::Disable) else { unreachable!() };
    chained.ruling.sequence = 2;
    let payload = ledger::chained_row(&chained);
    let key = Key::Ruling(CLIENT, 1).encode();
    let error = Record::decode(&key, &codec::encode(&key, &payload)).unwrap_err();
    assert!(error.to_string().contains("sequence"), "{error}");
}
