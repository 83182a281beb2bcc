//! What is not expected of the gateway, with the reason.

/// Scenarios that the SDK's own server does not pass as a whole: an extension, and what the SDK leaves to others.
pub(super) const FAILS_DIRECTLY: &[&str] = &[
    "http-custom-header-server-validation",
    "server-sse-polling",
    "tasks-capability-negotiation",
    "tasks-dispatch-and-envelope",
    "tasks-lifecycle",
    "tasks-mrtr-composition",
    "tasks-mrtr-input",
    "tasks-request-headers",
    "tasks-request-state-removal",
    "tasks-required-task-error",
    "tasks-status-notifications",
    "tasks-wire-fields",
];

/// What passes directly and not through the gateway, by the reason.
///
/// A line is a scenario, or `scenario/check`, or either with a `*` at its end for all that begin so. Some check of each has to
/// fail in every run that has it.
pub(super) const DOES_NOT_APPLY: &[(&str, &[&str])] = &[
    (
        "only tools are offered: no prompts, resources or completion",
        &[
            "caching/sep-2549-prompts-list-caching-hints",
            "caching/sep-2549-resources-*",
            "completion-complete",
            "input-required-result-non-tool-request",
            "prompts-*",
            "resources-*",
            "sep-2164-resource-not-found",
            "server-stateless/sep-2575-server-sends-prompts-list-changed-on-subscription",
        ],
    ),
    (
        "a server's requests of its own are refused: nobody between agent and server could govern them",
        &["elicitation-*", "tools-call-elicitation", "tools-call-sampling"],
    ),
    (
        "an upstream may ask for elicitation alone: its prompts to the agent's model, and what roots there are, are nobody's to govern",
        &[
            "input-required-result-basic-list-roots",
            "input-required-result-basic-sampling",
            "input-required-result-capability-check",
            "input-required-result-multiple-input-requests",
        ],
    ),
    ("sessions are kept nowhere, so none can be ended: `DELETE` is 405", &["server-session-lifecycle"]),
    (
        "lists are answered as JSON, which is one of the two that a server may choose",
        &["server-sse-multiple-streams/server-sse-streams-functional"],
    ),
    (
        "a change is told once the served tools have changed, which takes longer than the suite waits",
        &["server-stateless/sep-2575-server-sends-tools-list-changed-on-subscription"],
    ),
];
