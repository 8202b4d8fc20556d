import { raw } from 'hono/html'
import type { FC } from 'hono/jsx'
import { toAppError } from '../../../errors.ts'
import { cutAtWord } from '../../../library/characters.ts'
import { fillVariables, parseVariables } from '../../../library/variables.ts'
import type { Output } from '../../../operations/core/define-operation.ts'
import { relatedItems } from '../../../operations/items/related.ts'
import { getPrompt } from '../../../operations/prompts/get-prompt.ts'
import { showPrompt } from '../../../operations/prompts/show-prompt.ts'
import type { SentForm } from '../../forms.ts'
import { Layout } from '../../layout.tsx'
import { highlightCode } from '../../markup/highlight.ts'
import { renderMarkdown } from '../../markup/markdown.ts'
import { downloadsOf, Fact, ItemFacts } from '../../parts/facts.tsx'
import { Done, Fault, takeHints } from '../../parts/field.tsx'
import { ItemActions, readStanding } from '../../parts/item-actions.tsx'
import { MarkedText } from '../../parts/marked-text.tsx'
import { Related, SHOWN_RELATED } from '../../parts/related.tsx'
import { VersionIndex } from '../../parts/version-index.tsx'
import type { Action, PageRequest } from '../../request.ts'
import type { Site } from '../../site.ts'

type ShownPrompt = Output<typeof showPrompt>
type Segments = ReturnType<typeof parseVariables>['segments']

/** Prefix of a variable's field name. */
const BLANK = 'v.'
/** Id of the variables form: buttons outside it submit it again. */
const BLANKS_FORM = 'blanks'
/** Longest text in a link to another service, in UTF-16 units; longer ones are copied. */
const MAX_LINKED = 4000
/** Services that take a text in their address. */
const OPEN_IN: readonly (readonly [name: string, toUrl: (text: string) => string])[] = [
  ['ChatGPT', (text) => `https://chatgpt.com/?q=${encodeURIComponent(text)}`],
  ['Claude', (text) => `https://claude.ai/new?q=${encodeURIComponent(text)}`],
  ['Perplexity', (text) => `https://www.perplexity.ai/search?q=${encodeURIComponent(text)}`],
]

/** The page of a prompt, with fields for its variables. */
export async function showPromptPage(request: PageRequest) {
  return await drawPrompt(request, request.sent?.form ?? null, false)
}

/**
 * Fills in a prompt without a script. Values are never stored, and come in the body only: an address would leave them
 * in the history and in logs of proxies.
 */
export const fillPrompt: Action = async (request) => ({ html: await drawPrompt(request, request.form, true) })

