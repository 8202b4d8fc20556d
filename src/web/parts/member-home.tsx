import type { FC } from 'hono/jsx'
import { showFirstSteps } from '../../operations/account/account.ts'
import { browseFavourites } from '../../operations/items/marks.ts'
import { listNewestOfOthers, listOwnItems } from '../../operations/items/own-items.ts'
import { formatsOf } from '../formats.ts'
import type { PageRequest } from '../request.ts'
import { FirstSteps } from './first-steps.tsx'
import { NothingYet } from './nothing-yet.tsx'
import { ShortList } from './rows.tsx'
import { readStars } from './star.tsx'

/** Entries of each short list. */
const SHORT = 5

/** The contents of a member's first page. */
export async function readMemberHome({ site, call }: Pick<PageRequest, 'site' | 'call'>) {
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
export const MemberHome: FC<MemberHomeProps> = ({ site, shown: { steps, own, starred, others, stars } }) => {
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
