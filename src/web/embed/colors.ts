/** Colours as `#rrggbb`, of one theme. Every text on what it stands on has a contrast of at least 4.5 (WCAG 2.2, AA). */
export type EmbedColors = ReturnType<typeof makeEmbedColors>

/** The default look of an embed. */
export const DEFAULT_COLORS = { light: '#3b5bdb', dark: '#91a7ff' } as const

const BASE = {
  light: { paper: '#ffffff', ink: '#1f2328', quiet: '#57606a', rule: '#d5dae0', added: '#dafbe1', removed: '#ffebe9' },
  dark: { paper: '#17181b', ink: '#e6e8eb', quiet: '#a6acb4', rule: '#3a3d43', added: '#12361f', removed: '#451c1f' },
} as const
const DIFF_INK = {
  light: { added: '#0f5323', removed: '#82071e' },
  dark: { added: '#9be9a8', removed: '#ffb3ad' },
} as const
/** Contrast of text, with a little to spare for rounding. */
const READABLE = 4.55

/** All colours of an embed, from the one that was given. */
export function makeEmbedColors(theme: 'light' | 'dark', color: string) {
  const { paper, ink, quiet, rule, added, removed } = BASE[theme]
  const wash = mixColors(paper, color, 0.12)
  const panel = mixColors(paper, color, 0.04)
  return {
    paper,
    panel,
    ink,
    quiet,
    rule: mixColors(rule, color, 0.2),
    /** The colour as it was given, and what is written on it. */
    accent: color.toLowerCase(),
    onAccent: inkOn(color),
    /** The background of pills and marks, and the colour as near to the given one as can be read there, on the panel and on the paper. */
    wash,
    washInk: makeReadable(color, theme === 'light' ? '#000000' : '#ffffff', [paper, panel, wash]),
    added,
    addedInk: DIFF_INK[theme].added,
    removed,
    removedInk: DIFF_INK[theme].removed,
  }
}

/** Black or white, whichever is easier to read on a colour; one of the two always reaches 4.5. */
export function inkOn(color: string): string {
  return contrastOf('#ffffff', color) >= contrastOf('#000000', color) ? '#ffffff' : '#000000'
}

/** The contrast of two colours, from 1 to 21 (WCAG 2.2, "contrast ratio"). */
export function contrastOf(one: string, other: string): number {
  const [a, b] = [luminanceOf(one), luminanceOf(other)]
  return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05)
}

/** `color`, moved towards `end` as little as it takes to be read on all of the backgrounds. */
function makeReadable(color: string, end: string, backgrounds: readonly string[]): string {
  for (let step = 0; step < 20; step++) {
    const candidate = mixColors(color, end, step / 20)
    if (backgrounds.every((background) => contrastOf(candidate, background) >= READABLE)) return candidate
  }
  return end
}

/** A colour between two; `share` is how much there is of the second, from 0 to 1. */
function mixColors(one: string, other: string, share: number): string {
  const [a, b] = [toChannels(one), toChannels(other)]
  return `#${a.map((value, at) => toHex(value + ((b[at] ?? 0) - value) * share)).join('')}`
}

function toHex(value: number): string {
  return Math.round(value).toString(16).padStart(2, '0')
}

function toChannels(color: string): number[] {
  return [1, 3, 5].map((at) => Number.parseInt(color.slice(at, at + 2), 16))
}

function luminanceOf(color: string): number {
  const [red = 0, green = 0, blue = 0] = toChannels(color).map((value) => {
    const share = value / 255
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}
