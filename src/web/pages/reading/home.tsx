import { listFeatured } from '../../../operations/items/item-marks.ts'
import { listPrompts, listSkills } from '../../../operations/prompts/list-prompts.ts'
import { Layout } from '../../layout.tsx'
import { ConnectBox } from '../../parts/connect-box.tsx'
import { Done } from '../../parts/field.tsx'
import { NothingYet } from '../../parts/nothing-yet.tsx'
import { PromptRows, SkillRows } from '../../parts/rows.tsx'
import { SearchField } from '../../parts/search-field.tsx'
import type { PageRequest } from '../../request.ts'

/** Entries of each short list. */
const SHORT = 5

/** The first page: search, then what administrators put there, the most voted, the newest, and skills. */
export async function showHome({ site, call, query, sent }: PageRequest) {
  const [featured, newest, voted, skills] = await Promise.all([
    call(listFeatured, { limit: SHORT }),
    call(listPrompts, { perPage: SHORT, sort: 'newest' }),
    call(listPrompts, { perPage: SHORT, sort: 'votes' }),
    call(listSkills, { perPage: SHORT }),
  ])
  const { words } = site
  const withVotes = voted.prompts.filter((prompt) => prompt.votes > 0)
  return (
    <Layout site={site} title={null} description={words.lead} path="/">
      <h1>{site.name}</h1>
      <p class="lead">{words.lead}</p>
      <Done words={words} query={query} sent={sent} />
      <SearchField site={site} kind="all" query="" isLarge />
      {site.reader || !site.hasMcp ? null : (
        <section aria-labelledby="connect">
          <h2 id="connect">{words.connectLead}</h2>
          <ConnectBox site={site} />
          <p>
            <a href="/docs/connect">{words.moreClients}</a>
          </p>
        </section>
      )}
      {newest.total === 0 && skills.total === 0 ? (
        <NothingYet site={site} kind="prompts" />
      ) : (
        <>
          {featured.prompts.length + featured.skills.length > 0 ? (
            <section>
              <h2>{words.featured}</h2>
              {featured.prompts.length > 0 ? <PromptRows site={site} prompts={featured.prompts} /> : null}
              {featured.skills.length > 0 ? <SkillRows site={site} skills={featured.skills} /> : null}
            </section>
          ) : null}
          {withVotes.length > 0 ? (
            <section>
              <h2>{words.mostVoted}</h2>
              <PromptRows site={site} prompts={withVotes} />
            </section>
          ) : null}
          <section>
            <h2>{words.newest}</h2>
            <PromptRows site={site} prompts={newest.prompts} />
            <p>
              <a href="/prompts">{words.allPrompts}</a> <span class="quiet">{newest.total.toLocaleString('en')}</span>
            </p>
          </section>
          {skills.total === 0 ? null : (
            <section>
              <h2>{words.newestSkills}</h2>
              <SkillRows site={site} skills={skills.skills} />
              <p>
                <a href="/skills">{words.allSkills}</a> <span class="quiet">{skills.total.toLocaleString('en')}</span>
              </p>
            </section>
          )}
        </>
      )}
    </Layout>
  )
}
