use std::sync::Arc;

/// What the facade takes from whoever composes the process.
#[derive(Clone)]
pub struct FacadeSettings {
    /// Host names, without a port, that a request's `Host` and `Origin` may name besides the loopback ones. Case does
    /// not matter.
    pub allowed_hosts: Vec<String>,
    /// Draws the random number of which a correlation id is made when the request brings none.
    pub random: Arc<dyn Fn() -> u64 + Send + Sync>,
    /// Whether the process takes work: false before it does, and while it drains.
    pub takes_work: Arc<dyn Fn() -> bool + Send + Sync>,
    /// Where in the operator's program tools are made and rights to them granted, as the Melbis route tells it.
    pub melbis_grant: Arc<str>,
}
