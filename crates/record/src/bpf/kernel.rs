//! What the running kernel's own description of its types (BTF) says.

use libbpf_rs::btf::types::{
    Composite, DataSec, Func, FuncProto, MemberAttr, Ptr, Struct, Typedef,
};
use libbpf_rs::btf::{Btf, BtfType};

use crate::Error;

/// How this kernel differs from others.
#[derive(Debug)]
pub(super) struct Kernel {
    btf: Btf<'static>,
}

impl Kernel {
    pub(super) fn running() -> Result<Kernel, Error> {
        Btf::from_vmlinux().map(|btf| Kernel { btf }).map_err(|_| Error::NoBtf)
    }

    /// Whether it has a tracepoint.
    pub(super) fn traces(&self, tracepoint: &str) -> bool {
        self.handler(tracepoint).is_some()
    }

    /// Whether it has a function that programs can be attached to, if it lets them.
    pub(super) fn calls(&self, function: &str) -> bool {
        self.btf.type_by_name::<Func<'_>>(function).is_some()
    }

    fn handler(&self, tracepoint: &str) -> Option<FuncProto<'_>> {
        let name = format!("btf_trace_{tracepoint}");
        let typedef = self.btf.type_by_name::<Typedef<'_>>(&name)?;
        let pointer = Ptr::try_from(typedef.next_type()?).ok()?;
        FuncProto::try_from(pointer.next_type()?).ok()
    }

    /// In which order `sched_switch` has its arguments, as `switch_arguments` counts: the state
    /// came with 5.18, in the middle, and moved to the end one release later.
    pub(super) fn switch_arguments(&self) -> Option<u32> {
        let handler = self.handler("sched_switch")?;
        // The first parameter is the handler's own.
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

    /// How far behind its `runqueues` a CPU keeps its preempt count, where that is a variable of
    /// each CPU (x86): of its own, from 6.2 to 6.14 in `pcpu_hot`.
    pub(super) fn preempt_count_offset(&self) -> Option<i64> {
        let section = self.btf.type_by_name::<DataSec<'_>>(".data..percpu")?;
        let variable = |wanted: &str| {
            section.iter().find_map(|variable| {
                let kind = self.btf.type_by_id::<BtfType<'_>>(variable.ty)?;
                (kind.name()? == wanted).then_some(i64::from(variable.offset))
            })
        };
        let hot = || {
            let hot = self.structure("pcpu_hot")?;
            Some(variable("pcpu_hot")? + i64::from(self.member(&hot, "preempt_count")?))
        };
        let count = variable("__preempt_count").or_else(hot)?;
        Some(count - variable("runqueues")?)
    }

    /// Whether tasks hold the preempt count (all but x86).
    pub(super) fn tasks_count_preemption(&self) -> bool {
        let info = self.structure("thread_info");
        info.is_some_and(|info| self.member(&info, "preempt_count").is_some())
    }

    fn structure(&self, name: &str) -> Option<Composite<'_>> {
        Composite::try_from(*self.btf.type_by_name::<Struct<'_>>(name)?).ok()
    }

    /// Where in a struct a member is, in bytes, also within members without a name.
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
