import type { Engine, readGrowth } from './growth-results.ts'

const COLUMNS = 2
const PANEL = { width: 470, height: 290 }
/** Of the plot within its panel. */
const LEFT = 62
const RIGHT = 168
const TOP = 40
const BOTTOM = 34
const LABEL_HEIGHT = 15
const DOT = 3
/** Readable on both backgrounds. */
const COLOURS = ['#2387b8', '#cf6a2f', '#4a9a4e', '#a468c9', '#c9527f', '#8c8c1f']

interface Curve {
  readonly label: string
  readonly field: string
  /** Default: sqlite */
  readonly engine?: Engine
  /** A limit that nothing can pass: dotted. */
  readonly isLimit?: boolean
}
interface Panel {
  readonly title: string
  readonly curves: readonly Curve[]
}

const onServer = (label: string, field: string): Curve => ({ label: `${label}, PostgreSQL`, field, engine: 'postgresql' })

const PANELS: readonly Panel[] = [
  {
    title: 'On disk, MiB',
    curves: [
      { label: 'library file', field: 'fileMiB' },
      { label: 'snapshot of the index', field: 'snapshotMiB' },
    ],
  },
  { title: 'Resident memory, MiB', curves: [{ label: 'after searches', field: 'rssAfterMiB' }, onServer('the same', 'rssAfterMiB')] },
  {
    title: 'Start, seconds until ready',
    curves: [{ label: 'time', field: 'readyMs' }, { label: 'processor time', field: 'readyCpuMs' }, onServer('time', 'readyMs')].map(
      (curve) => ({ ...curve, field: `${curve.field}/1000` }),
    ),
  },
  {
    title: 'Searches never asked before, ms',
    curves: [
      { label: '95th percentile', field: 'searchP95Ms' },
      { label: 'median', field: 'searchP50Ms' },
      { label: 'processor time', field: 'searchCpuMs' },
      onServer('median', 'searchP50Ms'),
    ],
  },
  {
    title: 'Lists and look-ups, median, ms',
    curves: [
      { label: 'last pages of the list', field: 'farPageP50Ms' },
      { label: 'first page of the list', field: 'firstPageP50Ms' },
      { label: 'one prompt by its id', field: 'lookupByIdP50Ms' },
      { label: 'one by its slug', field: 'lookupBySlugP50Ms' },
      onServer('by its id', 'lookupByIdP50Ms'),
    ],
  },
  {
    title: 'Saves a second',
    curves: [
      { label: 'limit of the engine', field: 'enginePerSecond', isLimit: true },
      { label: '100 writers', field: 'savesPerSecond' },
      onServer('100 writers', 'savesPerSecond'),
    ],
  },
  {
    title: 'One save, ms',
    curves: [
      { label: 'one writer, median', field: 'oneSaveP50Ms' },
      { label: 'processor time', field: 'saveCpuUs/1000' },
      onServer('one writer', 'oneSaveP50Ms'),
      onServer('processor', 'saveCpuUs/1000'),
    ],
  },
  {
    title: 'Commands, seconds',
    curves: [
      { label: 'export --full', field: 'wholeExportS' },
      { label: 'export', field: 'exportS' },
      { label: 'backup', field: 'backupS' },
      { label: 'import of 5,000', field: 'importS' },
      { label: 'delete an account', field: 'deletionS' },
    ],
  },
]

