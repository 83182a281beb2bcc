//! Settings in, a running server out.

use std::{sync::Arc, time::Duration};

use axum::Router;
use tokio_stream::{StreamExt, wrappers::TcpListenerStream};
use tokio_util::sync::CancellationToken;
use tonic::{codec::CompressionEncoding, service::Routes, transport};
use toolgate_api_proto::v1::{
    tool_gateway_server::ToolGatewayServer, tool_governance_server::ToolGovernanceServer,
};
use toolgate_call_log::CallLog;
use toolgate_catalog::{
    Catalog,
    server_tools::ServerTools,
    sync::{SyncLimits, Syncs},
};
use toolgate_config::{PrivateAddresses, Settings};
use toolgate_gateway::Gateway;
use toolgate_governance::Governance;
use toolgate_grpc_api::{
    CatalogServer, CatalogService, Gate, GatewayService, GovernanceService, Health, MAX_CALL_REQUEST_BYTES,
    MAX_REQUEST_BYTES, reflection,
};
use toolgate_http_facade::FacadeSettings;
use toolgate_identity::Authenticator;
use toolgate_lifecycle::{Readiness, Shutdown};
use toolgate_mcp_face::McpSettings;
use toolgate_outbound::{Outbound, Private};
use toolgate_sealing::Sealer;
use toolgate_store::SharedStore;
use toolgate_upstream::Bounds;
use toolgate_upstream_mcp::{McpServers, StdioAllow};
use toolgate_upstream_oxp::OxpServers;

use crate::{
    admin,
    ambient::{SystemClock, SystemEntropy},
    bootstrap::{Operator, bootstrap},
    connections::{self, HEAD_DEADLINE, KEEPALIVE_EVERY, KEEPALIVE_TIMEOUT},
    data::{Engine, call_log, prepare},
    failure::Failure,
    listeners::{Addresses, Listeners},
    metrics::{self, Metrics},
    observed_calls::{ObservedLog, ObservedServers},
    opening::Opening,
    request_spans::{in_call_spans, in_callers_trace},
    upstreams::Upstreams,
};

/// How often the store is asked whether it is well.
const STORE_CHECK_EVERY: Duration = Duration::from_secs(1);
/// Longest pause before what could not be read at the start is tried again.
const LONGEST_PAUSE: Duration = Duration::from_secs(60);

/// A server that takes work.
pub(crate) struct Running {
    pub(crate) addresses: Addresses,
    pub(crate) operator: Operator,
    pub(crate) shutdown: Shutdown,
    store: SharedStore,
}

