import type { EmbedConfig } from '../../domain/embed/config.ts'
import { escapeXml } from '../escape.ts'
import type { Words } from '../site.ts'
import { contrastOf, DEFAULT_COLORS, makeEmbedColors } from './colors.ts'
import { parseContext, parsePromptPieces, readPiece } from './fields.ts'

/** How wide a character is about, in ems: wide scripts fill a square, most others half of one. */
function widthOf(character: string): number {
  const code = character.codePointAt(0) ?? 0
  if (/\p{M}/u.test(character)) return 0
  if ((code >= 0x1100 && code <= 0x115f) || (code >= 0x2e80 && code <= 0xa4cf) || (code >= 0xac00 && code <= 0xd7a3)) return 1
  if ((code >= 0xf900 && code <= 0xfaff) || (code >= 0xff00 && code <= 0xff60) || code >= 0x1f000) return 1
  if (/[mwMW@%]/.test(character)) return 0.9
  if (/[A-Z]/.test(character)) return 0.68
  return /[iljtfI.,:;'|!()[\] ]/.test(character) ? 0.31 : 0.55
}

/**
 * Breaks a text into at most `most` lines of at most `width` ems, at spaces where there are some, for pictures, which break no lines themselves.
 * The last one ends with `…` when there was more.
 * Reads no more of the text than it takes. Widths are estimates, on the wide side.
 */
export function wrapText(text: string, width: number, most: number): string[] {
  const lines: string[] = []
  let line = ''
  let used = 0
  let isCut = false
  const push = (full: string) => {
    if (lines.length === most) isCut = true
    else lines.push(full.trimEnd())
  }
  for (const character of text) {
    if (isCut) break
    if (character === '\n') {
      push(line)
      line = ''
      used = 0
      continue
    }
    const own = widthOf(character)
    if (used + own > width && line !== '') {
      const space = line.lastIndexOf(' ')
      const isBroken = character !== ' ' && space > 0
      push(isBroken ? line.slice(0, space) : line)
      line = isBroken ? line.slice(space + 1) : ''
      used = [...line].reduce((sum, one) => sum + widthOf(one), 0)
      if (character === ' ' && line === '') continue
    }
    line += character
    used += own
  }
  if (line !== '' && !isCut) push(line)
  const last = lines.at(-1)
  if (isCut && last !== undefined) lines[lines.length - 1] = `${last.replace(/[\s.,;:]?$/u, '')}…`
  return lines
}

/** The size that services that show links take, in pixels. */
export const CARD_WIDTH = 1200
export const CARD_HEIGHT = 630
const EDGE = 72
const TITLE = { size: 52, lines: 2 } as const
const TEXT = { size: 30, line: 44 } as const
const BOTTOM = CARD_HEIGHT - 92
/** Longest text measured: more than any card fits. */
const MAX_TEXT = 4_000

/** The colours of the pages, as in site.css. */
const OF_THE_PAGES = {
  light: { paper: '#fbfaf7', panel: '#f3f0e9', ink: '#1d1c1a', quiet: '#6b6862', rule: '#e4e0d8', accent: '#a4301f', washInk: '#a4301f' },
  dark: { paper: '#16150f', panel: '#1f1d16', ink: '#ece8df', quiet: '#a09a8e', rule: '#2e2b24', accent: '#f08a76', washInk: '#f08a76' },
} as const

/** The contents of a card. */
export interface CardContent {
  readonly config: EmbedConfig
  readonly title: string | null
  readonly author: string | null
  /** Further facts of an item: its category, and the number of its variables or files. */
  readonly facts: readonly string[]
  /** Name of the service. */
  readonly name: string
}

/** A prompt as a picture (SVG), for places that show no frames: every text wrapped, cut and escaped, nothing from elsewhere. */
export function drawCard(words: Words, { config, title, author, facts: ofItem, name }: CardContent): string {
  const theme = config.themeMode === 'dark' ? 'dark' : 'light'
  const chosen = theme === 'dark' ? config.darkColor : config.lightColor
  // An item looks as on its page, unless an address says otherwise.
  const { paper, panel, ink, quiet, rule, accent, washInk } =
    title !== null && chosen === undefined ? OF_THE_PAGES[theme] : makeEmbedColors(theme, chosen ?? DEFAULT_COLORS[theme])
  const inner = CARD_WIDTH - 2 * EDGE
  const heading = wrapText(title?.slice(0, MAX_TEXT) ?? '', inner / TITLE.size, TITLE.lines)
  const from = EDGE + 26 + heading.length * 64
  const text = wrapText(
    markBlanks((config.prompt ?? '').slice(0, MAX_TEXT)),
    inner / TEXT.size,
    Math.max(1, Math.floor((BOTTOM - 40 - from) / TEXT.line)),
  )
  const facts = [
    ...ofItem,
    ...parseContext(config.context ?? '').shown.map(({ label }) => label),
    config.mode ?? '',
    config.model ?? '',
    ...(['thinking', 'reasoning', 'planning', 'fast'] as const).flatMap((feature) =>
      config[feature] ? [words.designer.fields[feature]] : [],
    ),
  ].filter((fact) => fact !== '')
  const below = author === null ? facts.join(' · ') : [words.reading.by(author), ...facts].join(' · ')
  const line = (x: number, y: number, size: number, fill: string, content: string, more = '') =>
    `<text x="${x}" y="${y}" font-size="${size}" fill="${fill}" ${more}xml:space="preserve">${content}</text>`
  const mark = contrastOf(accent, panel) >= 3 ? accent : washInk
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${CARD_WIDTH}" height="${CARD_HEIGHT}" viewBox="0 0 ${CARD_WIDTH} ${CARD_HEIGHT}" role="img" font-family="Literata, Georgia, serif">`,
    `<title>${escapeXml(title ?? words.embed.title)}</title>`,
    `<rect width="${CARD_WIDTH}" height="${CARD_HEIGHT}" fill="${panel}"/>`,
    `<rect x="32" y="32" width="${CARD_WIDTH - 64}" height="${CARD_HEIGHT - 64}" rx="20" fill="${paper}" stroke="${rule}" stroke-width="2"/>`,
    `<rect x="32" y="72" width="8" height="72" fill="${mark}"/>`,
    ...heading.map((one, place) => line(EDGE, EDGE + 50 + place * 64, TITLE.size, ink, escapeXml(one), 'font-weight="700" ')),
    ...text.map((one, place) => line(EDGE, from + 34 + place * TEXT.line, TEXT.size, ink, drawBlanks(one, washInk))),
    line(EDGE, BOTTOM + 28, 24, quiet, escapeXml(wrapText(below.slice(0, MAX_TEXT), (inner - 260) / 24, 1)[0] ?? '')),
    line(CARD_WIDTH - EDGE, BOTTOM + 28, 24, washInk, escapeXml(wrapText(name.slice(0, 200), 10, 1)[0] ?? ''), 'text-anchor="end" '),
    '</svg>',
  ].join('')
}

/** Signs around a blank while lines are made; they have no meaning and no width of their own (private use). */
const [OPEN, CLOSE] = ['\uE000', '\uE001']

/** A prompt with its blanks by their defaults or names, between signs. */
function markBlanks(prompt: string): string {
  return parsePromptPieces(prompt.replaceAll(/[\uE000\uE001]/g, ''))
    .map((piece) => (piece.kind === 'variable' ? `${OPEN}${readPiece(piece)}${CLOSE}` : piece.text))
    .join('')
}

/** A line with its blanks in a colour of their own, as far as they begin in it. */
function drawBlanks(line: string, color: string): string {
  return line
    .split(/(\uE000[^\uE001]*\uE001?)/)
    .map((piece) => {
      const text = escapeXml(piece.replaceAll(/[\uE000\uE001]/g, ''))
      return piece.startsWith(OPEN) ? `<tspan fill="${color}">${text}</tspan>` : text
    })
    .join('')
}
