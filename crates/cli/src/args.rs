//! The command line.

use std::path::PathBuf;

use clap::{ArgGroup, Args, Subcommand, ValueEnum};
use toolgate_api_proto::v1::{
    Effect, FreshnessPolicy, NamePolicy, SessionIsolation, ToolState, ToolView, UpstreamAuth,
    UpstreamProtocol,
};

use crate::exit::EXIT_CODES_HELP;

/// What every command takes. Flatten it into the root of the command line.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Connection and output")]
pub struct Globals {
    // clap would name an argument with a variable or a default in each usage error.
    /// gRPC endpoint of the server [env: TOOLGATE_ENDPOINT] [default: http://127.0.0.1:50051]
    #[arg(long, global = true, value_name = "URL")]
    pub endpoint: Option<String>,
    /// File that holds the API key, in place of the variable TOOLGATE_KEY.
    #[arg(long, global = true, value_name = "FILE")]
    pub key_file: Option<PathBuf>,
    /// Tenant to act for; the key's own when absent. Another one takes an operator key.
    #[arg(long = "client", global = true, value_name = "UUID")]
    pub client_id: Option<String>,
    /// Print protobuf JSON instead of text: one object, or one a line from `tool watch` and `tool approve --all`.
    #[arg(long, global = true)]
    pub json: bool,
}

/// The commands that speak to a running server.
#[derive(Debug, Clone, Subcommand)]
pub enum Command {
    /// Register tool servers, list them, and look at how their last listing went.
    #[command(subcommand, after_help = EXIT_CODES_HELP)]
    Upstream(UpstreamCommand),
    /// Look at tools and rule about them.
    #[command(subcommand, after_help = EXIT_CODES_HELP)]
    Tool(ToolCommand),
    /// Look at upstreams as units, the way agents read them with `tool_list`.
    #[command(subcommand, after_help = EXIT_CODES_HELP)]
    Unit(UnitCommand),
    /// Make agents, and attach to them what they reach.
    #[command(subcommand, after_help = EXIT_CODES_HELP)]
    Agent(AgentCommand),
    /// Make, list and revoke API keys.
    #[command(subcommand, after_help = EXIT_CODES_HELP)]
    Key(KeyCommand),
    /// Make, list and delete clients, the tenants; takes an operator key.
    #[command(subcommand, after_help = EXIT_CODES_HELP)]
    Client(ClientCommand),
    /// Read the log of rulings, and prove that it is whole.
    #[command(subcommand, after_help = EXIT_CODES_HELP)]
    Audit(AuditCommand),
    /// Call a tool as an agent with this key would.
    #[command(after_help = EXIT_CODES_HELP)]
    Call(CallArgs),
}

/// `toolgate call …`
#[derive(Debug, Clone, Args)]
pub struct CallArgs {
    /// Name that agents call the tool, or its id.
    pub tool: String,
    /// Arguments: a JSON object, or `-` to read it from standard input; none when left out.
    #[arg(value_name = "JSON")]
    pub arguments: Option<String>,
    /// Your own id of this call: within 10 minutes it is made once, and asking again brings what came of it.
    #[arg(long, default_value = "", hide_default_value = true, value_name = "ID")]
    pub call_id: String,
}

/// `toolgate unit …`
#[derive(Debug, Clone, Subcommand)]
pub enum UnitCommand {
    /// List the units in the order of their tree, each with how many of its commands this key may use.
    #[command(after_help = EXIT_CODES_HELP)]
    List,
    /// Show one unit with its commands and what they take.
    #[command(after_help = EXIT_CODES_HELP)]
    Show {
        /// Its address as the list gives it, for example MCP_FILES.
        unit: String,
    },
}

