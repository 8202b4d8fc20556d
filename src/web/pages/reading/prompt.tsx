import { raw } from 'hono/html'
import type { Child, FC } from 'hono/jsx'
import { estimateTokens } from '../../../domain/ports/models.ts'
import { splitFrontmatter } from '../../../domain/skills/frontmatter.ts'
import { readIdAndSlug } from '../../../domain/text/addresses.ts'
import { countCharacters } from '../../../domain/text/characters.ts'
import { fillVariables, parseVariables, type Syntax } from '../../../domain/variables/variables.ts'
import { toAppError } from '../../../errors.ts'
import { notFound } from '../../../operations/core/inputs.ts'
import type { Output } from '../../../operations/core/procedure.ts'
import { showItemPage } from '../../../operations/items/item-page.ts'
import { FORMAT_NAMES, getPrompt, titleOfFormat } from '../../../operations/prompts/get-prompt.ts'
import { claudePromptCommand } from '../../clients.ts'
import { type Filling, isApplication, linkText, SERVICES, toBlanks } from '../../filling.ts'
import type { SentForm } from '../../forms.ts'
import { Layout } from '../../layout.tsx'
import { highlightCode } from '../../markup/highlight.ts'
import { looksLikeMarkdown, renderMarkdown } from '../../markup/markdown.ts'
import { CHART_STYLES, ItemUse, TestsFact } from '../../parts/charts.tsx'
import { Details, Link, Submit } from '../../parts/controls.tsx'
import {
  authorPath,
  CheckFact,
  Day,
  downloadsOf,
  ElsewhereFact,
  Fact,
  ItemFacts,
  isEmbeddable,
  isOutside,
  LinksFact,
} from '../../parts/facts.tsx'
import { mayDo } from '../../parts/item-actions.tsx'
import { ItemHead, Related, VersionIndex } from '../../parts/item-head.tsx'
import { FrontmatterTable, MarkedText } from '../../parts/skill-files.tsx'
import type { Action, PageRequest } from '../../request.ts'
import type { Site } from '../../site.ts'

type ShownPage = Output<typeof showItemPage>
type ShownPrompt = NonNullable<ShownPage['prompt']>

/** Prefix of a variable's field name. */
const BLANK = 'v.'
/** Id of the variables form: buttons outside it submit it again. */
const BLANKS_FORM = 'blanks'
/** The page of a prompt, with fields for its variables. */
export async function showPromptPage(request: PageRequest) {
  const known = readIdAndSlug(request.ref)
  if (known !== request.ref) return { to: `/prompts/${encodeURIComponent(known)}` }
  return await drawPrompt(request, request.sent?.form ?? null, false)
}

/**
 * Fills in a prompt without a script. Values are never stored, and come in the body only: an address would leave them
 * in the history and in logs of proxies.
 */
export const fillPrompt: Action = async (request) => ({ html: await drawPrompt(request, request.form, true) })

/** @param form the submitted values. @throws AppError as `get_prompt` does */
async function drawPrompt(request: PageRequest, form: SentForm | null, isFilled: boolean) {
  const { site, words, call, ref, query } = request
  const page = await call(showItemPage, { collection: 'prompts', id: ref })
  const { prompt } = page
  if (!prompt) throw notFound('prompt')
  const given = prompt.variables.flatMap(({ name }) => {
    const value = form?.text(BLANK + name) ?? ''
    return value === '' ? [] : [[name, value] as const]
  })
  const text = isFilled ? (await call(getPrompt, { id: ref, variables: Object.fromEntries(given) })).content : prompt.content
  const values = new Map(given)
  const missing = isFilled ? prompt.variables.filter(({ name, required }) => required && !values.has(name)).map(({ name }) => name) : []
  const path = new URL(prompt.url).pathname
  const view = form?.text('view') || query.get('view')
  const wantsRendered = !isCode(prompt) && (view ? view === 'rendered' : looksLikeMarkdown(prompt.content))
  const rendered = wantsRendered ? await renderPrompt(text, prompt.syntax, isFilled, request.signal()) : null
  const isRendered = rendered !== null
  // Copied and linked text has the defaults filled in.
  const taken = isFilled ? text : putDefaults(prompt.content, prompt.syntax)
  const blanks = isFilled || taken === null ? [] : toBlanks(prompt.variables)
  const filling: Filling = { id: prompt.id, blanks, words: words.filling }
  return (
    <Layout
      site={site}
      title={prompt.title}
      description={prompt.description ?? prompt.derivedDescription}
      path={path}
      isIndexed={prompt.visibility === 'public' && !isFilled}
      styles={page.usage ? CHART_STYLES : []}
      scripts={['prompt.js']}
      isDrawnByScripts
      kind="article"
      embeddedId={isEmbeddable(site, prompt) ? prompt.id : undefined}
    >
      <article class="leaf" data-filling={JSON.stringify(filling)}>
        <ItemHead request={request} page={page} item={prompt}>
          <Byline site={site} prompt={prompt} />
        </ItemHead>
        {prompt.variables.length === 0 || isOutside(site) ? null : (
          <FillForm site={site} path={path} prompt={prompt} values={values} isRendered={isRendered} />
        )}
        {missing.length === 0 ? null : <p class="quiet">{words.unfilled(missing.join(', '))}</p>}
        {page.partsFault === null ? null : <p class="notice">{page.partsFault}</p>}
        <div class="text-head">
          {isCode(prompt) ? null : <Views site={site} path={path} isRendered={isRendered} isFilled={isFilled} />}
          {blanks.length === 0 ? null : <Progress site={site} />}
        </div>
        {rendered === null ? null : (
          <div class="written text" dir="auto">
            <FrontmatterTable site={site} fields={rendered.fields} />
            {raw(rendered.body)}
          </div>
        )}
        <div class={isCode(prompt) ? 'text code' : 'text'} dir={isCode(prompt) ? undefined : 'auto'} hidden={isRendered} data-text>
          {await showText(prompt, text, isFilled, request.signal())}
        </div>
        <div class="actions here">
          <button class="button first" type="button" data-copy-filled hidden>
            {words.filling.copy}
          </button>
          <OpenIn site={site} text={taken} />
          {isFilled ? <Link to={path} look="button" text={words.original} /> : null}
          <p class="said quiet" role="status" data-said />
        </div>
        <Facts site={site} prompt={prompt} path={path} page={page} />
      </article>
    </Layout>
  )
}

