//! Colours: two palettes, and a colour for each name that is the same in every picture.

/// An sRGB colour with opacity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Colour {
    /// Red.
    pub r: u8,
    /// Green.
    pub g: u8,
    /// Blue.
    pub b: u8,
    /// Opacity: 255 hides what is below.
    pub a: u8,
}

/// Which colours to draw with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Palette {
    /// Safe for colour-blind readers: Okabe and Ito's colours for curves (2008, "Color Universal
    /// Design"), for run queues steps of falling lightness, for tasks 48 colours that walk the
    /// OKLCH hue circle in golden steps over four lightnesses, so that neighbours differ in grey,
    /// too.
    #[default]
    Safe,
    /// As published: run queues white, green, orange, red, (255,0,128), magenta as in the
    /// wasted-cores plots (EuroSys 2016); green for running and red for waiting as in
    /// `running_waiting`; saturated colours for tasks.
    Published,
}

/// Tasks: lightness 0.70, 0.52, 0.80, 0.61 in turn, hue 30 + n * 137.508 degrees, chroma at most
/// 0.17 and inside sRGB.
const TASKS: [u32; 48] = [
    0xf66e5c, 0x087c5d, 0xd1a8ff, 0xa77b07, 0x0cb0d4, 0xaf3069, 0x8cd55e, 0x6277e8, 0xef7926,
    0x037972, 0xf494f9, 0x928500, 0x04a9f7, 0xb62f43, 0x49dd8c, 0x896ade, 0xd88b08, 0x067783,
    0xff96d3, 0x749004, 0x639dfe, 0xb53703, 0x07dcb9, 0xa65fcb, 0xc09906, 0x057396, 0xff9cb3,
    0x369b33, 0x8d90ff, 0x9c5302, 0x05d8d9, 0xbc56ae, 0xa5a606, 0x036db3, 0xffa098, 0x019b6b,
    0xb082f7, 0x8b6001, 0x10d3f6, 0xcc4f8c, 0x79b22d, 0x3f5ec9, 0xffa47a, 0x059889, 0xcc77df,
    0x7a6904, 0x6acaff, 0xd44d66,
];
/// Tasks, saturated, as plotting tools of old drew them.
const SATURATED: [u32; 12] = [
    0xff0000, 0x00c000, 0x0000ff, 0xff00ff, 0x00c0c0, 0xff8000, 0x8000ff, 0x808000, 0x008040,
    0xff0080, 0x0080ff, 0x804000,
];
/// Run-queue sizes 1 to 5 and more: from light to dark.
const QUEUE_SAFE: [u32; 5] = [0xcfe4a9, 0x6fc3a0, 0x2f8fb0, 0x3f5aa6, 0x3c1361];
/// Curves of one panel: Okabe and Ito's colours but yellow, which is too light for a line.
const CURVES: [u32; 7] = [0x000000, 0x0072b2, 0xd55e00, 0x009e73, 0xcc79a7, 0xe69f00, 0x56b4e9];
const QUEUE_PUBLISHED: [u32; 5] = [0x00ff00, 0xff8000, 0xff0000, 0xff0080, 0xff00ff];

/// Classes of causes, in steps of at least 8 of the CIE's lightness L*: grey print and all types of
/// colour vision keep them apart. Those that occur most often differ most.
const CLASSES: [u32; 8] =
    [0xe0102c, 0x1b1464, 0x12b886, 0x6a2c91, 0x4f2f00, 0xf5b000, 0xa8dcff, 0x8a8a8a];

impl Colour {
    /// Black.
    pub const BLACK: Colour = Colour::rgb(0);
    /// White: idle.
    pub(crate) const WHITE: Colour = Colour::rgb(0xffffff);
    /// What is not known.
    pub const UNKNOWN: Colour = Colour::rgb(0xdedede);
    /// A CPU that is down.
    pub const OFFLINE: Colour = Colour::rgb(0xa6a6a6);
    /// A task that was not chosen.
    pub(crate) const OTHERS: Colour = Colour::rgb(0xc2c2c2);
    pub(crate) const HATCH: Colour = Colour::rgb(0xb4b4b4);
    pub(crate) const TEXT: Colour = Colour::rgb(0x222222);
    pub(crate) const FAINT: Colour = Colour::rgb(0x6b6b6b);
    pub(crate) const GRID: Colour = Colour::rgb(0xd0d0d0);

