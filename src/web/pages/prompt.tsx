import type { FC } from 'hono/jsx'
import type { z } from 'zod'
import { cutAtWord } from '../../library/characters.ts'
import { parseVariables } from '../../library/variables.ts'
import { Layout } from '../layout.tsx'
import { Day } from '../parts/day.tsx'
import { filledPrompt, type PageRequest, shownPrompt } from '../request.ts'
import type { Site } from '../site.ts'

type ShownPrompt = z.infer<typeof shownPrompt>
type Segments = ReturnType<typeof parseVariables>['segments']

/** What stands before a blank's name in the address of a filled page. */
const BLANK = 'v.'
/** Longest text a link to another service carries, in UTF-16 units; longer ones are copied. */
const MAX_LINKED = 4000
/** Services that take a text in their address. */
const OPEN_IN: readonly (readonly [name: string, toUrl: (text: string) => string])[] = [
  ['ChatGPT', (text) => `https://chatgpt.com/?q=${encodeURIComponent(text)}`],
  ['Claude', (text) => `https://claude.ai/new?q=${encodeURIComponent(text)}`],
  ['Perplexity', (text) => `https://www.perplexity.ai/search?q=${encodeURIComponent(text)}`],
]

/** A prompt as the page of a book, with its blanks to fill in. */
export async function showPromptPage({ site, call, ref, query }: PageRequest) {
  const prompt = await call('show_prompt', { id: ref }, shownPrompt)
  const given = prompt.variables.flatMap(({ name }) => {
    const value = query.get(BLANK + name)
    return value === null || value === '' ? [] : [[name, value] as const]
  })
  const isFilled = query.has('fill')
  const text = isFilled
    ? (await call('get_prompt', { id: ref, variables: Object.fromEntries(given) }, filledPrompt)).content
    : prompt.content
  const values = new Map(given)
  const { segments } = parseVariables(prompt.content)
  const { words } = site
  const missing = isFilled ? prompt.variables.filter(({ name, required }) => required && !values.has(name)).map(({ name }) => name) : []
  const isPublic = prompt.visibility === 'public'
  const path = new URL(prompt.url).pathname
  return (
    <Layout
      site={site}
      title={prompt.title}
      description={prompt.description ?? cutAtWord(prompt.content, 160)}
      path={path}
      current="prompts"
      isIndexed={isPublic && !isFilled}
    >
      <article class="leaf" data-prompt>
        <header>
          <h1>{prompt.title}</h1>
          {prompt.description === null ? null : <p class="lead">{prompt.description}</p>}
        </header>
        <Facts site={site} prompt={prompt} />
        {prompt.variables.length === 0 ? null : <Blanks site={site} path={path} prompt={prompt} values={values} />}
        {missing.length === 0 ? null : <p class="quiet">{words.unfilled(missing.join(', '))}</p>}
        <div
          class={isCode(prompt) ? 'text code' : 'text'}
          data-text
          data-names={isFilled ? undefined : namesOf(segments).join('\n')}
          tabindex={isCode(prompt) ? 0 : undefined}
        >
          {isFilled ? text : <MarkedText segments={segments} />}
        </div>
        <div class="actions here">
          <button class="button first" type="button" data-copy={words.copied} hidden>
            {words.copy}
          </button>
          {text.length > MAX_LINKED
            ? null
            : OPEN_IN.map(([name, toUrl]) => (
                <a class="button" href={toUrl(text)} rel="noopener nofollow external" data-open-in={toUrl('')}>
                  {words.openIn(name)}
                </a>
              ))}
          {isFilled ? (
            <a class="button" href={path}>
              {words.original}
            </a>
          ) : null}
        </div>
      </article>
    </Layout>
  )
}

/** Structured prompts are JSON or YAML: their lines stay as they are. */
function isCode(prompt: ShownPrompt): boolean {
  return prompt.type === 'STRUCTURED'
}

/** The text with its blanks marked. */
const MarkedText: FC<{ segments: Segments }> = ({ segments }) => (
  <>{segments.map((segment) => (segment.kind === 'text' ? segment.raw : <mark>{segment.raw}</mark>))}</>
)

/** The variable of each mark, in order: for the script that fills them in, which knows no rules. */
function namesOf(segments: Segments): string[] {
  return segments.flatMap((segment) => (segment.kind === 'variable' ? [segment.name] : []))
}

const Facts: FC<{ site: Site; prompt: ShownPrompt }> = ({ site: { words }, prompt }) => (
  <aside class="facts">
    <dl>
      <div>
        <dt>{words.type}</dt>
        <dd>{words.types[prompt.type]}</dd>
      </div>
      {prompt.category === null ? null : (
        <div>
          <dt>{words.category}</dt>
          <dd>
            <a href={`/prompts?category=${prompt.categorySlug}`}>{prompt.category}</a>
          </dd>
        </div>
      )}
      <div>
        <dt>{words.author}</dt>
        <dd>
          <a href={`/prompts?author=${encodeURIComponent(prompt.author)}`}>{prompt.author}</a>
        </dd>
      </div>
      {prompt.tags.length === 0 ? null : (
        <div>
          <dt>{words.tags}</dt>
          <dd>{prompt.tags.join(', ')}</dd>
        </div>
      )}
      <div>
        <dt>{words.updated}</dt>
        <dd>
          <Day at={prompt.updatedAt} />
        </dd>
      </div>
      {prompt.votes === 0 ? null : (
        <div>
          <dt>{words.sorts.votes}</dt>
          <dd>{words.votes(prompt.votes)}</dd>
        </div>
      )}
      {prompt.versions.length < 2 ? null : (
        <div>
          <dt>{words.versions}</dt>
          <dd>{prompt.versions.length}</dd>
        </div>
      )}
      <div>
        <dt>{words.download}</dt>
        <dd>
          <a href={`/api/prompts/${prompt.id}`}>{words.asJson}</a>, <a href={`/api/prompts/${prompt.id}/raw`}>{words.raw}</a>
        </dd>
      </div>
    </dl>
  </aside>
)

interface BlanksProps {
  readonly site: Site
  readonly path: string
  readonly prompt: ShownPrompt
  readonly values: ReadonlyMap<string, string>
}

/** A field for each blank. Without a script the page comes back filled in. */
const Blanks: FC<BlanksProps> = ({ site: { words }, path, prompt, values }) => (
  <form method="get" action={path} data-blanks>
    <div class="blanks">
      {prompt.variables.map(({ name, default: preset }, index) => (
        <>
          <label for={`blank-${index}`}>{name}</label>
          <input
            id={`blank-${index}`}
            type="text"
            name={BLANK + name}
            value={values.get(name) ?? ''}
            placeholder={preset}
            maxlength={10_000}
            autocomplete="off"
            data-blank={name}
          />
        </>
      ))}
    </div>
    <button class="button" type="submit" name="fill" value="1">
      {words.fillIn}
    </button>
  </form>
)