/** The figures of all sizes as panels of curves, both axes in steps of ten. */
export function drawPanels(results: ReturnType<typeof readGrowth>): string {
  const rows = Math.ceil(PANELS.length / COLUMNS)
  const [width, height] = [COLUMNS * PANEL.width, rows * PANEL.height]
  const panels = PANELS.map(
    (panel, place) =>
      `<g transform="translate(${(place % COLUMNS) * PANEL.width} ${Math.floor(place / COLUMNS) * PANEL.height})">\n${drawPanel(panel, results)}\n</g>`,
  )
  // Attributes are for light pages, and where styles are not applied.
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="12">
<style>@media (prefers-color-scheme: dark) { .paper { fill: #16181d } .ink { fill: #d8dbe2 } .grid { stroke: #3a3f4a } }</style>
<rect class="paper" width="${width}" height="${height}" fill="#ffffff"/>
${panels.join('\n')}
</svg>
`
}

function drawPanel({ title, curves }: Panel, results: ReturnType<typeof readGrowth>): string {
  const drawn = curves.flatMap((curve, place) => {
    const points = readPoints(curve, results)
    return points.length === 0 ? [] : [{ ...curve, points, colour: COLOURS[place % COLOURS.length] ?? '' }]
  })
  const all = drawn.flatMap(({ points }) => points)
  const parts = [text(LEFT, 20, title, 'start')]
  if (all.length === 0) return parts.join('\n')
  const sizes = [...new Set(all.map(({ size }) => size))].toSorted((a, b) => a - b)
  const values = all.map(({ value }) => value)
  const lowest = Math.floor(Math.log10(Math.min(...values)))
  const highest = Math.max(lowest + 1, Math.ceil(Math.log10(Math.max(...values))))
  const [first, last] = [Math.log10(sizes[0] ?? 1), Math.log10(sizes.at(-1) ?? 1)]
  const end = PANEL.width - RIGHT
  const toX = (size: number) => (last === first ? LEFT : LEFT + ((Math.log10(size) - first) / (last - first)) * (end - LEFT))
  const toY = (value: number) => PANEL.height - BOTTOM - ((Math.log10(value) - lowest) / (highest - lowest)) * (PANEL.height - TOP - BOTTOM)
  for (let power = lowest; power <= highest; power++) {
    const y = toY(10 ** power)
    parts.push(`<line class="grid" x1="${LEFT}" y1="${y.toFixed(1)}" x2="${end}" y2="${y.toFixed(1)}" stroke="#dddddd"/>`)
    parts.push(text(LEFT - 8, y + 4, (10 ** power).toLocaleString('en', { maximumFractionDigits: 6 }), 'end'))
  }
  for (const size of sizes) parts.push(text(toX(size), PANEL.height - BOTTOM + 18, size.toLocaleString('en'), 'middle'))
  let above = TOP - LABEL_HEIGHT
  const ends = drawn
    .map((curve) => ({ ...curve, y: toY(curve.points.at(-1)?.value ?? 1), x: toX(curve.points.at(-1)?.size ?? 1) }))
    .toSorted((a, b) => a.y - b.y)
  for (const { label, points, colour, engine, isLimit, x, y } of ends) {
    const at = Math.max(y, above + LABEL_HEIGHT)
    above = at
    const path = points.map(({ size, value }) => `${toX(size).toFixed(1)},${toY(value).toFixed(1)}`).join(' ')
    const dashes = isLimit ? ' stroke-dasharray="2 3"' : engine === 'postgresql' ? ' stroke-dasharray="7 4"' : ''
    parts.push(`<polyline points="${path}" fill="none" stroke="${colour}" stroke-width="2"${dashes}/>`)
    for (const { size, value } of points)
      parts.push(`<circle cx="${toX(size).toFixed(1)}" cy="${toY(value).toFixed(1)}" r="${DOT}" fill="${colour}"/>`)
    parts.push(`<path d="M${x.toFixed(1)} ${y.toFixed(1)} L${end + 12} ${at.toFixed(1)}" stroke="${colour}" fill="none" opacity="0.5"/>`)
    parts.push(text(end + 16, at + 4, label, 'start', colour))
  }
  return parts.join('\n')
}

function readPoints({ field, engine = 'sqlite' }: Curve, results: ReturnType<typeof readGrowth>) {
  const [name = '', divisor = '1'] = field.split('/')
  return Object.entries(results[engine])
    .flatMap(([size, figures]) => {
      const value = (figures[name] ?? 0) / Number(divisor)
      return value > 0 ? [{ size: Number(size), value }] : []
    })
    .toSorted((a, b) => a.size - b.size)
}

/** @param colour Default: that of the page's text */
function text(x: number, y: number, words: string, anchor: 'start' | 'middle' | 'end', colour?: string): string {
  const escaped = words.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
  const fill = colour === undefined ? 'class="ink" fill="#333333"' : `fill="${colour}"`
  return `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" text-anchor="${anchor}" ${fill}>${escaped}</text>`
}
