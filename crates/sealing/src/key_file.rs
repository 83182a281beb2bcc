//! The file that holds the master key: one line of 64 hexadecimal digits, readable by its owner alone.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use zeroize::Zeroizing;

use crate::hex;
use crate::master_key::{KEY_BYTES, MasterKey, fill_random};

const KEY_DIGITS: usize = KEY_BYTES * 2;
/// The digits and a line end, and one byte more, so that a longer file shows itself.
const MAX_FILE_BYTES: usize = KEY_DIGITS + "\r\n".len() + 1;
const FILE_MODE: u32 = 0o600;
const FOLDER_MODE: u32 = 0o700;

/// Why there is no master key. Every text names the file and the remedy; none holds any of its content.
#[derive(Debug, thiserror::Error)]
pub enum KeyFileError {
    /// The data was sealed under a key that is not where the settings say.
    #[error(
        "master key file {path}: missing, though data exists: restore the file that belongs to this data \
         (a new key could not read it), or point master_key_file at it"
    )]
    Missing {
        /// The file that was looked for.
        path: PathBuf,
    },
    /// Others than the owner may read or change the file.
    #[error("master key file {path}: mode {mode:04o} lets other users at it: run `chmod 600 {path}`")]
    TooOpen {
        /// The file.
        path: PathBuf,
        /// Its permission bits.
        mode: u32,
    },
    /// The path leads to a folder, a pipe or a device.
    #[error("master key file {path}: not a regular file: point master_key_file at a file")]
    NotAFile {
        /// The path.
        path: PathBuf,
    },
    /// The content is not a key.
    #[error(
        "master key file {path}: does not hold one line of 64 hexadecimal digits: restore it from a backup; \
         only where no data exists yet, remove it and a new one is made"
    )]
    Malformed {
        /// The file.
        path: PathBuf,
    },
    /// The operating system refused.
    #[error(
        "master key file {path}: cannot {action}: {source}: check the folder and the user toolgate runs as"
    )]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What was tried, as a verb phrase.
        action: &'static str,
        /// The system's answer.
        source: io::Error,
    },
}

impl MasterKey {
    /// Reads the key from `path`, or makes it there.
    ///
    /// The file holds one line: the key as 64 hexadecimal digits, and a line end that may be absent. It is
    /// read only if nobody but its owner may touch it; a file that root owns may be readable by the group of
    /// another user who runs this, because secrets mounted by an orchestrator look like that.
    ///
    /// An absent file is made (mode 0600, on disk together with its folder before this returns) only if
    /// `data_exists` is false: what a lost key sealed is lost, and a new key must not hide it. Of several
    /// processes that start at once, one makes the file and all get its key.
    ///
    /// # Errors
    /// [`KeyFileError`] says what is wrong with the file and what to do.
    pub fn load_or_create(path: &Path, data_exists: bool) -> Result<Self, KeyFileError> {
        match open(path)? {
            Some(file) => read(path, file),
            None if data_exists => Err(KeyFileError::Missing { path: path.to_owned() }),
            None => create(path),
        }
    }
}

fn open(path: &Path) -> Result<Option<File>, KeyFileError> {
    // Asked before the open, which would wait for ever on a pipe.
    match fs::metadata(path) {
        Ok(metadata) if !metadata.is_file() => Err(KeyFileError::NotAFile { path: path.to_owned() }),
        Ok(_) => File::open(path).map(Some).map_err(io_error(path, "open it")),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(source) => Err(io_error(path, "look at it")(source)),
    }
}

fn read(path: &Path, file: File) -> Result<MasterKey, KeyFileError> {
    let metadata = file.metadata().map_err(io_error(path, "look at it"))?;
    let mode = metadata.mode() & 0o7777;
    if mode & forbidden_bits(metadata.uid(), rustix::process::geteuid().as_raw()) != 0 {
        return Err(KeyFileError::TooOpen { path: path.to_owned(), mode });
    }
    // The capacity is never outgrown, so no copy of the key is left behind by a growing buffer.
    let mut content = Zeroizing::new(Vec::with_capacity(MAX_FILE_BYTES + 1));
    file.take(MAX_FILE_BYTES as u64).read_to_end(&mut content).map_err(io_error(path, "read it"))?;
    parse(&content).ok_or_else(|| KeyFileError::Malformed { path: path.to_owned() })
}

