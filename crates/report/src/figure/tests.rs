//! What every figure must be: well-formed, the same each time, and without words that touch or stick out.

mod random;

use super::geometry::Pt;
use super::text::{CAPITAL, width};
use super::{
    Axis, ColourScale, Dash, Figure, FigureError, Layer, Legend, Mark, Panel, RuleAt, Scale, Style,
    Values,
};
use roxmltree::{Document, Node};

fn line(label: &str, points: Vec<(f64, f64)>, index: usize) -> Layer {
    Layer::Line { label: Some(label.into()), points, band: None, style: Style::series(index) }
}

fn panel(layers: Vec<Layer>) -> Panel {
    Panel { x: Axis::new("x axis"), y: Axis::new("y axis"), layers, ..Panel::default() }
}

fn figure(panels: Vec<Panel>) -> Figure {
    Figure {
        name: "name".into(),
        caption: "caption".into(),
        panels,
        columns: 1,
        ..Figure::default()
    }
}

/// The texts of a figure with their corners, read from its SVG.
fn texts(svg: &str) -> Vec<(String, [Pt; 4])> {
    let document = Document::parse(svg).unwrap();
    document.descendants().filter(|node| node.has_tag_name("text")).map(corners).collect()
}

fn number(node: Node<'_, '_>, name: &str) -> f64 {
    node.attribute(name).unwrap().parse().unwrap()
}

fn corners(node: Node<'_, '_>) -> (String, [Pt; 4]) {
    let text = node.text().unwrap().trim().to_string();
    let size = number(node, "font-size");
    let wide = width(&text, size);
    let x = number(node, "x")
        - match node.attribute("text-anchor").unwrap() {
            "start" => 0.0,
            "middle" => wide / 2.0,
            _ => wide,
        };
    let base = number(node, "y");
    let top = base - CAPITAL * size;
    let turn: Vec<f64> = node
        .attribute("transform")
        .map(|turn| turn.trim_start_matches("rotate(").trim_end_matches(')').split(' '))
        .map_or(vec![0.0; 3], |parts| parts.map(|part| part.parse().unwrap()).collect());
    let (sin, cos) = turn[0].to_radians().sin_cos();
    let place = |(x, y): Pt| {
        let (dx, dy) = (x - turn[1], y - turn[2]);
        (turn[1] + dx * cos - dy * sin, turn[2] + dx * sin + dy * cos)
    };
    (text, [(x, top), (x + wide, top), (x + wide, base), (x, base)].map(place))
}

/// Whether two turned rectangles overlap: no side of either has them on different sides of it.
fn overlap(a: &[Pt; 4], b: &[Pt; 4]) -> bool {
    let apart = |one: &[Pt; 4], other: &[Pt; 4]| {
        (0..4).any(|index| {
            let (from, to) = (one[index], one[(index + 1) % 4]);
            let out = |p: &Pt| (to.1 - from.1) * (p.0 - from.0) - (to.0 - from.0) * (p.1 - from.1);
            other.iter().all(|point| out(point) > 0.0)
        })
    };
    !apart(a, b) && !apart(b, a)
}

/// The figure's SVG, of which everything is checked that holds for all.
fn checked(figure: &Figure) -> String {
    let svg = figure.svg().unwrap();
    assert_eq!(svg, figure.svg().unwrap(), "not the same twice");
    assert!(!svg.contains("NaN") && !svg.contains("inf"), "a number is missing");
    let document = Document::parse(&svg).unwrap();
    let size: Vec<f64> = document.root_element().attribute("viewBox").unwrap()[4..]
        .split(' ')
        .map(|part| part.parse().unwrap())
        .collect();
    let texts = texts(&svg);
    for (index, (text, corners)) in texts.iter().enumerate() {
        for (x, y) in corners {
            let inside = (0.0..=size[0]).contains(x) && (0.0..=size[1]).contains(y);
            assert!(inside, "{text:?} sticks out at {x}, {y} of {size:?}");
        }
        for (other, its) in &texts[..index] {
            assert!(!overlap(corners, its), "{text:?} touches {other:?}");
        }
    }
    svg
}

