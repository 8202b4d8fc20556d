import type { FC } from 'hono/jsx'
import { Layout } from '../layout.tsx'
import { PromptRows, SkillRows } from '../parts/rows.tsx'
import { SearchField } from '../parts/search-field.tsx'
import { listedPrompts, listedSkills, type PageRequest } from '../request.ts'

/** Entries of each short list. */
const SHORT = 5

/** The first page: search, then the newest, the most voted, and skills. */
export async function showHome({ site, call }: PageRequest) {
  const [newest, voted, skills] = await Promise.all([
    call('list_prompts', { perPage: SHORT, sort: 'newest' }, listedPrompts),
    call('list_prompts', { perPage: SHORT, sort: 'votes' }, listedPrompts),
    call('list_skills', { perPage: SHORT }, listedSkills),
  ])
  const { words } = site
  const withVotes = voted.prompts.filter((prompt) => prompt.votes > 0)
  return (
    <Layout site={site} title={null} description={words.lead} path="/">
      <h1>{site.name}</h1>
      <p class="lead">{words.lead}</p>
      <SearchField site={site} kind="prompts" query="" isLarge />
      {newest.total === 0 && skills.total === 0 ? (
        <Empty words={words} />
      ) : (
        <>
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

const Empty: FC<{ words: PageRequest['site']['words'] }> = ({ words }) => (
  <section>
    <h2>{words.nothingYet}</h2>
    <p class="prose">{words.nothingYetHelp}</p>
  </section>
)
