SEC("struct_ops/quiescent")
int rota_quiescent(u64 *ctx)
{
	struct task_struct *p = (void *)ctx[0];
	struct frame f = {};

+	record(0, ABOUT(-1, S_LEAVE), 0, ctx[1] & SCX_DEQ_SLEEP, p->pid);
	if (!(ctx[1] & SCX_DEQ_SLEEP) || !view(&f, p, scx_bpf_task_cpu(p)))
		return 0;
	if (p->__state & TASK_DEAD) {
@EXIT@	} else {
@BLOCK@	}
	return 0;
}

SEC("struct_ops/tick")
int rota_tick(u64 *ctx)
{
	struct task_struct *p = (void *)ctx[0];
	struct frame f = {};

	if (!view(&f, p, scx_bpf_task_cpu(p)))
		return 0;
@TICK@	return 0;
}

SEC("struct_ops/yield")
bool rota_yield(u64 *ctx)
{
	struct task_struct *p = (void *)ctx[0];
	struct task *t = task_of(p);

	if (t)
		t->gave = true;
	p->scx.slice = 0;
	return false;
}

