use std::time::Duration;

use futures::future::BoxFuture;
use tokio::runtime;

use crate::{Failed, Outcome, Subject, closing, commits, durability, holds, limits, reads, watches};

/// No promise takes longer, on the slowest machine either; a store that hangs fails.
const LIMIT: Duration = Duration::from_secs(120);

/// One promise of the port.
pub struct Promise {
    /// The module of this crate that it stands in.
    pub module: &'static str,
    /// The name of its function.
    pub name: &'static str,
    /// Checks it.
    pub check: for<'a> fn(&'a mut dyn Subject) -> BoxFuture<'a, Outcome>,
}

/// Writes the list once: as a constant, and as the tests of an engine. `$d` stands for a dollar sign of the inner macro.
macro_rules! promises {
    ($d:tt $($module:ident { $($name:ident)* })*) => {
        /// Every promise.
        pub const PROMISES: &[Promise] = &[$($(Promise {
            module: stringify!($module),
            name: stringify!($name),
            check: |subject| Box::pin($module::$name(subject)),
        }),*),*];

        /// A `#[test]` for each promise of the named modules.
        #[macro_export]
        macro_rules! promise_tests {
            ($d subject:path; $d($d module:ident),+) => {
                $d(mod $d module {
                    #[allow(unused_imports, reason = "a path may be absolute")]
                    use super::*;
                    $d crate::promise_tests!(@$d module $d subject);
                })+
            };
            $((@$module $d subject:path) => {
                $(#[test]
                fn $name() {
                    $d crate::run(async |subject| $d crate::$module::$name(subject).await, $d subject);
                })*
            };)*
        }
    };
}

promises! { $
    reads {
        an_absent_key_has_no_row
        a_row_has_its_value_and_the_revision_of_its_last_write
        an_empty_value_is_a_value
        a_scan_is_in_byte_order_and_stops_at_the_end_of_the_range
        a_scan_pages_without_loss_or_repeat
        a_scan_of_an_empty_or_inverted_range_is_empty
        a_page_tells_the_revision_at_its_start
        an_acknowledged_commit_is_read_at_once
    }
    commits {
        revisions_grow_with_each_commit
        absent_holds_for_an_absent_key_alone
        present_holds_for_a_present_key_alone
        equals_holds_for_the_exact_version_alone
        equals_zero_means_absent
        a_deleted_key_is_absent_and_may_come_back
        a_conflict_names_the_first_condition_that_failed
        a_failed_condition_changes_nothing
        deleting_an_absent_key_is_no_error
        concurrent_increments_lose_nothing
        one_of_many_creators_wins
        nobody_sees_half_a_commit
    }
    limits {
        a_commit_as_large_as_allowed_is_taken
        as_many_conditions_and_writes_as_allowed_are_taken
        a_commit_beyond_a_limit_is_refused_and_changes_nothing
        an_empty_commit_is_refused
        a_key_may_be_written_once
        a_key_as_long_as_allowed_is_taken
        the_largest_commits_of_many_writers_are_kept
        many_large_values_side_by_side_are_kept
    }
    watches {
        a_watch_delivers_commits_in_order_without_a_gap
        a_watch_resumes_after_any_revision
        a_watch_delivers_the_value_of_each_commit_though_it_was_overwritten
        a_watch_may_start_beyond_the_newest_revision
        a_watch_groups_changes_by_commit_in_the_order_of_writes
        a_watch_of_a_range_sees_that_range_alone
        a_delete_is_told_and_deleting_nothing_is_not
        a_refused_commit_is_not_told
        a_start_that_was_compacted_is_refused_with_the_oldest
        watches_under_concurrent_writers_tell_the_same_history
        a_scan_then_a_watch_converges
        a_slow_watcher_misses_nothing_or_is_told
    }
    holds {
        a_lease_has_one_holder
        a_lease_runs_out
        a_renewed_lease_goes_on
        a_released_lease_is_free
        a_lost_lease_cannot_be_renewed
        releasing_a_lost_lease_harms_nobody
        the_holder_may_write
        a_former_holder_may_not_write
        leases_of_different_names_are_apart
    }
    closing {
        calls_after_closing_fail
        closing_ends_watches
        closing_twice_is_no_error
    }
    durability {
        everything_acknowledged_is_there_after_reopening
        revisions_do_not_repeat_after_reopening
        a_watch_resumes_across_reopening
        compacted_history_stays_compacted_after_reopening
        leases_of_before_cannot_write_after_reopening
    }
}

/// Checks every promise, each on a subject of its own, and prints their names; stops at the first that is not kept.
pub async fn all(new: impl AsyncFn() -> Box<dyn Subject>) -> Outcome {
    for promise in PROMISES {
        let outcome = (promise.check)(new().await.as_mut()).await;
        println!("{}::{} {}", promise.module, promise.name, if outcome.is_ok() { "kept" } else { "BROKEN" });
        outcome?;
    }
    Ok(())
}

/// Checks one promise on a runtime of its own and panics, as a test does, when it is not kept.
pub fn run(
    promise: impl AsyncFnOnce(&mut dyn Subject) -> Outcome,
    new: impl AsyncFnOnce() -> Box<dyn Subject>,
) {
    let runtime = runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let checked = runtime.map_err(Into::into).and_then(|runtime| {
        runtime.block_on(async {
            let mut subject = new().await;
            let in_time = tokio::time::timeout(LIMIT, promise(subject.as_mut())).await;
            in_time.unwrap_or_else(|_| Err(Failed(format!("no answer within {LIMIT:?}")).into()))
        })
    });
    assert!(checked.is_ok(), "{}", checked.err().map(|error| error.to_string()).unwrap_or_default());
}
