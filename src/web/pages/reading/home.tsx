import type { FC } from 'hono/jsx'
import { showSignUp } from '../../../operations/account/sign-up.ts'
import type { Output } from '../../../operations/core/procedure.ts'
import { listCategories } from '../../../operations/items/list-categories.ts'
import { listFeatured } from '../../../operations/items/marks.ts'
import { listPrompts, listSkills } from '../../../operations/items/search-items.ts'
import { formatsOf } from '../../formats.ts'
import { Layout } from '../../layout.tsx'
import { ConnectBox } from '../../parts/connect-box.tsx'
import { LinkLine, Submit } from '../../parts/controls.tsx'
import { Done } from '../../parts/field.tsx'
import { MemberHome, readMemberHome } from '../../parts/member-home.tsx'
import { NewSignIns, readNewSignIns } from '../../parts/new-sign-ins.tsx'
import { NothingYet } from '../../parts/nothing-yet.tsx'
import { ShortList } from '../../parts/rows.tsx'
import type { PageRequest } from '../../request.ts'
import type { Site } from '../../site.ts'

/** Entries of each short list. */
const SHORT = 5

/** The first page: search, then what the reader is likely to be after. */
export async function showHome(request: PageRequest) {
  const { site, call, query, sent } = request
  const featured = await call(listFeatured, { limit: SHORT })
  const { words } = site
  return (
    <Layout site={site} title={null} description={words.lead} path="/" search={{ isInPage: true }}>
      <h1>{site.name}</h1>
      <p class="lead">{words.lead}</p>
      <Done words={words} query={query} sent={sent} />
      {site.reader ? <NewSignIns words={words} sessions={await readNewSignIns(request)} /> : null}
      <search>
        <form class="search large" action="/search" method="get" data-search>
          <input
            type="search"
            name="q"
            placeholder={words.find.both}
            aria-label={words.find.both}
            aria-keyshortcuts="/ Control+K Meta+K"
            maxlength={1000}
            autocomplete="off"
          />
          <Submit text={words.search} />
        </form>
      </search>
      {site.reader ? <MemberHome site={site} shown={await readMemberHome(request)} /> : null}
      <ShortList site={site} title={words.featured} {...featured} />
      {site.reader ? null : <StrangerHome site={site} shown={await readStrangerHome(request)} />}
    </Layout>
  )
}

async function readStrangerHome({ call }: PageRequest) {
  const [newest, voted, skills, { categories }, { isFirst }] = await Promise.all([
    call(listPrompts, { perPage: SHORT, sort: 'newest' }),
    call(listPrompts, { perPage: SHORT, sort: 'votes' }),
    call(listSkills, { perPage: SHORT }),
    call(listCategories, {}),
    call(showSignUp, {}),
  ])
  return { isFirst, newest, voted: voted.prompts.filter((prompt) => prompt.votes > 0), skills, categories }
}

/** For strangers: what there is by category, how to connect, then the most voted, the newest, and skills. */
const StrangerHome: FC<{ site: Site; shown: Awaited<ReturnType<typeof readStrangerHome>> }> = ({
  site,
  shown: { isFirst, newest, voted, skills, categories },
}) => {
  const { words } = site
  const { number } = formatsOf(words.language)
  return (
    <>
      {isFirst ? <p class="notice">{words.firstPage.unclaimed}</p> : null}
      <Categories site={site} categories={categories} />
      {site.hasMcp ? (
        <section aria-labelledby="connect">
          <h2 id="connect">{words.connectLead}</h2>
          <ConnectBox site={site} />
          <LinkLine to="/connect" text={words.moreClients} />
        </section>
      ) : null}
      {newest.total === 0 && skills.total === 0 ? (
        <NothingYet site={site} kind="prompts" />
      ) : (
        <>
          <ShortList site={site} title={words.sorts.votes} prompts={voted} />
          <ShortList site={site} title={words.sorts.newest} prompts={newest.prompts}>
            <a href="/prompts">{words.allPrompts}</a> <span class="quiet">{number(newest.total)}</span>
          </ShortList>
          <ShortList site={site} title={words.newestSkills} skills={skills.skills}>
            <a href="/skills">{words.allSkills}</a> <span class="quiet">{number(skills.total)}</span>
          </ShortList>
        </>
      )}
    </>
  )
}

/** The first level of categories with how much each holds, those below it included. */
const Categories: FC<{ site: Site; categories: Output<typeof listCategories>['categories'] }> = ({ site: { words }, categories }) => {
  const counted = categories
    .filter(({ parent }) => parent === null)
    .map(({ slug, name }) => {
      const below = categories.filter((one) => one.slug === slug || one.parent === slug)
      const sum = (kind: 'prompts' | 'skills') => below.reduce((total, one) => total + one[kind], 0)
      return { slug, name, prompts: sum('prompts'), skills: sum('skills') }
    })
  if (counted.length === 0) return null
  return (
    <section aria-labelledby="categories">
      <h2 id="categories">{words.firstPage.categories}</h2>
      <ul class="filters tabs">
        {counted.map(({ slug, name, prompts, skills }) => (
          <li>
            <a href={`/${prompts > 0 ? 'prompts' : 'skills'}?category=${slug}`}>
              {name} <span class="count">{formatsOf(words.language).number(prompts + skills)}</span>
            </a>
          </li>
        ))}
      </ul>
    </section>
  )
}
