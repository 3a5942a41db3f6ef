// How tasks wait for one another.
#ifndef MEET_H
#define MEET_H
#include "plan.h"

static inline int passes(const struct counter *counter, u32 ticket)
{
	return (s32)(__atomic_load_n(&counter->value, __ATOMIC_SEQ_CST) - ticket) > 0;
}

// Tickets that may pass wake their own sleepers only, but for those 32 tickets further on.
static inline u32 bit(u32 ticket) { return 1U << (ticket % 32); }

static void sleep_until_passes(struct counter *counter, u32 ticket)
{
	__atomic_add_fetch(&counter->sleepers, 1, __ATOMIC_SEQ_CST);
	for (;;) {
		u32 seen = __atomic_load_n(&counter->value, __ATOMIC_SEQ_CST);
		if ((s32)(seen - ticket) > 0)
			break;
		sys6(SYS_futex, &counter->value, FUTEX_WAIT_BITSET, seen, 0, 0, bit(ticket));
	}
	__atomic_sub_fetch(&counter->sleepers, 1, __ATOMIC_SEQ_CST);
}

static void wait_to_pass(struct counter *counter, u32 ticket, u32 waiting, u64 spin_ns)
{
	// So often the time is looked at while it spins.
	enum { POLLS = 64 };
	if (waiting == SPIN) {
		while (!passes(counter, ticket))
			relax();
		return;
	}
	if (waiting == SPIN_THEN_BLOCK) {
		u64 until = now(CLOCK_THREAD_CPUTIME_ID) + spin_ns;
		do {
			for (int n = 0; n < POLLS; n++) {
				if (passes(counter, ticket))
					return;
				relax();
			}
		} while (now(CLOCK_THREAD_CPUTIME_ID) < until);
	}
	if (!passes(counter, ticket))
		sleep_until_passes(counter, ticket);
}

static void wake(struct counter *counter, u32 bits)
{
	if (__atomic_load_n(&counter->sleepers, __ATOMIC_SEQ_CST))
		sys6(SYS_futex, &counter->value, FUTEX_WAKE_BITSET, 0x7fffffff, 0, 0, bits);
}

// Lets the next ticket pass.
static void advance(struct counter *counter)
{
	wake(counter, bit(__atomic_fetch_add(&counter->value, 1, __ATOMIC_SEQ_CST)));
}

static inline u32 ticket(u32 *tickets) { return __atomic_fetch_add(tickets, 1, __ATOMIC_SEQ_CST); }

static void barrier(struct meeting *it)
{
	u32 arrival = ticket(&it->first_tickets), round = arrival / it->parties;
	if (arrival % it->parties == it->parties - 1)
		advance(&it->first);
	else
		wait_to_pass(&it->first, round, it->waiting, it->spin_ns);
}

// A token is a byte in a pipe of the kernel. Who reads waits; a pipe that is full is not waited for.
static long move_byte(int call, u32 fd)
{
	u8 byte = 0;
	long result;
	do
		result = sys3(call, fd, &byte, 1);
	while (result == -EINTR);
	return result;
}

// Less than 0 where a pipe without a limit is full all the same.
static long put(struct meeting *it)
{
	if (it->is_pipe) {
		if (it->parties != NONE)
			move_byte(SYS_read, it->fds[2]);
		return move_byte(SYS_write, it->fds[1]);
	}
	if (it->parties != NONE)
		wait_to_pass(&it->second, ticket(&it->second_tickets), it->waiting, it->spin_ns);
	advance(&it->first);
	return 0;
}

static void get(struct meeting *it)
{
	if (it->is_pipe) {
		move_byte(SYS_read, it->fds[0]);
		if (it->parties != NONE)
			move_byte(SYS_write, it->fds[3]);
		return;
	}
	wait_to_pass(&it->first, ticket(&it->first_tickets), it->waiting, it->spin_ns);
	if (it->parties != NONE)
		advance(&it->second);
}

// A signal that none waits for is lost.
static void signal(struct meeting *it, int all)
{
	for (;;) {
		u32 seen = __atomic_load_n(&it->first.value, __ATOMIC_SEQ_CST);
		u32 waiters = __atomic_load_n(&it->first_tickets, __ATOMIC_SEQ_CST) - seen;
		if (!waiters)
			return;
		u32 next = seen + (all ? waiters : 1);
		if (__atomic_compare_exchange_n(&it->first.value, &seen, next, 0,
				__ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {
			wake(&it->first, all ? ~0U : bit(seen));
			return;
		}
	}
}
#endif
