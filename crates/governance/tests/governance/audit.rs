//! The log of rulings, as auditors read it.

use std::num::NonZeroUsize;

use toolgate_domain::{Moment, ToolId, ruling::Act};
use toolgate_governance::{ListRulings, RulingFilter, RulingPage, Wish};
use toolgate_records::{Key, Record};
use toolgate_store::Commit;

use crate::workbench::{Workbench, definition};

impl Workbench {
    async fn log(&self, after: u64, size: usize, filter: RulingFilter) -> RulingPage {
        let ask = ListRulings { client: self.client, after, size: NonZeroUsize::new(size).unwrap(), filter };
        self.governance.list_rulings(&ask).await.unwrap()
    }

    /// Two servers with a tool each, and four rulings, a second apart.
    async fn with_rulings() -> (Self, [toolgate_domain::UpstreamId; 2]) {
        let bench = Self::new().await;
        let one = bench.upstream("one", &[&definition("a", "d")]).await;
        let other = bench.upstream("other", &[&definition("b", "d")]).await;
        for (upstream, name, wish) in [
            (one, "a", Wish::Disable),
            (other, "b", Wish::Disable),
            (one, "a", Wish::Enable),
            (other, "b", Wish::Enable),
        ] {
            bench.rule(upstream, name, wish).await.unwrap();
            bench.clock.advance_ms(1_000);
        }
        (bench, [one, other])
    }
}

fn sequences(page: &RulingPage) -> Vec<u64> {
    page.rulings.iter().map(|row| row.ruling.sequence).collect()
}

#[tokio::test]
async fn rulings_are_listed_page_by_page_and_by_what_they_are_about() {
    let (bench, [one, other]) = Workbench::with_rulings().await;
    let all = RulingFilter::default();
    let first = bench.log(0, 3, all.clone()).await;
    assert_eq!((sequences(&first), first.more_after), (vec![1, 2, 3], Some(3)));
    let rest = bench.log(3, 3, all.clone()).await;
    assert_eq!((sequences(&rest), rest.more_after), (vec![4], None));
    assert_eq!(sequences(&bench.log(0, 4, all.clone()).await), [1, 2, 3, 4]);

    let of_one = RulingFilter { upstream: Some(one), ..all.clone() };
    let page = bench.log(0, 1, of_one.clone()).await;
    assert_eq!(sequences(&page), [1]);
    assert_eq!(sequences(&bench.log(page.more_after.unwrap(), 1, of_one).await), [3]);
    let of_b = RulingFilter { tool: Some(ToolId::of(other, "b")), ..all.clone() };
    assert_eq!(sequences(&bench.log(0, 9, of_b).await), [2, 4]);
    let at = |row: usize| Some(first.rulings[row].ruling.at);
    let between = RulingFilter { start: at(1), end: at(2), ..all.clone() };
    assert_eq!(sequences(&bench.log(0, 9, between).await), [2]);
    let later = RulingFilter { start: Some(Moment::from_unix_ms(i64::MAX)), ..all };
    assert!(bench.log(0, 9, later).await.rulings.is_empty());
}

#[tokio::test]
async fn law_14_the_chain_can_be_recomputed_from_what_is_listed() {
    let (bench, _) = Workbench::with_rulings().await;
    let page = bench.log(0, 9, RulingFilter::default()).await;
    let proof = bench.governance.verify_rulings(bench.client).await.unwrap();
    assert_eq!((proof.count, proof.problem), (4, None));
    assert_eq!(page.rulings.last().unwrap().hash, proof.head);
    assert_eq!(page.rulings[0].ruling.act, Act::Disable);
}

#[tokio::test]
async fn law_14_a_log_that_was_tampered_with_does_not_verify() {
    let (bench, _) = Workbench::with_rulings().await;
    let rows = bench.rulings().await;
    let mut forged = rows[1].clone();
    forged.ruling.subject = "key:somebody-else".into();
    let (key, value) = Record::Ruling(bench.client, forged).encode();
    bench.store.commit(Commit::new().put(key, value)).await.unwrap();
    let proof = bench.governance.verify_rulings(bench.client).await.unwrap();
    assert!(proof.problem.unwrap().contains("row 2"));
    let last = Key::Ruling(bench.client, 4).encode();
    let (key, value) = Record::Ruling(bench.client, rows[1].clone()).encode();
    bench.store.commit(Commit::new().put(key, value).delete(last)).await.unwrap();
    let proof = bench.governance.verify_rulings(bench.client).await.unwrap();
    assert_eq!(proof.problem.as_deref(), Some("the log ends at row 3, its head says 4"));
}
