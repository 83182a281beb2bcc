//! Health for each service, and reflection.

use tonic_health::{
    ServingStatus,
    pb::health_server::{Health as HealthApi, HealthServer},
    server::{HealthReporter, health_reporter},
};
use tonic_reflection::server::{Builder, Error, v1, v1alpha};
use toolgate_api_proto::FILE_DESCRIPTOR_SET;

use crate::rpc::RULES;

/// Tells the health service what to say.
#[derive(Debug, Clone)]
pub struct Health {
    reporter: HealthReporter,
}

impl Health {
    /// With the service itself (`grpc.health.v1`). Not serving yet: the services alone and the server as a whole (the empty name).
    pub async fn new() -> (Self, HealthServer<impl HealthApi>) {
        let (reporter, service) = health_reporter();
        let health = Self { reporter };
        health.set(false).await;
        (health, service)
    }

    /// Says of every service whether it takes work.
    pub async fn set(&self, serving: bool) {
        let status = if serving { ServingStatus::Serving } else { ServingStatus::NotServing };
        self.reporter.set_service_status("", status).await;
        for rule in RULES {
            self.reporter.set_service_status(rule.service, status).await;
        }
    }
}

/// Server reflection over everything that is served: `grpc.reflection.v1`, and `v1alpha`, the only one that many clients
/// know, `grpcio-reflection` among them.
///
/// # Errors
/// When the committed descriptor set cannot be read.
pub fn reflection() -> Result<
    (
        v1::ServerReflectionServer<impl v1::ServerReflection>,
        v1alpha::ServerReflectionServer<impl v1alpha::ServerReflection>,
    ),
    Error,
> {
    let described = || {
        Builder::configure()
            .register_encoded_file_descriptor_set(FILE_DESCRIPTOR_SET)
            .register_encoded_file_descriptor_set(tonic_health::pb::FILE_DESCRIPTOR_SET)
    };
    Ok((described().build_v1()?, described().build_v1alpha()?))
}
