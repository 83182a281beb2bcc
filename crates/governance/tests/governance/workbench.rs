//! Everything composed, and short words for what the tests do.

use std::{num::NonZeroUsize, sync::Arc};

use toolgate_catalog::{
    Catalog, Snapshot, ToolEntry,
    list_definitions::{ListDefinitions, ListedDefinition, list_definitions},
    sync::{HistoryLimits, Report, SyncLimits, Syncs},
    upstreams::{UpstreamDetail, UpstreamRef, get_upstream},
};
use toolgate_definition::Fingerprint;
use toolgate_domain::{
    Caller, ClientId, Fault, KeyId, Scopes, ToolId, ToolState, UpstreamId, upstream::Transport,
};
use toolgate_governance::{CreateUpstream, Governance, Rule, Ruled, Wish};
use toolgate_records::{ChainedRuling, Key, Record, chain};
use toolgate_sealing::{MasterKey, Sealer};
use toolgate_store::{SharedStore, scan_all};
use toolgate_store_memory::MemoryStore;
use toolgate_test_support::{
    ambient::{CountingEntropy, MovableClock},
    scripted_servers::{ScriptedServers, complete},
};

pub(crate) struct Workbench {
    pub(crate) store: SharedStore,
    pub(crate) clock: Arc<MovableClock>,
    pub(crate) servers: Arc<ScriptedServers>,
    sealer: Arc<Sealer>,
    history: HistoryLimits,
    pub(crate) governance: Governance,
    pub(crate) client: ClientId,
}

impl Workbench {
    pub(crate) async fn new() -> Self {
        Self::over(Arc::new(MemoryStore::new())).await
    }

    pub(crate) async fn over(store: SharedStore) -> Self {
        Self::keeping(store, HistoryLimits::default()).await
    }

    /// Keeps so much of definitions that are no longer listed.
    pub(crate) async fn keeping(store: SharedStore, history: HistoryLimits) -> Self {
        Self::with(store, Arc::default(), Arc::new(Sealer::new(&MasterKey::ephemeral())), history).await
    }

    /// As after a restart: the same store, servers and master key, everything else new.
    pub(crate) async fn restarted(&self) -> Self {
        self.replica(Arc::clone(&self.store)).await
    }

    /// Another process with the same servers and master key, over the same store as it is seen from there.
    pub(crate) async fn replica(&self, store: SharedStore) -> Self {
        Self::with(store, Arc::clone(&self.servers), Arc::clone(&self.sealer), self.history).await
    }

    async fn with(
        store: SharedStore,
        servers: Arc<ScriptedServers>,
        sealer: Arc<Sealer>,
        history: HistoryLimits,
    ) -> Self {
        let (clock, entropy) = (Arc::new(MovableClock::default()), Arc::new(CountingEntropy::default()));
        let catalog = Catalog::new(Arc::clone(&store));
        let limits = SyncLimits { history, ..SyncLimits::default() };
        let syncs = Syncs::new(&catalog, servers.clone(), Arc::clone(&sealer), clock.clone(), limits);
        let governance =
            Governance::new(catalog, syncs, servers.clone(), sealer.clone(), clock.clone(), entropy);
        let client = governance.bootstrap("a key of at least thirty-two characters").await.unwrap().client;
        Self { store, clock, servers, sealer, history, governance, client }
    }

    pub(crate) fn caller(&self) -> Caller {
        Caller {
            client: self.client,
            operator: true,
            scopes: Scopes::all(),
            agent: None,
            subject: "key:test".into(),
            key: KeyId::from_bytes([1; 16]),
            expires_at: None,
        }
    }

    /// Registers a server at a URL made of its slug, and waits for its first sync.
    pub(crate) async fn upstream(&self, slug: &str, entries: &[&str]) -> UpstreamId {
        self.servers.answers(&url(slug), complete(entries));
        let created = self.governance.create_upstream(&self.caller(), self.http(slug)).await.unwrap();
        let id = created.detail.entry.upstream.id;
        self.sync(id).await;
        id
    }

    pub(crate) fn http(&self, slug: &str) -> CreateUpstream {
        let headers = vec![("Authorization".into(), "Bearer upstream-secret".into())];
        let transport = Transport::Http { url: url(slug), headers, allow_private: false };
        let (slug, display_name) = (slug.into(), String::new());
        CreateUpstream {
            client: self.client,
            slug,
            display_name,
            description: String::new(),
            path: Vec::new(),
            transport,
            name_policy: Default::default(),
            auth: None,
            calls: Default::default(),
            protocol: Default::default(),
            validate_only: false,
        }
    }

