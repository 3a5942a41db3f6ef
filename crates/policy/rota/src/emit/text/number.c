static s64 lesser(s64 a, s64 b)
{
	return a < b ? a : b;
}

static s64 greater(s64 a, s64 b)
{
	return a > b ? a : b;
}

/* A sum that saturates at 64 bits instead of wrapping around. */
static s64 plus(s64 a, s64 b)
{
	s64 sum = (u64)a + b;

	if (((a ^ sum) & (b ^ sum)) < 0)
		return a < 0 ? -0x7fffffffffffffffLL - 1 : 0x7fffffffffffffffLL;
	return sum;
}

/* A difference that saturates. */
static s64 minus(s64 a, s64 b)
{
	s64 left = (u64)a - b;

	if (((a ^ b) & (a ^ left)) < 0)
		return a < 0 ? -0x7fffffffffffffffLL - 1 : 0x7fffffffffffffffLL;
	return left;
}

/* a * by, which saturates as well. BPF has no signed division. */
static s64 times(s64 a, s64 by)
{
	u64 most = 0x7fffffffffffffffULL, size = a < 0 ? -(u64)a : a, of = by < 0 ? -(u64)by : by;
	bool minus = (a < 0) != (by < 0);

	if (of && size > (most + minus) / of)
		return minus ? -0x7fffffffffffffffLL - 1 : 0x7fffffffffffffffLL;
	return minus ? -(size * of) : size * of;
}

/* a / by, rounded down. */
static s64 over(s64 a, u64 by)
{
	return a < 0 ? -(s64)((~(u64)a) / by) - 1 : (s64)((u64)a / by);
}

/* a * b / by with a 128-bit product, for a less than by: long division, bit by bit. */
struct share {
	u64 a;
	u64 b;
	u64 by; /* at most 2^62 */
	u64 quotient;
	u64 rest;
};

static long share_step(u32 n, struct share *s)
{
	s->quotient <<= 1;
	s->rest <<= 1;
	if (s->b >> (63 - n) & 1)
		s->rest += s->a;
	if (s->rest >= s->by) {
		s->rest -= s->by;
		s->quotient++;
	}
	if (s->rest >= s->by) {
		s->rest -= s->by;
		s->quotient++;
	}
	return 0;
}

static u64 share(u64 a, u64 b, u64 by, bool up)
{
	struct share s = { .a = a, .b = b, .by = by, .quotient = zero, .rest = zero };

	if (!(a >> 32) && !(b >> 32))
		return (a * b + (up ? by - 1 : 0)) / by;
	bpf_loop(64, share_step, &s, 0);
	return s.quotient + (up && s.rest);
}

/* scaled(time, weight): virtual time, rounded up so that every task that ran pays. */
ONCE s64 scaled(s64 time, s64 weight)
{
	u64 most = 0x7fffffffffffffffULL, by = weight < 1 ? 1 : weight;
	u64 size = time < 0 ? -(u64)time : time;
	u64 whole = size / by, part = share(size % by, 100, by, time >= 0);

	if (whole > (most - part) / 100)
		return time < 0 ? -0x7fffffffffffffffLL - 1 : 0x7fffffffffffffffLL;
	return time < 0 ? -(s64)(whole * 100 + part) : (s64)(whole * 100 + part);
}

/* decayed(value, time, half): halves in each `half`, linear in between. */
ONCE s64 decayed(s64 value, s64 time, s64 half)
{
	u64 length = half < 1 ? 1 : half, gone = time < 0 ? 0 : time;
	u64 left = value < 0 ? 0 : value, halvings = gone / length;

	if (halvings > 62)
		return 0;
	left >>= halvings;
	return left - share(gone % length, left, length, false) / 2;
}

/* until(period): the time to its next multiple, never 0. */
static s64 until(s64 now, s64 period)
{
	u64 length = period < 1 ? 1 : period;

	return length - (u64)now % length;
}

/* A slice is never 0: the kernel would keep the previous slice. */
static u64 slice_of(s64 ns)
{
	return ns < 1 ? 1 : ns;
}
