//! What is not expected of the gateway, with the reason.
//!
//! A line is a scenario, or `scenario/check`, or either with a `*` at its end for all that begin so.

/// What the SDK's own server does not pass: the tasks extension, the headers of inputs, and resumed streams, none of which
/// it has.
pub(super) const FAILS_DIRECTLY: &[&str] =
    &["tasks-*", "http-custom-header-server-validation/*", "server-sse-polling/*"];

/// What passes directly and not through the gateway. Each line has to fail in some check.
pub(super) const DOES_NOT_APPLY: &[(&str, &[&str])] = &[(
    "the gateway governs tools; prompts, resources and completion are not offered",
    &["completion-complete", "prompts-*", "resources-*"],
)];