/// `toolgate client …`
#[derive(Debug, Clone, Subcommand)]
pub enum ClientCommand {
    /// Make a client, and say how to make its first key.
    #[command(after_help = EXIT_CODES_HELP)]
    Create {
        /// Unique name, in the form of a slug.
        name: String,
        /// Check everything, make nothing.
        #[arg(long)]
        dry_run: bool,
    },
    /// List the clients.
    #[command(after_help = EXIT_CODES_HELP)]
    List,
    /// Delete a client with its upstreams, tools and keys, for good. Its log of rulings stays readable.
    #[command(after_help = EXIT_CODES_HELP)]
    Delete {
        /// Name or id.
        client: String,
        /// Do not ask.
        #[arg(long)]
        yes: bool,
        /// Tell what would go, delete nothing.
        #[arg(long)]
        dry_run: bool,
    },
}

/// `toolgate audit …`
#[derive(Debug, Clone, Subcommand)]
pub enum AuditCommand {
    /// List rulings, oldest first; with `--calls`, calls of tools.
    #[command(after_help = EXIT_CODES_HELP)]
    List {
        /// Only those about this tool: namespaced name or id.
        #[arg(long, value_name = "NAME")]
        tool: Option<String>,
        /// Only those about this upstream and its tools: slug or id; its id alone where it was deleted.
        #[arg(long, value_name = "NAME", conflicts_with = "calls")]
        upstream: Option<String>,
        /// Calls of tools as this replica logged them, refused and cancelled ones included.
        #[arg(long)]
        calls: bool,
        /// Only calls by this agent: name or id.
        #[arg(long, value_name = "NAME", requires = "calls")]
        agent: Option<String>,
    },
    /// Recompute the hash chain from what the server lists; ends with 1 when it does not hold.
    #[command(after_help = EXIT_CODES_HELP)]
    Verify {
        /// A hash that was noted before, as `audit verify` prints it: the log must still hold it in this place.
        #[arg(long, value_name = "COUNT:HASH", value_parser = crate::audit::known)]
        known: Option<crate::audit::Known>,
        /// The log of calls of this replica instead of that of rulings.
        #[arg(long)]
        calls: bool,
    },
}

/// `toolgate upstream …`
#[derive(Debug, Clone, Subcommand)]
pub enum UpstreamCommand {
    /// Register a tool server and begin its first sync.
    #[command(after_help = EXIT_CODES_HELP)]
    Add(AddUpstream),
    /// List the registered servers.
    #[command(after_help = EXIT_CODES_HELP)]
    List,
    /// Show one server, with what was wrong with its last listing.
    #[command(after_help = EXIT_CODES_HELP)]
    Show {
        /// Slug or id.
        name: String,
    },
    /// Declare a server differently; what is not named stays. A change of the endpoint returns its tools to unapproved.
    #[command(after_help = EXIT_CODES_HELP)]
    Update(UpdateUpstream),
    /// Delete a server with all its tools and the approvals of them.
    #[command(after_help = EXIT_CODES_HELP)]
    Remove {
        /// Slug or id.
        name: String,
        /// Do not ask.
        #[arg(long, conflicts_with = "dry_run")]
        yes: bool,
        /// Say what would go, write nothing.
        #[arg(long)]
        dry_run: bool,
    },
    /// List a server's tools now.
    #[command(after_help = EXIT_CODES_HELP)]
    Sync {
        /// Slug or id.
        name: String,
        /// Wait for the end and print what was found; ends with 6 when the server could not be listed.
        #[arg(long)]
        wait: bool,
    },
}

