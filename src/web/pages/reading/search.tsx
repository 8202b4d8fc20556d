import type { FC } from 'hono/jsx'
import { listPrompts, listSkills } from '../../../operations/items/search-items.ts'
import { readMarks } from '../../../search/analysis/mark-words.ts'
import { Layout } from '../../layout.tsx'
import { LinkItem, LinkLine, Section } from '../../parts/controls.tsx'
import { Fact } from '../../parts/facts.tsx'
import { ResultTabs, WaysOn } from '../../parts/lists.tsx'
import { ItemRows, readStars } from '../../parts/rows.tsx'
import type { PageRequest } from '../../request.ts'
import type { Site } from '../../site.ts'

/** Hits of each kind; all of them are on the lists of their kind. */
const SHOWN = 10

/** The results of a query among prompts and skills, with the number of each. The script's palette reads this page. */
export async function showSearch({ site, words, call, query }: PageRequest) {
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
    <Layout site={site} title={words.find.results(q)} path="/search" isIndexed={false} search={{ query: q }}>
      <div data-results>
        <h1 class="list-head">{words.find.results(q)}</h1>
        <ResultTabs words={words} current="all" query={q} counts={{ prompts: prompts.total, skills: skills.total }} />
        <div class="found" aria-live="polite">
          <h2>{hits.length === 0 ? words.nothingFound : words.found(prompts.total + skills.total)}</h2>
          {hits.length === 0 ? <p class="prose">{words.nothingFoundHelp}</p> : null}
          {corrected === undefined ? null : (
            <p class="quiet">
              {words.showingResultsFor} <a href={toUrl('/search', corrected)}>{corrected}</a>
            </p>
          )}
          {hits.length > 0 && hits.every(({ approximate }) => approximate) ? <p class="quiet">{words.allSimilar}</p> : null}
        </div>
        {hits.length === 0 ? <WaysOn words={words} /> : null}
        {(
          [
            ['prompts', prompts],
            ['skills', skills],
          ] as const
        ).map(([kind, found]) =>
          found.total === 0 ? null : (
            <Section class="hits" data-hits={words[kind]} title={words[kind]}>
              <ItemRows site={site} {...found} marks={marks} stars={stars} />
              {found.total <= SHOWN ? null : <LinkLine to={toUrl(`/${kind}`)} text={words.find.allOf[kind](found.total)} />}
            </Section>
          ),
        )}
      </div>
    </Layout>
  )
}

/** The keys that work on every page with a script, as a table; the script shows it in a dialog too. */
const Shortcuts: FC<{ words: Site['words'] }> = ({ words: { find } }) => (
  <Section data-shortcuts title={find.shortcuts}>
    <dl class="keys">
      {find.shortcutKeys.map(([key, does]) => (
        <Fact label={key.split(' ').map((part) => <kbd>{part}</kbd>)}>{does}</Fact>
      ))}
    </dl>
    <label class="tick" hidden>
      <input type="checkbox" checked data-single-keys /> {find.singleKeys}
    </label>
  </Section>
)

/** The entries of the palette beside hits: pages and actions of this reader. Not shown by itself. */
const PaletteEntries: FC<{ site: Site }> = ({ site: { words, reader, hasMcp, isForMembers, hasPublicItems } }) => {
  const pages: readonly (readonly [path: string, name: string])[] = [
    ['/', words.home],
    ['/prompts', words.prompts],
    ['/skills', words.skills],
    ['/collections', words.collecting.collections],
    ...(hasMcp ? [['/connect', words.connect] as const] : []),
    ['/docs', words.docs],
    ...(isForMembers && !hasPublicItems ? [] : [['/embeds', words.designer.title] as const]),
    ...(reader
      ? ([
          ['/library', words.myLibrary],
          ['/teams', words.teams.teams],
          ['/favourites', words.favourites],
          ['/trash', words.trash],
          ['/settings', words.settings],
        ] as const)
      : []),
    ...(reader?.isAdmin ? [['/admin', words.administration] as const] : []),
  ]
  const actions: readonly (readonly [path: string, name: string])[] = reader
    ? [
        ['/new', words.newPrompt],
        ['/new/skill', words.newSkill],
        ['/import', words.importing.menu],
        ['/settings/access', words.apiKeys],
      ]
    : [['/sign-in', words.signIn]]
  return (
    <template data-palette data-search-for={words.find.searchFor} data-close={words.find.close} data-hint={words.find.paletteHint}>
      <ul data-group={words.find.actionsGroup}>
        {actions.map(([path, name]) => (
          <LinkItem to={path} text={name} />
        ))}
        {reader
          ? (['light', 'dark', 'system'] as const).map((theme) => (
              <LinkItem to="/settings" data-theme-choice={theme} text={words.find.themes[theme]} />
            ))
          : null}
      </ul>
      <ul data-group={words.pages}>
        {pages.map(([path, name]) => (
          <LinkItem to={path} text={name} />
        ))}
      </ul>
    </template>
  )
}
