//! Changes of upstreams from the wire.

use std::collections::BTreeSet;

use prost_types::FieldMask;
use toolgate_api_proto::v1::{self as pb, upstream::Transport};
use toolgate_domain::{
    Fault, Violation,
    upstream::{Auth, TransportChange, UpstreamChange},
};

use super::upstream::{
    auth_from_proto, freshness_from_proto, isolation_from_proto, name_policy_from_proto, ordered,
};

const PATHS: [&str; 15] = [
    "display_name",
    "description",
    "path",
    "name_policy",
    "auth",
    "freshness",
    "isolation",
    "http",
    "http.url",
    "http.headers",
    "http.allow_private",
    "stdio",
    "stdio.command",
    "stdio.args",
    "stdio.env",
];

/// What a mask names of an upstream, secrets in the clear.
pub(crate) fn change_from_proto(
    upstream: pb::Upstream,
    mask: Option<FieldMask>,
) -> Result<UpstreamChange<String>, Fault> {
    let paths = mask.unwrap_or_default().paths;
    if paths.is_empty() {
        return Err(mask_fault(format!("is required: name one or more of {}", PATHS.join(", "))));
    }
    if let Some(unknown) = paths.iter().find(|path| !PATHS.contains(&path.as_str())) {
        return Err(not_updatable(unknown));
    }
    let named = Named(paths.into_iter().collect());
    Ok(UpstreamChange {
        display_name: named.has("display_name").then_some(upstream.display_name),
        description: named.has("description").then_some(upstream.description),
        path: named.has("path").then_some(upstream.path),
        name_policy: named
            .has("name_policy")
            .then(|| name_policy_from_proto(upstream.name_policy))
            .transpose()?,
        auth: named.has("auth").then(|| auth(upstream.auth)).transpose()?,
        freshness: named.has("freshness").then(|| freshness_from_proto(upstream.freshness)).transpose()?,
        isolation: named.has("isolation").then(|| isolation_from_proto(upstream.isolation)).transpose()?,
        transport: transport(&named, upstream.transport)?,
    })
}

fn auth(auth: i32) -> Result<Auth, Fault> {
    let wanted = auth_from_proto(auth)?;
    wanted.ok_or_else(|| {
        Fault::invalid(
            "upstream.auth",
            "is named by the mask, and says nothing; use NONE, STATIC or PER_USER",
        )
    })
}

/// The paths of a mask.
struct Named(BTreeSet<String>);

impl Named {
    fn has(&self, path: &str) -> bool {
        self.0.contains(path)
    }

    /// A part of a transport, if it or the whole transport is named.
    fn part<T>(&self, whole: &str, part: &str, value: T) -> Option<T> {
        (self.has(whole) || self.has(&format!("{whole}.{part}"))).then_some(value)
    }

    fn has_any_of(&self, whole: &str) -> bool {
        self.0.iter().any(|path| path.split('.').next() == Some(whole))
    }
}

fn transport(named: &Named, transport: Option<Transport>) -> Result<Option<TransportChange<String>>, Fault> {
    match (named.has_any_of("http"), named.has_any_of("stdio"), transport) {
        (false, false, _) => Ok(None),
        (true, true, _) => Err(mask_fault("names parts of both http and stdio; an upstream has one of them")),
        (true, false, Some(Transport::Http(http))) => http_change(named, http).map(Some),
        (false, true, Some(Transport::Stdio(stdio))) => stdio_change(named, stdio).map(Some),
        (true, ..) => Err(Fault::invalid("upstream.http", "is absent, and the mask names it")),
        (false, ..) => Err(Fault::invalid("upstream.stdio", "is absent, and the mask names it")),
    }
}

fn http_change(named: &Named, http: pb::HttpTransport) -> Result<TransportChange<String>, Fault> {
    let headers = named.part("http", "headers", ordered(http.headers));
    if headers.as_ref().is_some_and(|headers| is_read_back(headers, &http.header_names)) {
        return Err(read_back("upstream.http.headers"));
    }
    Ok(TransportChange::Http {
        url: named.part("http", "url", http.url),
        headers,
        allow_private: named.part("http", "allow_private", http.allow_private),
    })
}

