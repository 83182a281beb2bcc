//! The store's folder: its lock, and the small files beside sled's that tell what sled must hold.
//!
//! sled does not notice all damage: a damaged file can open empty, or with fewer rows. So the folder remembers which store
//! it is (`identity`, also kept inside) and a revision that the store has certainly reached (`mark`).

use std::{
    fs::{self, DirBuilder, File, OpenOptions, TryLockError},
    io::{self, Write},
    path::{Path, PathBuf},
};

use toolgate_store::{Revision, StoreError};

use crate::{
    error::{OpenError, engine},
    meta::Identity,
};

const LOCK: &str = "lock";
const IDENTITY: &str = "identity";
/// The identity until the first batch is on disk: a creation that was cut short is begun again.
const IDENTITY_NEW: &str = "identity.new";
const MARK: &str = "mark";
const MARK_NEW: &str = "mark.new";
/// sled's own files.
const SLED_DATA: &str = "db";
const SLED_CONFIG: &str = "conf";

/// A locked folder.
#[derive(Debug)]
pub(crate) struct Folder {
    path: PathBuf,
    lock: File,
}

/// What the folder says that sled holds.
#[derive(Debug)]
pub(crate) enum Expected {
    /// Nothing yet.
    New(Identity),
    /// A store that has reached a revision.
    Existing(Identity, Revision),
}

impl Folder {
    /// Makes the folder if need be, and takes it for this store alone.
    pub(crate) fn lock(path: &Path) -> Result<Self, OpenError> {
        let failed = |error: io::Error| OpenError::Store { folder: path.into(), source: engine(error) };
        make_folder(path).map_err(failed)?;
        let lock = OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .open(path.join(LOCK))
            .map_err(failed)?;
        match lock.try_lock() {
            Ok(()) => Ok(Self { path: path.into(), lock }),
            Err(TryLockError::WouldBlock) => Err(OpenError::InUse(path.into())),
            Err(TryLockError::Error(error)) => Err(failed(error)),
        }
    }

    /// Whether anything of a store is there. What of it is sound is judged later.
    pub(crate) fn holds_a_store(path: &Path) -> bool {
        [IDENTITY, SLED_DATA].iter().any(|file| path.join(file).exists())
    }

    /// Lets others have the folder.
    pub(crate) fn unlock(&self) {
        if let Err(error) = self.lock.unlock() {
            tracing::error!(%error, "the lock of the store's folder is kept until the process ends");
        }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Our own descriptor of sled's file.
    pub(crate) fn data_file(&self) -> Result<File, StoreError> {
        OpenOptions::new().write(true).open(self.path.join(SLED_DATA)).map_err(engine)
    }

    /// Reads what sled must hold. Before the first batch ever, the new store's identity is drawn and written.
    pub(crate) fn expected(&self) -> Result<Expected, StoreError> {
        let data = self.path.join(SLED_DATA).try_exists().map_err(engine)?;
        if let Some(identity) = self.read(IDENTITY)? {
            let identity =
                parse_identity(&identity).ok_or_else(|| damaged("the identity file is unreadable"))?;
            if !data {
                return Err(damaged("the database file is missing beside an identity file"));
            }
            let mark = self.read(MARK)?.ok_or_else(|| damaged("the mark file is missing"))?;
            let (marked, revision) =
                parse_mark(&mark).ok_or_else(|| damaged("the mark file is unreadable"))?;
            if marked != identity {
                return Err(damaged("the mark file is of another store"));
            }
            return Ok(Expected::Existing(identity, revision));
        }
        if let Some(identity) = self.read(IDENTITY_NEW)?.as_deref().and_then(parse_identity) {
            return Ok(Expected::New(identity));
        }
        if data {
            return Err(damaged("the identity file is missing beside a database file"));
        }
        let mut identity = Identity::default();
        getrandom::fill(&mut identity).map_err(|error| engine(error.to_string()))?;
        self.replace(IDENTITY_NEW, IDENTITY_NEW, format!("{}\n", hex(&identity)).as_bytes())?;
        Ok(Expected::New(identity))
    }

    /// The first batch is on disk: from now on the store exists.
    pub(crate) fn settle(&self, identity: Identity) -> Result<(), StoreError> {
        for file in [SLED_CONFIG, SLED_DATA] {
            File::open(self.path.join(file)).and_then(|file| file.sync_all()).map_err(engine)?;
        }
        self.write_mark(identity, Revision::ZERO)?;
        fs::rename(self.path.join(IDENTITY_NEW), self.path.join(IDENTITY)).map_err(engine)?;
        self.sync_folder().map_err(engine)
    }

    /// Notes a revision that is durable. The old mark stands until the new one does.
    pub(crate) fn write_mark(&self, identity: Identity, revision: Revision) -> Result<(), StoreError> {
        let text = format!("{} {revision}", hex(&identity));
        let crc = crc32c::crc32c(text.as_bytes());
        self.replace(MARK_NEW, MARK, format!("{text} {crc:08x}\n").as_bytes())
    }

    /// Whether the disk has more than `reserve_bytes` to spare. A disk that does not say is given the benefit of the doubt:
    /// sled will tell.
    pub(crate) fn has_room(&self, reserve_bytes: u64) -> bool {
        rustix::fs::statvfs(&self.path)
            .map_or(true, |disk| disk.f_bavail.saturating_mul(disk.f_frsize) >= reserve_bytes)
    }

    fn read(&self, name: &str) -> Result<Option<String>, StoreError> {
        match fs::read(self.path.join(name)) {
            Ok(bytes) => Ok(Some(String::from_utf8_lossy(&bytes).into_owned())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(engine(error)),
        }
    }

    /// Writes a small file so that after a crash it is there whole, or as it was.
    fn replace(&self, new: &str, name: &str, content: &[u8]) -> Result<(), StoreError> {
        let write = || {
            let mut file = File::create(self.path.join(new))?;
            file.write_all(content)?;
            file.sync_all()?;
            fs::rename(self.path.join(new), self.path.join(name))?;
            self.sync_folder()
        };
        write().map_err(engine)
    }

    fn sync_folder(&self) -> io::Result<()> {
        File::open(&self.path)?.sync_all()
    }
}

/// The folder can be read by its owner alone. Its own entry is made durable too.
fn make_folder(path: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)?;
    let parent = path.canonicalize()?.parent().map(Path::to_path_buf);
    parent.map_or(Ok(()), |parent| File::open(parent)?.sync_all())
}

/// A store that cannot be trusted, and what to do about it.
pub(crate) fn damaged(what: &str) -> StoreError {
    StoreError::Damaged(format!(
        "{what}; restore the folder from a backup, or move it away to begin an empty store"
    ))
}

fn hex(identity: &Identity) -> String {
    identity.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn parse_identity(text: &str) -> Option<Identity> {
    let text = text.trim_end();
    if text.len() != 32 || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    Some(u128::from_str_radix(text, 16).ok()?.to_be_bytes())
}

fn parse_mark(text: &str) -> Option<(Identity, Revision)> {
    let (marked, crc) = text.trim_end().rsplit_once(' ')?;
    if crc != format!("{:08x}", crc32c::crc32c(marked.as_bytes())) {
        return None;
    }
    let (identity, revision) = marked.split_once(' ')?;
    Some((parse_identity(identity)?, Revision(revision.parse().ok()?)))
}
