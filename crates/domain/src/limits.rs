//! Every bound of the product's own making that is not a bound of a definition (those are `toolgate_definition::limits`).

/// Upstreams of one client.
pub const MAX_UPSTREAMS_PER_CLIENT: usize = 1000;
/// API keys of one client that are in force.
pub const MAX_API_KEYS_PER_CLIENT: usize = 1000;
/// Agents of one client.
pub const MAX_AGENTS_PER_CLIENT: usize = 10_000;
/// Attachments of one agent.
pub const MAX_ATTACHMENTS_PER_AGENT: usize = 500;
/// Bytes of all attachments of one agent together, so that its row and its ruling fit a commit with room to spare.
pub const MAX_ATTACHMENT_BYTES_PER_AGENT: usize = 128 * 1024;
/// Characters of an attachment's name.
pub const MAX_ATTACHMENT_NAME_CHARS: usize = 128;
/// Characters of an attachment's display name.
pub const MAX_ATTACHMENT_DISPLAY_NAME_CHARS: usize = 256;
/// Bytes of the schema of a function's parameters.
pub const MAX_FUNCTION_PARAMETERS_BYTES: usize = 64 * 1024;
/// Characters of a file search's store.
pub const MAX_VECTOR_STORE_ID_CHARS: usize = 256;
/// Bytes of a display name.
pub const MAX_DISPLAY_NAME_BYTES: usize = 256;
/// Folders that an upstream stands in.
pub const MAX_PATH_FOLDERS: usize = 8;
/// Bytes of a folder's name.
pub const MAX_FOLDER_BYTES: usize = 128;
/// Bytes of an upstream's URL.
pub const MAX_URL_BYTES: usize = 2048;
/// Headers of an upstream.
pub const MAX_HEADERS: usize = 32;
/// Arguments of a stdio command.
pub const MAX_STDIO_ARGS: usize = 64;
/// Variables of a stdio command's environment.
pub const MAX_STDIO_ENV: usize = 64;
/// Bytes of a header's or variable's name.
pub const MAX_SECRET_NAME_BYTES: usize = 256;
/// Bytes of a header's or variable's value, of a command or of an argument.
pub const MAX_SECRET_VALUE_BYTES: usize = 8 * 1024;
/// Bytes of all secrets of one upstream together, so that its row fits a commit with room to spare.
pub const MAX_UPSTREAM_SECRET_BYTES: usize = 64 * 1024;
/// Bytes of an endpoint in the log of rulings; what is longer is cut.
pub const MAX_LOGGED_ENDPOINT_BYTES: usize = 2048;
/// Sync issues kept of one listing; the rest is counted in a last one.
pub const MAX_SYNC_ISSUES: usize = 200;
/// Texts of earlier definitions that are kept of one tool. Past it, a definition that is no longer listed keeps its
/// fingerprint and its times, and its text only if it is approved.
pub const MAX_EARLIER_TEXTS_PER_TOOL: u32 = 64;
/// Bytes of the texts of earlier definitions that are kept of one client's tools. Past it, as past
/// [`MAX_EARLIER_TEXTS_PER_TOOL`]; upstreams that are synced at the same moment may each exceed it by what they write.
pub const MAX_EARLIER_TEXT_BYTES_PER_CLIENT: u64 = 256 * 1024 * 1024;
/// OXP versions of one tool that are remembered, about 40 bytes each in the row of its rulings.
pub const MAX_OXP_VERSIONS_PER_TOOL: usize = 256;
/// Bytes of the text of a failed sync that are kept.
pub const MAX_SYNC_ERROR_BYTES: usize = 1024;
/// Characters of a description that an owner gives to an upstream, a tool or an attachment.
pub const MAX_DESCRIPTION_CHARS: usize = 4096;
/// Shortest life of a key that expires, in milliseconds.
pub const MIN_API_KEY_TTL_MS: i64 = 1_000;
/// Scopes of a key.
pub const MAX_SCOPES: usize = 8;

