//! What is read is what was written, in order.

use std::num::NonZeroUsize;

use bytes::Bytes;
use toolgate_store::{Commit, KeyRange, Revision, Row, Store, scan_all};

use crate::{
    Outcome, Subject,
    outcome::{promised, same},
};

/// A page larger than anything these tests write.
const PAGE: NonZeroUsize = NonZeroUsize::new(1_000).expect("1,000 is not zero");

async fn fill(store: &dyn Store, keys: &[&[u8]]) -> Outcome {
    for key in keys {
        store.commit(Commit::new().put(key.to_vec(), key.to_vec())).await?;
    }
    Ok(())
}

fn keys(rows: &[Row]) -> Vec<&[u8]> {
    rows.iter().map(|row| row.key.as_ref()).collect()
}

/// `get` answers `None`, beside neighbours too.
pub async fn an_absent_key_has_no_row(subject: &mut dyn Subject) -> Outcome {
    let store = subject.store();
    same(store.get(b"b").await?, None, "row of an empty store")?;
    fill(&*store, &[b"a", b"bb", b"c"]).await?;
    same(store.get(b"b").await?, None, "row between neighbours")
}

/// Value and version are those of the last write of that key.
pub async fn a_row_has_its_value_and_the_revision_of_its_last_write(subject: &mut dyn Subject) -> Outcome {
    let store = subject.store();
    let first = store.commit(Commit::new().put("a", "1").put("b", "1")).await?;
    let second = store.commit(Commit::new().put("a", "2")).await?;
    let row = |key: &'static str, value: &'static str, version| {
        Some(Row { key: key.into(), value: value.into(), version })
    };
    same(store.get(b"a").await?, row("a", "2", second), "row written twice")?;
    same(store.get(b"b").await?, row("b", "1", first), "row written once")
}

/// An empty value is not an absent key.
pub async fn an_empty_value_is_a_value(subject: &mut dyn Subject) -> Outcome {
    let store = subject.store();
    store.commit(Commit::new().put("a", "")).await?;
    same(store.get(b"a").await?.map(|row| row.value), Some(Bytes::new()), "value")
}

/// Keys are byte strings: a prefix sorts first, 0xff last; the end is exclusive.
pub async fn a_scan_is_in_byte_order_and_stops_at_the_end_of_the_range(subject: &mut dyn Subject) -> Outcome {
    let store = subject.store();
    fill(&*store, &[b"b", b"a\xff\xff", b"a", b"\xff", b"a\x00", b"B", b"ab", b"\x00"]).await?;
    let sorted: &[&[u8]] = &[b"\x00", b"B", b"a", b"a\x00", b"ab", b"a\xff\xff", b"b", b"\xff"];
    same(keys(&store.scan(&KeyRange::all(), PAGE).await?.rows), sorted.to_vec(), "keys of a whole scan")?;
    let prefix = store.scan(&KeyRange::prefix("a"), PAGE).await?;
    same(keys(&prefix.rows), sorted[2..6].to_vec(), "keys of a prefix scan")?;
    let from = KeyRange { start: "a\x00".into(), end: Some("b".into()) };
    same(keys(&store.scan(&from, PAGE).await?.rows), sorted[3..6].to_vec(), "keys of a bounded scan")
}

/// However small the page.
pub async fn a_scan_pages_without_loss_or_repeat(subject: &mut dyn Subject) -> Outcome {
    let store = subject.store();
    let names: Vec<String> = (0..97).map(|number| format!("k/{number:03}")).collect();
    for name in &names {
        store.commit(Commit::new().put(name.clone(), name.clone())).await?;
    }
    for limit in [1, 2, 48, 96, 97, 98] {
        let limit = NonZeroUsize::MIN.saturating_add(limit - 1);
        let (mut found, mut range) = (Vec::new(), KeyRange::prefix("k/"));
        loop {
            let page = store.scan(&range, limit).await?;
            promised(page.rows.len() <= limit.get(), "a page is within its limit")?;
            found.extend(page.rows.into_iter().map(|row| row.key));
            let Some(next) = page.next else { break };
            range.start = next;
        }
        same(&found, &names.iter().cloned().map(Bytes::from).collect(), "keys of all pages")?;
    }
    let (rows, _) = scan_all(&*store, &KeyRange::all()).await?;
    same(rows.len(), names.len(), "rows of scan_all")
}

/// An end before the start is no error.
pub async fn a_scan_of_an_empty_or_inverted_range_is_empty(subject: &mut dyn Subject) -> Outcome {
    let store = subject.store();
    fill(&*store, &[b"a", b"b", b"c"]).await?;
    for (start, end) in [("b", "b"), ("c", "a"), ("x", "z")] {
        let page = store.scan(&KeyRange { start: start.into(), end: Some(end.into()) }, PAGE).await?;
        promised(page.rows.is_empty() && page.next.is_none(), format!("{start}..{end} is empty"))?;
    }
    Ok(())
}

/// Not later than any of its rows could need, not earlier than what was acknowledged before.
pub async fn a_page_tells_the_revision_at_its_start(subject: &mut dyn Subject) -> Outcome {
    let store = subject.store();
    same(
        store.scan(&KeyRange::all(), PAGE).await?.revision,
        store.revision().await?,
        "revision of an empty page",
    )?;
    let newest = store.commit(Commit::new().put("a", "1")).await?;
    same(store.scan(&KeyRange::prefix("other"), PAGE).await?.revision, newest, "revision of a page")?;
    same(store.revision().await?, newest, "revision of the store")
}

/// By every kind of read.
pub async fn an_acknowledged_commit_is_read_at_once(subject: &mut dyn Subject) -> Outcome {
    let store = subject.store();
    for number in 0..50_u8 {
        let revision = store.commit(Commit::new().put("a", vec![number])).await?;
        let row = store.get(b"a").await?;
        same(row.map(|row| (row.value, row.version)), Some((vec![number].into(), revision)), "row")?;
        let page = store.scan(&KeyRange::all(), PAGE).await?;
        same(page.rows.first().map(|row| row.version), Some(revision), "version in a page")?;
        store.commit(Commit::new().delete("a")).await?;
        same(store.get(b"a").await?, None, "deleted row")?;
        promised(store.revision().await? > Revision::ZERO, "a revision after commits is not zero")?;
    }
    Ok(())
}
