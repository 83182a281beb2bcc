//! What several routes read of a request in the same way.

use http::{HeaderMap, HeaderName, HeaderValue};

use crate::envelope::Refusal;

const X_TOOLGATE_MIN_REVISION: HeaderName = HeaderName::from_static("x-toolgate-min-revision");

/// A header that must not come twice: which of the two counts would be anybody's guess.
pub(crate) fn single<'a>(
    headers: &'a HeaderMap,
    name: &HeaderName,
) -> Result<Option<&'a HeaderValue>, Refusal> {
    let mut lines = headers.get_all(name).iter();
    let first = lines.next();
    if lines.next().is_some() { Err(Refusal::invalid(name.as_str(), "send it once")) } else { Ok(first) }
}

/// The revision that the answer must have reached; empty for none.
pub(crate) fn min_revision(headers: &HeaderMap) -> Result<String, Refusal> {
    let given = single(headers, &X_TOOLGATE_MIN_REVISION)?.map(HeaderValue::to_str).transpose();
    let given = given.map_err(|_| Refusal::invalid(X_TOOLGATE_MIN_REVISION.as_str(), "send ASCII text"))?;
    Ok(given.unwrap_or_default().to_owned())
}
