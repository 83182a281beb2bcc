//! Durable commits a second of the store, beside a bare committer thread that only writes the same records to sled and
//! syncs them: no versions, no conditions, no change log, no readers.
//!
//! `cargo run --release -p toolgate-store-sled --example group_commit`

use std::{
    error::Error,
    fs::OpenOptions,
    path::Path,
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use tokio::sync::{mpsc, oneshot};
use toolgate_store::{Commit, Store};
use toolgate_store_sled::{Options, SledStore, limits};

type Outcome<T = ()> = Result<T, Box<dyn Error + Send + Sync>>;

const WRITERS: [u64; 3] = [1, 8, 64];
const RECORD_BYTES: usize = 2048;
const MEASURED: Duration = Duration::from_secs(2);
const ROUNDS: usize = 5;
/// The segment size of the store, so that both write alike.
const SEGMENT_BYTES: usize = 8 * 1024 * 1024;

/// Something that makes a record durable.
trait Target: Send + Sync + 'static {
    fn put(&self, key: String, value: Vec<u8>) -> impl Future<Output = Outcome> + Send;
}

impl Target for SledStore {
    async fn put(&self, key: String, value: Vec<u8>) -> Outcome {
        self.commit(Commit::new().put(key, value)).await?;
        Ok(())
    }
}

struct Record {
    key: String,
    value: Vec<u8>,
    done: oneshot::Sender<()>,
}

/// The yardstick.
struct Bare {
    records: mpsc::Sender<Record>,
}

impl Bare {
    fn open(folder: &Path) -> Outcome<Self> {
        let config =
            sled::Config::new().path(folder).cache_capacity(limits::CACHE_BYTES).segment_size(SEGMENT_BYTES);
        let db = config.mode(sled::Mode::HighThroughput).flush_every_ms(None).open()?;
        let file = OpenOptions::new().write(true).open(folder.join("db"))?;
        let (records, mut received) = mpsc::channel::<Record>(1024);
        thread::spawn(move || -> Outcome {
            while let Some(first) = received.blocking_recv() {
                let mut batch = sled::Batch::default();
                let mut waiting = Vec::new();
                let mut next = Some(first);
                while let Some(record) = next {
                    batch.insert(record.key.into_bytes(), record.value);
                    waiting.push(record.done);
                    next = received.try_recv().ok();
                }
                db.apply_batch(batch)?;
                db.flush()?;
                file.sync_data()?;
                for done in waiting {
                    // A writer that has stopped waits for no answer.
                    let _gone = done.send(());
                }
            }
            Ok(())
        });
        Ok(Self { records })
    }
}

impl Target for Bare {
    async fn put(&self, key: String, value: Vec<u8>) -> Outcome {
        let (done, answered) = oneshot::channel();
        self.records.send(Record { key, value, done }).await.map_err(|_| "the committer died")?;
        Ok(answered.await?)
    }
}

/// Commits a second.
async fn measure(target: Arc<impl Target>, writers: u64) -> Outcome<f64> {
    let begun = Instant::now();
    let tasks: Vec<_> = (0..writers)
        .map(|writer| {
            let target = target.clone();
            tokio::spawn(async move {
                let mut count = 0_u32;
                while begun.elapsed() < MEASURED {
                    target.put(format!("{writer:02}/{count:08}"), vec![0xa5; RECORD_BYTES]).await?;
                    count += 1;
                }
                Outcome::Ok(count)
            })
        })
        .collect();
    let mut commits = 0.0;
    for task in tasks {
        commits += f64::from(task.await??);
    }
    Ok(commits / begun.elapsed().as_secs_f64())
}

async fn round(writers: u64) -> Outcome<(f64, f64)> {
    let scratch = tempfile::tempdir_in(".")?;
    let bare = measure(Arc::new(Bare::open(&scratch.path().join("bare"))?), writers).await?;
    let store = Arc::new(SledStore::open(&scratch.path().join("store"), Options::default())?);
    let ours = measure(store.clone(), writers).await?;
    store.close().await?;
    Ok((bare, ours))
}

#[tokio::main]
async fn main() -> Outcome {
    println!("{:>7} {:>10} {:>10} {:>7} {:>15}", "writers", "bare/s", "store/s", "ratio", "lowest..highest");
    for writers in WRITERS {
        let mut rounds = Vec::new();
        for _ in 0..ROUNDS {
            rounds.push(round(writers).await?);
        }
        rounds.sort_by(|a, b| (a.1 / a.0).total_cmp(&(b.1 / b.0)));
        let ratio = |(bare, ours): (f64, f64)| ours / bare;
        let (bare, ours) = rounds[ROUNDS / 2];
        let spread = format!("{:.2}..{:.2}", ratio(rounds[0]), ratio(rounds[ROUNDS - 1]));
        println!("{writers:>7} {bare:>10.0} {ours:>10.0} {:>7.2} {spread:>15}", ours / bare);
    }
    Ok(())
}
