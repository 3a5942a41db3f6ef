//! What must hold for simulations.

mod bsp;
mod designs;
mod edf;
mod every;
mod faults;
mod gang;
mod hotplug;
mod jobs;
mod linux_2_4;
mod linux_2_6_o1;
mod lives;
mod made;
mod mechanisms;
mod osv;
mod places;
mod programs;
mod real_time;
mod renumber;
mod work_conserving;