/// `toolgate upstream add`
#[derive(Debug, Clone, Args)]
pub struct AddUpstream {
    /// Slug: the first part of its tools' names.
    pub name: String,
    // clap drops a `requires` whose target conflicts with something present, so what belongs to the other transport is
    // ruled out by conflicts alone.
    /// URL of an MCP server over Streamable HTTP.
    #[arg(long, required_unless_present = "stdio", conflicts_with_all = ["stdio", "env_file", "command"])]
    pub url: Option<String>,
    /// File of headers to send with each request, a line each: `Name: value`.
    #[arg(long, value_name = "FILE", conflicts_with = "stdio")]
    pub header_file: Option<PathBuf>,
    /// Let the connection reach loopback and private addresses; takes the scope `mcp:admin`.
    #[arg(long, conflicts_with = "stdio")]
    pub allow_private: bool,
    /// Start an MCP server as a child process of the server: the command after `--`.
    #[arg(long, requires = "command")]
    pub stdio: bool,
    /// File of the child's whole environment, a line each: `NAME=value`.
    #[arg(long, value_name = "FILE")]
    pub env_file: Option<PathBuf>,
    /// Free text for people.
    #[arg(long, default_value = "", hide_default_value = true, value_name = "TEXT")]
    pub display_name: String,
    /// What it is for, as agents read it in the list of units.
    #[arg(long, default_value = "", hide_default_value = true, value_name = "TEXT")]
    pub description: String,
    /// The folders that it stands in there, from the root down, for example `Business -> Planning`.
    #[arg(long, default_value = "", hide_default_value = true, value_name = "FOLDERS")]
    pub path: String,
    /// How its tools get the names that agents call them by.
    #[arg(long, default_value = "strict", value_name = "POLICY")]
    pub name_policy: NamePolicyWord,
    /// Whose credential the server is reached with; when absent, `static` where one is given, else `none`.
    #[arg(long, value_name = "WHOSE")]
    pub auth: Option<AuthWord>,
    /// What the server speaks. OXP takes `--url`, which `/tools` stands below.
    #[arg(long, default_value = "mcp", value_name = "PROTOCOL", conflicts_with = "stdio")]
    pub protocol: ProtocolWord,
    /// What a call does where the server's list may be another by now.
    #[arg(long, default_value = "check", value_name = "POLICY")]
    pub freshness: FreshnessWord,
    /// Which calls share a session with the server, or its process.
    #[arg(long, default_value = "per-agent", value_name = "CALLS")]
    pub isolation: IsolationWord,
    /// Check everything, write nothing.
    #[arg(long)]
    pub dry_run: bool,
    /// Absolute path of the program, and its arguments.
    #[arg(last = true, value_name = "COMMAND")]
    pub command: Vec<String>,
}

/// `toolgate upstream update`
#[derive(Debug, Clone, Args)]
#[command(group(
    ArgGroup::new("change").required(true).multiple(true).args([
        "url", "header_file", "no_headers", "allow_private", "env_file", "no_env", "display_name", "description", "path",
        "name_policy", "auth", "freshness", "isolation", "command",
    ])
))]
pub struct UpdateUpstream {
    /// Slug or id.
    pub name: String,
    /// URL of an MCP server over Streamable HTTP. Another origin takes `--header-file` or `--no-headers` where headers are
    /// set.
    #[arg(long, conflicts_with_all = ["env_file", "no_env", "command"])]
    pub url: Option<String>,
    /// File of all headers to send with each request, a line each: `Name: value`.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["env_file", "no_env", "command"])]
    pub header_file: Option<PathBuf>,
    /// Send no headers any more.
    #[arg(long, conflicts_with_all = ["header_file", "env_file", "no_env", "command"])]
    pub no_headers: bool,
    /// Whether the connection may reach loopback and private addresses; takes the scope `mcp:admin`.
    #[arg(
        long,
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "true",
        value_name = "BOOL",
        conflicts_with_all = ["env_file", "no_env", "command"]
    )]
    pub allow_private: Option<bool>,
    /// File of the child's whole environment, a line each: `NAME=value`.
    #[arg(long, value_name = "FILE")]
    pub env_file: Option<PathBuf>,
    /// Give the child an empty environment.
    #[arg(long, conflicts_with = "env_file")]
    pub no_env: bool,
    /// Free text for people.
    #[arg(long, value_name = "TEXT")]
    pub display_name: Option<String>,
    /// What it is for, as agents read it in the list of units; empty for nothing.
    #[arg(long, value_name = "TEXT")]
    pub description: Option<String>,
    /// The folders that it stands in there, from the root down, for example `Business -> Planning`; empty for none.
    #[arg(long, value_name = "FOLDERS")]
    pub path: Option<String>,
    /// How its tools get the names that agents call them by.
    #[arg(long, value_name = "POLICY")]
    pub name_policy: Option<NamePolicyWord>,
    /// Whose credential the server is reached with.
    #[arg(long, value_name = "WHOSE")]
    pub auth: Option<AuthWord>,
    /// What a call does where the server's list may be another by now.
    #[arg(long, value_name = "POLICY")]
    pub freshness: Option<FreshnessWord>,
    /// Which calls share a session with the server, or its process.
    #[arg(long, value_name = "CALLS")]
    pub isolation: Option<IsolationWord>,
    /// Let approvals count that were given for the endpoint before; takes the scope `mcp:admin`.
    #[arg(long)]
    pub keep_approvals: bool,
    /// Check everything, write nothing.
    #[arg(long)]
    pub dry_run: bool,
    /// Absolute path of the program, and its arguments. Another command takes `--env-file` or `--no-env` where an
    /// environment is set.
    #[arg(last = true, value_name = "COMMAND")]
    pub command: Vec<String>,
}

