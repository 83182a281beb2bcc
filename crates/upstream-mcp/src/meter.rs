use toolgate_upstream::{Bounds, CallBounds, ListingError};

/// Counts what a server sends, while it is read.
#[derive(Debug)]
pub(crate) struct Meter {
    max_answer_bytes: usize,
    max_listing_bytes: usize,
    answer_bytes: usize,
    listing_bytes: usize,
}

impl Meter {
    pub(crate) fn new(bounds: &Bounds) -> Self {
        Self {
            max_answer_bytes: bounds.max_answer_bytes,
            max_listing_bytes: bounds.max_listing_bytes,
            answer_bytes: 0,
            listing_bytes: 0,
        }
    }

    pub(crate) fn for_call(bounds: &CallBounds) -> Self {
        let most = bounds.max_answer_bytes;
        Self { max_answer_bytes: most, max_listing_bytes: usize::MAX, answer_bytes: 0, listing_bytes: 0 }
    }

    /// For messages of which none may be longer than this.
    pub(crate) fn for_messages(max_bytes: usize) -> Self {
        Self { max_answer_bytes: max_bytes, max_listing_bytes: usize::MAX, answer_bytes: 0, listing_bytes: 0 }
    }

    pub(crate) fn start_answer(&mut self) {
        self.answer_bytes = 0;
    }

    /// Counts `bytes` more.
    pub(crate) fn take(&mut self, bytes: usize) -> Result<(), ListingError> {
        self.answer_bytes += bytes;
        self.listing_bytes += bytes;
        if self.answer_bytes > self.max_answer_bytes {
            return Err(over(self.max_answer_bytes, "bytes in one answer"));
        }
        if self.listing_bytes > self.max_listing_bytes {
            return Err(over(self.max_listing_bytes, "bytes in one listing"));
        }
        Ok(())
    }
}

/// The error for anything of which there may be only so much.
pub(crate) fn over(limit: usize, what: &str) -> ListingError {
    ListingError::TooLarge(format!("more than {limit} {what}"))
}
