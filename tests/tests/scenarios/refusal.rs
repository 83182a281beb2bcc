//! What a refused call says, for callers that are programs.

use std::collections::HashMap;

use tonic::{Code, Status};
use tonic_types::{ErrorInfo, StatusExt};

fn info(status: &Status) -> ErrorInfo {
    let info = status.get_details_error_info().unwrap_or_else(|| panic!("no reason: {status:?}"));
    assert_eq!(info.domain, "toolgate.dev");
    info
}

/// The reason.
pub(crate) fn reason(status: &Status) -> String {
    info(status).reason
}

/// What goes with the reason.
pub(crate) fn metadata(status: &Status) -> HashMap<String, String> {
    info(status).metadata
}

/// Paths of the fields that are wrong.
pub(crate) fn fields(status: &Status) -> Vec<String> {
    let request = status.get_details_bad_request().unwrap_or_else(|| panic!("no field: {status:?}"));
    request.field_violations.into_iter().map(|violation| violation.field).collect()
}

/// Asserts its code and its reason.
pub(crate) fn is(status: &Status, code: Code, name: &str) {
    assert_eq!((status.code(), reason(status).as_str()), (code, name), "{status:?}");
}
