//! What does a picture cost? By its size in pixels, never by the length of its base64.

use base64::{Engine as _, engine::general_purpose};

use crate::tokens::Tokens;

/// What a document or sound is charged whose pages or length cannot be told: two dense pages (Anthropic's PDF guide
/// gives 1,500 to 3,000 tokens a page).
pub const DOCUMENT_TOKENS: Tokens = Tokens(6_000);

/// Characters of base64 that are decoded to find a picture's header; JPEG may hold long metadata before its frame.
const HEADER_CHARS: usize = 1 << 18;

/// Whose formula prices a picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImageRule {
    /// Anthropic: width times height over 750, after scaling to a long edge of 1,568 (vision guide).
    Anthropic,
    /// OpenAI: 85 and 170 for each tile of 512, after scaling to 2,048 and a short edge of 768 (vision guide).
    OpenAi,
}

/// How closely the model looks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ImageDetail {
    /// OpenAI's `low`.
    Low,
    /// Everything else.
    #[default]
    High,
}

const ANTHROPIC_EDGE: u64 = 1_568;
const ANTHROPIC_PIXELS_PER_TOKEN: u64 = 750;
const ANTHROPIC_MOST: u64 = 1_600;
const OPENAI_BASE: u64 = 85;
const OPENAI_TILE: u64 = 170;
const OPENAI_MOST_TILES: u64 = 8;

/// Reads width and height from the beginning of a picture's base64 (PNG, JPEG, GIF, WebP).
///
/// ```
/// let png = "iVBORw0KGgoAAAANSUhEUgAAACgAAAAkCAIAAAAD/eS1";
/// assert_eq!(liveset_tokens::image_size(png), Some((40, 36)));
/// ```
#[must_use]
pub fn image_size(base64: &str) -> Option<(u32, u32)> {
    let head = base64.as_bytes().get(..HEADER_CHARS.min(base64.len()))?;
    let whole = head.get(..head.len() - head.len() % 4)?;
    let bytes = general_purpose::STANDARD.decode(whole).or_else(|_| {
        // Padding or a torn end: everything before the last group still tells the size.
        general_purpose::STANDARD.decode(whole.get(..whole.len().saturating_sub(4)).unwrap_or_default())
    });
    let size = imagesize::blob_size(&bytes.ok()?).ok()?;
    Some((u32::try_from(size.width).ok()?, u32::try_from(size.height).ok()?))
}

/// Prices a picture; one of unknown size as the dearest that its vendor knows.
///
/// ```
/// use liveset_tokens::{ImageDetail, ImageRule, Tokens, image_tokens};
/// let tokens = image_tokens(ImageRule::Anthropic, Some((1_000, 750)), ImageDetail::High);
/// assert_eq!(tokens, Tokens(1_000));
/// ```
#[must_use]
pub fn image_tokens(rule: ImageRule, size: Option<(u32, u32)>, detail: ImageDetail) -> Tokens {
    match (rule, size, detail) {
        (ImageRule::Anthropic, None, _) => Tokens(ANTHROPIC_MOST),
        (ImageRule::Anthropic, Some((width, height)), _) => {
            let (width, height) = scaled_to_edge(u64::from(width), u64::from(height), ANTHROPIC_EDGE);
            let pixels = width.saturating_mul(height);
            Tokens(pixels.div_ceil(ANTHROPIC_PIXELS_PER_TOKEN).clamp(1, ANTHROPIC_MOST))
        }
        (ImageRule::OpenAi, _, ImageDetail::Low) => Tokens(OPENAI_BASE),
        (ImageRule::OpenAi, None, ImageDetail::High) => Tokens(OPENAI_BASE + OPENAI_TILE * OPENAI_MOST_TILES),
        (ImageRule::OpenAi, Some((width, height)), ImageDetail::High) => {
            let (width, height) = scaled_to_edge(u64::from(width), u64::from(height), 2_048);
            let short = width.min(height).max(1);
            let (width, height) = match short > 768 {
                true => (width * 768 / short, height * 768 / short),
                false => (width, height),
            };
            let tiles = width.div_ceil(512).max(1) * height.div_ceil(512).max(1);
            Tokens(OPENAI_BASE + OPENAI_TILE * tiles.min(OPENAI_MOST_TILES))
        }
    }
}

fn scaled_to_edge(width: u64, height: u64, edge: u64) -> (u64, u64) {
    let long = width.max(height).max(1);
    if long <= edge { (width, height) } else { (width * edge / long, height * edge / long) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn longer_base64_of_the_same_picture_costs_the_same() {
        let head = "iVBORw0KGgoAAAANSUhEUgAAACgAAAAkCAIAAAAD/eS1";
        let long = format!("{head}{}", "AAAA".repeat(100_000));
        assert_eq!(image_size(head), image_size(&long));
    }

    #[test]
    fn a_full_hd_screenshot_costs_what_the_guides_say() {
        assert_eq!(image_tokens(ImageRule::OpenAi, Some((1_920, 1_080)), ImageDetail::High), Tokens(85 + 170 * 6));
        assert_eq!(image_tokens(ImageRule::Anthropic, Some((1_920, 1_080)), ImageDetail::High), Tokens(1_600));
    }

    #[test]
    fn what_is_no_picture_has_no_size() {
        for junk in ["", "a", "====", "not base64 at all!", "AAAAAAAAAAAAAAAA"] {
            assert_eq!(image_size(junk), None);
        }
    }
}
