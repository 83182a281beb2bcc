use std::ops::Range;

/// Changes of a text by byte ranges of it; what none of them covers stays as it is.
#[derive(Debug, Default)]
pub(crate) struct Edits {
    edits: Vec<(Range<usize>, String)>,
}

impl Edits {
    /// Puts `with` in the place of a range, or before it when the range is empty. Ranges must not overlap.
    pub(crate) fn replace(&mut self, range: Range<usize>, with: String) {
        self.edits.push((range, with));
    }

    /// Removes items from a list in brackets or braces, each with one of the commas beside it. `items` are all of them, in
    /// text order, with whether they go.
    pub(crate) fn remove(&mut self, items: &[(Range<usize>, bool)]) {
        let mut kept_before = false;
        for (place, (span, goes)) in items.iter().enumerate() {
            if !goes {
                kept_before = true;
            } else if kept_before {
                self.replace(items[place - 1].0.end..span.end, String::new());
            } else {
                let end = items.get(place + 1).map_or(span.end, |(next, _)| next.start);
                self.replace(span.start..end, String::new());
            }
        }
    }

    /// The changed text.
    pub(crate) fn apply(mut self, text: &str) -> String {
        self.edits.sort_by_key(|(range, _)| (range.start, range.end));
        let mut changed = String::with_capacity(text.len());
        let mut done = 0;
        for (range, with) in self.edits {
            changed.push_str(&text[done..range.start]);
            changed.push_str(&with);
            done = range.end;
        }
        changed.push_str(&text[done..]);
        changed
    }
}
