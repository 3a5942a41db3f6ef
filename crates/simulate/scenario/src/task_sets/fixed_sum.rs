//! Numbers between 0 and 1 with a given sum, uniformly distributed over all such lists
//! (randfixedsum).
//!
//! Stafford, "Random vectors with fixed sum" (2006); for utilizations: Emberson, Stafford, Davis
//! (WATERS 2010).
//!
//! All n numbers in [0, 1] of sum s form a body of n - 1 dimensions. From its centre (s/n, ...,
//! s/n), it consists of cones over its faces: on each face one number is 0 or 1, and the others
//! form a smaller body of the same kind. So a point is drawn in three steps: choose a face, choose
//! a point on it by the same rule, and choose how far to go from the centre towards it. A face with
//! a 0 has distance s/n to the centre, one with a 1 has 1 - s/n; with V the volume of a body, the
//! faces with a 0 are chosen with the chance
//!
//! ```text
//! p(n, s) = s V(n-1, s) / (s V(n-1, s) + (n-s) V(n-1, s-1))
//! ```
//!
//! V is a B-spline. Towards both ends it falls so fast that it leaves the range of floating point
//! for a few hundred numbers. But V is not needed: insert its own recurrence (the same sum of
//! cones) into p, and
//!
//! ```text
//! p(n, s) = A a / (A a + B b),    A = s (n-1-s),  B = (s-1) (n-s),
//!                                 a = p(n-1, s-1),  b = 1 - p(n-1, s)
//! ```
//!
//! Only b is computed with a subtraction, and a and b are never both small, since p falls with s:
//! so errors do not grow. Compared with exact fractions, all chances are correct to 1e-15 for 256
//! and for 1024 numbers.

use wastenot_model::workload::Random;

use super::utilizations::{Utilizations, check_sum};
use crate::Error;

/// Draws lists of numbers with one sum.
///
/// On the way to a point, some numbers became 0 and some became 1; the chances are a table over
/// both counts, with at most (n+1)^2 / 4 entries: 2 MiB for 1024 numbers, 32 MiB for 4096.
#[derive(Clone, Debug)]
pub struct FixedSum {
    total: f64,
    /// The maximum count of ones.
    ones: usize,
    /// The maximum count of zeros.
    zeros: usize,
    /// By counts of ones and zeros: the chance that the next is a 0, in rows of equal ones.
    zero: Vec<f64>,
}

impl FixedSum {
    /// For `tasks` numbers with the sum `total`.
    ///
    /// # Errors
    /// If no such numbers exist, or if `tasks` exceeds [`super::MOST_OF_A_SUM`].
    pub fn new(tasks: usize, total: f64) -> Result<FixedSum, Error> {
        check_sum(Utilizations::RandFixedSum, tasks, total)?;
        // Each 1 lowers the sum by one; what remains for the last number is in (0, 1].
        let ones = total.ceil() as usize - 1;
        let mut sum = FixedSum { total, ones, zeros: tasks - 1 - ones, zero: Vec::new() };
        sum.zero = sum.chances();
        Ok(sum)
    }

    fn at(&self, ones: usize, zeros: usize) -> usize {
        ones * (self.zeros + 1) + zeros
    }

    /// From the last numbers to the first. If no 1 is left to give, the next is a 0, and if no 0 is
    /// left, a 1: the body is then a simplex, which has no faces of the other kind.
    fn chances(&self) -> Vec<f64> {
        let mut zero = vec![1.0; (self.ones + 1) * (self.zeros + 1)];
        for ones in (0..self.ones).rev() {
            zero[self.at(ones, self.zeros)] = 0.0;
            let sum = self.total - ones as f64;
            for zeros in (0..self.zeros).rev() {
                let count = (self.ones - ones + self.zeros - zeros + 1) as f64;
                let fewer = sum * (count - 1.0 - sum) * zero[self.at(ones + 1, zeros)];
                let more = (sum - 1.0) * (count - sum) * (1.0 - zero[self.at(ones, zeros + 1)]);
                zero[self.at(ones, zeros)] = fewer / (fewer + more);
            }
        }
        zero
    }