/// `toolgate tool …`
#[derive(Debug, Clone, Subcommand)]
pub enum ToolCommand {
    /// List tools.
    #[command(after_help = EXIT_CODES_HELP)]
    List {
        /// Only tools of this upstream: slug or id.
        #[arg(long, value_name = "NAME")]
        upstream: Option<String>,
        /// Only tools in this state; may be given more than once.
        #[arg(long = "state", value_name = "STATE", value_delimiter = ',')]
        states: Vec<State>,
        /// Which definitions and which tools.
        #[arg(long, default_value = "raw")]
        view: View,
    },
    /// Show everything about one tool.
    #[command(after_help = EXIT_CODES_HELP)]
    Show {
        /// Namespaced name or id.
        name: String,
        /// Which definition.
        #[arg(long, default_value = "raw")]
        view: View,
    },
    /// List every definition that its upstream ever listed for a tool, newest first.
    #[command(after_help = EXIT_CODES_HELP)]
    History {
        /// Namespaced name or id.
        name: String,
    },
    /// Show what differs between two definitions of a tool: the approved one and the one that is listed now.
    #[command(after_help = EXIT_CODES_HELP)]
    Diff {
        /// Namespaced name or id.
        name: String,
        /// Fingerprint of the older definition, in place of the approved one; `tool history` lists them.
        #[arg(long, value_name = "HASH")]
        from: Option<String>,
        /// Fingerprint of the newer definition, in place of the one that is listed now.
        #[arg(long, value_name = "HASH")]
        to: Option<String>,
    },
    /// Approve the definition of a tool, or of all tools of an upstream that wait for it.
    #[command(after_help = EXIT_CODES_HELP)]
    Approve(Approve),
    /// Take an approval back.
    #[command(after_help = EXIT_CODES_HELP)]
    Revoke(Rule),
    /// Switch a tool off, whatever is approved.
    #[command(after_help = EXIT_CODES_HELP)]
    Disable(Rule),
    /// Switch a tool on again.
    #[command(after_help = EXIT_CODES_HELP)]
    Enable(Rule),
    /// Lock inputs to values that the gateway always sends; other locks stay.
    #[command(after_help = EXIT_CODES_HELP)]
    Lock {
        /// The tool.
        #[command(flatten)]
        rule: Rule,
        /// Input and JSON value, for example `city='"Oslo"'`.
        #[arg(required = true, value_name = "INPUT=JSON")]
        inputs: Vec<String>,
    },
    /// Unlock inputs.
    #[command(after_help = EXIT_CODES_HELP)]
    Unlock {
        /// The tool.
        #[command(flatten)]
        rule: Rule,
        /// Inputs.
        #[arg(required = true, value_name = "INPUT")]
        inputs: Vec<String>,
    },
    /// Say what a tool does, whatever its definition claims.
    #[command(after_help = EXIT_CODES_HELP)]
    Effect {
        /// The tool.
        #[command(flatten)]
        rule: Rule,
        /// `none` goes by the definition again.
        effect: EffectWord,
    },
    /// Give a tool the description that agents read.
    #[command(after_help = EXIT_CODES_HELP)]
    Describe {
        /// The tool.
        #[command(flatten)]
        rule: Rule,
        /// The description.
        #[arg(required_unless_present = "clear", conflicts_with = "clear")]
        text: Option<String>,
        /// Give agents the upstream's own again.
        #[arg(long)]
        clear: bool,
    },
    /// Give a tool a name of its own for agents.
    #[command(after_help = EXIT_CODES_HELP)]
    Rename {
        /// The tool.
        #[command(flatten)]
        rule: Rule,
        /// 1 to 64 characters of A-Z a-z 0-9 _ -
        #[arg(required_unless_present = "clear", conflicts_with = "clear")]
        new: Option<String>,
        /// Go by the upstream's name policy again.
        #[arg(long)]
        clear: bool,
    },
    /// Ask the server behind what is attached to an agent for its tools, at this moment; ends with 6 when it cannot be listed.
    #[command(after_help = EXIT_CODES_HELP)]
    Live {
        /// The agent: name or id.
        agent: String,
        /// What is attached: name or id. That of a server is its slug.
        attachment: String,
    },
    /// Follow the catalogue: every tool as it is, then each change. Resumes by itself.
    #[command(after_help = EXIT_CODES_HELP)]
    Watch {
        /// Which definitions and which tools.
        #[arg(long, default_value = "raw")]
        view: View,
    },
}

