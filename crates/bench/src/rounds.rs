//! Alternating rounds, and what they come to.

use std::time::Duration;

use crate::load::{Face, Rate, Side, rate};

/// The two sides of a measurement.
#[derive(Debug)]
pub(crate) struct Sides {
    pub(crate) server: Side,
    pub(crate) yardstick: Side,
}

/// Measures both sides, each first in every other round.
pub(crate) async fn compare(sides: &Sides, ask: Ask) -> Comparison {
    let mut rounds = Vec::with_capacity(ask.rounds);
    let measure = async |side| rate(side, ask.face, ask.connections, ask.slice, ask.bytes).await;
    for round in 0..ask.rounds {
        let pair = if round % 2 == 0 {
            let server = measure(&sides.server).await;
            (server, measure(&sides.yardstick).await)
        } else {
            let yardstick = measure(&sides.yardstick).await;
            (measure(&sides.server).await, yardstick)
        };
        rounds.push(pair);
    }
    Comparison { rounds }
}

/// What is measured.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ask {
    pub(crate) face: Face,
    pub(crate) connections: usize,
    pub(crate) rounds: usize,
    pub(crate) slice: Duration,
    /// Of each answer.
    pub(crate) bytes: usize,
}

/// The server and the yardstick, round by round.
#[derive(Debug)]
pub(crate) struct Comparison {
    rounds: Vec<(Rate, Rate)>,
}

impl Comparison {
    /// One line: both rates, the ratio of the rates, and the processor time of an answer on either side.
    pub(crate) fn line(&self) -> String {
        let side = |pick: fn(&(Rate, Rate)) -> Rate| self.rounds.iter().map(pick).collect::<Vec<_>>();
        let (server, yardstick) = (side(|round| round.0), side(|round| round.1));
        let ratios = self.rounds.iter().map(|(server, yardstick)| server.per_second / yardstick.per_second);
        let Spread { least, median, most } = Spread::of(ratios);
        let per_second = |rates: &[Rate]| Spread::of(rates.iter().map(|rate| rate.per_second)).median;
        format!(
            "{:>8.0}/s {:>8.0}/s   {median:.2} ({least:.2} to {most:.2})   {:>7} {:>7}",
            per_second(&server),
            per_second(&yardstick),
            cpu_per_answer(&server),
            cpu_per_answer(&yardstick),
        )
    }
}

/// In milliseconds; a dash where the system does not tell.
fn cpu_per_answer(rates: &[Rate]) -> String {
    let answers: u32 = rates.iter().map(|rate| rate.answers).sum();
    let cpu: Option<Duration> = rates.iter().map(|rate| rate.cpu).sum();
    cpu.map_or("-".into(), |cpu| format!("{:.2} ms", cpu.as_secs_f64() * 1000.0 / f64::from(answers.max(1))))
}

/// Of some numbers, at least one.
#[derive(Debug, PartialEq)]
pub(crate) struct Spread {
    pub(crate) least: f64,
    pub(crate) median: f64,
    pub(crate) most: f64,
}

impl Spread {
    pub(crate) fn of(numbers: impl Iterator<Item = f64>) -> Self {
        let mut sorted: Vec<f64> = numbers.collect();
        sorted.sort_by(f64::total_cmp);
        let middle = sorted.len() / 2;
        let median = if sorted.len() % 2 == 1 {
            sorted[middle]
        } else {
            f64::midpoint(sorted[middle - 1], sorted[middle])
        };
        Self { least: sorted[0], median, most: sorted[sorted.len() - 1] }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spread_has_its_median_in_the_middle() {
        assert_eq!(Spread::of([3.0, 1.0, 2.0].into_iter()), Spread { least: 1.0, median: 2.0, most: 3.0 });
        assert_eq!(Spread::of([4.0, 1.0, 2.0, 3.0].into_iter()).median, 2.5);
    }
}
