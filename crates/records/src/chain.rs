//! The hash chain over a client's rulings.
//!
//! Row *n* carries SHA-256(hash of row *n*-1 ‖ the stored bytes of ruling *n*); before row 1 stand 32 zero bytes. Nobody can
//! change, drop or reorder a row without every later hash telling.

use sha2::{Digest, Sha256};
use toolgate_domain::ruling::Ruling;

use crate::record::{ChainHead, ChainedRuling, ruling_bytes};

/// Appends `ruling` to the log that ends in `head`: gives it the next sequence number and ties it to what came before.
pub fn append(head: &ChainHead, mut ruling: Ruling) -> (ChainedRuling, ChainHead) {
    ruling.sequence = head.sequence + 1;
    let hash = link(&head.hash, &ruling);
    let next = ChainHead { sequence: ruling.sequence, hash };
    (ChainedRuling { ruling, hash }, next)
}

/// Where a log is not what it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Broken {
    /// A row is missing or out of order.
    #[error("row {expected} of the log is missing")]
    Gap {
        /// Its sequence number.
        expected: u64,
    },
    /// A row, or one before it, was changed.
    #[error("row {sequence} of the log does not follow from the one before")]
    Link {
        /// Its sequence number.
        sequence: u64,
    },
    /// The log ends elsewhere than its head says: rows at the end are missing.
    #[error("the log ends at row {last}, its head says {head}")]
    End {
        /// The last row found.
        last: u64,
        /// What the head says.
        head: u64,
    },
}

/// Checks a whole log, in order, against its head.
pub fn verify<'a>(log: impl IntoIterator<Item = &'a ChainedRuling>, head: &ChainHead) -> Result<(), Broken> {
    let mut at = ChainHead::EMPTY;
    for row in log {
        at = follow(&at, row)?;
    }
    if at == *head { Ok(()) } else { Err(Broken::End { last: at.sequence, head: head.sequence }) }
}

/// The end of the log after `row`, if that follows from `before`.
pub fn follow(before: &ChainHead, row: &ChainedRuling) -> Result<ChainHead, Broken> {
    let expected = before.sequence + 1;
    if row.ruling.sequence != expected {
        return Err(Broken::Gap { expected });
    }
    if row.hash != link(&before.hash, &row.ruling) {
        return Err(Broken::Link { sequence: expected });
    }
    Ok(ChainHead { sequence: expected, hash: row.hash })
}

/// The bytes of a ruling that the log keeps and its hash covers.
pub fn stored_bytes(ruling: &Ruling) -> Vec<u8> {
    ruling_bytes(ruling)
}

fn link(before: &[u8; 32], ruling: &Ruling) -> [u8; 32] {
    Sha256::new().chain_update(before).chain_update(ruling_bytes(ruling)).finalize().into()
}

#[cfg(test)]
mod tests {
    use toolgate_domain::{Moment, UpstreamId, ruling::Act};

    use super::*;

    fn log(len: u64) -> (Vec<ChainedRuling>, ChainHead) {
        let mut head = ChainHead::EMPTY;
        let rows = (0..len).map(|n| {
            let ruling = Ruling {
                sequence: 0,
                at: Moment::from_unix_ms(n as i64),
                subject: "key:a".into(),
                upstream: Some(UpstreamId::from_bytes([2; 16])),
                tool_name: format!("t{n}"),
                act: if n % 2 == 0 { Act::Disable } else { Act::Enable },
            };
            let (row, next) = append(&head, ruling);
            head = next;
            row
        });
        (rows.collect(), head)
    }

    #[test]
    fn an_untouched_log_verifies() {
        let (rows, head) = log(5);
        assert_eq!(verify(&rows, &head), Ok(()));
        assert_eq!(verify(&[], &ChainHead::EMPTY), Ok(()));
    }

    #[test]
    fn law_14_a_changed_dropped_or_reordered_ruling_is_noticed() {
        let (rows, head) = log(5);
        let mut changed = rows.clone();
        changed[2].ruling.subject = "key:b".into();
        assert_eq!(verify(&changed, &head), Err(Broken::Link { sequence: 3 }));
        let mut forged = changed;
        forged[2].hash = link(&forged[1].hash, &forged[2].ruling);
        assert_eq!(
            verify(&forged, &head),
            Err(Broken::Link { sequence: 4 }),
            "each row stands for all before it"
        );
        let mut dropped = rows.clone();
        dropped.remove(1);
        assert_eq!(verify(&dropped, &head), Err(Broken::Gap { expected: 2 }));
        let mut swapped = rows.clone();
        swapped.swap(0, 1);
        assert_eq!(verify(&swapped, &head), Err(Broken::Gap { expected: 1 }));
        assert_eq!(verify(&rows[..4], &head), Err(Broken::End { last: 4, head: 5 }));
    }
}
