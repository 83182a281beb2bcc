use std::sync::Arc;

use axum::routing::MethodRouter;
use toolgate_api_proto::v1::tool_catalog_server::ToolCatalog;

use crate::body_cache::BodyCache;
use crate::roar;

/// A documented route. The router is built from [`Route::ALL`] and answers nothing else.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Route {
    /// The catalogue of the caller's client, in the Roar shape.
    RoarTools,
}

impl Route {
    /// Every route.
    pub const ALL: &[Self] = &[Self::RoarTools];

    /// The path, its parameters in braces.
    pub const fn path(self) -> &'static str {
        match self {
            Self::RoarTools => roar::PATH,
        }
    }

    pub(crate) fn methods<C: ToolCatalog>(self, catalog: &Arc<C>, bodies: &Arc<BodyCache>) -> MethodRouter {
        match self {
            Self::RoarTools => roar::methods(Arc::clone(catalog), Arc::clone(bodies)),
        }
    }
}
