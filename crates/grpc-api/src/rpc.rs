//! Every RPC with what it takes and how long it may take. A test compares this table with the descriptor.

use std::time::Duration;

use toolgate_domain::Scope;

/// What a caller must hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Takes {
    /// This scope.
    Scope(Scope),
    /// `mcp:read`; for what is served `mcp:call` does as well.
    ScopeOfView,
    /// This scope, asked for once it is found what the call is about.
    ScopeOnceFound(Scope),
}

/// One row of the table.
#[derive(Debug, Clone, Copy)]
pub struct Rule {
    /// Full name of the service.
    pub service: &'static str,
    /// Name of the method.
    pub method: &'static str,
    /// What a caller must hold.
    pub takes: Takes,
    /// How long the call may take here, whatever the caller allows; `None` for a stream.
    pub deadline: Option<Duration>,
}

const CATALOG: &str = "toolgate.v1.ToolCatalog";
const GOVERNANCE: &str = "toolgate.v1.ToolGovernance";
const GATEWAY: &str = "toolgate.v1.ToolGateway";
const READ: Option<Duration> = Some(Duration::from_secs(10));
const WRITE: Option<Duration> = Some(Duration::from_secs(30));
/// Longer than a turn to ask a server, and its answer.
const LIVE: Option<Duration> = Some(Duration::from_secs(75));
/// Longer than the longest listing, twice over.
const SYNC: Option<Duration> = Some(Duration::from_secs(300));
/// As long as it takes to read a log of some million rulings.
const LOG: Option<Duration> = Some(Duration::from_secs(120));

const fn rule(service: &'static str, method: &'static str, takes: Takes, deadline: Option<Duration>) -> Rule {
    Rule { service, method, takes, deadline }
}

macro_rules! rpcs {
    ($($name:ident: $service:ident $takes:expr, $deadline:expr;)*) => {
        /// An RPC.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        #[expect(missing_docs, reason = "named as in the proto, which documents each")]
        pub enum Rpc {
            $($name,)*
        }

        /// The table, in the order of [`Rpc`].
        pub const RULES: &[Rule] = &[$(rule($service, stringify!($name), $takes, $deadline),)*];
    };
}

rpcs! {
    ListTools: CATALOG Takes::ScopeOfView, READ;
    GetTool: CATALOG Takes::ScopeOfView, READ;
    ListObservedDefinitions: CATALOG Takes::Scope(Scope::Read), READ;
    ListToolDefinitions: CATALOG Takes::ScopeOfView, READ;
    ListServerTools: CATALOG Takes::ScopeOnceFound(Scope::Read), LIVE;
    ListToolUnits: CATALOG Takes::ScopeOfView, READ;
    GetToolUnit: CATALOG Takes::ScopeOfView, READ;
    WatchTools: CATALOG Takes::ScopeOfView, None;
    ListUpstreams: CATALOG Takes::Scope(Scope::Read), READ;
    GetUpstream: CATALOG Takes::Scope(Scope::Read), READ;
    ListAgents: CATALOG Takes::Scope(Scope::Read), READ;
    GetAgent: CATALOG Takes::Scope(Scope::Read), READ;
    CreateUpstream: GOVERNANCE Takes::Scope(Scope::Write), WRITE;
    UpdateUpstream: GOVERNANCE Takes::Scope(Scope::Write), WRITE;
    DeleteUpstream: GOVERNANCE Takes::Scope(Scope::Write), WRITE;
    SyncUpstream: GOVERNANCE Takes::Scope(Scope::Write), SYNC;
    ApproveTool: GOVERNANCE Takes::Scope(Scope::Write), WRITE;
    RevokeToolApproval: GOVERNANCE Takes::Scope(Scope::Write), WRITE;
    DisableTool: GOVERNANCE Takes::Scope(Scope::Write), WRITE;
    EnableTool: GOVERNANCE Takes::Scope(Scope::Write), WRITE;
    SetToolEffect: GOVERNANCE Takes::Scope(Scope::Write), WRITE;
    SetToolDescription: GOVERNANCE Takes::Scope(Scope::Write), WRITE;
    RenameTool: GOVERNANCE Takes::Scope(Scope::Write), WRITE;
    UpdateToolLocks: GOVERNANCE Takes::Scope(Scope::Write), WRITE;
    CreateAgent: GOVERNANCE Takes::Scope(Scope::Write), WRITE;
    DeleteAgent: GOVERNANCE Takes::Scope(Scope::Write), WRITE;
    AttachAgentTool: GOVERNANCE Takes::Scope(Scope::Write), WRITE;
    DetachAgentTool: GOVERNANCE Takes::Scope(Scope::Write), WRITE;
    CreateApiKey: GOVERNANCE Takes::Scope(Scope::Admin), WRITE;
    ListApiKeys: GOVERNANCE Takes::Scope(Scope::Admin), READ;
    RevokeApiKey: GOVERNANCE Takes::Scope(Scope::Admin), WRITE;
    ListRulings: GOVERNANCE Takes::Scope(Scope::Read), READ;
    VerifyRulings: GOVERNANCE Takes::Scope(Scope::Read), LOG;
    ListCalls: GOVERNANCE Takes::Scope(Scope::Read), READ;
    CreateClient: GOVERNANCE Takes::Scope(Scope::Admin), WRITE;
    ListClients: GOVERNANCE Takes::Scope(Scope::Admin), READ;
    DeleteClient: GOVERNANCE Takes::Scope(Scope::Admin), WRITE;
    CallTool: GATEWAY Takes::Scope(Scope::Call), None;
}

