import type { FC } from 'hono/jsx'
import type { Site } from '../site.ts'
import { LinkItem, Section } from './controls.tsx'

/** The keys that work on every page with a script, as a table; the script shows it in a dialog too. */
export const Shortcuts: FC<{ words: Site['words'] }> = ({ words: { find } }) => (
  <Section data-shortcuts title={find.shortcuts}>
    <dl class="keys">
      {find.shortcutKeys.map(([key, does]) => (
        <div>
          <dt>
            {key.split(' ').map((part) => (
              <kbd>{part}</kbd>
            ))}
          </dt>
          <dd>{does}</dd>
        </div>
      ))}
    </dl>
    <label class="tick" hidden>
      <input type="checkbox" checked data-single-keys /> {find.singleKeys}
    </label>
  </Section>
)

/** The entries of the palette beside hits: pages and actions of this reader. Not shown by itself. */
export const PaletteEntries: FC<{ site: Site }> = ({ site: { words, reader, hasMcp, isForMembers, hasPublicItems } }) => {
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
    <template
      data-palette
      data-search-for={words.find.searchFor}
      data-none={words.find.noMatches}
      data-close={words.find.close}
      data-hint={words.find.paletteHint}
    >
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