/// The permission bits that a key file must not have.
fn forbidden_bits(owner: u32, reader: u32) -> u32 {
    const ROOT: u32 = 0;
    if owner == ROOT && reader != ROOT { 0o037 } else { 0o077 }
}

fn parse(content: &[u8]) -> Option<MasterKey> {
    let line = content.strip_suffix(b"\n").unwrap_or(content);
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let mut bytes = Zeroizing::new([0; KEY_BYTES]);
    hex::decode_into(line, bytes.as_mut_slice()).then(|| MasterKey::from_bytes(&bytes))
}

/// Writes a new key beside `path` and links it there: whoever reads `path` sees a whole key or none, after a
/// crash too, and a file that another process made meanwhile stays.
fn create(path: &Path) -> Result<MasterKey, KeyFileError> {
    let folder = folder_of(path);
    create_folder(folder)?;
    let key = MasterKey::ephemeral();
    let draft = draft_path(path);
    let linked =
        write_draft(&draft, &key).map_err(io_error(path, "write it")).and_then(|()| link(&draft, path));
    drop(fs::remove_file(&draft));
    let is_ours = linked?;
    sync_folder(folder)?;
    if is_ours { Ok(key) } else { MasterKey::load_or_create(path, true) }
}

fn write_draft(draft: &Path, key: &MasterKey) -> io::Result<()> {
    let mut line = Zeroizing::new(String::with_capacity(KEY_DIGITS + 1));
    hex::encode_into(key.as_bytes(), &mut line);
    line.push('\n');
    let mut file = OpenOptions::new().write(true).create_new(true).mode(FILE_MODE).open(draft)?;
    file.write_all(line.as_bytes())?;
    file.sync_all()
}

/// True if the draft became the key file, false if one was there first.
fn link(draft: &Path, path: &Path) -> Result<bool, KeyFileError> {
    match fs::hard_link(draft, path) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(false),
        Err(source) => Err(io_error(path, "put it in place")(source)),
    }
}

fn draft_path(path: &Path) -> PathBuf {
    let mut random = [0; 8];
    fill_random(&mut random);
    let mut suffix = String::from(".draft-");
    hex::encode_into(&random, &mut suffix);
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

/// Creates the missing folders of a path, each on disk in its own parent.
fn create_folder(folder: &Path) -> Result<(), KeyFileError> {
    if folder.is_dir() {
        return Ok(());
    }
    let parent = folder_of(folder);
    create_folder(parent)?;
    match DirBuilder::new().mode(FOLDER_MODE).create(folder) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => {
            Err(io_error(folder, "create its folder")(error))
        }
        _ => sync_folder(parent),
    }
}

fn sync_folder(folder: &Path) -> Result<(), KeyFileError> {
    File::open(folder).and_then(|folder| folder.sync_all()).map_err(io_error(folder, "sync its folder"))
}

fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        Some(_) => Path::new("."),
        None => path,
    }
}

fn io_error(path: &Path, action: &'static str) -> impl FnOnce(io::Error) -> KeyFileError {
    move |source| KeyFileError::Io { path: path.to_owned(), action, source }
}

#[cfg(test)]
mod tests {
    use std::fs::Permissions;
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    const LINE: &str = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f\n";

