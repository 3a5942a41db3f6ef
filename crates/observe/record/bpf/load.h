/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Reads of the kernel's memory that know its layout, but have its address only as a number. */
#pragma once

extern void *bpf_rdonly_cast(const void *object, __u32 type) __ksym __weak;

/* A plain load if the kernel can make it safe (since 6.2): it costs a tenth. */
#define LOAD(type, address, field)                                                         \
	({                                                                                 \
		struct type *known = (void *)(address);                                    \
		typeof(known->field) value;                                                \
		if (bpf_ksym_exists(bpf_rdonly_cast)) {                                    \
			known = bpf_rdonly_cast(known, bpf_core_type_id_kernel(struct type)); \
			value = known->field;                                              \
		} else {                                                                   \
			value = BPF_CORE_READ(known, field);                               \
		}                                                                          \
		value;                                                                     \
	})