    /// The next numbers, in a meaningless order.
    pub fn draw(&self, random: &mut Random) -> Vec<f64> {
        let (mut ones, mut zeros) = (0, 0);
        // The origin and the side length of the body of the remaining numbers.
        let (mut base, mut scale) = (0.0, 1.0);
        let count = self.ones + self.zeros + 1;
        let mut numbers = Vec::with_capacity(count);
        for left in (2..=count).rev() {
            // Towards the face: a cone of left - 1 dimensions is that much wider further out.
            let out = libm::exp(libm::log(random.unit()) / (left - 1) as f64);
            let centre = (self.total - ones as f64) / left as f64;
            base += scale * (1.0 - out) * centre;
            scale *= out;
            if random.unit() > self.zero[self.at(ones, zeros)] {
                ones += 1;
                numbers.push(base + scale);
            } else {
                zeros += 1;
                numbers.push(base);
            }
        }
        numbers.push(base + scale * (self.total - ones as f64));
        // Which face of one kind: all have the same chance.
        for last in (1..count).rev() {
            numbers.swap(last, random.below(last as u64 + 1) as usize);
        }
        numbers.iter_mut().for_each(|number| *number = number.clamp(0.0, 1.0));
        numbers
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The volume of n numbers in [0, 1] with this sum, in the measure of n - 1 of them (Irwin
    /// 1927, Hall 1927). The signs alternate, so it is only accurate for few numbers, and for the
    /// smaller of the two sums that mirror each other.
    fn volume(count: u32, sum: f64) -> f64 {
        let sum = sum.min(f64::from(count) - sum);
        let (mut volume, mut choose) = (0.0, 1.0);
        for j in 0..=count {
            let part = (sum - f64::from(j)).max(0.0);
            volume += choose * part.powi(count as i32 - 1);
            choose *= -f64::from(count - j) / f64::from(j + 1);
        }
        (1..count).fold(volume, |volume, n| volume / f64::from(n))
    }

    #[test]
    fn chances_are_those_of_the_volumes() {
        for (tasks, total) in [(3, 1.5), (6, 2.25), (8, 4.0), (8, 4.001), (9, 6.9), (10, 0.7)] {
            let sum = FixedSum::new(tasks, total).expect("there are such numbers");
            for ones in 0..=sum.ones {
                for zeros in 0..=sum.zeros {
                    let count = (tasks - ones - zeros) as u32;
                    let rest = total - ones as f64;
                    if count < 3 || rest >= f64::from(count) {
                        continue; // a line, or a point: there is no choice
                    }
                    let zero = rest * volume(count - 1, rest);
                    let one = (f64::from(count) - rest) * volume(count - 1, rest - 1.0);
                    let (is, should) = (sum.zero[sum.at(ones, zeros)], zero / (zero + one));
                    let at = format!("{tasks} of {total}: {ones} and {zeros}");
                    assert!((is - should).abs() < 1e-9, "{is} is not {should}: {at}");
                }
            }
        }
    }

    #[test]
    fn chances_fall_with_the_sum_so_that_nothing_is_divided_by_nothing() {
        for (tasks, total) in [(256, 200.0), (1024, 3.5), (1024, 512.5), (1024, 1023.999)] {
            let sum = FixedSum::new(tasks, total).expect("there are such numbers");
            for ones in 0..sum.ones {
                for zeros in 0..sum.zeros {
                    let (a, b) = (
                        sum.zero[sum.at(ones + 1, zeros)],
                        1.0 - sum.zero[sum.at(ones, zeros + 1)],
                    );
                    assert!(a + b > 0.99, "{a} and {b}: {tasks} of {total}, {ones}, {zeros}");
                }
            }
        }
    }
}
