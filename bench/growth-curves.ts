import { JUDGED_CONNECTIONS } from './budgets.ts'
import { PLAIN } from './measured-requests.ts'
import type { SizeFigures } from './results.ts'

const WIDTH = 860
/** More room at the left, for the longest number. */
const LABEL_ROOM = 14
const HEIGHT = 520
const LEFT = 70
const RIGHT = 250
const TOP = 40
const BOTTOM = 50
const LABEL_HEIGHT = 16
const COLOURS = ['#0b6e99', '#b4501e', '#2f7d32', '#7b3fa0', '#a02c5a', '#6b6b00', '#37474f']

/** Processor time of a request over the size of the library, both in steps of ten, as an SVG. */
export function drawGrowth(figures: readonly SizeFigures[]): string {
  const sizes = figures.map(({ size }) => size)
  // Plain requests alone: their other forms would hide them.
  const names = figures[0]?.requests.map(({ name }) => name).filter((name) => PLAIN.some((plain) => plain.name === name)) ?? []
  const curves = names.map((name) => ({
    name,
    points: figures.flatMap(({ size, requests }) => {
      const one = requests
        .find((request) => request.name === name)
        ?.byConnections.find(({ connections }) => connections === JUDGED_CONNECTIONS)
      return one ? [{ size, cost: one.cpuMicroseconds }] : []
    }),
  }))
  const costs = curves.flatMap(({ points }) => points.map(({ cost }) => cost))
  if (sizes.length < 2 || costs.length === 0)
    throw new Error(`Curves take two sizes or more, measured at ${JUDGED_CONNECTIONS} connections.`)
  const [lowest, highest] = [Math.floor(Math.log10(Math.min(...costs))), Math.ceil(Math.log10(Math.max(...costs)))]
  const [first, last] = [Math.log10(Math.min(...sizes)), Math.log10(Math.max(...sizes))]
  const toX = (size: number) => LEFT + ((Math.log10(size) - first) / (last - first)) * (WIDTH - LEFT - RIGHT)
  const toY = (cost: number) => HEIGHT - BOTTOM - ((Math.log10(cost) - lowest) / (highest - lowest)) * (HEIGHT - TOP - BOTTOM)

  const parts: string[] = []
  for (let power = lowest; power <= highest; power++) {
    const y = toY(10 ** power).toFixed(1)
    parts.push(`<line x1="${LEFT}" y1="${y}" x2="${WIDTH - RIGHT}" y2="${y}" stroke="#ddd"/>`)
    parts.push(text(LEFT - 8, Number(y) + 4, `${(10 ** power).toLocaleString('en')} µs`, 'end'))
  }
  for (const size of sizes) parts.push(text(toX(size), HEIGHT - BOTTOM + 22, size.toLocaleString('en'), 'middle'))
  parts.push(text(LEFT + (WIDTH - LEFT - RIGHT) / 2, HEIGHT - 8, 'prompts in the library', 'middle'))
  parts.push(text(LEFT, 20, `Processor time of a request, ${JUDGED_CONNECTIONS} connections`, 'start'))

  const ends = curves
    .map(({ name, points }, place) => ({ name, place, points, y: toY(points.at(-1)?.cost ?? 1) }))
    .toSorted((a, b) => a.y - b.y)
  let above = TOP - LABEL_HEIGHT
  for (const { name, place, points, y } of ends) {
    const colour = COLOURS[place % COLOURS.length]
    const label = Math.max(y, above + LABEL_HEIGHT)
    above = label
    const path = points.map(({ size, cost }) => `${toX(size).toFixed(1)},${toY(cost).toFixed(1)}`).join(' ')
    const end = WIDTH - RIGHT
    parts.push(`<polyline points="${path}" fill="none" stroke="${colour}" stroke-width="2"/>`)
    parts.push(`<path d="M${end} ${y.toFixed(1)} L${end + 12} ${label.toFixed(1)}" stroke="${colour}" fill="none"/>`)
    parts.push(text(end + 16, label + 4, name, 'start', colour))
  }
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="${-LABEL_ROOM} 0 ${WIDTH + LABEL_ROOM} ${HEIGHT}" font-family="sans-serif" font-size="13">
<rect x="${-LABEL_ROOM}" width="${WIDTH + LABEL_ROOM}" height="${HEIGHT}" fill="#fff"/>
${parts.join('\n')}
</svg>
`
}

function text(x: number, y: number, words: string, anchor: 'start' | 'middle' | 'end', colour = '#333'): string {
  const escaped = words.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
  return `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" text-anchor="${anchor}" fill="${colour}">${escaped}</text>`
}
