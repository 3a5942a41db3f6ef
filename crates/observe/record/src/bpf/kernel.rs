//! What the running kernel's type description (BTF) contains.

use libbpf_rs::btf::types::{
    Composite, DataSec, Enum, Func, FuncProto, MemberAttr, Ptr, Struct, Typedef,
};
use libbpf_rs::btf::{Btf, BtfType};

use super::log;
use crate::Error;

/// How this kernel differs from others.
#[derive(Debug)]
pub(crate) struct Kernel {
    btf: Btf<'static>,
}

impl Kernel {
    pub(crate) fn running() -> Result<Kernel, Error> {
        log::listen();
        Btf::from_vmlinux().map(|btf| Kernel { btf }).map_err(|_| Error::NoBtf)
    }

    /// Whether the kernel has a tracepoint.
    pub(super) fn traces(&self, tracepoint: &str) -> bool {
        self.handler(tracepoint).is_some()
    }

    /// Whether the kernel has a function that programs can be attached to, if it allows that at
    /// all.
    pub(super) fn calls(&self, function: &str) -> bool {
        self.btf.type_by_name::<Func<'_>>(function).is_some()
    }

    /// Returns an error if the kernel's BPF is too old to record. Without this check the kernel
    /// would only report an invalid argument.
    pub(super) fn can_record(&self) -> Result<(), Error> {
        match self.names("bpf_prog_type", "BPF_PROG_TYPE_SYSCALL") {
            true => Ok(()),
            false => Err(Error::TooOld { since: "5.14" }),
        }
    }

    /// Returns an error if the kernel's BPF is too old to look at run queues.
    pub(crate) fn can_look(&self) -> Result<(), Error> {
        match self.names("bpf_func_id", "BPF_FUNC_loop") {
            true => Ok(()),
            false => Err(Error::TooOld { since: "5.17" }),
        }
    }

    /// Whether one of the kernel's enums has a value of that name.
    fn names(&self, of: &str, value: &str) -> bool {
        let values = self.btf.type_by_name::<Enum<'_>>(of);
        values.is_some_and(|values| {
            values.iter().any(|one| one.name.is_some_and(|name| name == value))
        })
    }

    /// Whether task groups list the run queues of all CPUs, as they do up to 7.1.
    pub(crate) fn lists_queues(&self) -> bool {
        let listed = || {
            let group = self.structure("task_group")?;
            let queues = group.iter().find(|member| member.name.is_some_and(|n| n == "cfs_rq"))?;
            let queues = Ptr::try_from(self.btf.type_by_id::<BtfType<'_>>(queues.ty)?).ok()?;
            Some(Ptr::try_from(queues.next_type()?).is_ok())
        };
        listed() == Some(true)
    }

    fn handler(&self, tracepoint: &str) -> Option<FuncProto<'_>> {
        let name = format!("btf_trace_{tracepoint}");
        let typedef = self.btf.type_by_name::<Typedef<'_>>(&name)?;
        let pointer = Ptr::try_from(typedef.next_type()?).ok()?;
        FuncProto::try_from(pointer.next_type()?).ok()
    }

    /// The order of the arguments of `sched_switch`, as `switch_arguments` counts: the state came
    /// with 5.18, in the middle, and moved to the end one release later.
    pub(super) fn switch_arguments(&self) -> Option<u32> {
        let handler = self.handler("sched_switch")?;
        // The first parameter is the handler's own context.
        let task = |index: usize| {
            let parameter = handler.get(index)?;
            let kind = self.btf.type_by_id::<BtfType<'_>>(parameter.ty)?;
            Some(Ptr::try_from(kind.skip_mods_and_typedefs()).is_ok())
        };
        match (handler.len(), task(2)?) {
            (4, _) => Some(0),
            (5, true) => Some(1),
            (5, false) => Some(2),
            _ => None,
        }
    }

    /// The offset of a CPU's preempt count from its `runqueues`, if the count is a per-CPU variable
    /// (x86): a variable of its own, from 6.2 to 6.14 in `pcpu_hot`.
    pub(super) fn preempt_count_offset(&self) -> Option<i64> {
        let hot = || {
            let hot = self.structure("pcpu_hot")?;
            Some(self.of_cpu("pcpu_hot")? + i64::from(self.member(&hot, "preempt_count")?))
        };
        let count = self.of_cpu("__preempt_count").or_else(hot)?;
        Some(count - self.of_cpu("runqueues")?)
    }

    /// The bits of a preempt count that are set in interrupts. Since 7.3 the lower bits also count
    /// who disabled interrupts (include/linux/preempt.h); only a per-CPU variable shows that.
    pub(super) fn hardirq_mask(&self) -> u32 {
        match self.of_cpu("local_interrupt_disable_state") {
            Some(_) => 0x1f00_0000,
            None => 0x00ff_0000,
        }
    }

    /// The offset of a variable among the per-CPU variables.
    fn of_cpu(&self, wanted: &str) -> Option<i64> {
        let section = self.btf.type_by_name::<DataSec<'_>>(".data..percpu")?;
        section.iter().find_map(|variable| {
            let kind = self.btf.type_by_id::<BtfType<'_>>(variable.ty)?;
            (kind.name()? == wanted).then_some(i64::from(variable.offset))
        })
    }

    fn structure(&self, name: &str) -> Option<Composite<'_>> {
        Composite::try_from(*self.btf.type_by_name::<Struct<'_>>(name)?).ok()
    }

    /// The offset of a member in a struct, in bytes, also within members without a name.
    fn member(&self, of: &Composite<'_>, wanted: &str) -> Option<u32> {
        of.iter().find_map(|inner| {
            let MemberAttr::Normal { offset } = inner.attr else { return None };
            match inner.name {
                Some(name) => (name == wanted).then_some(offset / 8),
                None => {
                    let kind = self.btf.type_by_id::<BtfType<'_>>(inner.ty)?;
                    let within = self.member(&Composite::try_from(kind).ok()?, wanted)?;
                    Some(offset / 8 + within)
                }
            }
        })
    }
}
