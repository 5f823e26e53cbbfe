//! Descriptions of preprocessing as timm and HuggingFace write them.

#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "sides and values are small and not negative"
)]

use super::{Channels, Crop, Interpolation, LARGEST, Layout, Preprocess, Resize, Rounding, Size};
use serde_json::{Map, Value};

/// Why a description cannot be used.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// Not JSON.
    #[error("not JSON: {0}")]
    Json(String),
    /// Neither a description of timm nor one of HuggingFace.
    #[error(
        "it does not describe preprocessing: there is neither `pretrained_cfg` nor `input_size`, as timm \
         writes, nor `size` or `image_mean`, as HuggingFace does"
    )]
    Unknown,
    /// Something that is needed is missing.
    #[error("`{0}` is missing")]
    Missing(&'static str),
    /// A value that is not understood.
    #[error("`{name}` is {value}; expected is {expected}")]
    Value {
        /// Its name.
        name: &'static str,
        /// Its text.
        value: String,
        /// What is expected.
        expected: &'static str,
    },
}

type Result<T> = std::result::Result<T, ConfigError>;

impl Preprocess {
    /// The preprocessing that a JSON text describes: `config.json` of timm or its `pretrained_cfg`,
    /// or `preprocessor_config.json` of HuggingFace.
    pub fn from_config(text: &str) -> Result<Self> {
        let value: Value =
            serde_json::from_str(text).map_err(|error| ConfigError::Json(error.to_string()))?;
        let object = Fields(value.as_object().ok_or(ConfigError::Unknown)?);
        if let Some(config) = object.0.get("pretrained_cfg").and_then(Value::as_object) {
            return of_timm(&Fields(config));
        }
        if object.has("input_size") {
            return of_timm(&object);
        }
        if object.has("size") || object.has("image_mean") || object.has("crop_size") {
            return of_huggingface(&object);
        }
        Err(ConfigError::Unknown)
    }
}

fn of_timm(config: &Fields<'_>) -> Result<Preprocess> {
    const INPUT: &str = "a list of channels, height and width, as [3, 224, 224]";
    const SHARE: &str = "a number above 0 and up to 1";
    let input =
        config.numbers::<3>("input_size", INPUT)?.ok_or(ConfigError::Missing("input_size"))?;
    let side = |value: f64| whole(value).ok_or_else(|| config.wrong("input_size", INPUT));
    let size = Size { height: side(input[1])?, width: side(input[2])? };
    if input[0] != 3.0 {
        return Err(config.wrong("input_size", "three channels"));
    }
    let share = config.number("crop_pct", SHARE)?.unwrap_or(0.875);
    if !(share > 0.0 && share <= 1.0) {
        return Err(config.wrong("crop_pct", SHARE));
    }
    let scaled = |side: usize| (side as f64 / share).floor() as usize;
    let resize = match config.text("crop_mode")?.unwrap_or("center") {
        "center" if size.height == size.width => Resize::Shorter(scaled(size.height)),
        "center" => return Err(config.wrong("input_size", "a square, or `crop_mode` squash")),
        "squash" => Resize::Exact(Size { height: scaled(size.height), width: scaled(size.width) }),
        _ => return Err(config.wrong("crop_mode", "center or squash")),
    };
    let interpolation =
        config.text("interpolation")?.ok_or(ConfigError::Missing("interpolation"))?;
    let interpolation = interpolation
        .parse()
        .map_err(|_| config.wrong("interpolation", "the name of a filter of Pillow"))?;
    let (mean, std) = normalisation(config, "mean", "std")?;
    Ok(Preprocess {
        resize,
        crop: Some(Crop { size, rounding: Rounding::Even }),
        interpolation,
        rescale: 1.0 / 255.0,
        mean,
        std,
        layout: Layout::Nchw,
        channels: Channels::Rgb,
    })
}

/// Steps of some processors of HuggingFace that are not taken here.
const NOT_TAKEN: [(&str, &str); 4] = [
    ("include_top", "false: with it, the processor divides by the standard deviations twice"),
    ("rescale_offset", "false: values from -1 to 1 can be given by the mean and the std"),
    ("do_flip_channel_order", "false: --channels bgr does it"),
    ("do_pad", "false"),
];

/// Processors of HuggingFace that resize and crop in another way than their fields say.
const OTHERS: [&str; 2] = ["Levit", "Perceiver"];

