import type { FC } from 'hono/jsx'
import type { Site } from '../site.ts'

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
      <a class="button" href="/docs/import-export">
        {words.find.howToImport}
      </a>
    </div>
  </section>
)
