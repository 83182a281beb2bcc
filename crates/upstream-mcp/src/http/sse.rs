//! The event stream format (WHATWG HTML 9.2), without reconnection.

/// Turns bytes, cut anywhere, into the data of `message` events.
#[derive(Debug, Default)]
pub(super) struct Events {
    bytes: Vec<u8>,
    /// How far `bytes` is taken apart.
    taken: usize,
    /// How far `bytes` has been searched for a line end.
    searched: usize,
    after_return: bool,
    past_first_line: bool,
    data: Option<Vec<u8>>,
    name: Option<Vec<u8>>,
}

/// One event.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Event {
    /// Its type; `message` where none was given.
    pub(super) name: Vec<u8>,
    /// Its lines, joined by a line feed.
    pub(super) data: Vec<u8>,
}

const MESSAGE: &[u8] = b"message";

impl Events {
    pub(super) fn feed(&mut self, chunk: &[u8]) {
        self.bytes.drain(..self.taken);
        self.searched = self.searched.saturating_sub(self.taken);
        self.taken = 0;
        self.bytes.extend_from_slice(chunk);
    }

    /// The data of the next message that is complete, its lines joined by a line feed. Events without data, of another
    /// type, or cut off by the end of the stream are none.
    pub(super) fn next(&mut self) -> Option<Vec<u8>> {
        std::iter::from_fn(|| self.next_event()).find(|event| event.name == MESSAGE).map(|event| event.data)
    }

    /// The next event that is complete, of any type. Those without data, or cut off by the end of the stream, are none.
    pub(super) fn next_event(&mut self) -> Option<Event> {
        while let Some((start, end)) = self.line() {
            if start == end {
                let name = self.name.take().filter(|name| !name.is_empty());
                let name = name.unwrap_or_else(|| MESSAGE.to_vec());
                if let Some(data) = self.data.take().filter(|data| !data.is_empty()) {
                    return Some(Event { name, data });
                }
                continue;
            }
            self.field(start, end);
        }
        None
    }

    /// Where the next whole line stands, its end cut off. A carriage return ends a line at once, since the server may
    /// send nothing after it; a line feed that does follow belongs to it.
    fn line(&mut self) -> Option<(usize, usize)> {
        if let Some(next) = self.bytes.get(self.taken)
            && std::mem::take(&mut self.after_return)
            && *next == b'\n'
        {
            self.taken += 1;
        }
        let is_end = |byte: &u8| matches!(byte, b'\r' | b'\n');
        let from = self.searched.max(self.taken);
        let Some(length) = self.bytes[from..].iter().position(is_end) else {
            self.searched = self.bytes.len();
            return None;
        };
        let (mut start, end) = (self.taken, from + length);
        self.after_return = self.bytes[end] == b'\r';
        self.taken = end + 1;
        let is_first = !std::mem::replace(&mut self.past_first_line, true);
        if is_first && self.bytes[start..end].starts_with(b"\xef\xbb\xbf") {
            start += 3;
        }
        Some((start, end))
    }

    fn field(&mut self, start: usize, end: usize) {
        let line = &self.bytes[start..end];
        let colon = line.iter().position(|byte| *byte == b':').unwrap_or(line.len());
        let value = line.get(colon + 1..).unwrap_or_default();
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match &line[..colon] {
            b"data" => match &mut self.data {
                Some(data) => {
                    data.push(b'\n');
                    data.extend_from_slice(value);
                }
                None => self.data = Some(value.to_vec()),
            },
            b"event" => self.name = Some(value.to_vec()),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(stream: &[u8], cut: usize) -> Vec<String> {
        let mut events = Events::default();
        let mut read = Vec::new();
        for chunk in stream.chunks(cut) {
            events.feed(chunk);
            read.extend(std::iter::from_fn(|| events.next()).map(|data| String::from_utf8(data).unwrap()));
        }
        read
    }

    const STREAM: &str = "\u{feff}: hello\n\nid: 1\nretry: 5\ndata:\n\nevent: ping\ndata: no\n\nevent: message\n\
                          data: {\"a\":\ndata:  1}\n\ndata:é\nevent\n\nnonsense\ndata\ndata\n\ndata: cut off";

    /// BR-045, BR-051.
    #[test]
    fn lines_may_end_in_any_way_and_chunks_may_be_cut_anywhere() {
        for end in ["\n", "\r\n", "\r"] {
            let stream = STREAM.replace('\n', end);
            for cut in 1..=stream.len() {
                assert_eq!(read(stream.as_bytes(), cut), ["{\"a\":\n 1}", "é", "\n"], "{end:?} cut at {cut}");
            }
        }
    }

    #[test]
    fn a_message_is_complete_at_its_last_carriage_return() {
        assert_eq!(read(b"data: a\r\r", 99), ["a"]);
    }

    proptest! {
        #[test]
        fn where_chunks_are_cut_makes_no_difference(
            lines in proptest::collection::vec("(data: ?[a-z]{0,3}|event: (x|message)|:|)(\r\n|\r|\n)", 1..9),
            cut in 1_usize..9,
        ) {
            let stream = lines.concat();
            prop_assert_eq!(read(stream.as_bytes(), cut), read(stream.as_bytes(), stream.len()));
        }
    }
}
