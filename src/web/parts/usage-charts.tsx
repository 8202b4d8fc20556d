import type { FC } from 'hono/jsx'
import type { Output } from '../../operations/core/procedure.ts'
import type { showItemPage } from '../../operations/items/item-page.ts'
import type { listKeyUsage, showLibraryUsage } from '../../operations/usage.ts'
import { formatsOf } from '../formats.ts'
import type { Site } from '../site.ts'
import { Bars, DayTable, sum } from './bars.tsx'
import { Section } from './controls.tsx'
import { Fact } from './facts.tsx'

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