fn words(figure: &Figure) -> Vec<String> {
    texts(&checked(figure)).into_iter().map(|(text, _)| text).collect()
}

fn count(svg: &str, tag: &str) -> usize {
    svg.matches(&format!("<{tag} ")).count()
}

#[test]
fn a_figure_needs_a_panel() {
    assert_eq!(figure(vec![]).svg(), Err(FigureError::NoPanels));
}

#[test]
fn a_panel_without_data_says_so() {
    let rule = Layer::Rule { label: None, at: RuleAt::Y(0.5), style: Style::rule(Dash::Dashed) };
    for layers in [vec![], vec![line("a", vec![], 0)], vec![rule]] {
        let words = words(&figure(vec![panel(layers)]));
        for word in ["no data", "x axis", "y axis"] {
            assert!(words.iter().any(|found| found == word), "{word} is not among {words:?}");
        }
    }
}

#[test]
fn one_point_and_equal_points_get_an_axis_around_them() {
    for points in [vec![(3.0, 0.0)], vec![(3.0, 0.2); 5]] {
        let marks = points.iter().map(|(x, y)| Mark::new(*x, *y)).collect();
        let layer = Layer::Points { label: None, points: marks, style: Style::series(0) };
        let svg = checked(&figure(vec![panel(vec![layer])]));
        assert!(!svg.contains("no data"));
        // Each mark is a disc and its edge.
        assert_eq!(count(&svg, "circle"), 2 * points.len());
        checked(&figure(vec![panel(vec![line("one", points, 0)])]));
    }
    let unmarked = Layer::Line {
        label: None,
        points: vec![(1.0, 1.0)],
        band: None,
        style: Style::series(0).unmarked(),
    };
    assert_eq!(count(&checked(&figure(vec![panel(vec![unmarked])])), "circle"), 2);
}

#[test]
fn what_cannot_be_drawn_is_left_out() {
    let bad = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY];
    let mut marks: Vec<Mark> =
        bad.iter().flat_map(|b| [Mark::new(*b, 1.0), Mark::new(1.0, *b)]).collect();
    marks.push(Mark { error: Some(f64::NAN), value: Some(f64::NAN), ..Mark::new(1.0, 2.0) });
    marks.push(Mark { error: Some(f64::INFINITY), ..Mark::new(2.0, 3.0) });
    let points = Layer::Points { label: None, points: marks, style: Style::series(0) };
    assert_eq!(count(&checked(&figure(vec![panel(vec![points])])), "circle"), 4);

    let band = vec![(0.0, 1.0), (0.0, f64::NAN), (1.0, 2.0), (1.0, 2.0), (f64::NAN, 3.0)];
    let broken = Layer::Line {
        label: None,
        points: vec![(0.0, 0.5), (1.0, 0.6), (2.0, f64::NAN), (3.0, 1.0), (4.0, 2.0)],
        band: Some(band),
        style: Style { width: f64::NAN, opacity: f64::NAN, ..Style::series(0).unmarked() },
    };
    let bars = Layer::Bars {
        label: None,
        edges: vec![0.0, 1.0, f64::NAN, 3.0],
        heights: vec![1.0, 2.0, f64::INFINITY],
        style: Style::series(1),
    };
    let rules = bad.map(|b| Layer::Rule { label: None, at: RuleAt::X(b), style: Style::series(0) });
    let layers = [vec![broken, bars], rules.to_vec()].concat();
    checked(&figure(vec![panel(layers)]));
}

