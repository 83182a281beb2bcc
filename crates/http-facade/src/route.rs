use std::sync::Arc;

use axum::routing::MethodRouter;
use toolgate_api_proto::v1::tool_catalog_server::ToolCatalog;

use crate::body_cache::BodyCache;
use crate::settings::FacadeSettings;
use crate::{document, melbis, oxp, prisme, roar};

/// A documented route. The router is built from [`Route::ALL`] and answers nothing else.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Route {
    /// The catalogue of the caller's client, in the Roar shape.
    RoarTools,
    /// What the server behind an agent's tool lists at this moment, in the Prisme shape.
    PrismeCapabilities,
    /// The same under the base URL that Prisme documents.
    PrismeWebhookCapabilities,
    /// What the caller may use, in the OXP 1.0 shape.
    OxpTools,
    /// A call of a tool, in the OXP 1.0 shape.
    OxpCall,
    /// Whether the process takes work, as OXP asks it. Open to everybody.
    OxpHealth,
    /// What the caller may use and what else there is, in the Melbis shape.
    MelbisToolList,
    /// The OpenAPI document of all of them. Open to everybody.
    Document,
}

impl Route {
    /// Every route.
    pub const ALL: &[Self] = &[
        Self::RoarTools,
        Self::PrismeCapabilities,
        Self::PrismeWebhookCapabilities,
        Self::OxpTools,
        Self::OxpCall,
        Self::OxpHealth,
        Self::MelbisToolList,
        Self::Document,
    ];

    /// The path, its parameters in braces.
    pub const fn path(self) -> &'static str {
        match self {
            Self::RoarTools => roar::PATH,
            Self::PrismeCapabilities => prisme::PATH,
            Self::PrismeWebhookCapabilities => prisme::WEBHOOK_PATH,
            Self::OxpTools => oxp::TOOLS_PATH,
            Self::OxpCall => oxp::call::PATH,
            Self::OxpHealth => oxp::HEALTH_PATH,
            Self::MelbisToolList => melbis::PATH,
            Self::Document => document::PATH,
        }
    }

    pub(crate) fn methods<C: ToolCatalog>(
        self,
        catalog: &Arc<C>,
        gateway: &oxp::call::Gateway,
        bodies: &Arc<BodyCache>,
        settings: &FacadeSettings,
    ) -> MethodRouter {
        match self {
            Self::RoarTools => roar::methods(Arc::clone(catalog), Arc::clone(bodies)),
            Self::PrismeCapabilities | Self::PrismeWebhookCapabilities => {
                prisme::methods(Arc::clone(catalog))
            }
            Self::OxpTools => oxp::tools(Arc::clone(catalog), Arc::clone(bodies)),
            Self::OxpCall => oxp::call::methods(Arc::clone(gateway), Arc::clone(&settings.random)),
            Self::OxpHealth => oxp::health(Arc::clone(&settings.takes_work)),
            Self::MelbisToolList => {
                melbis::methods(Arc::clone(catalog), Arc::clone(bodies), Arc::clone(&settings.melbis_grant))
            }
            Self::Document => document::methods(),
        }
    }
}