fn of_huggingface(config: &Fields<'_>) -> Result<Preprocess> {
    let done = |name| Ok(config.flag(name)?.unwrap_or(true));
    for (name, expected) in NOT_TAKEN {
        if config.flag(name)? == Some(true) {
            return Err(config.wrong(name, expected));
        }
    }
    if let Some((field, name)) = config.processor()? {
        if OTHERS.iter().any(|other| name.starts_with(other)) {
            return Err(config.wrong(field, "a processor that resizes as `size` says"));
        }
        if name.starts_with("EfficientNet") && !config.has("include_top") {
            return Err(ConfigError::Missing("include_top"));
        }
    }
    let mut crop = match (config.has("crop_size"), config.flag("do_center_crop")?) {
        (true, Some(true)) => Some(config.size("crop_size")?.exact(config, "crop_size")?),
        (false, Some(true)) => return Err(ConfigError::Missing("crop_size")),
        // Some processors crop if the flag is missing, and others do not.
        (true, None) => return Err(ConfigError::Missing("do_center_crop")),
        (_, Some(false)) | (false, None) => None,
    };
    let mut resize = Resize::None;
    if done("do_resize")? {
        if !config.has("size") {
            return Err(ConfigError::Missing("size"));
        }
        let size = config.size("size")?;
        resize = match (size, config.number("crop_pct", "a number")?) {
            // As ConvNeXT: small sizes are cropped, large ones squashed.
            (Given::Shorter(side) | Given::Number(side), Some(share)) if side < 384 => {
                crop = Some(Size { height: side, width: side });
                let longer = side as f64 / share;
                if !(longer >= 1.0 && longer <= LARGEST as f64) {
                    return Err(config.wrong("crop_pct", "a number above 0 and up to 1"));
                }
                Resize::Shorter(longer as usize)
            }
            (Given::Shorter(side) | Given::Number(side), Some(_)) => {
                Resize::Exact(Size { height: side, width: side })
            }
            (Given::Exact(size), _) => Resize::Exact(size),
            (Given::Shorter(side), None) => Resize::Shorter(side),
            // A bare number is a square to some processors and the shorter side to others.
            (Given::Number(side), None) => match config.processor()? {
                Some((_, name)) if SQUARES.iter().any(|known| name.starts_with(known)) => {
                    Resize::Exact(Size { height: side, width: side })
                }
                Some((_, name)) if name.starts_with("CLIP") => Resize::Shorter(side),
                _ => {
                    return Err(config.wrong(
                        "size",
                        "{\"shortest_edge\": N} or {\"height\": N, \"width\": N}: what a bare number \
                         means depends on the processor",
                    ));
                }
            },
        };
    }
    let interpolation = match config.number("resample", "a filter of Pillow, 0 to 5")? {
        Some(number) => {
            by_number(number).ok_or_else(|| config.wrong("resample", "a number from 0 to 5"))?
        }
        None if resize == Resize::None => Interpolation::Bilinear,
        None => return Err(ConfigError::Missing("resample")),
    };
    let factor = config.number("rescale_factor", "a number")?.unwrap_or(1.0 / 255.0);
    let rescale = if done("do_rescale")? { factor } else { 1.0 };
    let (mean, std) = if done("do_normalize")? {
        normalisation(config, "image_mean", "image_std")?
    } else {
        ([0.0; 3], [1.0; 3])
    };
    let crop = crop.map(|size| Crop { size, rounding: Rounding::Down });
    let (layout, channels) = (Layout::Nchw, Channels::Rgb);
    Ok(Preprocess { resize, crop, interpolation, rescale, mean, std, layout, channels })
}

/// The processors whose bare `size` is a square.
const SQUARES: [&str; 3] = ["ViT", "DeiT", "Beit"];

fn by_number(number: f64) -> Option<Interpolation> {
    [
        (0.0, Interpolation::Nearest),
        (1.0, Interpolation::Lanczos),
        (2.0, Interpolation::Bilinear),
        (3.0, Interpolation::Bicubic),
        (4.0, Interpolation::Box),
        (5.0, Interpolation::Hamming),
    ]
    .into_iter()
    .find_map(|(value, one)| (value == number).then_some(one))
}

/// The means and the standard deviations.
fn normalisation(
    config: &Fields<'_>,
    mean: &'static str,
    std: &'static str,
) -> Result<([f64; 3], [f64; 3])> {
    const THREE: &str = "a list of three numbers";
    let means = config.numbers::<3>(mean, THREE)?.ok_or(ConfigError::Missing(mean))?;
    let stds = config.numbers::<3>(std, THREE)?.ok_or(ConfigError::Missing(std))?;
    if stds.iter().any(|value| !(*value > 0.0 && value.is_finite())) {
        return Err(config.wrong(std, "three numbers above 0"));
    }
    Ok((means, stds))
}

