use bytes::Bytes;

/// One change of a commit, as the change log keeps it: the value stands in the row, or in the former row once that was
/// overwritten.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Logged {
    /// The write of the commit, counted from 0.
    pub(crate) index: u8,
    pub(crate) put: bool,
    pub(crate) key: Bytes,
}

/// `put 1 | index 1 | key length 2 | key`, for each change.
pub(crate) fn encode(changes: &[Logged]) -> Vec<u8> {
    let mut record = Vec::with_capacity(changes.iter().map(|change| 4 + change.key.len()).sum());
    for change in changes {
        let len = u16::try_from(change.key.len()).expect("a key has at most 4,096 bytes");
        record.extend_from_slice(&[u8::from(change.put), change.index]);
        record.extend_from_slice(&len.to_be_bytes());
        record.extend_from_slice(&change.key);
    }
    record
}

/// `None` for bytes that no commit wrote.
pub(crate) fn decode(record: &Bytes) -> Option<Vec<Logged>> {
    let mut changes = Vec::new();
    let mut at = 0;
    while at < record.len() {
        let [put, index, high, low] = *record.get(at..at + 4)?.first_chunk()?;
        let start = at + 4;
        at = start + usize::from(u16::from_be_bytes([high, low]));
        record.get(start..at)?;
        changes.push(Logged { index, put: put == 1, key: record.slice(start..at) });
    }
    Some(changes)
}

#[cfg(test)]
mod tests {
    use proptest::{collection::vec, prelude::*};

    use super::*;

    fn logged() -> impl Strategy<Value = Logged> {
        let key = vec(any::<u8>(), 1..40).prop_map(Bytes::from);
        (any::<u8>(), any::<bool>(), key).prop_map(|(index, put, key)| Logged { index, put, key })
    }

    proptest! {
        #[test]
        fn a_record_comes_back(changes in vec(logged(), 0..8)) {
            prop_assert_eq!(decode(&encode(&changes).into()), Some(changes));
        }

        #[test]
        fn arbitrary_bytes_do_not_panic(record in vec(any::<u8>(), 0..64)) {
            let _ = decode(&record.into());
        }
    }
}