/// `toolgate tool approve`
#[derive(Debug, Clone, Args)]
pub struct Approve {
    /// Namespaced name or id.
    #[arg(required_unless_present = "all", conflicts_with_all = ["all", "upstream", "yes"])]
    pub name: Option<String>,
    /// Fingerprint of the definition that was reviewed; without it, a person at a terminal is shown the definition and
    /// asked.
    #[arg(long, conflicts_with = "all")]
    pub hash: Option<String>,
    /// All unapproved and drifted tools of an upstream, each by the fingerprint of the definition that is printed.
    #[arg(long, requires = "upstream")]
    pub all: bool,
    /// The upstream of `--all`: slug or id.
    #[arg(long, value_name = "NAME")]
    pub upstream: Option<String>,
    /// Do not ask before approving all.
    #[arg(long)]
    pub yes: bool,
    /// Check everything, write nothing.
    #[arg(long)]
    pub dry_run: bool,
}

/// A ruling about one tool.
#[derive(Debug, Clone, Args)]
pub struct Rule {
    /// Namespaced name or id.
    pub name: String,
    /// Check everything, write nothing.
    #[arg(long)]
    pub dry_run: bool,
}

/// `toolgate agent …`
#[derive(Debug, Clone, Subcommand)]
pub enum AgentCommand {
    /// Make an agent, with nothing attached to it.
    #[command(after_help = EXIT_CODES_HELP)]
    Create {
        /// Unique name, in the form of a slug.
        name: String,
        /// Free text for people.
        #[arg(long, default_value = "", hide_default_value = true, value_name = "TEXT")]
        display_name: String,
        /// Check everything, write nothing.
        #[arg(long)]
        dry_run: bool,
    },
    /// List the agents.
    #[command(after_help = EXIT_CODES_HELP)]
    List,
    /// Show one agent with what is attached to it.
    #[command(after_help = EXIT_CODES_HELP)]
    Show {
        /// Name or id.
        name: String,
    },
    /// Attach an upstream to an agent, or a function or file search of the agent's own runtime.
    #[command(after_help = EXIT_CODES_HELP)]
    Attach(Attach),
    /// Detach something from an agent.
    #[command(after_help = EXIT_CODES_HELP)]
    Detach {
        /// The agent: name or id.
        agent: String,
        /// The attachment: name (of an upstream, its slug) or id.
        attachment: String,
        /// Check everything, write nothing.
        #[arg(long)]
        dry_run: bool,
    },
    /// Delete an agent, and end its keys.
    #[command(after_help = EXIT_CODES_HELP)]
    Delete {
        /// Name or id.
        name: String,
        /// Do not ask.
        #[arg(long)]
        yes: bool,
        /// Tell what would go, delete nothing.
        #[arg(long)]
        dry_run: bool,
    },
}

