use std::net::{SocketAddr, ToSocketAddrs};
use std::sync::Arc;

use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use tokio::sync::Semaphore;

use crate::failure::{Refusal, Unresolved};
use crate::policy::Reach;

/// Resolves names with the system's resolver and hands on only what may be connected to. It is asked for each new
/// connection, so there is no gap between the check and the use.
#[derive(Debug, Clone)]
pub(crate) struct GuardedResolver {
    reach: Reach,
    lookups: Arc<Semaphore>,
}

impl GuardedResolver {
    pub(crate) fn new(reach: Reach, lookups: Arc<Semaphore>) -> Self {
        Self { reach, lookups }
    }
}

impl Resolve for GuardedResolver {
    fn resolve(&self, name: Name) -> Resolving {
        let Self { reach, lookups } = self.clone();
        Box::pin(async move {
            let found = look_up(name.as_str().to_owned(), lookups).await?;
            let allowed = allowed(&found, reach)?;
            Ok(Box::new(allowed.into_iter()) as Addrs)
        })
    }
}

/// The permit travels with the thread: a look-up whose caller gave up still counts until it ends.
async fn look_up(name: String, lookups: Arc<Semaphore>) -> Result<Vec<SocketAddr>, Unresolved> {
    let permit = lookups.acquire_owned().await.map_err(|_| Unresolved)?;
    let found = tokio::task::spawn_blocking(move || {
        let _permit = permit;
        (name.as_str(), 0).to_socket_addrs().map(Iterator::collect::<Vec<_>>)
    });
    found.await.map_err(|_| Unresolved)?.map_err(|_| Unresolved)
}

fn allowed(
    found: &[SocketAddr],
    reach: Reach,
) -> Result<Vec<SocketAddr>, Box<dyn std::error::Error + Send + Sync>> {
    let mut refused: Option<Refusal> = None;
    let mut allowed = Vec::with_capacity(found.len());
    for address in found {
        match reach.admit(address.ip()) {
            Ok(()) => allowed.push(*address),
            Err(refusal) => refused = refused.or(Some(refusal)),
        }
    }
    match refused {
        _ if !allowed.is_empty() => Ok(allowed),
        Some(refusal) => Err(refusal.into()),
        None => Err(Unresolved.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn addresses(texts: &[&str]) -> Vec<SocketAddr> {
        texts.iter().map(|text| SocketAddr::new(text.parse().unwrap(), 0)).collect()
    }

    #[test]
    fn of_a_mixed_answer_only_the_allowed_addresses_are_used() {
        let found = addresses(&["127.0.0.1", "8.8.8.8", "169.254.169.254", "10.0.0.1", "2606:4700::1111"]);
        assert_eq!(allowed(&found, Reach::Public).unwrap(), addresses(&["8.8.8.8", "2606:4700::1111"]));
        assert_eq!(
            allowed(&found, Reach::PublicAndPrivate).unwrap(),
            addresses(&["127.0.0.1", "8.8.8.8", "10.0.0.1", "2606:4700::1111"])
        );
    }

    #[test]
    fn a_name_with_no_allowed_address_is_refused() {
        for (found, reach, refusal) in [
            (["10.0.0.1", "127.0.0.1"], Reach::Public, Refusal::PrivateUndeclared),
            (["10.0.0.1", "127.0.0.1"], Reach::PublicByConfig, Refusal::PrivateNever),
            (["169.254.169.254", "fe80::1"], Reach::PublicAndPrivate, Refusal::SpecialAddress),
        ] {
            let error = allowed(&addresses(&found), reach).unwrap_err();
            assert_eq!(error.downcast_ref::<Refusal>(), Some(&refusal));
        }
        assert!(allowed(&[], Reach::Public).unwrap_err().is::<Unresolved>());
    }
}