impl Running {
    /// Starts everything. When it answers, work is taken.
    pub(crate) async fn start(settings: &Settings) -> Result<Self, Failure> {
        let readiness = Readiness::default();
        let shutdown = Shutdown::new(readiness.clone());
        let listeners = Listeners::bind(settings).await?;
        let addresses = listeners.addresses(settings);
        let Listeners { http, grpc, admin } = listeners;
        let soft = shutdown.soft().clone();
        let metrics = Metrics::new();
        let admin_router = admin::router(readiness.clone(), metrics.clone());
        shutdown.spawn("admin", connections::serve(admin, admin_router, soft.clone()));

        let (Engine { store, is_healthy }, sealer) = prepare(settings).await?;
        let calls = call_log(settings, &sealer)?;
        let Services { governance, gateway, gate } =
            services(settings, &store, Arc::clone(&sealer), &calls, &metrics)?;
        if !governance.is_under_this_master_key().await.map_err(Failure::Prepare)? {
            return Err(Failure::ForeignMasterKey(settings.master_key_path()));
        }
        metrics.show_syncs(Arc::clone(governance.syncs().tally()));
        let operator = bootstrap(&governance, settings).await?;
        let catalog = governance.catalog().clone();
        let kept_for = Duration::from_secs(settings.server_tools.keep_seconds.into());
        let server_tools = ServerTools::new(&catalog, governance.syncs(), kept_for);
        let catalog_service = CatalogService::new(catalog, server_tools, gate.clone(), soft.clone());
        let gateway_service = GatewayService::new(gateway, gate.clone());
        let governance_service = GovernanceService::new(governance.clone(), calls, gate);

        let (health, health_service) = Health::new().await;
        let reflection = reflection().map_err(|error| Failure::Reflection(error.to_string()))?;
        let (reflection, reflection_v1alpha) = reflection;
        let services = Routes::new(health_service)
            .add_service(reflection)
            .add_service(reflection_v1alpha)
            .add_service(CatalogServer::new(catalog_service.clone()))
            .add_service(
                ToolGatewayServer::new(gateway_service.clone())
                    .max_decoding_message_size(MAX_CALL_REQUEST_BYTES)
                    .accept_compressed(CompressionEncoding::Gzip)
                    .send_compressed(CompressionEncoding::Gzip),
            )
            .add_service(
                ToolGovernanceServer::new(governance_service)
                    .max_decoding_message_size(MAX_REQUEST_BYTES)
                    .accept_compressed(CompressionEncoding::Gzip)
                    .send_compressed(CompressionEncoding::Gzip),
            );
        let services = in_callers_trace(in_call_spans(services.into_axum_router(), metrics.clone()));
        let router = transport::Server::builder()
            .http2_keepalive_interval(Some(KEEPALIVE_EVERY))
            .http2_keepalive_timeout(Some(KEEPALIVE_TIMEOUT))
            .add_routes(Routes::from(services));
        let incoming = TcpListenerStream::new(grpc)
            .map(|accepted| accepted.map(|stream| Opening::new(stream, HEAD_DEADLINE)));
        shutdown.spawn("grpc", router.serve_with_incoming_shutdown(incoming, soft.clone().cancelled_owned()));

        let http_router = metrics::counted(
            http_router(
                settings,
                Arc::new(catalog_service),
                Arc::new(gateway_service),
                sealer,
                readiness.clone(),
            ),
            metrics,
        );
        let http_router = in_callers_trace(http_router);
        shutdown.spawn("http", connections::serve(http, http_router, soft.clone()));

        shutdown.spawn("health", tell_health(health, readiness.clone()));
        shutdown.spawn("store", watch_store(is_healthy, readiness.clone(), soft.clone()));
        shutdown.spawn("syncs", begin_syncs(governance, soft));
        readiness.ready();
        Ok(Self { addresses, operator, shutdown, store })
    }

    /// Closes the store, after everything that uses it has ended.
    pub(crate) async fn close(self) {
        if let Err(error) = self.store.close().await {
            tracing::error!(error = %error, "the store did not close well");
        }
    }
}

/// What the services of the contract work with.
struct Services {
    governance: Governance,
    gateway: Gateway,
    gate: Gate,
}

fn services(
    settings: &Settings,
    store: &SharedStore,
    sealer: Arc<Sealer>,
    calls: &Arc<CallLog>,
    metrics: &Metrics,
) -> Result<Services, Failure> {
    let private = match settings.outbound.private {
        PrivateAddresses::Declared => Private::Declared,
        PrivateAddresses::Never => Private::Never,
    };
    let words =
        settings.outbound.stdio_allow.iter().map(|command| command.words().map(String::from).collect());
    let outbound = Outbound::new(private)?;
    let mcp = McpServers::new(outbound.clone(), StdioAllow::new(words.collect())?);
    let servers = Arc::new(Upstreams { mcp, oxp: OxpServers::new(outbound) });
    let (clock, entropy) = (Arc::new(SystemClock), Arc::new(SystemEntropy));
    let catalog = Catalog::new(Arc::clone(store));
    let limits = sync_limits(settings);
    let syncs = Syncs::new(&catalog, servers.clone(), Arc::clone(&sealer), clock.clone(), limits);
    let authenticator = Authenticator::new(Arc::clone(store), Arc::clone(&sealer), clock.clone());
    let gate = Gate::new(authenticator, Arc::clone(&sealer), entropy.clone());
    let gateway = Gateway::new(
        catalog.clone(),
        syncs.clone(),
        Arc::new(ObservedServers { servers: servers.clone(), metrics: metrics.clone() }),
        Arc::clone(&sealer),
        clock.clone(),
        Arc::new(ObservedLog { log: Arc::clone(calls), metrics: metrics.clone() }),
    );
    let governance = Governance::new(catalog, syncs, servers, sealer, clock, entropy);
    Ok(Services { governance, gateway, gate })
}

