// The colours of the heat map: from dark to yellow, with even steps of lightness for the eye (OKLCH).

function srgb(linear) {
  const value = linear <= 0.0031308 ? 12.92 * linear : 1.055 * linear ** (1 / 2.4) - 0.055;
  return Math.round(255 * Math.min(1, Math.max(0, value)));
}

function colour(lightness, chroma, hue) {
  const angle = (hue * Math.PI) / 180;
  const [a, b] = [chroma * Math.cos(angle), chroma * Math.sin(angle)];
  const l = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const m = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const s = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3;
  return [
    srgb(4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s),
    srgb(-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s),
    srgb(-0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s),
  ];
}

function at(share) {
  const lightness = 0.17 + 0.75 * share;
  const chroma = 0.05 + 0.14 * Math.sin(Math.PI * (share * 0.7 + 0.06));
  // Violet, red, orange, yellow: from 295 degrees through 0 to 105.
  const hue = 295 + 170 * share;
  return colour(lightness, chroma, hue);
}

/** 256 colours of three numbers each. */
export const RAMP = Array.from({ length: 256 }, (_, place) => at(place / 255));

/** The colour of a share from 0 to 1. A share above 0 is never the colour of nothing. */
export function heatColour(share) {
  if (!(share > 0)) return RAMP[0];
  return RAMP[Math.min(255, 24 + Math.round(share * 231))];
}