/** A text as Markdown, the frontmatter at its head as a table; null when it is too long to be rendered. */
async function renderPrompt(text: string, syntax: Syntax | undefined, isFilled: boolean, signal: AbortSignal) {
  const { fields, body } = splitFrontmatter(text)
  const rendered = await renderMarkdown(body, { headingShift: 1, hasBlanks: !isFilled, keepsLines: true }, signal)
  if (rendered === null) return null
  const toCell = (value: string) => (isFilled ? value : <MarkedText segments={parseVariables(value, syntax).segments} />)
  return { body: rendered, fields: fields.map(([name, value]) => [name, toCell(value)] as const) }
}

/** The text as it is copied: its blanks marked or, where none is left in code, its words in colours. */
async function showText(prompt: ShownPrompt, text: string, isFilled: boolean, signal: AbortSignal): Promise<Child> {
  const language = isCode(prompt) && (isFilled || prompt.variables.length === 0) ? languageOf(text) : null
  const code = language === null ? null : (await highlightCode(text, language, { signal })).text
  if (code !== null) return raw(code)
  return isFilled ? text : <MarkedText segments={parseVariables(text, prompt.syntax).segments} />
}

/** The text with the defaults of its blanks; null when it would be too long, and browsers would be busy with it for minutes. */
function putDefaults(content: string, syntax: Syntax | undefined): string | null {
  try {
    return fillVariables(content, new Map(), syntax).text
  } catch (error) {
    if (toAppError(error).code !== 'too_large') throw error
    return null
  }
}

/** Structured prompts are JSON or YAML: their lines stay as they are. */
function isCode(prompt: ShownPrompt): boolean {
  return prompt.type === 'STRUCTURED'
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
    { view: 'rendered', label: words.preview, isCurrent: isRendered },
    { view: 'raw', label: words.reading.raw, isCurrent: !isRendered },
  ]
  return (
    <nav aria-label={words.reading.view}>
      <ul class="filters views">
        {views.map(({ view, label, isCurrent }) => (
          <li>
            {isFilled ? (
              <Submit look="link" form={BLANKS_FORM} name="view" value={view} aria-current={isCurrent ? 'true' : undefined} text={label} />
            ) : (
              <Link to={`${path}?view=${view}`} rel="nofollow" current={isCurrent && 'true'} text={label} />
            )}
          </li>
        ))}
      </ul>
    </nav>
  )
}

/** How many blanks are filled in, and what empties them; the page's script shows it. */
const Progress: FC<{ site: Site }> = ({ site: { words } }) => (
  <p class="quiet progress" data-progress hidden>
    <span />
    <span data-clear> · </span>
    <button class="link" type="button" data-clear>
      {words.filling.clear}
    </button>
  </p>
)

/** The facts above the text on a phone. */
const Byline: FC<{ site: Site; prompt: ShownPrompt }> = ({ site: { words }, prompt }) => (
  <p class="byline quiet">
    {prompt.type === 'TEXT' ? null : `${words.types[prompt.type]} · `}
    <a href={authorPath(prompt.author)}>{prompt.author}</a> · <Day words={words} at={prompt.updatedAt} />
  </p>
)

