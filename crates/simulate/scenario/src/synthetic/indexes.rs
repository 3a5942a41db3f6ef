//! `indexes=`: the kernel's numbers of objects, as a list or as loops over levels.
//!
//! `core:pack` numbers the first thread of every core of the first package, then of the second,
//! then the second threads; `2*2:4*2` writes the same as steps and counts.

use wastenot_model::{CpuId, shortened};

use super::{Fault, LEVELS, Tower, kind_of, wrong};

/// The value of an `indexes=`, not yet parsed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Indexes<'t> {
    pub(super) text: &'t str,
    pub(super) at: usize,
}

impl Tower<'_> {
    /// The kernel's numbers of `count` objects in their order here.
    pub(super) fn numbers(
        &self,
        indexes: Option<Indexes<'_>>,
        count: usize,
    ) -> Result<Vec<usize>, Fault> {
        let Some(Indexes { text, at }) = indexes else { return Ok((0..count).collect()) };
        let numbers: Option<Vec<usize>> =
            text.split(',').take(count + 1).map(|n| n.parse().ok()).collect();
        let numbers = match numbers {
            Some(numbers) if numbers.len() == count => numbers,
            Some(numbers) => {
                let few = if numbers.len() < count { "few" } else { "many" };
                return wrong(at, format!("there are too {few} indexes for {count} objects"));
            }
            None => self.interleaved(text, count).or_else(|why| wrong(at, why))?,
        };
        Ok(numbers)
    }

    /// Numbers from loops, of which the first varies fastest: `core:pack`, or `step*count:...`.
    fn interleaved(&self, text: &str, count: usize) -> Result<Vec<usize>, String> {
        let mut loops =
            if text.contains('*') { explicit(text) } else { self.by_type(text, count) }?;
        let product = |loops: &[(usize, usize)]| {
            loops.iter().try_fold(1usize, |product, (_, times)| product.checked_mul(*times))
        };
        // Objects that the loops leave out vary slowest.
        let least = loops.iter().map(|(step, _)| *step).min().unwrap_or(1);
        if product(&loops) != Some(count) && least > 1 {
            loops.push((1, least));
        }
        if product(&loops) != Some(count) {
            return Err(format!("the loops do not make {count} indexes"));
        }
        let mut numbers = vec![None; count];
        for number in 0..count {
            let mut rest = number;
            let position: Option<usize> = loops.iter().try_fold(0usize, |sum, (step, times)| {
                let turn = rest % times;
                rest /= times;
                sum.checked_add(turn.checked_mul(*step)?)
            });
            let slot = position.and_then(|position| numbers.get_mut(position));
            *slot.ok_or("a loop goes past the last object")? = Some(number);
        }
        let numbers: Option<Vec<usize>> = numbers.into_iter().collect();
        numbers.ok_or_else(|| "the loops do not reach every object".into())
    }

    /// Loops by level: each runs over its objects within one object of the next named level above
    /// it.
    fn by_type(&self, text: &str, count: usize) -> Result<Vec<(usize, usize)>, String> {
        let mut named = Vec::new();
        for word in text.split(':').take(LEVELS) {
            let kind = kind_of(word, 0).ok();
            let depth = self.levels.iter().position(|level| Some(level.kind) == kind);
            let fits = depth.filter(|&depth| count.is_multiple_of(self.levels[depth].width));
            named.push(fits.ok_or_else(|| {
                format!("`{}` is neither a number nor the type of a wider level", shortened(word))
            })?);
        }
        let walk = |&depth: &usize| {
            let above = named.iter().filter(|&&other| other < depth).max();
            let width = self.levels[depth].width;
            (count / width, width / above.map_or(1, |&above| self.levels[above].width))
        };
        Ok(named.iter().map(walk).collect())
    }
}

/// Loops as numbers: `step*count:step*count`.
fn explicit(text: &str) -> Result<Vec<(usize, usize)>, String> {
    let number = |n: &str| n.parse().ok().filter(|&n| n > 0 && n <= CpuId::LIMIT);
    let each = text.split(':').take(LEVELS).map(|part| {
        let (step, times) = part.split_once('*')?;
        Some((number(step)?, number(times)?))
    });
    each.collect::<Option<Vec<_>>>().ok_or_else(|| "write loops as step*count:step*count".into())
}
