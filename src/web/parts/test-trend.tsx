import type { FC } from 'hono/jsx'
import type { Output } from '../../operations/core/procedure.ts'
import type { showItemPage } from '../../operations/items/item-page.ts'
import type { Site } from '../site.ts'
import { Bars } from './bars.tsx'
import { Fact } from './facts.tsx'

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
