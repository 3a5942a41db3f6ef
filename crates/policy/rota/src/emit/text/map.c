
static void *(*const bpf_map_lookup_elem)(void *map, const void *key) = (void *)1;
#define MAP(name, number, size, from, held)                                                    \
	struct {                                                                               \
		int(*type)[number];                                                            \
		int(*max_entries)[size];                                                       \
		from *key;                                                                     \
		held *value;                                                                   \
	} name SEC(".maps")
enum { HASH = 1, ARRAY = 2 };
