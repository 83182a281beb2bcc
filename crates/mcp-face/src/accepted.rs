//! `Accept` and `Content-Type` (RFC 9110, 12.5.1 and 8.3).

use http::header::{ACCEPT, CONTENT_ENCODING, CONTENT_TYPE};
use http::{HeaderMap, StatusCode};

use crate::refusal::Refusal;

pub(crate) const JSON: &str = "application/json";
pub(crate) const EVENTS: &str = "text/event-stream";

/// Refuses a caller that would not read an answer of this type. MCP asks clients to accept both of [`JSON`] and [`EVENTS`];
/// only what is sent is insisted on.
pub(crate) fn check_accepted(headers: &HeaderMap, media_type: &str) -> Result<(), Refusal> {
    if is_accepted(headers, media_type) {
        return Ok(());
    }
    let message =
        format!("accept: the answer is {media_type}; accept application/json and text/event-stream");
    Err(Refusal::http(StatusCode::NOT_ACCEPTABLE, message))
}

/// Refuses a body that is not said to be JSON as it is: one media type, UTF-8 where a charset is named (RFC 8259, section
/// 8.1), and no coding.
pub(crate) fn check_is_json(headers: &HeaderMap) -> Result<(), Refusal> {
    if headers
        .get_all(CONTENT_ENCODING)
        .iter()
        .any(|coding| !coding.as_bytes().eq_ignore_ascii_case(b"identity"))
    {
        return Err(unsupported("content-encoding: send the body as it is"));
    }
    let mut lines = headers.get_all(CONTENT_TYPE).iter();
    let media_type = lines.next().and_then(|value| value.to_str().ok()).unwrap_or_default();
    if lines.next().is_none() && is_json(media_type) {
        return Ok(());
    }
    Err(unsupported("content-type: send application/json, once, in UTF-8"))
}

fn is_json(media_type: &str) -> bool {
    let mut parts = media_type.split(';').map(str::trim);
    let is_utf8 = |parameter: &str| match parameter.split_once('=') {
        Some((name, value)) if name.eq_ignore_ascii_case("charset") => {
            value.trim_matches('"').eq_ignore_ascii_case("utf-8")
        }
        _ => true,
    };
    parts.next().is_some_and(|essence| essence.eq_ignore_ascii_case(JSON)) && parts.all(is_utf8)
}

fn unsupported(problem: &str) -> Refusal {
    Refusal::http(StatusCode::UNSUPPORTED_MEDIA_TYPE, problem)
}

/// The most specific range that matches decides. Without the header everything is accepted.
pub(crate) fn is_accepted(headers: &HeaderMap, media_type: &str) -> bool {
    if !headers.contains_key(ACCEPT) {
        return true;
    }
    let lines = headers.get_all(ACCEPT).iter().filter_map(|line| line.to_str().ok());
    let ranges = lines.flat_map(|line| line.split(',')).filter_map(range);
    let matching = ranges.filter_map(|(range, weight)| Some((specificity(range, media_type)?, weight)));
    matching.max_by_key(|(specificity, _)| *specificity).is_some_and(|(_, weight)| weight > 0.0)
}

/// A range and its weight; one with a malformed weight is left out.
fn range(item: &str) -> Option<(&str, f32)> {
    let mut parts = item.split(';').map(str::trim);
    let range = parts.next()?;
    let weight = parts.find_map(|part| part.strip_prefix(['q', 'Q'])?.strip_prefix('='));
    let weight = weight.map_or(Some(1.0), |weight| weight.parse().ok())?;
    (0.0..=1.0).contains(&weight).then_some((range, weight))
}

fn specificity(range: &str, media_type: &str) -> Option<u8> {
    let family = media_type.split('/').next().unwrap_or_default();
    match range.split_once('/') {
        _ if range.eq_ignore_ascii_case(media_type) => Some(2),
        Some((of, "*")) if of.eq_ignore_ascii_case(family) => Some(1),
        Some(("*", "*")) => Some(0),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    fn accepts(accept: &'static str, media_type: &str) -> bool {
        is_accepted(&HeaderMap::from_iter([(ACCEPT, HeaderValue::from_static(accept))]), media_type)
    }

    #[test]
    fn the_most_specific_range_decides() {
        for (accept, json, events) in [
            ("application/json, text/event-stream", true, true),
            ("application/json", true, false),
            ("text/event-stream;q=0.1", false, true),
            ("*/*", true, true),
            ("text/*, application/json;q=0", false, true),
            ("*/*;q=0, application/JSON", true, false),
            ("*/*, application/json;q=0", false, true),
            ("text/html", false, false),
            ("application/json;q=x", false, false),
            ("application/jsonp", false, false),
            ("", false, false),
        ] {
            assert_eq!((accepts(accept, JSON), accepts(accept, EVENTS)), (json, events), "{accept}");
        }
        assert!(is_accepted(&HeaderMap::new(), JSON));
    }

    #[test]
    fn only_json_is_taken() {
        for (content_type, taken) in [
            ("application/json", true),
            ("Application/JSON; charset=utf-8", true),
            ("application/json;Charset=\"UTF-8\"; v=1", true),
            ("application/json; charset=utf-16", false),
            ("text/plain", false),
            ("application/jsonp", false),
            ("", false),
        ] {
            let headers = HeaderMap::from_iter([(CONTENT_TYPE, HeaderValue::from_static(content_type))]);
            assert_eq!(check_is_json(&headers).is_ok(), taken, "{content_type}");
        }
        assert!(check_is_json(&HeaderMap::new()).is_err());
        let json = (CONTENT_TYPE, HeaderValue::from_static(JSON));
        let mut headers = HeaderMap::from_iter([json.clone()]);
        for (coding, taken) in [("identity", true), ("gzip", false), ("", false)] {
            headers.insert(CONTENT_ENCODING, HeaderValue::from_static(coding));
            assert_eq!(check_is_json(&headers).is_ok(), taken, "{coding}");
        }
        headers.remove(CONTENT_ENCODING);
        headers.append(json.0, json.1);
        assert!(check_is_json(&headers).is_err(), "a media type that is said twice");
    }
}
