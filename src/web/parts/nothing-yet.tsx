import type { FC } from 'hono/jsx'
import type { Site } from '../site.ts'
import { ActionButton } from './field.tsx'

/** A list before there is anything to list, with the next step. */
export const NothingYet: FC<{ site: Site; kind: 'prompts' | 'skills' }> = ({ site: { words, reader }, kind }) => (
  <section>
    <h2>{words.find.noItems[kind]}</h2>
    <p class="prose">{words.find.noItemsHelp}</p>
    <div class="actions">
      {reader ? (
        <a class="button first" href={kind === 'prompts' ? '/new' : '/new/skill'}>
          {kind === 'prompts' ? words.newPrompt : words.newSkill}
        </a>
      ) : (
        <a class="button first" href="/sign-in" rel="nofollow">
          {words.signIn}
        </a>
      )}
      {reader ? (
        <a class="button" href="/import">
          {words.importing.menu}
        </a>
      ) : (
        <a class="button" href="/docs/import-export">
          {words.find.howToImport}
        </a>
      )}
      {reader?.isAdmin ? (
        <ActionButton action="/import" does="starter">
          {words.importing.starter}
        </ActionButton>
      ) : null}
    </div>
  </section>
)