/// A size as it is given.
enum Given {
    Number(usize),
    Shorter(usize),
    Exact(Size),
}

impl Given {
    fn exact(self, config: &Fields<'_>, name: &'static str) -> Result<Size> {
        match self {
            Given::Number(side) => Ok(Size { height: side, width: side }),
            Given::Exact(size) => Ok(size),
            Given::Shorter(_) => Err(config.wrong(name, "a height and a width")),
        }
    }
}

struct Fields<'a>(&'a Map<String, Value>);

impl Fields<'_> {
    fn has(&self, name: &str) -> bool {
        self.0.get(name).is_some_and(|value| !value.is_null())
    }

    fn wrong(&self, name: &'static str, expected: &'static str) -> ConfigError {
        let value = self.0.get(name).map_or_else(|| "missing".to_string(), Value::to_string);
        ConfigError::Value { name, value, expected }
    }

    fn number(&self, name: &'static str, expected: &'static str) -> Result<Option<f64>> {
        match self.0.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(value) => {
                let number = value.as_f64().filter(|number| number.is_finite());
                number.map(Some).ok_or_else(|| self.wrong(name, expected))
            }
        }
    }

    fn flag(&self, name: &'static str) -> Result<Option<bool>> {
        match self.0.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(value) => {
                value.as_bool().map(Some).ok_or_else(|| self.wrong(name, "true or false"))
            }
        }
    }

    fn text(&self, name: &'static str) -> Result<Option<&str>> {
        match self.0.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(value) => value.as_str().map(Some).ok_or_else(|| self.wrong(name, "a text")),
        }
    }

    fn numbers<const N: usize>(
        &self,
        name: &'static str,
        expected: &'static str,
    ) -> Result<Option<[f64; N]>> {
        if !self.has(name) {
            return Ok(None);
        }
        let values = self.0.get(name).and_then(Value::as_array);
        let values = values.map(|values| values.iter().filter_map(Value::as_f64).collect());
        let numbers: Option<[f64; N]> = values.and_then(|values: Vec<f64>| values.try_into().ok());
        numbers.map(Some).ok_or_else(|| self.wrong(name, expected))
    }

    fn size(&self, name: &'static str) -> Result<Given> {
        const EXPECTED: &str = "a number, a shortest_edge, or a height and a width";
        let wrong = || self.wrong(name, EXPECTED);
        let side = |value: &Value| value.as_f64().and_then(whole);
        match self.0.get(name) {
            Some(Value::Object(size)) => {
                let get = |key: &str| size.get(key).map(|value| side(value).ok_or_else(wrong));
                match (get("shortest_edge"), get("height"), get("width")) {
                    (Some(side), None, None) => Ok(Given::Shorter(side?)),
                    (None, Some(height), Some(width)) => {
                        Ok(Given::Exact(Size { height: height?, width: width? }))
                    }
                    _ => Err(wrong()),
                }
            }
            Some(Value::Array(two)) => match &two[..] {
                [height, width] => {
                    let (height, width) = (side(height), side(width));
                    let size = height.zip(width).map(|(height, width)| Size { height, width });
                    size.map(Given::Exact).ok_or_else(wrong)
                }
                _ => Err(wrong()),
            },
            Some(value) => side(value).map(Given::Number).ok_or_else(wrong),
            None => Err(ConfigError::Missing(name)),
        }
    }

    /// The processor, and the field that names it.
    fn processor(&self) -> Result<Option<(&'static str, &str)>> {
        for field in ["image_processor_type", "feature_extractor_type"] {
            if let Some(name) = self.text(field)? {
                return Ok(Some((field, name)));
            }
        }
        Ok(None)
    }
}