    /// From `0xrrggbb`.
    pub const fn rgb(hex: u32) -> Colour {
        Colour { r: (hex >> 16) as u8, g: (hex >> 8) as u8, b: hex as u8, a: 255 }
    }
    /// That of the nth curve; after the seventh they come again.
    pub(crate) const fn curve(n: usize) -> Colour {
        Colour::rgb(CURVES[n % CURVES.len()])
    }
    /// The same colour with opacity `a`.
    pub const fn alpha(self, a: u8) -> Colour {
        Colour { a, ..self }
    }
    /// `#rrggbb`.
    pub fn hex(self) -> String {
        format!("#{:02x}{:02x}{:02x}", self.r, self.g, self.b)
    }
    /// The nearest colour of the 6 x 6 x 6 cube that every 256-colour terminal has.
    pub(crate) fn ansi(self) -> u8 {
        let level = |value: u8| match value {
            0..48 => 0,
            48..115 => 1,
            _ => (value - 35) / 40,
        };
        16 + 36 * level(self.r) + 6 * level(self.g) + level(self.b)
    }
}

impl Palette {
    pub(crate) fn tasks(self) -> &'static [u32] {
        match self {
            Palette::Safe => &TASKS,
            Palette::Published => &SATURATED,
        }
    }
    /// The slot among `tasks` for the `rank`th task of a family of names: tids differ from run to
    /// run, names and their order do not, so pictures of two runs can be compared.
    pub(crate) fn slot(self, family: &str, rank: usize) -> usize {
        // FNV-1a: stable over versions and platforms, unlike the standard library's hasher.
        let fold = |hash: u32, byte: u8| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193);
        let hash = family.bytes().fold(0x811c_9dc5, fold);
        (hash as usize % self.tasks().len() + rank) % self.tasks().len()
    }
    /// Run-queue sizes 1 to 5 and more.
    pub(crate) fn queue(self) -> [Colour; 5] {
        match self {
            Palette::Safe => QUEUE_SAFE.map(Colour::rgb),
            Palette::Published => QUEUE_PUBLISHED.map(Colour::rgb),
        }
    }
    pub(crate) fn running(self) -> Colour {
        match self {
            Palette::Safe => Colour::rgb(0x009e73),
            Palette::Published => Colour::rgb(0x00c000),
        }
    }
    pub(crate) fn waiting(self) -> Colour {
        match self {
            Palette::Safe => Colour::rgb(0xd55e00),
            Palette::Published => Colour::rgb(0xff0000),
        }
    }
    /// A wait in a lane: the same, pale.
    pub(crate) fn waits(self) -> Colour {
        match self {
            Palette::Safe => Colour::rgb(0xf0c7a6),
            Palette::Published => Colour::rgb(0xffb3b3),
        }
    }
    /// Violations, wherever they are marked.
    pub(crate) fn waste(self) -> Colour {
        Colour::rgb(0xd0021b)
    }
    /// The nth class of causes of waste; after the last they come again.
    pub(crate) fn class(self, n: usize) -> Colour {
        Colour::rgb(CLASSES[n % CLASSES.len()])
    }
    /// A wait to which no waste belongs.
    pub(crate) fn more_waited(self) -> Colour {
        Colour::rgb(0xeb9aa4)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_of_a_name_do_not_change_between_versions() {
        let first = Palette::Safe.slot("ua.C.x", 0);
        assert_eq!(first, 42);
        assert_eq!(Palette::Safe.slot("ua.C.x", 5), (first + 5) % 48);
    }

    /// The CIE's lightness L* (CIE 15:2004, 8.2.1) of an sRGB colour (IEC 61966-2-1): 0 to 100.
    fn lightness(hex: u32) -> f64 {
        let linear = |shift: u32| {
            let value = f64::from(hex >> shift & 255) / 255.0;
            if value <= 0.04045 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
        };
        let y = 0.2126 * linear(16) + 0.7152 * linear(8) + 0.0722 * linear(0);
        116.0 * y.cbrt() - 16.0
    }

    #[test]
    fn classes_of_causes_differ_in_lightness_and_from_all_other_colours() {
        let mut all = CLASSES.map(lightness);
        all.sort_by(f64::total_cmp);
        assert!(all.windows(2).all(|pair| pair[1] - pair[0] >= 8.0), "{all:?}");
        let others = [TASKS.as_slice(), &SATURATED, &QUEUE_SAFE, &QUEUE_PUBLISHED, &CURVES];
        assert!(others.concat().iter().all(|other| !CLASSES.contains(other)));
        assert!(!CLASSES.map(Colour::rgb).contains(&Palette::Safe.waste()));
    }

    #[test]
    fn terminal_colours_are_the_nearest_of_the_cube() {
        assert_eq!(Colour::rgb(0).ansi(), 16);
        assert_eq!(Colour::rgb(0xffffff).ansi(), 231);
        assert_eq!(Colour::rgb(0xff0000).ansi(), 196);
        assert_eq!(Colour::rgb(0x875f00).ansi(), 94);
    }
}
