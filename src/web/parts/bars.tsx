import type { FC } from 'hono/jsx'
import { formatsOf } from '../formats.ts'
import type { Site } from '../site.ts'
import { Details } from './controls.tsx'

/** Height of the tallest bar and width of a day, in units of the drawing. */
const HEIGHT = 40
const WIDTH = 10
const GAP = 2

interface BarsProps {
  readonly words: Site['words']
  /** Unique on its page. */
  readonly id: string
  readonly title: string
  /** Such as 2026-01-31; or what `nameOf` names. */
  readonly days: readonly string[]
  readonly nameOf?: (day: string) => string
  /** The top of the scale, and what the drawing says. Default: the highest count, and its day */
  readonly scale?: { readonly most: number; readonly summary: string }
  /** A count for each day. */
  readonly values: readonly number[]
  /** The part of each count that is drawn in another colour. */
  readonly parts?: readonly number[]
  /** The name of the part. */
  readonly partName?: string
  readonly class?: string
}

/** Counts by day as bars, which stretch to the width there is. Pages show the same numbers as a table beside it. */
export const Bars: FC<BarsProps> = ({ words, id, title, days, values, parts, partName, scale, class: look = 'bars', ...more }) => {
  const most = scale?.most ?? Math.max(...values)
  const heightOf = (value: number) => (most === 0 ? 0 : Math.max((value / most) * HEIGHT, value > 0 ? 1 : 0))
  const top = days[values.indexOf(most)] ?? ''
  const formats = formatsOf(words.language)
  const { nameOf = formats.shortDay } = more
  return (
    <svg
      class={look}
      viewBox={`0 0 ${days.length * WIDTH} ${HEIGHT}`}
      preserveAspectRatio="none"
      role="img"
      aria-labelledby={`${id}-title ${id}-desc`}
    >
      <title id={`${id}-title`}>{title}</title>
      <desc id={`${id}-desc`}>{scale?.summary ?? (most === 0 ? words.usage.none : words.usage.most(most, nameOf(top)))}</desc>
      <path class="base" d={`M0 ${HEIGHT - 0.25}H${days.length * WIDTH}`} />
      {values.map((value, index) => {
        const part = parts?.[index] ?? 0
        return value === 0 ? null : (
          <g>
            <title>{`${nameOf(days[index] ?? '')}: ${formats.number(value)}${part > 0 ? ` (${formats.number(part)} ${partName})` : ''}`}</title>
            <Bar at={index} height={heightOf(value)} />
            {part > 0 ? <Bar at={index} height={heightOf(part)} class="part" /> : null}
          </g>
        )
      })}
    </svg>
  )
}

const Bar: FC<{ at: number; height: number; class?: string }> = ({ at, height, class: look }) => (
  <rect class={look} x={at * WIDTH + GAP / 2} y={round(HEIGHT - height)} width={WIDTH - GAP} height={round(height)} />
)

function round(value: number): number {
  return Math.round(value * 100) / 100
}

interface DayTableProps {
  readonly words: Site['words']
  readonly days: readonly string[]
  readonly columns: readonly { readonly name: string; readonly values: readonly number[] }[]
}

/** The same as a table, folded, the newest day first; days on which nothing was counted are left out. */
export const DayTable: FC<DayTableProps> = ({ words, days, columns }) => {
  const shown = days.map((day, index) => ({ day, index })).filter(({ index }) => columns.some(({ values }) => (values[index] ?? 0) > 0))
  if (shown.length === 0) return null
  const formats = formatsOf(words.language)
  return (
    <Details class="day-table" summary={words.usage.asTable}>
      {/* Reachable by keys: a narrow window scrolls it sideways. */}
      <section class="scrolled" aria-label={words.usage.title} tabindex={0}>
        <table>
          <thead>
            <tr>
              <th scope="col">{words.usage.day}</th>
              {columns.map(({ name }) => (
                <th scope="col">{name}</th>
              ))}
            </tr>
          </thead>
          <tbody>
            {shown.toReversed().map(({ day, index }) => (
              <tr>
                <th scope="row">{formats.shortDay(day)}</th>
                {columns.map(({ values }) => (
                  <td>{formats.number(values[index] ?? 0)}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
    </Details>
  )
}

/** All counts together. */
export function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}
