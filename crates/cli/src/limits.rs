//! Bounds of the client side.

use std::time::Duration;

/// Largest answer taken. A page ends before 3 MiB of definitions, so every answer fits.
pub(crate) const MAX_MESSAGE_BYTES: usize = 4 * 1024 * 1024;

/// Largest result of a call taken: what the server lets an upstream send, and room for the rest.
pub(crate) const MAX_RESULT_BYTES: usize = 17 * 1024 * 1024;

/// Largest message that is taken of a server's list, which is not cut into pages: its 16 MiB, and names.
pub(crate) const MAX_LIVE_MESSAGE_BYTES: usize = 24 * 1024 * 1024;

/// For opening the connection.
pub(crate) const CONNECT_DEADLINE: Duration = Duration::from_secs(5);

/// For one call.
pub(crate) const CALL_DEADLINE: Duration = Duration::from_secs(30);

/// For a call of a tool: a little longer than the server lets it take.
pub(crate) const TOOL_CALL_DEADLINE: Duration = Duration::from_secs(310);

/// For a tool server that is asked at this moment.
pub(crate) const LIVE_DEADLINE: Duration = Duration::from_secs(90);

/// For a sync that is waited for.
pub(crate) const SYNC_DEADLINE: Duration = Duration::from_secs(180);

/// A connection on which nothing arrives is probed after this long, and given up after as long again. A watch would
/// never notice otherwise that the other side is gone.
pub(crate) const KEEP_ALIVE: Duration = Duration::from_secs(20);

/// Longest pause between two attempts to resume a watch.
pub(crate) const MAX_RESUME_PAUSE: Duration = Duration::from_secs(30);

/// Upstreams asked for at once.
pub(crate) const UPSTREAMS_PER_PAGE: i32 = 100;

/// Units asked for at once.
pub(crate) const UNITS_PER_PAGE: i32 = 100;

/// Commands of a unit asked for at once.
pub(crate) const COMMANDS_PER_PAGE: i32 = 1000;

/// API keys asked for at once.
pub(crate) const KEYS_PER_PAGE: i32 = 100;

/// Agents asked for at once.
pub(crate) const AGENTS_PER_PAGE: i32 = 100;

/// Clients asked for at once.
pub(crate) const CLIENTS_PER_PAGE: i32 = 100;

/// Rulings asked for at once.
pub(crate) const RULINGS_PER_PAGE: i32 = 1000;

/// Definitions asked for at once; a page ends earlier where they are large.
pub(crate) const DEFINITIONS_PER_PAGE: i32 = 1000;

/// Two strings that differ are shown whole up to so many characters; of longer ones, only where they do.
pub(crate) const MAX_WHOLE_STRING_CHARS: usize = 200;
/// Characters that two strings share and that are shown before and after what differs.
pub(crate) const CONTEXT_CHARS: usize = 60;

/// Characters of a fingerprint in a table: the scheme and twelve digits.
pub(crate) const SHORT_HASH_CHARS: usize = "sha256:".len() + 12;

/// A longer cell does not widen its column.
pub(crate) const MAX_COLUMN_CHARS: usize = 64;

/// Places and characters that a warning names before it only counts.
pub(crate) const MAX_MARKED_PLACES: usize = 8;
/// Characters that a warning names at one place.
pub(crate) const MAX_MARKS_PER_PLACE: usize = 8;
