//! `POST /tools/call`: a tool is called, in the shape of OXP 1.0.
//!
//! Backed by `ToolGateway.CallTool`. What `context` holds is not read: no credential of a caller is sent to a tool server.

mod ask;
mod refusal;
mod shape;

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodRouter, post};
use futures::StreamExt;
use http::header::{CACHE_CONTROL, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue};
use tonic::Status;
use tonic::codegen::BoxStream;
use toolgate_api_proto::v1::tool_gateway_server::ToolGateway;
use toolgate_api_proto::v1::{CallToolRequest, CallToolResponse, call_tool_response::Event};
use uuid::Builder;

use super::refusal::OxpRefusal;
use crate::answer::Fault;
use crate::envelope::Refusal;
use ask::Ask;
use refusal::CallRefusal;

pub(crate) const PATH: &str = "/tools/call";
const ALLOW: &str = "POST";

/// Who calls tools.
pub(crate) type Gateway = Arc<dyn ToolGateway<CallToolStream = BoxStream<CallToolResponse>>>;

/// The methods of [`PATH`], answered by `gateway`. Of `random` ids are made for calls that bring none.
pub(crate) fn methods(gateway: Gateway, random: Arc<dyn Fn() -> u64 + Send + Sync>) -> MethodRouter {
    let not_allowed = async || OxpRefusal::from(Refusal::method_not_allowed(ALLOW));
    post(call).fallback(not_allowed).with_state(Calls { gateway, random })
}

#[derive(Clone)]
struct Calls {
    gateway: Gateway,
    random: Arc<dyn Fn() -> u64 + Send + Sync>,
}

async fn call(State(calls): State<Calls>, request: Request) -> Response {
    calls.answer(request).await.unwrap_or_else(IntoResponse::into_response)
}

impl Calls {
    async fn answer(&self, request: Request) -> Result<Response, CallRefusal> {
        let ask = Ask::read(request, async |judged| self.judge(judged).await).await?;
        let called = self.gateway.call_tool(ask.request()).await;
        let mut events = called.map_err(|status| CallRefusal::of(&status))?.into_inner();
        let mut result = None;
        while let Some(event) = events.next().await {
            if let Some(Event::Result(last)) = event.map_err(|status| CallRefusal::of(&status))?.event {
                result = Some(last.result_json);
            }
        }
        let result = result.ok_or_else(|| Fault::NoShape("a call without an end".to_owned()))?;
        let call_id = ask.call_id.unwrap_or_else(|| self.new_id());
        let body = shape::render(&call_id, &result).map_err(|error| Fault::NoShape(error.to_string()))?;
        let headers = HeaderMap::from_iter([
            (CONTENT_TYPE, HeaderValue::from_static("application/json")),
            (CACHE_CONTROL, HeaderValue::from_static("no-store")),
        ]);
        Ok((headers, body).into_response())
    }

    /// Whether the credential is good: of a call that names no tool, nothing else is found out.
    async fn judge(&self, request: tonic::Request<CallToolRequest>) -> Result<(), Status> {
        match self.gateway.call_tool(request).await {
            Err(status) if status.code() != tonic::Code::InvalidArgument => Err(status),
            Ok(_) | Err(_) => Ok(()),
        }
    }

    fn new_id(&self) -> String {
        let bits = u128::from((self.random)()) << 64 | u128::from((self.random)());
        Builder::from_random_bytes(bits.to_be_bytes()).into_uuid().to_string()
    }
}