    /// The server lists this from now on, and it is synced.
    pub(crate) async fn lists(&self, upstream: UpstreamId, slug: &str, entries: &[&str]) -> Report {
        self.servers.answers(&url(slug), complete(entries));
        self.sync(upstream).await
    }

    pub(crate) async fn sync(&self, upstream: UpstreamId) -> Report {
        let report = self.governance.syncs().sync(self.client, upstream).await.unwrap();
        self.governance.catalog().snapshot(self.client, report.revision).await.unwrap();
        report
    }

    pub(crate) async fn detail(&self, upstream: UpstreamId) -> UpstreamDetail {
        let name = UpstreamRef::Id(upstream);
        get_upstream(self.governance.catalog(), self.client, &name, None).await.unwrap().0
    }

    pub(crate) async fn snapshot(&self) -> Arc<Snapshot> {
        self.governance.catalog().snapshot(self.client, None).await.unwrap()
    }

    pub(crate) async fn tool(&self, upstream: UpstreamId, name: &str) -> Arc<ToolEntry> {
        Arc::clone(self.snapshot().await.tool(ToolId::of(upstream, name)).unwrap())
    }

    pub(crate) async fn state(&self, upstream: UpstreamId, name: &str) -> ToolState {
        self.tool(upstream, name).await.tool.state()
    }

    pub(crate) async fn hash(&self, upstream: UpstreamId, name: &str) -> Fingerprint {
        self.tool(upstream, name).await.tool.observed.fingerprint
    }

    /// What is asked for every definition of a tool.
    pub(crate) fn definitions_of(&self, upstream: UpstreamId, name: &str) -> ListDefinitions {
        ListDefinitions {
            client: self.client,
            tool: ToolId::of(upstream, name),
            only: Vec::new(),
            after: None,
            size: NonZeroUsize::MAX,
            min_revision: None,
        }
    }

    /// Every definition of a tool that was ever listed.
    pub(crate) async fn definitions(&self, upstream: UpstreamId, name: &str) -> Vec<ListedDefinition> {
        let ask = self.definitions_of(upstream, name);
        list_definitions(self.governance.catalog(), &ask).await.unwrap().definitions
    }

    pub(crate) fn wish(&self, upstream: UpstreamId, name: &str, wish: Wish) -> Rule {
        Rule {
            client: self.client,
            tool: ToolId::of(upstream, name),
            subject: "key:test".into(),
            wish,
            based_on: None,
            validate_only: false,
        }
    }

    pub(crate) async fn rule(&self, upstream: UpstreamId, name: &str, wish: Wish) -> Result<Ruled, Fault> {
        self.governance.rule(self.wish(upstream, name, wish)).await
    }

    /// Approves what is listed now.
    pub(crate) async fn approve(&self, upstream: UpstreamId, name: &str) {
        let hash = self.hash(upstream, name).await;
        self.rule(upstream, name, Wish::Approve(hash)).await.unwrap();
    }

    /// The log of rulings, after its chain was verified.
    pub(crate) async fn rulings(&self) -> Vec<ChainedRuling> {
        let (rows, _) = scan_all(self.store.as_ref(), &Key::rulings_of(self.client)).await.unwrap();
        let log: Vec<_> = rows
            .iter()
            .map(|row| match Record::decode(&row.key, &row.value).unwrap() {
                Record::Ruling(_, chained) => chained,
                other => panic!("{:?} in the log", other.key()),
            })
            .collect();
        let head = self.store.get(&Key::ChainHead(self.client).encode()).await.unwrap();
        if let Some(row) = head {
            let Record::ChainHead(_, head) = Record::decode(&row.key, &row.value).unwrap() else {
                panic!("no head where the head belongs")
            };
            chain::verify(&log, &head).unwrap();
        }
        log
    }
}

pub(crate) fn url(slug: &str) -> String {
    format!("https://{slug}.example.com/mcp")
}

/// A definition with this name and description.
pub(crate) fn definition(name: &str, description: &str) -> String {
    format!(r#"{{"name":"{name}","description":"{description}","inputSchema":{{"type":"object"}}}}"#)
}