impl Rpc {
    /// Its row.
    pub fn rule(self) -> &'static Rule {
        &RULES[self as usize]
    }
}

/// Service and method of a request's path, `/package.Service/Method`, if the method is served: one of the table, of health
/// or of reflection.
pub fn known_method(path: &str) -> Option<(&'static str, &'static str)> {
    let (service, method) = path.strip_prefix('/')?.split_once('/')?;
    let ours = RULES.iter().map(|rule| (rule.service, rule.method));
    ours.chain(STANDARD_METHODS.iter().copied()).find(|known| *known == (service, method))
}

/// What is served beside the table.
const STANDARD_METHODS: &[(&str, &str)] = &[
    ("grpc.health.v1.Health", "Check"),
    ("grpc.health.v1.Health", "List"),
    ("grpc.health.v1.Health", "Watch"),
    ("grpc.reflection.v1.ServerReflection", "ServerReflectionInfo"),
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use prost::Message;
    use prost_types::FileDescriptorSet;

    use super::*;

    #[test]
    fn the_table_holds_every_rpc_of_the_contract_and_no_other() {
        let set = FileDescriptorSet::decode(toolgate_api_proto::FILE_DESCRIPTOR_SET).unwrap();
        let mut declared = BTreeSet::new();
        for file in &set.file {
            for service in &file.service {
                for method in &service.method {
                    let service = format!("{}.{}", file.package(), service.name());
                    let streams = method.server_streaming() || method.client_streaming();
                    declared.insert((service, method.name().to_owned(), streams));
                }
            }
        }
        let row = |rule: &Rule| (rule.service.to_owned(), rule.method.to_owned(), rule.deadline.is_none());
        assert_eq!(RULES.iter().map(row).collect::<BTreeSet<_>>(), declared);
    }

    #[test]
    fn only_methods_that_are_served_are_known_by_their_path() {
        assert_eq!(known_method("/toolgate.v1.ToolCatalog/GetTool"), Some((CATALOG, "GetTool")));
        assert_eq!(known_method("/grpc.health.v1.Health/Check"), Some(STANDARD_METHODS[0]));
        for path in
            ["", "/", "/toolgate.v1.ToolCatalog/", "/toolgate.v1.ToolCatalog/GetTool/", "toolgate.v1/x"]
        {
            assert_eq!(known_method(path), None, "{path}");
        }
    }

    #[test]
    fn every_rpc_finds_its_own_row() {
        assert_eq!(Rpc::ListTools.rule().method, "ListTools");
        assert_eq!(Rpc::ListClients.rule().method, "ListClients");
        assert_eq!(Rpc::CallTool as usize + 1, RULES.len());
    }
}
