import type { FC } from 'hono/jsx'
import { showFirstSteps } from '../../../operations/account/account.ts'
import { showSignUp } from '../../../operations/account/sign-in.ts'
import type { Output } from '../../../operations/core/procedure.ts'
import { listCategories } from '../../../operations/items/list-categories.ts'
import { browseFavourites, listFeatured } from '../../../operations/items/marks.ts'
import { listNewestOfOthers, listOwnItems } from '../../../operations/items/own-items.ts'
import { listPrompts, listSkills } from '../../../operations/items/search-items.ts'
import { Layout } from '../../layout.tsx'
import { ConnectBox } from '../../parts/connect.tsx'
import { LinkLine, Submit } from '../../parts/controls.tsx'
import { ActionButton, Done } from '../../parts/field.tsx'
import { NothingYet } from '../../parts/lists.tsx'
import { readStars, ShortList } from '../../parts/rows.tsx'
import type { PageRequest } from '../../request.ts'
import type { Site } from '../../site.ts'
import { formatsOf } from '../../strings/formats.ts'
import { NewSignIns, readNewSignIns } from '../account/security.tsx'

/** Entries of each short list. */
const SHORT = 5

/** The first page: search, then what the reader is likely to be after. */
export async function showHome(request: PageRequest) {
  const { site, words, call, query, sent } = request
  const featured = await call(listFeatured, { limit: SHORT })
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

/** The contents of a member's first page. */
async function readMemberHome({ site, call }: Pick<PageRequest, 'site' | 'call'>) {
  const [steps, prompts, skills, favourites, favouriteSkills, others] = await Promise.all([
    call(showFirstSteps, {}),
    call(listOwnItems, { collection: 'prompts', perPage: SHORT }),
    call(listOwnItems, { collection: 'skills', perPage: SHORT }),
    call(browseFavourites, { collection: 'prompts', perPage: SHORT }),
    call(browseFavourites, { collection: 'skills', perPage: SHORT }),
    call(listNewestOfOthers, { limit: SHORT }),
  ])
  const own = { prompts: prompts.prompts, skills: skills.skills, total: prompts.total + skills.total }
  const starred = { prompts: favourites.prompts, skills: favouriteSkills.skills }
  const stars = await readStars({ site, call }, own.prompts, own.skills, starred.prompts, starred.skills, others.prompts, others.skills)
  return { steps, own, starred, others, stars }
}

interface MemberHomeProps extends Pick<PageRequest, 'site'> {
  readonly shown: Awaited<ReturnType<typeof readMemberHome>>
}

/** The member's items, then new ones of others. The script fills in drafts that this browser keeps. */
const MemberHome: FC<MemberHomeProps> = ({ site, shown: { steps, own, starred, others, stars } }) => {
  const { words } = site
  return (
    <>
      <FirstSteps site={site} steps={steps} />
      <section data-drafts={words.firstPage.untitled} hidden>
        <h2>{words.firstPage.drafts}</h2>
        <ul class="plain" />
      </section>
      <ShortList site={site} title={words.firstPage.lately} prompts={own.prompts} skills={own.skills} stars={stars}>
        <a href="/library">{words.firstPage.allOwn}</a> <span class="quiet">{formatsOf(words.language).number(own.total)}</span>
      </ShortList>
      <ShortList site={site} title={words.favourites} {...starred} stars={stars}>
        <a href="/favourites">{words.firstPage.allFavourites}</a>
      </ShortList>
      <ShortList site={site} title={words.firstPage.ofOthers} {...others} stars={stars}>
        <a href="/prompts">{words.allPrompts}</a> · <a href="/skills">{words.allSkills}</a>
      </ShortList>
      {own.total + others.prompts.length + others.skills.length === 0 ? <NothingYet site={site} kind="prompts" /> : null}
    </>
  )
}

/** The first steps of a new member, until all are done or the list is hidden. */
const FirstSteps: FC<{ site: Site; steps: Output<typeof showFirstSteps> }> = ({ site: { words, hasMcp, reader }, steps }) => {
  const { firstPage } = words
  const all = [
    { text: firstPage.steps.account, to: null, isDone: true },
    { text: firstPage.steps.key, to: '/settings/access', isDone: steps.hasKey || steps.hasUsedKey },
    { text: firstPage.steps.client, to: hasMcp ? '/connect?access=key' : '/settings/access', isDone: steps.hasUsedKey },
    { text: firstPage.steps.item, to: '/new', isDone: steps.hasItem },
    ...(reader?.isAdmin ? [{ text: firstPage.steps.invite, to: '/admin/invites', isDone: steps.hasCompany }] : []),
  ]
  if (steps.isHidden || all.every(({ isDone }) => isDone)) return null
  return (
    <section class="steps" aria-labelledby="first-steps">
      <h2 id="first-steps">{firstPage.firstSteps}</h2>
      <ol>
        {all.map(({ text, to, isDone }) => (
          <li class={isDone ? 'done' : undefined}>
            {to === null || isDone ? text : <a href={to}>{text}</a>}
            {isDone ? <span class="visually-hidden"> ({firstPage.stepDone})</span> : null}
          </li>
        ))}
      </ol>
      <ActionButton class="link" action="/settings" does="hide-steps" text={firstPage.hideSteps} />
    </section>
  )
}