#[test]
fn values_that_are_not_positive_are_left_out_on_a_logarithmic_axis() {
    let marks = [-1.0, 0.0, 0.1, 10.0].map(|y| Mark { error: Some(1.0), ..Mark::new(1.0, y) });
    let points = Layer::Points { label: None, points: marks.to_vec(), style: Style::series(0) };
    let mut drawn = panel(vec![points]);
    drawn.y.scale = Scale::Log;
    let svg = checked(&figure(vec![drawn.clone()]));
    assert_eq!(count(&svg, "circle"), 4);
    drawn.layers = vec![
        line("falling", vec![(0.0, 1.0), (1.0, -1.0), (2.0, 1e-3)], 0),
        Layer::Bars {
            label: None,
            edges: vec![0.0, 1.0, 2.0],
            heights: vec![0.0, 2.0],
            style: Style::series(1),
        },
        Layer::Rule { label: None, at: RuleAt::Diagonal, style: Style::series(2) },
    ];
    checked(&figure(vec![drawn]));
}

#[test]
fn any_range_can_be_requested() {
    let ranges = [
        (0.0, 0.0),
        (1.0, 0.0),
        (5.0, 5.0),
        (f64::NAN, 1.0),
        (-1.0, f64::INFINITY),
        (1e-300, 2e-300),
        (-1e300, 1e300),
        (1.0, 1.0 + 1e-15),
        (1e15, 1e15 + 1.0),
        (-1e-7, 1e-7),
        (0.1, 0.10001),
    ];
    for range in ranges {
        for scale in [Scale::Linear, Scale::Log] {
            for percent in [false, true] {
                let mut drawn =
                    panel(vec![line("a", vec![(0.1, 1e-9), (0.5, 1e9), (2.0, -3.0)], 1)]);
                drawn.x = Axis { scale, range: Some(range), percent, ..Axis::new("x") };
                drawn.y = Axis { scale, range: Some(range), percent, ..Axis::new("y") };
                checked(&figure(vec![drawn]));
            }
        }
    }
}

#[test]
fn long_words_are_shortened_with_the_full_text_as_tooltip() {
    let long = "a_very_long_name_of_a_model_that_nobody_would_want_to_read_".repeat(4);
    let names: Vec<String> = (0..7).map(|index| format!("{long}{index}")).collect();
    let drawn = Panel {
        title: Some(long.clone()),
        x: Axis { categories: Some(names), ..Axis::new("many words ".repeat(40)) },
        y: Axis::new(long.clone()),
        layers: (0..5)
            .map(|k| line(&format!("{long} {k}"), vec![(0.0, 0.0), (6.0, 1.0)], k))
            .collect(),
        note: Some(format!("{long}\n{long}")),
        scale: Some(ColourScale {
            label: long.clone(),
            values: Values::Steps(vec![long.clone(); 5]),
        }),
    };
    for legend in [Legend::Each, Legend::Shared] {
        for columns in 1..=4 {
            let panels = vec![drawn.clone(); columns];
            let svg = checked(&Figure { panels, columns, legend, ..figure(vec![]) });
            assert!(svg.contains(&format!("<title>{long}0</title>")));
        }
    }
}

#[test]
fn hostile_names_stay_text() {
    let evil = "<script>alert(1)</script>&\"'\u{0}\u{1b}]]>";
    let mark = Mark { name: Some(evil.into()), ..Mark::new(1.0, 1.0) };
    let drawn = Panel {
        title: Some(evil.into()),
        x: Axis { categories: Some(vec![evil.into(), "b".into()]), ..Axis::new(evil) },
        y: Axis::new(evil),
        layers: vec![Layer::Points {
            label: Some(evil.into()),
            points: vec![mark],
            style: Style::series(0),
        }],
        note: Some(evil.into()),
        scale: Some(ColourScale { label: evil.into(), values: Values::Steps(vec![evil.into()]) }),
    };
    let svg = checked(&Figure { name: evil.into(), caption: evil.into(), ..figure(vec![drawn]) });
    let document = Document::parse(&svg).unwrap();
    assert!(document.descendants().all(|node| !node.has_tag_name("script")));
    let title = document.descendants().find(|node| node.has_tag_name("title")).unwrap();
    assert_eq!(title.text(), Some("<script>alert(1)</script>&\"'\u{FFFD}\u{FFFD}]]>"));
}

