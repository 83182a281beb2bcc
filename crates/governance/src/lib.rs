//! Use cases of governance: upstreams, approvals, status, keys.