const Facts: FC<{ site: Site; prompt: ShownPrompt; path: string; page: ShownPage }> = ({ site, prompt, path, page }) => {
  const { words } = site
  const { versions, labels, related, collections, usage, usedBy } = page
  return (
    <aside class="facts">
      <Details class="folded" summary={words.reading.about}>
        <dl>
          {prompt.type === 'TEXT' ? null : <Fact label={words.type}>{words.types[prompt.type]}</Fact>}
          <ItemFacts site={site} kind="prompts" item={prompt} collections={collections} />
          <CheckFact site={site} path={path} page={page} />
          <LinksFact label={words.reading.usedBy} links={usedBy} />
          {prompt.config === undefined ? null : (
            <Fact label={words.reading.config}>
              <Details summary={Object.keys(prompt.config).slice(0, 4).join(', ')}>
                <pre tabindex={0}>{JSON.stringify(prompt.config, null, 2)}</pre>
              </Details>
            </Fact>
          )}
          <TestsFact site={site} path={path} trend={page.tests} isOwn={mayDo(page.marks, 'see')} />
          <ItemUse site={site} usage={usage} />
          <Fact label={words.reading.length}>
            {words.reading.tokensAndCharacters(estimateTokens(prompt.content), countCharacters(prompt.content))}
          </Fact>
          {isOutside(site) ? null : (
            <Fact label={words.download}>
              <a href={`${downloadsOf(site, prompt)}/prompts/${prompt.id}/prompt.md`}>{words.reading.promptFile}</a>,{' '}
              {FORMAT_NAMES.map((format) => (
                <>
                  <a href={`${downloadsOf(site, prompt)}/prompts/${prompt.id}/${format}`}>{titleOfFormat(format)}</a>,{' '}
                </>
              ))}
              <a href={`${downloadsOf(site, prompt)}/prompts/${prompt.id}/raw`}>{words.raw}</a>
            </Fact>
          )}
          {site.hasMcp && !isOutside(site) ? (
            <Fact label={words.reading.inEditor}>
              <code>{claudePromptCommand(prompt.slug)}</code>, <a href="/connect">{words.reading.howToConnect}</a>
            </Fact>
          ) : null}
          <ElsewhereFact site={site} kind="prompts" item={prompt} />
        </dl>
        <VersionIndex site={site} path={path} versions={versions} labels={labels} />
        <Related site={site} items={related} />
      </Details>
    </aside>
  )
}

interface FillFormProps {
  readonly site: Site
  readonly path: string
  readonly prompt: ShownPrompt
  readonly values: ReadonlyMap<string, string>
  readonly isRendered: boolean
}

/** A field for each blank where no script makes them fields in the text. The page comes back filled in. */
const FillForm: FC<FillFormProps> = ({ site: { words }, path, prompt, values, isRendered }) => (
  <noscript>
    <form method="post" action={`${path}/fill`} id={BLANKS_FORM} data-blanks>
      <div class="blanks">
        {toBlanks(prompt.variables).map(({ name, label, preset }, index) => (
          <>
            <label for={`blank-${index}`}>{label}</label>
            <textarea
              id={`blank-${index}`}
              rows={1}
              name={BLANK + name}
              placeholder={preset}
              autocomplete="off"
              dir="auto"
            >{`\n${values.get(name) ?? ''}`}</textarea>
          </>
        ))}
      </div>
      <Submit name="view" value={isRendered ? 'rendered' : 'raw'} text={words.fillIn} />
    </form>
  </noscript>
)

/**
 * A menu of what a prompt can be opened in. Without a script its links hold the text as it is here; the script puts the values in.
 * @param text with the defaults of its blanks; null when it is too long to be filled in
 */
const OpenIn: FC<{ site: Site; text: string | null }> = ({ site: { words }, text }) => (
  <details class="menu upwards" data-open-in>
    <summary class="button">{words.filling.openIn}</summary>
    <ul>
      {SERVICES.map((service) => {
        const address = text === null ? null : linkText(service, text)
        return (
          <li>
            <a
              href={address ?? service.home}
              target={isApplication(service) ? undefined : '_blank'}
              rel="noopener nofollow external"
              data-service={service.name}
            >
              {service.name}
              <small data-copied-first hidden>
                {' '}
                {words.filling.copiedFirst}
              </small>
              {address === null ? (
                <noscript>
                  <small> {words.filling.copyYourself}</small>
                </noscript>
              ) : null}
            </a>
          </li>
        )
      })}
    </ul>
  </details>
)
