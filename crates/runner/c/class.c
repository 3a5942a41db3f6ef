// Executes a command in a scheduling class:
//
//   class POLICY PATH WORDS...    POLICY is a digit, as in sched_setattr; WORDS begin with the name
#include "sys.h"

// As env(1) and timeout(1) answer.
enum { CANNOT_BEGIN = 125, CANNOT_EXECUTE = 126 };

__attribute__((used)) void start(u64 *stack)
{
	u64 count = stack[0];
	char **words = (char **)(stack + 1), **environment = words + count + 1;
	if (count < 4)
		sys1(SYS_exit, CANNOT_BEGIN);
	struct sched_attr to = { sizeof to, words[1][0] - '0', 0, 0, 0, 0, 0, 0 };
	if (sys3(SYS_sched_setattr, 0, &to, 0) < 0)
		sys1(SYS_exit, CANNOT_BEGIN);
	sys5(SYS_execveat, AT_FDCWD, words[2], words + 3, environment, 0);
	sys1(SYS_exit, CANNOT_EXECUTE);
}
