//! What the running kernel's own description of its types (BTF) says.

use libbpf_rs::btf::Btf;
use libbpf_rs::btf::types::{DataSec, FuncProto, Ptr, Typedef};

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
            let kind = self.btf.type_by_id::<libbpf_rs::btf::BtfType<'_>>(parameter.ty)?;
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
    /// each CPU (x86).
    pub(super) fn preempt_count_offset(&self) -> Option<i64> {
        let variable = |section: &DataSec<'_>, wanted: &str| {
            let mut variables = section.iter();
            variables.find_map(|variable| {
                let kind = self.btf.type_by_id::<libbpf_rs::btf::BtfType<'_>>(variable.ty)?;
                (kind.name()? == wanted).then_some(i64::from(variable.offset))
            })
        };
        let section = self.btf.type_by_name::<DataSec<'_>>(".data..percpu")?;
        let queues = variable(&section, "runqueues")?;
        let count = variable(&section, "__preempt_count")?;
        Some(count - queues)
    }
}
