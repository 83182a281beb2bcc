use std::{fmt, ops::AddAssign};

/// How many checks passed and failed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) passed: u32,
    pub(crate) failed: u32,
}

impl Counts {
    pub(crate) const PASSED: Self = Self { passed: 1, failed: 0 };
    pub(crate) const FAILED: Self = Self { passed: 0, failed: 1 };
    /// Of a step that prepares and judges nothing.
    pub(crate) const NONE: Self = Self { passed: 0, failed: 0 };

    /// What a line of a test binary adds: `test result: ok. 5 passed; 0 failed; …` is the one that counts.
    pub(crate) fn of_line(line: &str) -> Self {
        let Some(result) = line.strip_prefix("test result: ") else { return Self::NONE };
        let number_before = |word: &str| {
            result
                .split([';', '.'])
                .find_map(|part| part.trim().strip_suffix(word)?.trim().parse().ok())
                .unwrap_or(0)
        };
        Self { passed: number_before("passed"), failed: number_before("failed") }
    }
}

impl AddAssign for Counts {
    fn add_assign(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} passed, {} failed", self.passed, self.failed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_closing_line_of_a_test_binary_is_counted() {
        let line = "test result: FAILED. 12 passed; 3 failed; 0 ignored; 0 measured; 4 filtered out; finished in 0.01s\n";
        assert_eq!(Counts::of_line(line), Counts { passed: 12, failed: 3 });
    }

    #[test]
    fn other_lines_count_nothing() {
        for line in
            ["test a ... ok\n", "12 passed; 3 failed\n", "  test result: ok. 1 passed; 0 failed\n", ""]
        {
            assert_eq!(Counts::of_line(line), Counts::NONE, "{line:?}");
        }
    }
}