/** @param form the submitted values. @throws AppError as `get_prompt` does */
async function drawPrompt(request: PageRequest, form: SentForm | null, isFilled: boolean) {
  const { site, call, ref, query, sent } = request
  const prompt = await call(showPrompt, { id: ref })
  const related = await call(relatedItems, { collection: 'prompts', id: prompt.id, limit: SHOWN_RELATED })
  const standing = await readStanding(request, 'prompts', prompt.id)
  const hints = takeHints(request)
  const given = prompt.variables.flatMap(({ name }) => {
    const value = form?.text(BLANK + name) ?? ''
    return value === '' ? [] : [[name, value] as const]
  })
  const text = isFilled ? (await call(getPrompt, { id: ref, variables: Object.fromEntries(given) })).content : prompt.content
  // Copied and linked text has the defaults filled in.
  const taken = isFilled ? text : putDefaults(prompt.content)
  const values = new Map(given)
  const { segments } = parseVariables(prompt.content)
  const { words } = site
  const missing = isFilled ? prompt.variables.filter(({ name, required }) => required && !values.has(name)).map(({ name }) => name) : []
  const isPublic = prompt.visibility === 'public'
  const path = new URL(prompt.url).pathname
  const wantsRendered = (form?.text('view') || query.get('view')) === 'rendered' && !isCode(prompt)
  const rendered = wantsRendered ? await renderMarkdown(text, { headingShift: 1, hasBlanks: !isFilled }, request.signal()) : null
  const language = isCode(prompt) && (isFilled || prompt.variables.length === 0) ? languageOf(text) : null
  const code = language === null ? null : (await highlightCode(text, language, { signal: request.signal() })).text
  return (
    <Layout
      site={site}
      title={prompt.title}
      description={prompt.description ?? cutAtWord(prompt.content, 160)}
      path={path}
      current="prompts"
      isIndexed={isPublic && !isFilled}
      kind="article"
      embeddedId={prompt.isPrivate ? undefined : prompt.id}
    >
      <article class="leaf" data-prompt>
        <header>
          <h1>{prompt.title}</h1>
          {prompt.description === null ? null : <p class="lead">{prompt.description}</p>}
          <Done words={words} query={query} sent={sent} hints={hints} baseUrl={site.baseUrl} />
          <Fault sent={sent} words={words} />
          <ItemActions site={site} path={path} standing={standing} isPublic={isPublic} />
        </header>
        <Facts site={site} prompt={prompt} path={path} related={related.items} />
        {prompt.variables.length === 0 ? null : (
          <Blanks site={site} path={path} prompt={prompt} values={values} isRendered={rendered !== null} />
        )}
        {missing.length === 0 ? null : <p class="quiet">{words.unfilled(missing.join(', '))}</p>}
        {isCode(prompt) ? null : <Views site={site} path={path} isRendered={rendered !== null} isFilled={isFilled} />}
        {rendered === null ? null : <div class="written text">{raw(rendered)}</div>}
        <div
          class={isCode(prompt) ? 'text code' : 'text'}
          hidden={rendered !== null}
          data-text
          data-names={isFilled || taken === null ? undefined : namesOf(segments).join('\n')}
          tabindex={isCode(prompt) ? 0 : undefined}
        >
          {code === null ? isFilled ? text : <MarkedText segments={segments} /> : raw(code)}
        </div>
        <div class="actions here">
          <button class="button first" type="button" data-copy={words.copied} hidden>
            {words.copy}
          </button>
          {taken === null || taken.length > MAX_LINKED
            ? null
            : OPEN_IN.map(([name, toUrl]) => (
                <a class="button" href={toUrl(taken)} rel="noopener nofollow external" data-open-in={toUrl('')}>
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

/** The text with the defaults of its blanks; null when it would be too long to be filled in. */
function putDefaults(content: string): string | null {
  try {
    return fillVariables(content, new Map()).text
  } catch (error) {
    if (toAppError(error).code !== 'too_large') throw error
    return null
  }
}

/** Structured prompts are JSON or YAML: their lines stay as they are. */
function isCode(prompt: ShownPrompt): boolean {
  return prompt.type === 'STRUCTURED'
}

/** The variable of each mark, in order: for the script that fills them in, which knows no rules. */
function namesOf(segments: Segments): string[] {
  return segments.flatMap((segment) => (segment.kind === 'variable' ? [segment.name] : []))
}

interface FactsProps {
  readonly site: Site
  readonly prompt: ShownPrompt
  readonly path: string
  readonly related: Output<typeof relatedItems>['items']
}

/** Language of a structured text, guessed from its start; null when unknown. */
function languageOf(text: string): string | null {
  if (/^\s*[[{]/.test(text)) return 'json'
  return /^\s*(---|["']?\w[\w -]{0,60}["']?:(\s|$))/.test(text) ? 'yaml' : null
}

/** The text as it was written, or as Markdown; what was filled in stays. */
const Views: FC<{ site: Site; path: string; isRendered: boolean; isFilled: boolean }> = ({
  site: { words },
  path,
  isRendered,
  isFilled,
}) => {
  const views = [
    { view: null, label: words.reading.raw, isCurrent: !isRendered },
    { view: 'rendered', label: words.reading.rendered, isCurrent: isRendered },
  ]
  return (
    <nav aria-label={words.reading.view}>
      <ul class="filters views">
        {views.map(({ view, label, isCurrent }) => (
          <li>
            {isFilled ? (
              <button
                class="link"
                type="submit"
                form={BLANKS_FORM}
                name="view"
                value={view ?? 'raw'}
                aria-current={isCurrent ? 'true' : undefined}
              >
                {label}
              </button>
            ) : (
              <a href={view === null ? path : `${path}?view=${view}`} rel="nofollow" aria-current={isCurrent ? 'true' : undefined}>
                {label}
              </a>
            )}
          </li>
        ))}
      </ul>
    </nav>
  )
}

const Facts: FC<FactsProps> = ({ site, prompt, path, related }) => {
  const { words } = site
  return (
    <aside class="facts">
      <dl>
        <Fact label={words.type}>{words.types[prompt.type]}</Fact>
        <ItemFacts site={site} kind="prompts" item={prompt} />
        <Fact label={words.download}>
          <a href={`${downloadsOf(prompt)}/prompts/${prompt.id}/prompt.md`}>{words.reading.promptFile}</a>,{' '}
          <a href={`${downloadsOf(prompt)}/prompts/${prompt.id}/raw`}>{words.raw}</a>
          {prompt.isPrivate ? null : (
            <>
              , <a href={`/api/prompts/${prompt.id}`}>{words.asJson}</a>,{' '}
              <a href={`/embeds?item=${prompt.id}`} rel="nofollow">
                {words.designer.embed}
              </a>
            </>
          )}
        </Fact>
      </dl>
      <VersionIndex site={site} path={path} versions={prompt.versions} />
      <Related site={site} items={related} />
    </aside>
  )
}

interface BlanksProps {
  readonly site: Site
  readonly path: string
  readonly prompt: ShownPrompt
  readonly values: ReadonlyMap<string, string>
  readonly isRendered: boolean
}

/** A field for each blank, of as many lines as its value has. Without a script the page comes back filled in. */
const Blanks: FC<BlanksProps> = ({ site: { words }, path, prompt, values, isRendered }) => (
  <form method="post" action={`${path}/fill`} id={BLANKS_FORM} data-blanks>
    <div class="blanks">
      {prompt.variables.map(({ name, default: preset }, index) => (
        <>
          <label for={`blank-${index}`}>{name}</label>
          <textarea
            id={`blank-${index}`}
            rows={1}
            name={BLANK + name}
            placeholder={preset}
            autocomplete="off"
            data-blank={name}
            data-default={preset}
          >{`\n${values.get(name) ?? ''}`}</textarea>
        </>
      ))}
    </div>
    <button class="button" type="submit" name="view" value={isRendered ? 'rendered' : 'raw'} data-without-script>
      {words.fillIn}
    </button>
  </form>
)
