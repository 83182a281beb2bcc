//! Every limit of this crate that a caller does not choose; the others are `toolgate_upstream::Bounds`.

use std::time::Duration;

/// Characters kept of an error text that may hold a server's own words.
pub const MAX_MESSAGE_CHARS: usize = 300;

/// Characters kept of a `WWW-Authenticate` header.
pub const MAX_CHALLENGE_CHARS: usize = 1024;

/// Characters kept of a server's name and version.
pub const MAX_SERVER_NAME_CHARS: usize = 200;

/// Requests of a server that are answered while it owes us an answer; further ones are ignored.
pub const MAX_REQUESTS_ANSWERED: usize = 8;

/// Bytes read of an HTTP answer without success, to see whether an MCP error stands in it.
pub const MAX_REFUSAL_BYTES: usize = 64 * 1024;

/// Endpoints of which the protocol era is remembered.
pub const MAX_KNOWN_ERAS: usize = 16 * 1024;

/// Sessions, and processes, that are kept for calls to go on in.
pub const MAX_KEPT: usize = 256;

/// How long what no call used is kept.
pub const IDLE_KEPT: Duration = Duration::from_secs(300);

/// Bytes of one line of a process that calls wait for, beyond which it is given up.
pub const MAX_CALL_LINE_BYTES: usize = 16 * 1024 * 1024;

/// Lines that wait for a process to read them.
pub const MAX_WAITING_LINES: usize = 64;

/// How long the end of a conversation may take: a session's DELETE, or a child's way out after its input closed.
pub const FAREWELL: Duration = Duration::from_millis(500);

/// How long one stream of notices is followed before it is opened anew.
pub const MAX_FOLLOWED: Duration = Duration::from_secs(3600);

/// How often a stream of notices is read, at most.
pub const NOTICES_EVERY: Duration = Duration::from_millis(100);

/// Open files of a child process.
pub const CHILD_OPEN_FILES: u64 = 1024;

/// Seconds of processor time of a child process, each of its own children counted apart.
pub const CHILD_CPU_SECONDS: u64 = 600;

/// Bytes of one file that a child process writes.
pub const CHILD_FILE_BYTES: u64 = 1 << 30;

/// Bytes of writable memory of a child process. Large because language runtimes reserve more than they use.
pub const CHILD_DATA_BYTES: u64 = 4 << 30;
