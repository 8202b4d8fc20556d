import type { Child, FC } from 'hono/jsx'
import type { Site } from '../site.ts'
import { Link, LinkItem, Section } from './controls.tsx'
import { ActionButton } from './field.tsx'

/** A list before there is anything to list, with the next step. */
export const NothingYet: FC<{ site: Site; kind: 'prompts' | 'skills' }> = ({ site: { words, reader }, kind }) => (
  <Section title={words.find.noItems[kind]}>
    <p class="prose">{words.find.noItemsHelp}</p>
    <div class="actions">
      {reader ? (
        <Link
          to={kind === 'prompts' ? '/new' : '/new/skill'}
          look="button first"
          text={kind === 'prompts' ? words.newPrompt : words.newSkill}
        />
      ) : (
        <Link to="/sign-in" look="button first" rel="nofollow" text={words.signIn} />
      )}
      {reader ? (
        <Link to="/import" look="button" text={words.importing.menu} />
      ) : (
        <Link to="/docs/import-export" look="button" text={words.find.howToImport} />
      )}
      {reader?.isAdmin ? <ActionButton action="/import" does="starter" text={words.importing.starter} /> : null}
    </div>
  </Section>
)

/** The lists of everything, as ways on from a page that shows nothing, and further entries. */
export const WaysOn: FC<{ words: Site['words']; children?: Child }> = ({ words, children }) => (
  <ul class="filters ways">
    <LinkItem to="/prompts" text={words.find.browseAll.prompts} />
    <LinkItem to="/skills" text={words.find.browseAll.skills} />
    {children}
  </ul>
)
