import type { FC } from 'hono/jsx'
import { listFindings, type SkillRef } from '../../../check/set/report.ts'
import { checkSet } from '../../../operations/check/check-set.ts'
import { Layout } from '../../layout.tsx'
import { Entries, Entry } from '../../parts/entries.tsx'
import { Field } from '../../parts/field.tsx'
import type { PageRequest } from '../../request.ts'

const PROGRAMS = { 'claude-code': 'Claude Code', codex: 'Codex' }

/** The page that checks the skills of a scope. */
export const checkPath = (scope: string) => `/check?scope=${encodeURIComponent(scope)}`

/** The check of the skills of a scope: the cost of their listing, and all findings. */
export async function showSet({ site, call, query }: PageRequest) {
  const { words } = site
  const { checking } = words
  const scope = query.get('scope') ?? ''
  const characters = /^[1-9]\d{0,5}$/.exec(query.get('characters') ?? '')?.[0]
  const found = await call(checkSet, { scope, ...(characters !== undefined && { characters: Number(characters) }) })
  const { counts, budgets, unlisted, routing, pending } = found
  const left = [found.isCut ? checking.cut : null, pending === 0 ? null : pending === null ? checking.noEncoder : checking.pending(pending)]
  return (
    <Layout site={site} title={checking.title} current="skills" isIndexed={false} styles={['admin.css']}>
      <h1>{checking.title}</h1>
      <p class="lead">
        {scope === '' ? null : (
          <>
            <a href={scope} dir="auto">
              {scope}
            </a>{' '}
            ·{' '}
          </>
        )}
        {words.find.counts.skills(found.skills)} · {checking.counts(counts.high, counts.medium, counts.low)}
      </p>
      {left.map((text) => (text === null ? null : <p class="notice">{text}</p>))}
      <section>
        <h2>{checking.listing}</h2>
        <p class="quiet">{checking.listingLead}</p>
        <Entries
          of={budgets}
          row={({ profile, unit, cost, limit, shortened, dropped, omitted, level }) => (
            <Entry
              title={profile === 'custom' ? checking.custom : PROGRAMS[profile]}
              note={checking.used[unit](cost, limit)}
              state={level && checking.levels[level]}
              facts={[
                shortened > 0 ? checking.shortened(shortened) : null,
                dropped.length > 0 ? checking.dropped(dropped.length) : null,
                omitted.length > 0 ? checking.omitted(omitted.length) : null,
              ]}
              more={
                dropped.length + omitted.length === 0 ? null : (
                  <details>
                    <summary>{checking.inOrder}</summary>
                    <Skills of={[...omitted.toReversed(), ...dropped]} />
                  </details>
                )
              }
            />
          )}
        />
        <form method="get" class="fields">
          <input type="hidden" name="scope" value={scope} />
          <Field sent={null} name="characters" type="number" label={checking.budget} value={characters} />
          <button class="button" type="submit">
            {checking.check}
          </button>
        </form>
      </section>
      <section>
        <h2>{words.findings.findings}</h2>
        {routing === null ? null : <p>{checking.routing(routing.hits, routing.queries)}</p>}
        <Entries
          of={listFindings(found)}
          row={({ level, rule, skills, evidence }) => (
            <Entry title={<Skills of={skills} />} note={checking.levels[level]} facts={[checking.rules[rule], evidence.join(', ')]} />
          )}
          none={checking.none}
        />
        <Entries of={unlisted} row={({ id, title, fault }) => <Entry title={<Skills of={[{ id, name: title }]} />} facts={[fault]} />} />
      </section>
    </Layout>
  )
}

/** Skills by name, with a link to each. */
const Skills: FC<{ of: readonly SkillRef[] }> = ({ of }) => (
  <>
    {of.map(({ id, name }, place) => (
      <>
        {place === 0 ? '' : ', '}
        <a href={`/skills/${id}`}>{name}</a>
      </>
    ))}
  </>
)
