
struct bpf_timer {
	u64 opaque[2];
} __attribute__((aligned(8)));

static long (*const bpf_timer_init)(struct bpf_timer *timer, void *map, u64 flags) = (void *)169;
static long (*const bpf_timer_set_callback)(struct bpf_timer *timer, void *call) = (void *)170;
static long (*const bpf_timer_start)(struct bpf_timer *timer, u64 after, u64 flags) = (void *)171;