/// Calls under way on this replica; further ones are refused at once.
pub const MAX_CALLS: usize = 4096;
/// Calls under way to one upstream on this replica; further ones are refused at once.
pub const MAX_CALLS_PER_UPSTREAM: usize = 256;
/// Calls of one upstream that in a row did not reach it, until the next ones are refused at once for a while.
pub const MAX_FAILURES_IN_A_ROW: u32 = 5;
/// How long they are refused at first; doubled with each further call that does not reach it.
pub const FIRST_BREAK_MS: u64 = 1_000;
/// How long they are refused at most.
pub const LONGEST_BREAK_MS: u64 = 30_000;
/// Time of a call for everything before it is sent: connecting or starting a process, and the handshake.
pub const CALL_CONNECT_TIMEOUT_MS: u64 = 10_000;
/// Time that a call waits for the sync which settles whether its tool is still what was approved.
pub const CALL_CHECK_TIMEOUT_MS: u64 = 30_000;
/// Bytes of what names a caller's session at a call.
pub const MAX_SESSION_NAME_BYTES: usize = 1024;
/// Headers of a call that may repeat arguments.
pub const MAX_ARGUMENT_HEADERS: usize = 128;
/// How long what an upstream asked for at a call can be answered.
pub const QUESTION_LIFETIME_MS: i64 = 15 * 60 * 1000;
/// Bytes of what an upstream wants back with the answers (`requestState`).
pub const MAX_UPSTREAM_STATE_BYTES: usize = 32 * 1024;
/// Bytes of what a caller sends back with the answers.
pub const MAX_REQUEST_STATE_BYTES: usize = 64 * 1024;
/// Time of a whole call.
pub const CALL_TIMEOUT_MS: u64 = 300_000;
/// Bytes of everything that an upstream sends for one call.
pub const MAX_CALL_ANSWER_BYTES: usize = 16 * 1024 * 1024;
/// Bytes of a `call_id`.
pub const MAX_CALL_ID_BYTES: usize = 128;
/// How long what came of a call with a `call_id` is kept on this replica, in milliseconds.
pub const CALL_ID_KEPT_MS: u64 = 600_000;
/// Ended calls with a `call_id` that are kept for one client on this replica; the oldest is let go for the next.
pub const MAX_CALL_IDS_PER_CLIENT: usize = 1024;
/// Bytes of their answers, for one client; past them the oldest calls are known without their answers.
pub const MAX_KEPT_ANSWER_BYTES_PER_CLIENT: usize = 4 * 1024 * 1024;
/// Input schemas of called tools that are kept ready.
pub const MAX_READY_SCHEMAS: usize = 4096;

/// Tools of a page when none is asked for, and at most.
pub const TOOLS_PAGE_SIZE: usize = 1000;
/// Upstreams of a page when none is asked for.
pub const UPSTREAMS_PAGE_SIZE: usize = 100;
/// Upstreams of a page at most.
pub const MAX_UPSTREAMS_PAGE_SIZE: usize = 1000;
/// Units of a page when none is asked for.
pub const UNITS_PAGE_SIZE: usize = 100;
/// Units of a page at most.
pub const MAX_UNITS_PAGE_SIZE: usize = 1000;
/// API keys of a page when none is asked for.
pub const API_KEYS_PAGE_SIZE: usize = 100;
/// API keys of a page at most.
pub const MAX_API_KEYS_PAGE_SIZE: usize = 1000;
/// Agents of a page when none is asked for.
pub const AGENTS_PAGE_SIZE: usize = 100;
/// Agents of a page at most.
pub const MAX_AGENTS_PAGE_SIZE: usize = 1000;
/// Clients of a page when none is asked for.
pub const CLIENTS_PAGE_SIZE: usize = 100;
/// Clients of a page at most.
pub const MAX_CLIENTS_PAGE_SIZE: usize = 1000;
/// Definitions of one tool on a page when none is asked for, and at most.
pub const DEFINITIONS_PAGE_SIZE: usize = 1000;
/// Fingerprints that a list of one tool's definitions may be limited to.
pub const MAX_DEFINITION_HASHES: usize = 16;
/// Rulings of a page when none is asked for.
pub const RULINGS_PAGE_SIZE: usize = 100;
/// Rulings of a page at most.
pub const MAX_RULINGS_PAGE_SIZE: usize = 1000;
/// Calls of a page of the log when none is asked for.
pub const CALLS_PAGE_SIZE: usize = 100;
/// Calls of a page of the log at most.
pub const MAX_CALLS_PAGE_SIZE: usize = 1000;
/// Bytes of what was called, in the log of calls; what is longer is cut.
pub const MAX_LOGGED_NAME_BYTES: usize = 256;
/// A page or watch message ends before its definitions exceed this, so that it stays under the 4 MiB which gRPC clients
/// accept by default.
pub const PAGE_DEFINITION_BYTES: usize = 3 * 1024 * 1024 - 512 * 1024;
/// How long a read waits for `min_revision`, in milliseconds.
pub const MIN_REVISION_WAIT_MS: u64 = 5_000;
/// Quiet time after which a watch sends a progress message, in milliseconds.
pub const WATCH_PROGRESS_MS: u64 = 10_000;
/// How long a watcher may leave a message untaken before it is cut off, in milliseconds.
pub const WATCH_STALL_MS: u64 = 30_000;
/// Tools of a client that left the catalogue and are remembered for watches that resume.
pub const MAX_WITHDRAWN_TOOLS: usize = 50_000;