    fn file_with(content: &[u8], mode: u32) -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("master.key");
        fs::write(&path, content).unwrap();
        fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
        (folder, path)
    }

    #[test]
    fn a_made_key_file_is_private_and_gives_the_same_key_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("new").join("data").join("master.key");
        let made = MasterKey::load_or_create(&path, false).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o600);
        assert_eq!(fs::metadata(path.parent().unwrap()).unwrap().mode() & 0o777, 0o700);
        assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1, "no draft is left behind");
        let read = MasterKey::load_or_create(&path, true).unwrap();
        assert_eq!(made.as_bytes(), read.as_bytes());
        assert_ne!(made.as_bytes(), &[0; KEY_BYTES]);
    }

    #[test]
    fn starting_at_once_agrees_on_one_key() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("master.key");
        let keys: Vec<[u8; KEY_BYTES]> = std::thread::scope(|scope| {
            let start = || *MasterKey::load_or_create(&path, false).unwrap().as_bytes();
            let threads: Vec<_> = (0..8).map(|_| scope.spawn(start)).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert!(keys.iter().all(|key| *key == keys[0]));
    }

    #[test]
    fn a_missing_file_beside_data_is_an_error_and_makes_no_key() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("master.key");
        let error = MasterKey::load_or_create(&path, true).unwrap_err();
        assert!(matches!(error, KeyFileError::Missing { .. }));
        assert!(error.to_string().contains("restore the file"), "{error}");
        assert!(!path.exists());
    }

    #[test]
    fn a_file_open_to_others_is_refused_with_the_remedy() {
        for mode in [0o640, 0o604, 0o660, 0o620, 0o601] {
            let (_folder, path) = file_with(LINE.as_bytes(), mode);
            let error = MasterKey::load_or_create(&path, true).unwrap_err();
            assert!(matches!(error, KeyFileError::TooOpen { mode: found, .. } if found == mode));
            assert!(error.to_string().contains("chmod 600"), "{error}");
        }
    }

    #[test]
    fn only_roots_file_may_be_readable_by_a_group() {
        assert_eq!(forbidden_bits(0, 1000), 0o037);
        assert_eq!(forbidden_bits(0, 0), 0o077);
        assert_eq!(forbidden_bits(1000, 1000), 0o077);
        assert_eq!(forbidden_bits(1000, 0), 0o077);
    }

    #[test]
    fn line_ends_and_upper_case_are_read() {
        let crlf = LINE.replace('\n', "\r\n").to_uppercase();
        for content in [LINE, LINE.trim_end(), &crlf] {
            let (_folder, path) = file_with(content.as_bytes(), 0o400);
            let key = MasterKey::load_or_create(&path, true).unwrap();
            assert_eq!(key.as_bytes()[..3], [0, 1, 2]);
        }
    }

    #[test]
    fn anything_but_one_line_of_64_digits_is_malformed() {
        let short = &LINE[2..];
        let long = format!("00{LINE}");
        let two_lines = LINE.repeat(2);
        let padded = format!(" {LINE}");
        let blank_line = format!("{LINE}\n");
        let not_hex = LINE.replace('f', "g");
        let cases = ["", "\n", short, &long, &two_lines, &padded, &blank_line, &not_hex];
        for content in cases.iter().map(|text| text.as_bytes()).chain([[0xff; 64].as_slice()]) {
            let (_folder, path) = file_with(content, 0o600);
            let error = MasterKey::load_or_create(&path, false).unwrap_err();
            assert!(matches!(error, KeyFileError::Malformed { .. }), "{error}");
        }
    }

    #[test]
    fn a_folder_or_a_device_is_not_a_key_file() {
        let folder = tempfile::tempdir().unwrap();
        let error = MasterKey::load_or_create(folder.path(), true).unwrap_err();
        assert!(matches!(error, KeyFileError::NotAFile { .. }), "{error}");
        let error = MasterKey::load_or_create(Path::new("/dev/null"), true).unwrap_err();
        assert!(matches!(error, KeyFileError::NotAFile { .. }), "{error}");
    }

    #[test]
    fn errors_hold_nothing_of_the_content() {
        let (_folder, path) = file_with(LINE.replace("00", "zz").as_bytes(), 0o600);
        let error = MasterKey::load_or_create(&path, true).unwrap_err();
        assert!(!format!("{error} {error:?}").contains("0102"));
    }
}
