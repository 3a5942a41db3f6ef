// Scheduling classes; POLICY and PRIORITY are numbers, as in sched_setattr.
//
//   class POLICY PRIORITY task TID           gives the task the class; what it forks has the fair one
//   class POLICY PRIORITY run PATH WORDS...  executes a command in it; WORDS begin with the name
#include "sys.h"

// As env(1) and timeout(1) answer.
enum { CANNOT_BEGIN = 125, CANNOT_EXECUTE = 126 };

__attribute__((used)) void start(u64 *stack)
{
	u64 count = stack[0];
	char **words = (char **)(stack + 1), **environment = words + count + 1;
	if (count < 5)
		sys1(SYS_exit, CANNOT_BEGIN);
	int runs = words[3][0] == 'r';
	struct sched_attr to = { sizeof to, number(words[1]), runs ? 0 : SCHED_FLAG_RESET_ON_FORK, 0,
		number(words[2]), 0, 0, 0 };
	if (sys3(SYS_sched_setattr, runs ? 0 : number(words[4]), &to, 0) < 0)
		sys1(SYS_exit, CANNOT_BEGIN);
	if (!runs)
		sys1(SYS_exit, 0);
	sys5(SYS_execveat, AT_FDCWD, words[4], words + 5, environment, 0);
	sys1(SYS_exit, CANNOT_EXECUTE);
}
