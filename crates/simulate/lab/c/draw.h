// Random numbers as `model/src/workload/variate.rs` draws them, so that a task has the same work
// here as in the simulator. The functions are series; they agree with libm to about 1e-15.
#ifndef DRAW_H
#define DRAW_H
#include "plan.h"

static inline u64 bits(u64 *random)
{
	*random += 0x9e3779b97f4a7c15ULL;
	u64 z = (*random ^ (*random >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return z ^ (z >> 31);
}

// Stream `ordinal` of the tasks of a template, counted from 1.
static inline u64 stream(u64 seed, u32 template, u32 ordinal)
{
	u64 random = seed;
	random = bits(&random) ^ (1ULL << 32);
	random = bits(&random) ^ ((u64)template << 32 | ordinal);
	return bits(&random);
}

static inline u64 below(u64 *random, u64 n)
{
	u64 it = bits(random);
	return n ? (u64)(((unsigned __int128)it * n) >> 64) : it;
}

// In (0, 1].
static inline double unit(u64 *random)
{
	return (double)((bits(random) >> 11) + 1) / 9007199254740992.0;
}

static inline double of_bits(u64 bits)
{
	double value;
	__builtin_memcpy(&value, &bits, sizeof value);
	return value;
}

#define LN2 0.693147180559945309417

// x is positive and not subnormal.
static double log_of(double x)
{
	u64 raw;
	__builtin_memcpy(&raw, &x, sizeof raw);
	int exponent = (int)(raw >> 52) - 1023;
	double m = of_bits((raw & 0xfffffffffffffULL) | 0x3ff0000000000000ULL);
	if (m > 1.41421356237309504880) {
		m /= 2;
		exponent++;
	}
	double s = (m - 1) / (m + 1), square = s * s, sum = 0;
	for (int n = 25; n >= 1; n -= 2)
		sum = sum * square + 1.0 / n;
	return exponent * LN2 + 2 * s * sum;
}

static double exp_of(double x)
{
	if (x < -700 || x > 700)
		return x < 0 ? 0 : of_bits(0x7fe0000000000000ULL);
	int n = (int)(x / LN2 + (x < 0 ? -0.5 : 0.5));
	double r = (x - n * 6.93147180369123816490e-01) - n * 1.90821492927058770002e-10;
	double sum = 1;
	for (int k = 16; k >= 1; k--)
		sum = 1 + r * sum / k;
	return sum * of_bits((u64)(n + 1023) << 52);
}

// The cosine of `turns` turns.
static double cos_of(double turns)
{
	int quarter = (int)(turns * 4 + 0.5);
	double x = (turns - quarter / 4.0) * 6.28318530717958647693, square = x * x;
	double cosine = 1, sine = 1;
	for (int k = 20; k >= 2; k -= 2) {
		cosine = 1 - square * cosine / (k * (k - 1));
		sine = 1 - square * sine / (k * (k + 1));
	}
	switch (quarter & 3) {
	case 0: return cosine;
	case 1: return -x * sine;
	case 2: return -cosine;
	default: return x * sine;
	}
}

static u64 draw(u64 *random, const struct step *step)
{
	switch (step->variate) {
	case UNIFORM:
		return step->a + below(random, step->b - step->a + 1);
	case EXPONENTIAL:
		return (u64)(-log_of(unit(random)) * (double)step->a);
	case LOG_NORMAL: {
		double cv = of_bits(step->b), variance = log_of(1 + cv * cv);
		double radius = unit(random), angle = unit(random);
		double normal = __builtin_sqrt(-2 * log_of(radius)) * cos_of(angle);
		double log = __builtin_sqrt(variance) * normal - variance / 2;
		return (u64)((double)step->a * exp_of(log));
	}
	default:
		return step->a;
	}
}
#endif
