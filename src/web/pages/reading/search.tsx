import { listPrompts, listSkills } from '../../../operations/items/search-items.ts'
import { readMarks } from '../../../search/analysis/mark-words.ts'
import { formatsOf } from '../../formats.ts'
import { Layout } from '../../layout.tsx'
import { PaletteEntries, Shortcuts } from '../../parts/palette.tsx'
import { PromptRows, SkillRows } from '../../parts/rows.tsx'
import { readStars } from '../../parts/star.tsx'
import { WaysOn } from '../../parts/ways-on.tsx'
import type { PageRequest } from '../../request.ts'

/** Hits of each kind; all of them are on the lists of their kind. */
const SHOWN = 10

/** The results of a query among prompts and skills, with the number of each. The script's palette reads this page. */
export async function showSearch({ site, call, query }: PageRequest) {
  const { words } = site
  const q = query.get('q') ?? ''
  if (q.trim() === '') {
    return (
      <Layout site={site} title={words.search} path="/search" isIndexed={false}>
        <h1>{words.search}</h1>
        <p class="lead">{words.find.lead}</p>
        <WaysOn words={words} />
        <Shortcuts words={words} />
        <PaletteEntries site={site} />
      </Layout>
    )
  }
  const [prompts, skills] = await Promise.all([call(listPrompts, { q, perPage: SHOWN }), call(listSkills, { q, perPage: SHOWN })])
  const corrected = prompts.correctedQuery ?? skills.correctedQuery
  const marks = readMarks(corrected ?? q)
  const hits = [...prompts.prompts, ...skills.skills]
  const stars = await readStars({ site, call }, hits)
  const toUrl = (path: string, text = q) => `${path}?${new URLSearchParams({ q: text })}`
  return (
    <Layout site={site} title={words.find.results(q)} path="/search" isIndexed={false} query={q}>
      <h1 class="visually-hidden">{words.find.results(q)}</h1>
      <div data-results>
        <div class="found" aria-live="polite">
          {hits.length === 0 ? (
            <>
              <h2>{words.nothingFound}</h2> <p class="prose">{words.nothingFoundHelp}</p>
            </>
          ) : (
            <ul class="filters tabs">
              {prompts.total === 0 ? null : (
                <li>
                  <a href={toUrl('/prompts')}>
                    {words.prompts} {formatsOf(words.language).number(prompts.total)}
                  </a>
                </li>
              )}
              {skills.total === 0 ? null : (
                <li>
                  <a href={toUrl('/skills')}>
                    {words.skills} {formatsOf(words.language).number(skills.total)}
                  </a>
                </li>
              )}
            </ul>
          )}
          {corrected === undefined ? null : (
            <p class="quiet">
              {words.showingResultsFor} <a href={toUrl('/search', corrected)}>{corrected}</a>
            </p>
          )}
          {hits.length > 0 && hits.every(({ approximate }) => approximate) ? <p class="quiet">{words.allSimilar}</p> : null}
        </div>
        {hits.length === 0 ? <WaysOn words={words} /> : null}
        {prompts.total === 0 ? null : (
          <section class="hits" data-hits={words.prompts}>
            <h2>{words.prompts}</h2>
            <PromptRows site={site} prompts={prompts.prompts} marks={marks} stars={stars} />
            {prompts.total <= SHOWN ? null : (
              <p>
                <a href={toUrl('/prompts')}>{words.find.allOf.prompts(prompts.total)}</a>
              </p>
            )}
          </section>
        )}
        {skills.total === 0 ? null : (
          <section class="hits" data-hits={words.skills}>
            <h2>{words.skills}</h2>
            <SkillRows site={site} skills={skills.skills} marks={marks} stars={stars} />
            {skills.total <= SHOWN ? null : (
              <p>
                <a href={toUrl('/skills')}>{words.find.allOf.skills(skills.total)}</a>
              </p>
            )}
          </section>
        )}
      </div>
    </Layout>
  )
}