#[test]
fn twelve_series_have_distinct_styles() {
    for series in 0..=12 {
        let layers = (0..series).map(|k| {
            let points = (0..=100).map(|i| (f64::from(i), (f64::from(i) / 9.0).sin() + k as f64));
            line(&format!("series {k}"), points.collect(), k)
        });
        let words = words(&figure(vec![panel(layers.collect())]));
        assert_eq!(words.iter().filter(|word| word.starts_with("series")).count(), series);
    }
    let styles: Vec<Style> = (0..28).map(Style::series).collect();
    for (index, style) in styles.iter().enumerate() {
        for other in &styles[..index] {
            let colours = (style.colour(None, None), other.colour(None, None));
            let same = colours.0 == colours.1;
            assert!(!same || (style.dash != other.dash && style.marker != other.marker));
        }
    }
}

#[test]
fn screen_readers_find_a_title_and_a_description() {
    let svg = checked(&figure(vec![panel(vec![])]));
    let document = Document::parse(&svg).unwrap();
    let root = document.root_element();
    assert_eq!(root.attribute("role"), Some("img"));
    let child =
        |name| root.children().find(|node| node.has_tag_name(name)).and_then(|node| node.text());
    assert_eq!((child("title"), child("desc")), (Some("name"), Some("caption")));
}

#[test]
fn lengths_that_do_not_match_are_an_error() {
    let bars =
        |edges, heights| Layer::Bars { label: None, edges, heights, style: Style::default() };
    let of = |layer| figure(vec![panel(vec![]), panel(vec![layer])]).svg();
    let wrong = of(bars(vec![0.0, 1.0], vec![1.0, 2.0]));
    let expected = FigureError::Lengths { panel: 1, layer: 0, what: "edges", found: 2, wanted: 3 };
    assert_eq!(wrong, Err(expected));
    assert!(of(bars(vec![], vec![])).is_ok());
    let band = Layer::Line {
        label: None,
        points: vec![(0.0, 0.0)],
        band: Some(vec![]),
        style: Style::default(),
    };
    assert!(matches!(of(band), Err(FigureError::Lengths { .. })));
}

#[test]
fn a_shared_legend_names_each_label_once() {
    let drawn = panel(vec![line("alpha", vec![(0.0, 1.0), (1.0, 2.0)], 0)]);
    let mut all = figure(vec![drawn.clone(), drawn]);
    let alphas = |figure: &Figure| words(figure).iter().filter(|word| *word == "alpha").count();
    assert_eq!(alphas(&all), 2);
    all.legend = Legend::Shared;
    assert_eq!(alphas(&all), 1);
    assert!(words(&all).iter().any(|word| word == "(b)"));
}

#[test]
fn png_has_the_requested_scale() {
    use tiny_skia::Pixmap;
    let with = figure(vec![panel(vec![])]);
    let mut without = with.clone();
    without.panels[0].x.label = "x axlS".into();
    let (a, b) = (with.png(2.0).unwrap(), without.png(2.0).unwrap());
    assert_eq!(a, with.png(2.0).unwrap());
    let (a, b) = (Pixmap::decode_png(&a).unwrap(), Pixmap::decode_png(&b).unwrap());
    assert_eq!((a.width(), a.height()), (680, b.height()));
    assert_ne!(a.data(), b.data());
    assert!(a.pixels()[0].red() == 255 && a.pixels()[0].alpha() == 255);
    for scale in [0.0, -1.0, f32::NAN, f32::INFINITY] {
        assert!(matches!(with.png(scale), Err(FigureError::Size { .. })), "{scale}");
    }
}
