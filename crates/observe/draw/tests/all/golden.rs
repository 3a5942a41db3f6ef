//! Known pictures of a tiny History, and of curves.

use snapbox::{assert_data_eq, str};
use wastenot_draw::*;
use wastenot_model::*;

use crate::curves::chart;
use crate::made::{Maker, dump, tiny};

#[test]
fn cores_of_a_tiny_history() {
    let history = tiny();
    assert_data_eq!(
        dump(&cores(&history, &Cores::default())),
        str![[r#"
made, duration: 0.010000 seconds
rect 0.0,0.0 842.0x157.0 #ffffff
text 44.0,22.0 made, duration: 0.010000 seconds
text 44.0,121.0 0
text 121.2,121.0 1
text 198.4,121.0 2
text 275.6,121.0 3
text 352.8,121.0 4
text 430.0,121.0 5
text 507.2,121.0 6
text 584.4,121.0 7
text 661.6,121.0 8
text 738.8,121.0 9
text 816.0,121.0 10
text 430.0,132.0 time since the start of the trace, ms (began at 0.000000000 s)
text 39.0,40.0 CPU
text 39.0,57.6 0
text 39.0,79.6 1
text 39.0,101.6 2
bars 0: 44.0+231.6#a65fcb 275.6+540.4#c09906
bars 1: 352.8+154.4#a65fcb 507.2+77.2#dedede
bars 2: 44.0+617.6#dedede 661.6+154.4#a6a6a6
hatch 44.0,89.0 772.0x20.0
hatch 507.2,67.0 77.2x20.0
rect 44.0,140.0 7.0x7.0 #c09906
text 54.0,146.0 worker:12  7.000 ms
rect 137.1,140.0 7.0x7.0 #a65fcb
text 147.1,146.0 worker:11  5.000 ms
rect 230.1,140.0 7.0x7.0 #dedede
text 240.1,146.0 hatched: unknown
rect 317.7,140.0 7.0x7.0 #a6a6a6
text 327.7,146.0 hatched dark: offline

"#]]
    );
}

#[test]
fn waiting_of_a_tiny_history() {
    let history = tiny();
    assert_data_eq!(
        dump(&waiting(&history, &Waiting::default())),
        str![[r#"
made, duration: 0.010000 seconds
rect 0.0,0.0 842.0x391.0 #ffffff
text 44.0,22.0 made, duration: 0.010000 seconds
text 44.0,355.0 0
text 121.2,355.0 1
text 198.4,355.0 2
text 275.6,355.0 3
text 352.8,355.0 4
text 430.0,355.0 5
text 507.2,355.0 6
text 584.4,355.0 7
text 661.6,355.0 8
text 738.8,355.0 9
text 816.0,355.0 10
text 430.0,366.0 time since the start of the trace, ms (began at 0.000000000 s)
text 39.0,346.6 0
text 39.0,271.6 1
text 39.0,196.6 2
text 39.0,121.6 3
text 39.0,46.6 4
line #a6a6a6 44.0,269.0 507.2,269.0 507.2,194.0 584.4,194.0 584.4,269.0 661.6,269.0 661.6,344.0 816.0,344.0
fill #d55e00 44.0,344.0 121.2,344.0 121.2,269.0 352.8,269.0 352.8,344.0 816.0,344.0 816.0,344.0 44.0,344.0
line #d55e00 44.0,344.0 121.2,344.0 121.2,269.0 352.8,269.0 352.8,344.0 816.0,344.0
line #009e73 44.0,269.0 352.8,269.0 352.8,194.0 507.2,194.0 507.2,269.0 816.0,269.0
dots #000000 44.0,119.0 816.0,119.0
rect 44.0,374.0 7.0x7.0 #a6a6a6
text 54.0,380.0 unknown CPUs (max 2)
rect 147.2,374.0 7.0x7.0 #d55e00
text 157.2,380.0 filled: tasks waiting on a run queue (max 1)
rect 320.1,374.0 7.0x7.0 #009e73
text 330.1,380.0 line: tasks running (max 2)
rect 434.9,374.0 7.0x7.0 #000000
text 444.9,380.0 dotted: 3 CPUs

"#]]
    );
}

#[test]
fn queues_of_a_tiny_history_in_published_colours() {
    let history = tiny();
    let view = View { palette: Palette::Published, ..View::default() };
    assert_data_eq!(
        dump(&queues(&history, &Queues { view, ..Queues::default() })),
        str![[r#"
made, duration: 0.010000 seconds
rect 0.0,0.0 842.0x177.0 #ffffff
text 44.0,22.0 made, duration: 0.010000 seconds
text 44.0,121.0 0
text 121.2,121.0 1
text 198.4,121.0 2
text 275.6,121.0 3
text 352.8,121.0 4
text 430.0,121.0 5
text 507.2,121.0 6
text 584.4,121.0 7
text 661.6,121.0 8
text 738.8,121.0 9
text 816.0,121.0 10
text 430.0,132.0 time since the start of the trace, ms (began at 0.000000000 s)
text 39.0,40.0 CPU
text 39.0,57.6 0
text 39.0,79.6 1
text 39.0,101.6 2
bars 0: 44.0+77.2#00ff00 121.2+231.6#ff8000 352.8+463.2#00ff00
bars 1: 352.8+154.4#00ff00 507.2+77.2#dedede
bars 2: 44.0+617.6#dedede 661.6+154.4#a6a6a6
line #0050d0 352.5,55.0 352.5,72.2
fill #0050d0 352.5,77.0 350.3,72.2 354.7,72.2
rect 118.8,52.8 4.4x4.4 #000000
rect 119.9,53.9 2.2x2.2 #ff00ff
rect 44.0,140.0 7.0x7.0 #ffffff
text 54.0,146.0 run queue: 0
rect 110.9,140.0 7.0x7.0 #00ff00
text 120.9,146.0 1
rect 137.2,140.0 7.0x7.0 #ff8000
text 147.2,146.0 2
rect 163.5,140.0 7.0x7.0 #ff0000
text 173.5,146.0 3
rect 189.8,140.0 7.0x7.0 #ff0080
text 199.8,146.0 4
rect 216.1,140.0 7.0x7.0 #ff00ff
text 226.1,146.0 5 or more
rect 272.8,140.0 7.0x7.0 #dedede
text 282.8,146.0 unknown
text 44.0,157.0 Blue marks: 1 moves of waiting tasks by the load balancer.
text 44.0,167.0 Black squares: 1 wakeups onto a busy CPU while some CPU was idle.

"#]]
    );
}

#[test]
fn a_terminal_shows_a_tiny_history() {
    let history = tiny();
    let scene = cores(&history, &Cores::default());
    assert_data_eq!(
        scene.terminal(60, 24, false),
        str![[r#"
made, duration: 0.010000 seconds
0 │█████████████████████████████████████████████████████████
1 │                      ▂███████████//////
2 │//////////////////////////////////////////////xxxxxxxxxxx
  └┴────┴─────┴─────┴────┴─────┴─────┴────┴─────┴─────┴────┴
   0    1     2     3    4     5     6    7     8     9   10
   time since the start of the trace, ms (began at 0.00000..
/ hatched: unknown  x hatched dark: offline

"#]]
    );
    assert_data_eq!(
        waiting(&history, &Waiting::default()).terminal(60, 16, false),
        str![[r#"
made, duration: 0.010000 seconds
4 │
  │
3 │⠤ ⠤ ⠤ ⠤ ⠤ ⠤ ⠤ ⠤ ⠤ ⠤ ⠤ ⠤ ⠤ ⠤ ⠤ ⠤ ⠤ ⠤ ⠤ ⠤ ⠤ ⠤ ⠤ ⠤ ⠤ ⠤ ⠤ ⠤ ⠤
  │
  │
2 │                      ⢸⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⡏⠉⠉⠉⠉⢹
  │                      ⢸           ⡇    ⢸
1 │⠤⠤⠤⠤⠤⢤⣤⣤⣤⣤⣤⣤⣤⣤⣤⣤⣤⣤⣤⣤⣤⣤⣼⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠧⠤⠤⠤⠤⠼⠤⠤⠤⠤⠤⢤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤
  │     ⢸⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿                      ⢸
0 │⣀⣀⣀⣀⣀⣸⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣸⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀
  └┴────┴─────┴─────┴────┴─────┴─────┴────┴─────┴─────┴────┴
   0    1     2     3    4     5     6    7     8     9   10
   time since the start of the trace, ms (began at 0.00000..
x unknown CPUs (max 2)
- filled: tasks waiting on a run queue (max 1)

"#]]
    );
    assert_data_eq!(
        queues(&history, &Queues::default()).terminal(60, 16, false),
        str![[r#"
made, duration: 0.010000 seconds
0 │111112222222222222222221111111111111111111111111111111111
1 │                      111111111111//////
2 │//////////////////////////////////////////////xxxxxxxxxxx
  └┴────┴─────┴─────┴────┴─────┴─────┴────┴─────┴─────┴────┴
   0    1     2     3    4     5     6    7     8     9   10
   time since the start of the trace, ms (began at 0.00000..
  run queue: 0  1 1  2 2  3 3  4 4  5 5 or more  / unknown

"#]]
    );
}

#[test]
fn curves_in_two_panels() {
    assert_data_eq!(
        dump(&curves(&chart())),
        str![[r#"
made: share over total
rect 0.0,0.0 842.0x352.5 #ffffff
text 44.0,22.0 made: share over total
text 44.0,34.0 100 sets a point
text 44.0,50.0 2 CPUs
text 44.0,59.0 hard
text 51.0,289.0 1.0
text 139.8,289.0 1.5
text 228.5,289.0 2.0
text 317.2,289.0 2.5
text 406.0,289.0 3.0
text 39.0,273.6 0
text 39.0,233.6 0.2
text 39.0,193.6 0.4
text 39.0,153.6 0.6
text 39.0,113.6 0.8
text 39.0,73.6 1
text 228.5,299.0 total
fill #000000 51.0,71.0 228.5,116.0 406.0,251.0 406.0,271.0 228.5,136.0 51.0,91.0
fill #0072b2 51.0,71.0 139.8,151.0 139.8,191.0 51.0,111.0
line #0072b2 406.0,231.0 406.0,271.0
line #000000 51.0,71.0 228.5,121.0 406.0,271.0
line #0072b2 51.0,91.0 139.8,171.0
fill #000000 47.9,69.8 49.8,67.9 52.2,67.9 54.1,69.8 54.1,72.2 52.2,74.1 49.8,74.1 47.9,72.2
fill #000000 225.4,119.8 227.3,117.9 229.7,117.9 231.6,119.8 231.6,122.2 229.7,124.1 227.3,124.1 225.4,122.2
fill #000000 402.9,269.8 404.8,267.9 407.2,267.9 409.1,269.8 409.1,272.3 407.2,274.1 404.8,274.1 402.9,272.3
fill #0072b2 49.2,89.2 52.8,89.2 52.8,92.8 49.2,92.8
fill #0072b2 137.9,169.2 141.6,169.2 141.6,172.8 137.9,172.8
fill #0072b2 404.2,249.2 407.8,249.2 407.8,252.8 404.2,252.8
text 447.0,50.0 4 CPUs
text 447.0,59.0 hard
text 454.0,289.0 4
text 542.8,289.0 5
text 631.5,289.0 6
text 720.2,289.0 7
text 809.0,289.0 8
text 442.0,273.6 0
text 442.0,233.6 0.2
text 442.0,193.6 0.4
text 442.0,153.6 0.6
text 442.0,113.6 0.8
text 442.0,73.6 1
text 631.5,299.0 total
line #000000 454.0,171.0 809.0,221.0
fill #000000 450.9,169.8 452.8,167.9 455.2,167.9 457.1,169.8 457.1,172.2 455.2,174.1 452.8,174.1 450.9,172.2
fill #000000 805.9,219.8 807.8,217.9 810.2,217.9 812.1,219.8 812.1,222.3 810.2,224.1 807.8,224.1 805.9,222.3
text 44.0,314.0 a guarantee
rect 96.7,310.9 18.0x1.1 #000000
fill #000000 103.3,310.5 104.8,309.0 106.7,309.0 108.1,310.5 108.1,312.4 106.7,313.8 104.8,313.8 103.3,312.4
text 118.7,314.0 free
text 44.0,325.5 none
rect 72.0,322.4 18.0x1.1 #0072b2
fill #0072b2 78.9,320.8 83.2,320.8 83.2,325.1 78.9,325.1
text 94.0,325.5 paid
text 44.0,339.0 Gaps: at 1 place.

"#]]
    );
}

#[test]
fn a_terminal_shows_curves() {
    assert_data_eq!(
        curves(&chart()).terminal(60, 16, false),
        str![[r#"
made: share over total
  1 │⠘⣷⣶⣦a⣤⣄⣀⣀⣀
    │⠘⣿b⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿a⣶⣶⣤⣤⣤⣀⣀⣀a
0.8 │ ⠛b⣿⣿⣿⣿⣿⣶⣤⣉⠉⠉a⠛⠛⠻⠿⠿⢿⣿⣿a⣿⣿⣷⣶⣶⣤⣀
    │   ⠈⠙⠻⢿⣿⣿⣿⣿b⣦⣄⡀       a⠉⠉⠉⠛⠛⠿⣿⣿a⣤⣄⡀
0.6 │       ⠉⠛⠿⣿b⣿⣿⣇               ⠉a⠿⣿⣿⣷⣦⣄⡀
0.4 │          ⠈b⠻⢿⡏                   ⠉⠛⠿⢿⣿⣷a⣄⡀
    │                                      ⠈⠙a⢿⣿⣿⣶⣤⣀
0.2 │                                          ⠈⠙⠻⢿⣿⣿⣶a⣀
    │                                              ⠈⠙⠛a⣿⣿⣶⣤⡄
  0 │                                                   ⠉⠛⢿⡄
    └─┴────────────┴────────────┴────────────┴────────────┴─
     1.0          1.5          2.0          2.5          3.0
     total
a free  b paid
  Gaps: at 1 place.

"#]]
    );
}

#[test]
fn text_in_an_svg_is_outlines_from_where_its_anchor_says() {
    let svg = cores(&tiny(), &Cores::default()).svg();
    // Widths in units of 2048 to an em: C 1294, P 1239, U 1497; in all 14.76 points at size 7.5,
    // and the word ends at 39.
    let word = svg.lines().find(|line| line.contains("\"CPU\"")).expect("the axis is named");
    assert_data_eq!(
        word.replace("><", ">\n<"),
        str![[r##"
<g role="img" aria-label="CPU" transform="translate(24.24 40) scale(0.003662109375 -0.003662109375)" fill="#6b6b6b">
<use xlink:href="#g38" x="0"/>
<use xlink:href="#g51" x="1294"/>
<use xlink:href="#g56" x="2533"/>
</g>
"##]]
    );
    // An l is a rectangle, told with y upwards.
    let letter = svg.lines().find(|line| line.starts_with("<path id=\"g79\"")).expect("an l");
    assert_data_eq!(
        letter,
        str![[r#"<path id="g79" d="M354 0L174 0L174 1556L354 1556L354 0z"/>"#]]
    );
}

#[test]
fn titles_have_the_words_of_dat2graph_and_state_the_window_and_its_length() {
    let mut made = Maker::new(2);
    let task = made.task(7, "ua");
    made.switch(0, 0, None, Some(task), Left::Runnable);
    made.switch(3_203_655, 0, Some(task), None, Left::Sleeping);
    made.switch(22_221_348, 0, None, None, Left::Runnable);
    made.sink.head().source.name = "runs/ua.C.x_5.dat".into();
    let history = made.sink.finish();
    let view = View {
        min: Some(Span::s(3)),
        max: Span::parse("3.2s"),
        socket_order: true,
        ..View::default()
    };
    let options = Cores { view: view.clone(), color_by_command: true, ..Cores::default() };
    let title = cores(&history, &options).title;
    assert_eq!(title, "ua.C.x_5 from_3 socketorder upto_3.2 color, duration: 0.200000 seconds");
    let title = queues(&history, &Queues { view: view.clone(), ..Queues::default() }).title;
    assert_eq!(title, "ua.C.x_5 from_3 socketorder upto_3.2, duration: 0.200000 seconds");
    let title = waiting(&history, &Waiting { view, ..Waiting::default() }).title;
    assert_eq!(title, "ua.C.x_5 from_3 upto_3.2, duration: 0.200000 seconds");
}

#[test]
fn a_task_has_the_same_colour_in_another_run() {
    let colours = |tid: i32| {
        let mut made = Maker::new(2);
        let second = made.task(tid + 1, "worker");
        let first = made.task(tid, "worker");
        made.switch(0, 0, None, Some(first), Left::Runnable);
        made.switch(0, 1, None, Some(second), Left::Runnable);
        made.switch(9, 0, Some(first), None, Left::Sleeping);
        let scene = cores(&made.sink.finish(), &Cores::default());
        let colour = |item: &Item| match item {
            Item::Bars { bars, .. } => Some(bars[0].colour),
            _ => None,
        };
        scene.items.iter().filter_map(colour).collect::<Vec<_>>()
    };
    assert_eq!(colours(100), colours(4711));
    assert_ne!(colours(100)[0], colours(100)[1]);
}

#[test]
fn threads_numbered_in_their_names_differ_in_colour() {
    let mut made = Maker::new(12);
    for cpu in 0..12 {
        let task = made.task(500 - i32::from(cpu), &format!("ua-{cpu}"));
        made.switch(0, cpu, None, Some(task), Left::Runnable);
    }
    made.switch(9, 0, None, None, Left::Runnable);
    let history = made.sink.finish();
    for color_by_command in [false, true] {
        let scene = cores(&history, &Cores { color_by_command, ..Cores::default() });
        let colours: std::collections::BTreeSet<_> =
            scene.legend.iter().filter(|(_, l)| l.starts_with("ua-")).map(|(c, _)| *c).collect();
        assert_eq!(colours.len(), 12);
    }
}

#[test]
fn a_target_alone_has_colour() {
    let mut made = Maker::new(1);
    let (ua, other) = (made.task(7, "ua.C.x"), made.task(8, "kworker/0:0"));
    made.switch(0, 0, None, Some(ua), Left::Runnable);
    made.switch(500, 0, Some(ua), Some(other), Left::Preempted);
    made.switch(501, 0, Some(other), Some(ua), Left::Sleeping);
    made.switch(1000, 0, Some(ua), None, Left::Sleeping);
    let history = made.sink.finish();
    for target in ["ua*", "ua.C.x"] {
        let options = Cores { target: Some(target.into()), ..Cores::default() };
        let scene = cores(&history, &options);
        let Some(Item::Bars { bars, .. }) =
            scene.items.iter().find(|item| matches!(item, Item::Bars { .. }))
        else {
            panic!("bars");
        };
        let black: Vec<_> = bars.iter().map(|bar| bar.colour == Colour::BLACK).collect();
        assert_eq!(black, [false, true, false], "{target}");
        assert!(bars[1].width >= 0.6, "a mark can be seen");
    }
}