/// A side of an image.
fn whole(value: f64) -> Option<usize> {
    let allowed = value.fract() == 0.0 && (1.0..=LARGEST as f64).contains(&value);
    allowed.then_some(value as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Preprocess {
        Preprocess::from_config(text).expect("a description")
    }

    fn problem(text: &str) -> String {
        Preprocess::from_config(text).expect_err("no description").to_string()
    }

    #[test]
    fn a_config_of_timm_is_read() {
        let text = r#"{"architecture": "vit_base_patch16_224", "num_classes": 1000,
            "pretrained_cfg": {"input_size": [3, 224, 224], "interpolation": "bicubic", "crop_pct": 0.9,
            "crop_mode": "center", "mean": [0.5, 0.5, 0.5], "std": [0.5, 0.5, 0.5]}}"#;
        let preprocess = read(text);
        assert_eq!(preprocess.resize, Resize::Shorter(248));
        assert_eq!(preprocess.interpolation, Interpolation::Bicubic);
        assert_eq!(preprocess.size(), Some(Size { height: 224, width: 224 }));
        let squash = read(&text.replace("\"center\"", "\"squash\""));
        assert_eq!(squash.resize, Resize::Exact(Size { height: 248, width: 248 }));
    }

    #[test]
    fn processors_of_huggingface_are_read() {
        let vit = read(
            r#"{"do_normalize": true, "do_resize": true, "image_mean": [0.5, 0.5, 0.5],
            "image_std": [0.5, 0.5, 0.5], "resample": 2, "size": {"height": 224, "width": 224}}"#,
        );
        assert_eq!((vit.resize, vit.crop), (Resize::Exact(Size { height: 224, width: 224 }), None));
        let clip = read(
            r#"{"crop_size": 224, "do_center_crop": true, "do_resize": true, "resample": 3,
            "feature_extractor_type": "CLIPFeatureExtractor", "size": 224,
            "image_mean": [0.48, 0.46, 0.41], "image_std": [0.27, 0.26, 0.28]}"#,
        );
        assert_eq!(clip.resize, Resize::Shorter(224));
        assert_eq!(clip.crop.map(|crop| crop.rounding), Some(Rounding::Down));
        let convnext = read(
            r#"{"crop_pct": 0.875, "do_normalize": true, "do_resize": true, "do_rescale": true,
            "image_mean": [0.485, 0.456, 0.406], "image_processor_type": "ConvNextImageProcessor",
            "image_std": [0.229, 0.224, 0.225], "resample": 3, "rescale_factor": 0.00392156862745098,
            "size": {"shortest_edge": 224}}"#,
        );
        assert_eq!(convnext.resize, Resize::Shorter(256));
        assert_eq!(convnext.size(), Some(Size { height: 224, width: 224 }));
    }

    #[test]
    fn what_is_uncertain_is_refused() {
        let bare =
            r#"{"size": 224, "resample": 3, "image_mean": [0, 0, 0], "image_std": [1, 1, 1]}"#;
        assert!(problem(bare).contains("depends on the processor"));
        let no_filter =
            r#"{"size": {"shortest_edge": 224}, "image_mean": [0, 0, 0], "image_std": [1, 1, 1]}"#;
        assert_eq!(problem(no_filter), "`resample` is missing");
        let zero = r#"{"input_size": [3, 8, 8], "interpolation": "box", "mean": [0, 0, 0], "std": [1, 0, 1]}"#;
        assert!(problem(zero).contains("`std` is [1,0,1]"));
        assert!(problem(r#"{"hidden_size": 768}"#).contains("does not describe preprocessing"));
        assert!(problem("[]").contains("does not describe preprocessing"));
        assert!(problem("{").contains("not JSON"));
        let border = r#"{"input_size": [3, 8, 8], "interpolation": "box", "crop_mode": "border",
            "mean": [0, 0, 0], "std": [1, 1, 1]}"#;
        assert!(problem(border).contains("`crop_mode` is \"border\""));
    }

    #[test]
    fn steps_that_are_not_taken_are_refused() {
        let usual = r#"{"size": {"shortest_edge": 224}, "resample": 3, "image_mean": [0, 0, 0],
            "image_std": [1, 1, 1], "FIELDS"}"#;
        let with = |fields: &str| usual.replace("\"FIELDS\"", fields);
        read(&with(r#""image_processor_type": "ConvNextImageProcessor""#));
        for (fields, expected) in [
            (r#""include_top": true"#, "`include_top` is true; expected is false"),
            (r#""rescale_offset": true"#, "`rescale_offset` is true"),
            (r#""do_flip_channel_order": true"#, "--channels bgr"),
            (r#""do_pad": true"#, "`do_pad` is true"),
            (r#""crop_size": 224"#, "`do_center_crop` is missing"),
            (r#""image_processor_type": "EfficientNetImageProcessor""#, "`include_top` is missing"),
            (r#""image_processor_type": "LevitImageProcessor""#, "\"LevitImageProcessor\""),
            (r#""feature_extractor_type": "PerceiverFeatureExtractor""#, "Perceiver"),
        ] {
            let problem = problem(&with(fields));
            assert!(problem.contains(expected), "{problem}");
        }
    }
}
