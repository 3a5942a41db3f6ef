/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Measures the cost of a program that does nothing. */
char LICENSE[] __attribute__((section("license"), used)) = "Dual MIT/GPL";

__attribute__((section("tp_btf/sched_switch"), used)) int on_nothing(void *context)
{
	return 0;
}
