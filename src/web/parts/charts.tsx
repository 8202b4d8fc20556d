import type { FC } from 'hono/jsx'
import type { Output } from '../../operations/core/procedure.ts'
import type { showItemPage } from '../../operations/items/item-page.ts'
import type { listKeyUsage, showLibraryUsage } from '../../operations/usage.ts'
import type { Site } from '../site.ts'
import { formatsOf } from '../strings/formats.ts'
import { Details, Section } from './controls.tsx'
import { Fact } from './facts.tsx'

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
const Bars: FC<BarsProps> = ({ words, id, title, days, values, parts, partName, scale, class: look = 'bars', ...more }) => {
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
const DayTable: FC<DayTableProps> = ({ words, days, columns }) => {
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
function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}

/** Styles of charts. */
export const CHART_STYLES = ['charts.css']

/** Charts of the last days of the library, for administrators. */
export const LibraryCharts: FC<{ site: Site; usage: Output<typeof showLibraryUsage> }> = ({ site, usage: { isCounting, days } }) => {
  const { words } = site
  const { charts } = words.usage
  const formats = formatsOf(words.language)
  const names = days.map(({ day }) => day)
  const shown = (Object.keys(charts) as (keyof typeof charts)[]).filter((name) => site.hasMcp || name !== 'mcpCalls')
  const emptySearches = days.map((day) => day.emptySearches)
  const columns = shown.map((name) => ({ name: charts[name], values: days.map((day) => day[name]) }))
  return (
    <Section title={words.usage.title}>
      {isCounting ? (
        <>
          <ul class="charts">
            {shown.map((name, index) => {
              const values = columns[index]?.values ?? []
              const hasParts = name === 'searches' && sum(emptySearches) > 0
              return (
                <li>
                  <h3>{charts[name]}</h3>
                  <p class="sum">
                    {formats.number(sum(values))}
                    {hasParts ? <span class="quiet key-part">{words.usage.emptyCount(sum(emptySearches))}</span> : null}
                  </p>
                  <Bars
                    words={words}
                    id={`chart-${name}`}
                    title={words.usage.byDay(charts[name])}
                    days={names}
                    values={values}
                    {...(hasParts ? { parts: emptySearches, partName: words.usage.emptySearches } : {})}
                  />
                  <p class="axis" aria-hidden="true">
                    <span>{formats.shortDay(names[0] ?? '')}</span>
                    <span>{formats.shortDay(names.at(-1) ?? '')}</span>
                  </p>
                </li>
              )
            })}
          </ul>
          <DayTable
            words={words}
            days={names}
            columns={[...columns, { name: `${charts.searches}: ${words.usage.emptySearches}`, values: emptySearches }]}
          />
          <p class="quiet">{words.usage.lag}</p>
        </>
      ) : (
        <p class="quiet">{words.usage.off}</p>
      )}
    </Section>
  )
}

/** How an item was used, among its facts. */
export const ItemUse: FC<{ site: Site; usage: Output<typeof showItemPage>['usage'] }> = ({ site: { words }, usage }) => {
  if (usage === null) return null
  const days = usage.days.map(({ day }) => day)
  const of = (name: 'copies' | 'reads' | 'views') => usage.days.map((day) => day[name])
  const [copies, reads, views] = [of('copies'), of('reads'), of('views')]
  const uses = copies.map((count, index) => count + (reads[index] ?? 0))
  return (
    <Fact label={words.usage.use}>
      <span title={words.usage.usedHint}>{words.usage.ways(sum(copies), sum(reads), sum(views))}</span>
      {sum(uses) === 0 ? null : (
        <Bars words={words} id="item-use" title={words.usage.byDay(words.usage.use)} days={days} values={uses} class="bars small" />
      )}
      {sum(uses) + sum(views) === 0 ? null : (
        <DayTable
          words={words}
          days={days}
          columns={[
            { name: words.usage.wayNames.copies, values: copies },
            { name: words.usage.wayNames.reads, values: reads },
            { name: words.usage.wayNames.views, values: views },
          ]}
        />
      )}
    </Fact>
  )
}

/** How often a key was used: a number, and bars. */
export const KeyUse: FC<{
  words: Site['words']
  usage: Output<typeof listKeyUsage>
  keyOf: { readonly id: string; readonly name: string }
}> = ({ words, usage, keyOf: { id, name } }) => {
  const calls = usage.keys.find((key) => key.id === id)?.calls ?? []
  if (!usage.isCounting || calls.length === 0) return null
  return (
    <p class="key-use quiet">
      {words.usage.calls(sum(calls))}
      {sum(calls) === 0 ? null : (
        <Bars words={words} id={`key-${id}`} title={words.usage.callsOf(name)} days={usage.days} values={calls} class="bars small" />
      )}
    </p>
  )
}

/** Calls of all keys that made some, as a table. */
export const KeyUseTable: FC<{
  words: Site['words']
  usage: Output<typeof listKeyUsage>
  keys: readonly { readonly id: string; readonly name: string }[]
}> = ({ words, usage, keys }) => {
  const columns = keys.flatMap(({ id, name }) => {
    const values = usage.keys.find((key) => key.id === id)?.calls ?? []
    return sum(values) > 0 ? [{ name, values }] : []
  })
  return <DayTable words={words} days={usage.days} columns={columns} />
}

/** Least places of a drawing. */
const MIN_BARS = 12

type Trend = Output<typeof showItemPage>['tests']

/** Pass rates over versions as bars, the whole scale from 0 to 100 %. */
export const TrendBars: FC<{ words: Site['words']; trend: Trend; class?: string }> = ({ words, trend, class: look = 'bars' }) => {
  const last = trend.at(-1)
  if (!last) return null
  const { tests } = words
  // Few bars are as wide as many.
  const rest = Array.from({ length: Math.max(0, MIN_BARS - trend.length) })
  return (
    <Bars
      words={words}
      id="test-trend"
      title={tests.trend}
      days={[...trend.map(({ version }) => String(version)), ...rest.map(() => '')]}
      nameOf={(version) => words.reading.version(Number(version))}
      values={[...trend.map(({ passed, failed }) => Math.round((100 * passed) / Math.max(passed + failed, 1))), ...rest.map(() => 0)]}
      scale={{ most: 100, summary: tests.newest(last.version, tests.passes(last.passed, last.passed + last.failed)) }}
      class={look}
    />
  )
}

/** The tests of an item among its facts, for those who own it. */
export const TestsFact: FC<{ site: Site; path: string; trend: Trend; isOwn: boolean }> = ({ site: { words }, path, trend, isOwn }) => {
  if (!isOwn) return null
  const last = trend.at(-1)
  return (
    <Fact label={words.tests.tests}>
      <a href={`${path}/tests`} rel="nofollow">
        {last ? words.tests.newest(last.version, words.tests.passes(last.passed, last.passed + last.failed)) : words.tests.noRuns}
      </a>
      {trend.length > 1 ? <TrendBars words={words} trend={trend} class="bars small" /> : null}
    </Fact>
  )
}
