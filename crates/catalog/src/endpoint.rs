//! The way to an upstream, with its secrets opened. The one place that opens them.

use std::path::PathBuf;

use toolgate_domain::{
    Fault, Upstream,
    upstream::{Protocol, Transport},
};
use toolgate_sealing::{Sealer, SecretContext};
use toolgate_upstream::{Endpoint, Secret};

/// Opens what [`Upstream::transport`] holds sealed.
///
/// # Errors
/// [`Fault::Internal`] when a secret cannot be opened.
pub fn endpoint(upstream: &Upstream, sealer: &Sealer) -> Result<Endpoint, Fault> {
    let opened = upstream.transport.clone().try_map(|field, sealed| {
        let context = SecretContext { client: *upstream.client.bytes(), owner: *upstream.id.bytes(), field };
        let plain =
            sealer.open_secret(&context, &sealed.0).map_err(|error| unreadable(upstream, field, &error))?;
        let text = std::str::from_utf8(&plain).map_err(|error| unreadable(upstream, field, &error))?;
        Ok::<_, Fault>(Secret::new(text))
    })?;
    Ok(match opened {
        Transport::Http { url, headers, allow_private } => match upstream.protocol {
            Protocol::Mcp => Endpoint::Http { url, headers, allow_private },
            Protocol::Oxp => Endpoint::Oxp { url, headers, allow_private },
        },
        Transport::Stdio { command, args, env } => {
            Endpoint::Stdio { command: PathBuf::from(command), args, env }
        }
    })
}

fn unreadable(upstream: &Upstream, field: &str, error: &dyn std::error::Error) -> Fault {
    Fault::Internal { cause: format!("secret {field} of upstream {}: {error}", upstream.id) }
}