fn stdio_change(named: &Named, stdio: pb::StdioTransport) -> Result<TransportChange<String>, Fault> {
    let env = named.part("stdio", "env", ordered(stdio.env));
    if env.as_ref().is_some_and(|env| is_read_back(env, &stdio.env_names)) {
        return Err(read_back("upstream.stdio.env"));
    }
    Ok(TransportChange::Stdio {
        command: named.part("stdio", "command", stdio.command),
        args: named.part("stdio", "args", stdio.args),
        env,
    })
}

/// Whether an upstream was read and is sent back: what it is sent is not given to readers, and would be lost.
fn is_read_back(given: &[(String, String)], names: &[String]) -> bool {
    given.is_empty() && !names.is_empty()
}

fn read_back(field: &str) -> Fault {
    let problem = "has no values, for they are not given to readers; give each anew, name other parts in the mask, or \
                   clear the list of names to have none";
    Fault::invalid(field, problem)
}

fn not_updatable(path: &str) -> Fault {
    match path {
        "slug" => {
            mask_fault("names slug, which cannot be changed; register another upstream and delete this one")
        }
        _ => mask_fault(format!("names {path:?}; what can be updated is {}", PATHS.join(", "))),
    }
}

fn mask_fault(problem: impl Into<String>) -> Fault {
    Fault::invalid("update_mask", problem)
}

/// Fields of the upstream as fields of the request.
pub(crate) fn within_request(fault: Fault) -> Fault {
    let Fault::Invalid(violations) = fault else { return fault };
    let is_inner = |field: &str| {
        ["id", "display_name", "description", "path", "auth", "http", "stdio"]
            .iter()
            .any(|name| field.starts_with(name))
    };
    let named = |Violation { field, problem }: Violation| {
        let field = if is_inner(&field) { format!("upstream.{field}") } else { field };
        Violation { field, problem }
    };
    Fault::Invalid(violations.into_iter().map(named).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mask(paths: &[&str]) -> Option<FieldMask> {
        Some(FieldMask { paths: paths.iter().map(|path| (*path).to_owned()).collect() })
    }

    fn upstream() -> pb::Upstream {
        let http = pb::HttpTransport {
            url: "https://a.example/".into(),
            headers: [("X".to_owned(), "1".to_owned())].into(),
            header_names: vec!["X".into()],
            ..Default::default()
        };
        pb::Upstream {
            transport: Some(Transport::Http(http)),
            display_name: "n".into(),
            ..Default::default()
        }
    }

    fn field(upstream: pb::Upstream, paths: &[&str]) -> (String, String) {
        let Err(Fault::Invalid(mut found)) = change_from_proto(upstream, mask(paths)) else {
            panic!("{paths:?} was taken")
        };
        let Violation { field, problem } = found.remove(0);
        (field, problem)
    }

    #[test]
    fn only_what_the_mask_names_is_taken() {
        let change = change_from_proto(upstream(), mask(&["http.url"])).unwrap();
        assert_eq!((change.display_name, change.name_policy, change.auth), (None, None, None));
        let Some(TransportChange::Http { url, headers, allow_private }) = change.transport else {
            panic!("no http")
        };
        assert_eq!((url.as_deref(), headers, allow_private), (Some("https://a.example/"), None, None));
        let whole = change_from_proto(upstream(), mask(&["http"])).unwrap().transport;
        let whole_is_given = matches!(
            whole,
            Some(TransportChange::Http { url: Some(_), headers: Some(_), allow_private: Some(false) })
        );
        assert!(whole_is_given);
    }

    #[test]
    fn a_mask_that_cannot_be_followed_is_refused_with_the_reason() {
        for (paths, word) in [
            (&[][..], "required"),
            (&["slug"], "cannot be changed"),
            (&["health"], "health"),
            (&["http.url", "stdio.args"], "both"),
        ] {
            let (field, problem) = field(upstream(), paths);
            assert!(field == "update_mask" && problem.contains(word), "{paths:?}: {problem}");
        }
        assert_eq!(field(upstream(), &["stdio.args"]).0, "upstream.stdio");
    }

    #[test]
    fn headers_that_were_read_and_sent_back_are_not_lost() {
        let mut read = upstream();
        if let Some(Transport::Http(http)) = &mut read.transport {
            http.headers.clear();
        }
        assert_eq!(field(read.clone(), &["http"]).0, "upstream.http.headers");
        assert!(change_from_proto(read, mask(&["http.url", "http.allow_private"])).is_ok());
    }
}
