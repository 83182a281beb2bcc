//! The segments on disk: their names, what each begins with, and how the last one ends.

use std::{
    collections::HashMap,
    fs::{self, File},
    io::{self, BufReader, Read},
    os::unix::fs::{DirBuilderExt, OpenOptionsExt},
    path::{Path, PathBuf},
};

use prost::Message;
use toolgate_domain::{ClientId, Moment};

use crate::{
    entry::{Entry, fixed},
    frame::{Broken, Frame, NOTHING_BEFORE, link, read_frame},
    stored::{self, Kind},
};

const ENDING: &str = ".calls";

/// Where a client's chain stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Head {
    pub(crate) sequence: u64,
    pub(crate) hash: [u8; 32],
}

impl Head {
    pub(crate) const EMPTY: Self = Self { sequence: 0, hash: NOTHING_BEFORE };
}

pub(crate) type Heads = HashMap<ClientId, Head>;

/// A segment, up to what may be read of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Segment {
    pub(crate) number: u64,
    pub(crate) len_bytes: u64,
    /// When it was begun; all entries in it came to their end later.
    pub(crate) begun: Option<Moment>,
}

pub(crate) fn path(folder: &Path, number: u64) -> PathBuf {
    folder.join(format!("{number:016}{ENDING}"))
}

pub(crate) fn make(folder: &Path) -> io::Result<()> {
    fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

/// A new segment for writing. One that is there already is never written over.
pub(crate) fn create(folder: &Path, number: u64) -> io::Result<File> {
    let file = fs::OpenOptions::new().append(true).create_new(true).mode(0o600).open(path(folder, number))?;
    File::open(folder)?.sync_all()?;
    Ok(file)
}

/// All segments, oldest first.
pub(crate) fn segments(folder: &Path) -> io::Result<Vec<Segment>> {
    let mut segments = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name();
        let number =
            name.to_str().and_then(|name| name.strip_suffix(ENDING)).and_then(|name| name.parse().ok());
        if let Some(number) = number {
            let begun = beginning(&entry.path()).ok().flatten().map(|(at, _)| at);
            segments.push(Segment { number, len_bytes: entry.metadata()?.len(), begun });
        }
    }
    segments.sort_by_key(|segment| segment.number);
    Ok(segments)
}

fn beginning(path: &Path) -> Result<Option<(Moment, Heads)>, Broken> {
    Ok(read_frame(&mut BufReader::new(File::open(path)?))?.and_then(|frame| read_beginning(&frame)))
}

pub(crate) fn read_beginning(frame: &Frame) -> Option<(Moment, Heads)> {
    let Some(Kind::Beginning(beginning)) = kind(&frame.payload) else { return None };
    let heads = beginning.heads.iter().map(|head| {
        let client = ClientId::from_bytes(fixed(&head.client)?);
        Some((client, Head { sequence: head.sequence, hash: fixed(&head.hash)? }))
    });
    let is_whole = frame.hash == link(&NOTHING_BEFORE, &frame.payload);
    Some((Moment::from_unix_ms(beginning.at_ms), heads.collect::<Option<_>>()?)).filter(|_| is_whole)
}

pub(crate) fn kind(payload: &[u8]) -> Option<Kind> {
    stored::Payload::decode(payload).ok()?.kind
}

/// How a segment ends.
#[derive(Debug, Default)]
pub(crate) struct Ending {
    pub(crate) heads: Heads,
    /// Bytes up to the end of the last whole frame.
    pub(crate) whole_bytes: u64,
    /// Its writer was stopped in the middle of a frame.
    pub(crate) is_torn: bool,
    /// Its writer ended in order.
    pub(crate) is_closed: bool,
}

/// Follows every chain through a segment. What is damaged in the middle stays as it is, for whoever looks into it.
pub(crate) fn ending(folder: &Path, number: u64) -> io::Result<Ending> {
    follow(&mut BufReader::new(File::open(path(folder, number))?))
}

fn follow(from: &mut impl Read) -> io::Result<Ending> {
    let mut ending = Ending::default();
    loop {
        let frame = match read_frame(from) {
            Ok(Some(frame)) => frame,
            Ok(None) | Err(Broken::Damaged) => return Ok(ending),
            Err(Broken::Torn) => return Ok(Ending { is_torn: true, is_closed: false, ..ending }),
            Err(Broken::Io(error)) => return Err(error),
        };
        ending.whole_bytes += frame.len_bytes();
        ending.is_closed = false;
        match kind(&frame.payload) {
            Some(Kind::Beginning(_)) => {
                ending.heads = read_beginning(&frame).map(|(_, heads)| heads).unwrap_or_default();
            }
            Some(Kind::End(_)) => ending.is_closed = true,
            Some(kind) => {
                if let Some((sequence, entry)) = Entry::of(kind) {
                    ending.heads.insert(entry.client(), Head { sequence, hash: frame.hash });
                }
            }
            None => {}
        }
    }
}