/// `toolgate agent attach`
#[derive(Debug, Clone, Args)]
pub struct Attach {
    /// The agent: name or id.
    pub agent: String,
    /// The upstream: slug or id.
    #[arg(required_unless_present_any = ["function", "file_search"])]
    pub upstream: Option<String>,
    /// Name of a function that the agent's runtime has.
    #[arg(long, value_name = "NAME", conflicts_with_all = ["upstream", "file_search", "vector_store"])]
    pub function: Option<String>,
    /// File with the JSON Schema of the function's parameters.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["upstream", "file_search"])]
    pub parameters_file: Option<PathBuf>,
    /// Name of a file search that the agent's runtime does.
    #[arg(long, value_name = "NAME", conflicts_with = "upstream", requires = "vector_store")]
    pub file_search: Option<String>,
    /// The store that is searched.
    #[arg(long, value_name = "ID", conflicts_with = "upstream")]
    pub vector_store: Option<String>,
    /// Free text for people.
    #[arg(long, default_value = "", hide_default_value = true, value_name = "TEXT")]
    pub display_name: String,
    /// What it is good for.
    #[arg(long, default_value = "", hide_default_value = true, value_name = "TEXT")]
    pub description: String,
    /// Check everything, write nothing.
    #[arg(long)]
    pub dry_run: bool,
}

/// `toolgate key …`
#[derive(Debug, Clone, Subcommand)]
pub enum KeyCommand {
    /// Make an API key and print it, once.
    #[command(after_help = EXIT_CODES_HELP)]
    Create {
        /// What it may do; may be given more than once.
        #[arg(
            long = "scope",
            value_name = "SCOPE",
            required = true,
            value_delimiter = ',',
            value_parser = ["mcp:read", "mcp:write", "mcp:call", "mcp:admin"]
        )]
        scopes: Vec<String>,
        /// Free text for people: whose it is, what for.
        #[arg(long, default_value = "", hide_default_value = true, value_name = "TEXT")]
        display_name: String,
        /// How long it is accepted: a number with s, m, h or d, such as `90d`; for ever when absent.
        #[arg(long, value_name = "TIME", value_parser = crate::key::seconds)]
        expires_in: Option<i64>,
        /// Make another operator key, which may name any client; takes one.
        #[arg(long)]
        operator: bool,
        /// Bind it to an agent: name or id. Such a key takes the scope `mcp:call` alone.
        #[arg(long, value_name = "NAME", conflicts_with = "operator")]
        agent: Option<String>,
    },
    /// List the keys, revoked and expired ones too.
    #[command(after_help = EXIT_CODES_HELP)]
    List,
    /// End a key for good.
    #[command(after_help = EXIT_CODES_HELP)]
    Revoke {
        /// The key's id.
        id: String,
        /// Check everything, write nothing.
        #[arg(long)]
        dry_run: bool,
    },
}

/// A tool's state, in a filter.
#[derive(Debug, Clone, Copy, ValueEnum)]
#[value(rename_all = "snake_case")]
pub enum State {
    /// Approved as it is listed now; the only tools that reach an agent.
    Served,
    /// No longer listed.
    Removed,
    /// Switched off.
    Disabled,
    /// Without an approval that counts.
    Unapproved,
    /// Listed differently since it was approved.
    Drifted,
    /// With a lock that does not fit.
    LockMismatch,
    /// With a name that agents cannot be given.
    BadName,
}