/// The documented shapes and the MCP endpoint, on one listener and behind one guard.
fn http_router(
    settings: &Settings,
    catalog: Arc<CatalogService>,
    gateway: Arc<GatewayService>,
    sealer: Arc<Sealer>,
    readiness: Readiness,
) -> Router {
    let public_url = settings.http.public_url.as_ref();
    let public_host = public_url.and_then(|url| url.host_str()).map(str::to_owned);
    let melbis_grant: Arc<str> = settings.http.melbis_grant.as_str().into();
    let mcp = McpSettings {
        public_origin: public_url.map(|url| url.origin().ascii_serialization()),
        version: env!("CARGO_PKG_VERSION"),
        sealer,
        random: Arc::new(random),
        melbis_grant: Arc::clone(&melbis_grant),
    };
    let facade = FacadeSettings {
        allowed_hosts: settings.http.allowed_hosts.iter().cloned().chain(public_host).collect(),
        random: Arc::new(random),
        takes_work: Arc::new(move || readiness.state().takes_work()),
        melbis_grant,
    };
    let beside = toolgate_mcp_face::routes(Arc::clone(&catalog), Arc::clone(&gateway) as Arc<_>, mcp);
    toolgate_http_facade::router(catalog, gateway, facade, beside)
}

fn sync_limits(settings: &Settings) -> SyncLimits {
    let ms = |ms: u32| Duration::from_millis(ms.into());
    let listing = Bounds {
        connect_timeout: ms(settings.sync.connect_timeout_ms),
        answer_timeout: ms(settings.sync.answer_timeout_ms),
        total_timeout: ms(settings.sync.listing_timeout_ms),
        ..SyncLimits::default().listing
    };
    let interval = Duration::from_secs(settings.sync.interval_seconds.into());
    SyncLimits { listing, interval, ..SyncLimits::default() }
}

pub(crate) fn random() -> u64 {
    let mut bytes = [0; 8];
    SystemEntropy::fill(&mut bytes);
    u64::from_be_bytes(bytes)
}

/// Repeats readiness on the gRPC health service, to the end of the process.
async fn tell_health(health: Health, readiness: Readiness) -> Result<(), Failure> {
    let mut states = readiness.subscribe();
    loop {
        let state = states.borrow_and_update().clone();
        health.set(state.takes_work()).await;
        if state.phase == toolgate_lifecycle::Phase::Draining || states.changed().await.is_err() {
            return Ok(());
        }
    }
}

async fn watch_store(
    is_healthy: Box<dyn Fn() -> bool + Send + Sync>,
    readiness: Readiness,
    soft: CancellationToken,
) -> Result<(), Failure> {
    loop {
        if is_healthy() {
            readiness.recover("store");
        } else {
            readiness.degrade("store", "commits are refused: the disk is full, or the engine died");
        }
        tokio::select! {
            () = soft.cancelled() => return Ok(()),
            () = tokio::time::sleep(STORE_CHECK_EVERY) => {}
        }
    }
}

/// Begins to sync every upstream that the store knows, and goes on sweeping what was deleted. What cannot be read now is
/// tried again.
async fn begin_syncs(governance: Governance, soft: CancellationToken) -> Result<(), Failure> {
    let begin = async || {
        governance.syncs().keep_all(governance.catalog()).await?;
        governance.resume_sweeps().await
    };
    let (mut told, mut pause) = (None, STORE_CHECK_EVERY);
    while let Err(fault) = begin().await {
        if told.as_ref() != Some(&fault) {
            tracing::error!(fault = ?fault, "what is to be synced and swept cannot all be read");
            told = Some(fault);
        }
        tokio::select! {
            () = soft.cancelled() => break,
            () = tokio::time::sleep(pause) => {}
        }
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
    Ok(())
}
