//! `ToolCatalog` on the wire: the generated server, but for `ListTools`, whose pages are sent as they were encoded once.

use std::{
    convert::Infallible,
    marker::PhantomData,
    sync::Arc,
    task::{Context, Poll},
};

use bytes::{BufMut, Bytes};
use tonic::{
    Request, Response, Status,
    codec::{Codec, CompressionEncoding, EnabledCompressionEncodings, EncodeBuf, Encoder},
    codegen::{BoxFuture, Service, http},
    server::{Grpc, NamedService, UnaryService},
};
use tonic_prost::ProstDecoder;
use toolgate_api_proto::v1::{self as pb, tool_catalog_server::ToolCatalogServer};

use crate::{CatalogService, MAX_REQUEST_BYTES};

const LIST_TOOLS: &str = "/toolgate.v1.ToolCatalog/ListTools";

/// Serves `ToolCatalog` with gzip and [`MAX_REQUEST_BYTES`].
#[derive(Debug, Clone)]
pub struct CatalogServer {
    service: CatalogService,
    generated: ToolCatalogServer<CatalogService>,
}

impl CatalogServer {
    /// Over `service`.
    pub fn new(service: CatalogService) -> Self {
        let generated = ToolCatalogServer::from_arc(Arc::new(service.clone()))
            .max_decoding_message_size(MAX_REQUEST_BYTES)
            .accept_compressed(CompressionEncoding::Gzip)
            .send_compressed(CompressionEncoding::Gzip);
        Self { service, generated }
    }
}

impl NamedService for CatalogServer {
    const NAME: &'static str = <ToolCatalogServer<CatalogService> as NamedService>::NAME;
}

impl Service<http::Request<tonic::body::Body>> for CatalogServer {
    type Response = http::Response<tonic::body::Body>;
    type Error = Infallible;
    type Future = BoxFuture<Self::Response, Infallible>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<tonic::body::Body>) -> Self::Future {
        if request.uri().path() != LIST_TOOLS {
            return self.generated.call(request);
        }
        let service = self.service.clone();
        Box::pin(async move {
            let mut gzip = EnabledCompressionEncodings::default();
            gzip.enable(CompressionEncoding::Gzip);
            let mut grpc = Grpc::new(EncodedCodec::default())
                .apply_compression_config(gzip, gzip)
                .apply_max_message_size_config(Some(MAX_REQUEST_BYTES), None);
            Ok(grpc.unary(ListEncodedTools(service), request).await)
        })
    }
}

struct ListEncodedTools(CatalogService);

impl UnaryService<pb::ListToolsRequest> for ListEncodedTools {
    type Response = Bytes;
    type Future = BoxFuture<Response<Bytes>, Status>;

    fn call(&mut self, request: Request<pb::ListToolsRequest>) -> Self::Future {
        let service = self.0.clone();
        Box::pin(async move { service.list_encoded_tools(request).await })
    }
}

/// Requests are decoded into `Q`; answers are encoded messages already.
struct EncodedCodec<Q>(PhantomData<Q>);

impl<Q> Default for EncodedCodec<Q> {
    fn default() -> Self {
        Self(PhantomData)
    }
}

impl<Q: prost::Message + Default + Send + 'static> Codec for EncodedCodec<Q> {
    type Encode = Bytes;
    type Decode = Q;
    type Encoder = AsItIs;
    type Decoder = ProstDecoder<Q>;

    fn encoder(&mut self) -> AsItIs {
        AsItIs
    }

    fn decoder(&mut self) -> ProstDecoder<Q> {
        ProstDecoder::default()
    }
}

struct AsItIs;

impl Encoder for AsItIs {
    type Item = Bytes;
    type Error = Status;

    fn encode(&mut self, message: Bytes, out: &mut EncodeBuf<'_>) -> Result<(), Status> {
        // At once, so that the buffer does not grow, and move, by doubling.
        out.reserve(message.len());
        out.put(message);
        Ok(())
    }
}