impl From<State> for ToolState {
    fn from(state: State) -> Self {
        match state {
            State::Served => Self::Served,
            State::Removed => Self::Removed,
            State::Disabled => Self::Disabled,
            State::Unapproved => Self::Unapproved,
            State::Drifted => Self::Drifted,
            State::LockMismatch => Self::LockMismatch,
            State::BadName => Self::BadName,
        }
    }
}

/// What a tool does.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum EffectWord {
    /// It only reads.
    Reads,
    /// It may change something.
    Changes,
    /// Go by the definition.
    None,
}

impl From<EffectWord> for Effect {
    fn from(word: EffectWord) -> Self {
        match word {
            EffectWord::Reads => Self::Reads,
            EffectWord::Changes => Self::Changes,
            EffectWord::None => Self::Unspecified,
        }
    }
}

/// How the tools of an upstream get their names.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum NamePolicyWord {
    /// `<slug>__<name>`, without repair.
    Strict,
    /// Repaired where needed.
    Repair,
}

impl From<NamePolicyWord> for NamePolicy {
    fn from(word: NamePolicyWord) -> Self {
        match word {
            NamePolicyWord::Strict => Self::Strict,
            NamePolicyWord::Repair => Self::Repair,
        }
    }
}

/// Whose credential a tool server is reached with.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum AuthWord {
    /// Nobody's.
    None,
    /// Its own: headers, or an environment.
    Static,
    /// That of whoever uses it. Headers are for its syncs alone; without any it is never synced.
    PerUser,
}

impl From<AuthWord> for UpstreamAuth {
    fn from(word: AuthWord) -> Self {
        match word {
            AuthWord::None => Self::None,
            AuthWord::Static => Self::Static,
            AuthWord::PerUser => Self::PerUser,
        }
    }
}

/// What a tool server speaks.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum ProtocolWord {
    /// The Model Context Protocol.
    Mcp,
    /// OXP 1.0.
    Oxp,
}

impl From<ProtocolWord> for UpstreamProtocol {
    fn from(word: ProtocolWord) -> Self {
        match word {
            ProtocolWord::Mcp => Self::Mcp,
            ProtocolWord::Oxp => Self::Oxp,
        }
    }
}

/// What a call does where a tool server's list may be another by now.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum FreshnessWord {
    /// It waits for a sync, and is decided by what that found.
    Check,
    /// It goes by what is known, while a sync is under way.
    Serve,
    /// It is refused until a sync has found what is listed.
    Refuse,
}

impl From<FreshnessWord> for FreshnessPolicy {
    fn from(word: FreshnessWord) -> Self {
        match word {
            FreshnessWord::Check => Self::Check,
            FreshnessWord::Serve => Self::Serve,
            FreshnessWord::Refuse => Self::Refuse,
        }
    }
}

/// Which calls share a session with a tool server.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum IsolationWord {
    /// All.
    Shared,
    /// Those of one agent, or of one key that is bound to none.
    PerAgent,
    /// Those of one session of one agent or key.
    PerSession,
}

impl From<IsolationWord> for SessionIsolation {
    fn from(word: IsolationWord) -> Self {
        match word {
            IsolationWord::Shared => Self::Shared,
            IsolationWord::PerAgent => Self::PerAgent,
            IsolationWord::PerSession => Self::PerSession,
        }
    }
}

/// Which definition of a tool is meant.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum View {
    /// Every tool in every state, as its upstream lists it.
    Raw,
    /// Only served tools, as an agent reads them.
    Served,
}

impl From<View> for ToolView {
    fn from(view: View) -> Self {
        match view {
            View::Raw => Self::Raw,
            View::Served => Self::Served,
        }
    }
}
