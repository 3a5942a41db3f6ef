/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The arithmetic of emitted schedulers alone: an input line is a function and three numbers, an
 * output line is the result. */
#include "kernel.h"

static volatile u64 zero;
#include "../../src/emit/text/number.c"

int main(void)
{
	s64 a, b, c, value;
	char what;

	while (scanf(" %c %lld %lld %lld", &what, &a, &b, &c) == 4) {
		switch (what) {
		case '+':
			value = plus(a, b);
			break;
		case '-':
			value = minus(a, b);
			break;
		case '*':
			value = times(a, b);
			break;
		case '/':
			value = over(a, b);
			break;
		case 's':
			value = scaled(a, b);
			break;
		case 'd':
			value = decayed(a, b, c);
			break;
		default:
			value = until(a, b);
		}
		printf("%lld\n", value);
	}
	return 0;
}
