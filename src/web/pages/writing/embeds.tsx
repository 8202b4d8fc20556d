import type { FC } from 'hono/jsx'
import { EMBED_FIELDS, type EmbedConfig, isEmbedFlag, MAX_EMBED_QUERY, withoutMcp } from '../../../domain/embed/config.ts'
import { listEmbedCategories, listEmbedExamples } from '../../../domain/embed/examples.ts'
import { cutAtWord } from '../../../domain/text/characters.ts'
import { AppError } from '../../../errors.ts'
import type { Output } from '../../../operations/core/procedure.ts'
import { deleteEmbed, listEmbeds, saveEmbed, showEmbed } from '../../../operations/embeds.ts'
import { type EmbedTarget, estimateHeight, toEmbedPaths, writeFrame, writeMarkdownLink } from '../../embed/addresses.ts'
import { DEFAULT_COLORS } from '../../embed/colors.ts'
import { type EmbeddedItem, findEmbeddedItem } from '../../embed/item.ts'
import { type EmbedFault, readEmbedQuery } from '../../embed/query.ts'
import type { SentForm } from '../../forms.ts'
import { Layout } from '../../layout.tsx'
import { Day } from '../../parts/day.tsx'
import { ActionButton, Choice, Done, Fault, Field } from '../../parts/field.tsx'
import type { Action, PageRequest } from '../../request.ts'
import type { Site, Words } from '../../site.ts'
import { textOf } from '../../text-of.ts'

type EmbedRecord = Output<typeof showEmbed>

/** Pairs of colours to choose from. */
const PRESETS: readonly (readonly [name: string, light: string, dark: string])[] = [
  ['indigo', DEFAULT_COLORS.light, DEFAULT_COLORS.dark],
  ['green', '#15803d', '#5fd38a'],
  ['orange', '#c2410c', '#ffa26b'],
  ['rose', '#be185d', '#ff8fbf'],
  ['violet', '#7c3aed', '#b79bff'],
  ['grey', '#4b5563', '#b6bcc6'],
]
const SHOWN_THEMES = ['auto', 'light', 'dark'] as const
const SHOWN_WIDTHS = ['wide', 'narrow'] as const

/** The embed that is being designed. */
interface Draft {
  readonly config: EmbedConfig
  /** The item whose text is shown instead of one that is written here. */
  readonly item: EmbeddedItem | null
  /** The embed that is kept, as long as it is what is shown. */
  readonly stored: EmbedRecord | null
  readonly shownTheme: (typeof SHOWN_THEMES)[number]
  readonly shownWidth: (typeof SHOWN_WIDTHS)[number]
}

/** The designer of embeds: everything works by links and a form; a script shows what it becomes as it is typed. */
export async function showEmbeds(request: PageRequest) {
  return <Designer request={request} draft={await readDraft(request)} own={await listOwn(request)} />
}

async function listOwn({ site, call }: PageRequest): Promise<EmbedRecord[]> {
  return site.reader ? (await call(listEmbeds, {})).embeds : []
}

/** The embed of the address, or of the form that was refused. */
async function readDraft(request: PageRequest): Promise<Draft> {
  const { site, query, sent, callAnonymously } = request
  if (sent) return await readForm(request, sent.form)
  const view = { shownTheme: 'auto', shownWidth: 'wide' } as const
  const id = query.get('embed')
  const stored = id === null ? null : await callAnonymously(showEmbed, { id })
  const example = listEmbedExamples(site.hasMcp).find(({ value }) => value === query.get('example'))
  const item = query.get('item')
  return {
    config: forSite(site, stored?.config ?? example?.config ?? readEmbedQuery(query, site.words).config),
    item: item ? await findEmbeddedItem(callAnonymously, item) : null,
    stored,
    ...view,
  }
}

async function readForm({ callAnonymously, site }: PageRequest, form: SentForm): Promise<Draft> {
  const item = form.text('item')
  return {
    config: forSite(site, readFields(form, site.words).config),
    item: item === '' ? null : await findEmbeddedItem(callAnonymously, item),
    stored: null,
    shownTheme: SHOWN_THEMES.find((one) => one === form.text('shownTheme')) ?? 'auto',
    shownWidth: SHOWN_WIDTHS.find((one) => one === form.text('shownWidth')) ?? 'wide',
  }
}

/** The fields of the form, read as those of an address are; a chosen pair of colours takes the place of the two fields. */
function readFields(form: SentForm, words: Words): { config: EmbedConfig; faults: EmbedFault[] } {
  const values = EMBED_FIELDS.map((field): [string, string] => [field, isEmbedFlag(field) ? String(form.has(field)) : form.text(field)])
  const query = new URLSearchParams(values)
  const [, light, dark] = PRESETS.find(([name]) => name === form.text('preset')) ?? []
  if (light !== undefined && dark !== undefined) {
    query.set('lightColor', light)
    query.set('darkColor', dark)
  }
  return readEmbedQuery(query, words)
}

function forSite(site: Site, config: EmbedConfig): EmbedConfig {
  return site.hasMcp ? config : withoutMcp(config)
}

/** Shows what the form makes, keeps it, or deletes one that is kept. */
export const changeEmbeds: Action = async (request) => {
  const { site, call, form } = request
  if (form.text('do') === 'delete') {
    await call(deleteEmbed, { id: form.text('id') })
    return { to: '/embeds?done=embed-deleted' }
  }
  const { faults } = readFields(form, site.words)
  if (faults.length > 0) {
    const details = faults.map(({ field, message }) => ({ path: field, message: `${message[0]?.toUpperCase()}${message.slice(1)}.` }))
    throw new AppError('invalid_input', details.map(({ message }) => message).join(' '), { details })
  }
  const draft = await readForm(request, form)
  if (form.text('do') === 'save') {
    const { id } = await call(saveEmbed, { config: draft.config })
    return { to: `/embeds?embed=${id}&done=embed-saved` }
  }
  return { html: <Designer request={request} draft={draft} own={await listOwn(request)} /> }
}

const Designer: FC<{ request: PageRequest; draft: Draft; own: readonly EmbedRecord[] }> = ({ request, draft, own }) => {
  const { site, sent, query } = request
  const { words } = site
  return (
    <Layout
      site={site}
      title={words.designer.title}
      description={words.designer.lead}
      path="/embeds"
      isIndexed={query.size === 0}
      styles={['writing.css']}
      scripts={['embeds.js', 'embed.js']}
    >
      <h1>{words.designer.title}</h1>
      <p class="lead">{words.designer.lead}</p>
      {draft.item ? null : (
        <p>
          <a href="#examples">{words.designer.toExamples}</a>
        </p>
      )}
      <Done words={words} query={query} sent={sent} />
      <Fault sent={sent} fields={EMBED_FIELDS} words={words} />
      <div class="designer">
        <Outcome site={site} draft={draft} />
        <Form request={request} draft={draft} />
      </div>
      {draft.item ? null : <Examples site={site} />}
      {own.length === 0 ? null : <Kept site={site} own={own} />}
    </Layout>
  )
}

/** Configurations to begin with, each as it looks. Frames load when they come near. */
const Examples: FC<{ site: Site }> = ({ site: { words, hasMcp } }) => (
  <nav aria-labelledby="examples">
    <h2 id="examples">{words.designer.examples}</h2>
    {listEmbedCategories(hasMcp).map((category) => (
      <section>
        <h3>{words.designer.categories[category]}</h3>
        <ul class="gallery">
          {listEmbedExamples(hasMcp, category).map(({ value, label, config }) => (
            <li>
              <a href={`/embeds?example=${value}`} rel="nofollow">
                {label}
              </a>
              {/* A picture of it: nothing in it gets the focus or is read out. */}
              <div inert>
                <iframe src={toEmbedPaths({ kind: 'config', config })?.page} title={label} loading="lazy" />
              </div>
            </li>
          ))}
        </ul>
      </section>
    ))}
  </nav>
)

const Kept: FC<{ site: Site; own: readonly EmbedRecord[] }> = ({ site: { words }, own }) => (
  <section>
    <h2>{words.designer.yours}</h2>
    <ul class="entries">
      {own.map(({ id, config, createdAt }) => {
        const name = cutAtWord(config.prompt ?? words.designer.nameless, 60)
        return (
          <li>
            <div>
              <a href={`/embeds?embed=${id}`}>{name}</a>
              <p class="quiet">
                {words.created} <Day words={words} at={createdAt} />
                {' · '}
                <a href={`/e/${id}`}>{words.designer.open}</a>
              </p>
            </div>
            <ActionButton action="/embeds" does="delete" values={{ id }} label={words.designer.deleteOne(name)}>
              {words.moveToTrash}
            </ActionButton>
          </li>
        )
      })}
    </ul>
  </section>
)

/** The preview of the embed, and the snippet for another page. The script replaces what is marked as live. */
const Outcome: FC<{ site: Site; draft: Draft }> = ({ site, draft }) => {
  const { words, baseUrl } = site
  const { config, item, stored, shownTheme, shownWidth } = draft
  const target = toTarget(draft)
  const paths = toEmbedPaths(target)
  const whole = item ? { ...config, ...item.config } : config
  const title = item?.source.title ?? words.embed.title
  const height = estimateHeight(whole)
  const shown = shownTheme === 'auto' ? paths : toEmbedPaths(inTheme(target, shownTheme))
  const preview = stored && shownTheme === 'auto' ? paths : shown
  const snippets: readonly (readonly [label: string, text: string])[] = paths
    ? [
        [words.designer.frame, writeFrame(baseUrl + paths.page, title, height)],
        [words.designer.markdown, writeMarkdownLink(baseUrl + paths.page, baseUrl + paths.image, title)],
        [words.designer.link, baseUrl + paths.page],
      ]
    : [words.designer.frame, words.designer.markdown, words.designer.link].map((label) => [label, ''])
  return (
    <section class="outcome" aria-labelledby="preview">
      <h2 id="preview">{words.preview}</h2>
      <div class={`preview ${shownWidth}`} data-live>
        {preview ? (
          <iframe title={words.designer.previewOf(title)} src={preview.page} height={height} />
        ) : (
          <p class="notice">{words.designer.tooLong(MAX_EMBED_QUERY / 1024)}</p>
        )}
      </div>
      {snippets.map(([label, text], place) => (
        <div data-prompt>
          <h2 id={`snippet-${place}`}>{label}</h2>
          <pre data-text data-live tabindex={0}>
            {text}
          </pre>
          <button class="button" type="button" data-copy={words.copied} aria-describedby={`snippet-${place}`} hidden>
            {words.copy}
          </button>
        </div>
      ))}
      <p class="quiet">{words.designer.scriptHelp}</p>
      <pre tabindex={0}>{`<script async src="${baseUrl}/embed.js"></script>`}</pre>
    </section>
  )
}

function toTarget({ config, item, stored }: Draft): EmbedTarget {
  if (stored) return { kind: 'stored', id: stored.id, config }
  if (!item) return { kind: 'config', config }
  const { prompt: _, ...around } = config
  return { kind: 'item', id: item.id, config, around }
}

/** The same as it looks in one theme, whatever it will be. */
function inTheme(target: EmbedTarget, themeMode: 'light' | 'dark'): EmbedTarget {
  if (target.kind === 'item') return { ...target, around: { ...target.around, themeMode } }
  return { kind: 'config', config: { ...target.config, themeMode } }
}

const Form: FC<{ request: PageRequest; draft: Draft }> = ({ request: { site, sent }, draft: { config, item, shownTheme, shownWidth } }) => {
  const { words, hasMcp, reader } = site
  const { fields, hints } = words.designer
  const text = (name: keyof typeof fields & keyof EmbedConfig, more: { rows?: number; placeholder?: string } = {}) => {
    const value = config[name]
    return (
      <Field
        sent={sent}
        name={name}
        label={fields[name]}
        value={typeof value === 'string' ? value : ''}
        hint={textOf(hints, name)}
        autocomplete="off"
        {...more}
      />
    )
  }
  const tick = (name: keyof typeof fields & keyof EmbedConfig) => (
    <label class="tick">
      <input type="checkbox" name={name} value="true" checked={sent ? sent.form.has(name) : config[name] === true} /> {fields[name]}
    </label>
  )
  const radio = (name: string, options: readonly string[], names: Readonly<Record<string, string>>, chosen: string) =>
    options.map((option) => (
      <label class="tick">
        <input type="radio" name={name} value={option} checked={option === chosen} id={`${name}-${option}`} /> {names[option]}
      </label>
    ))
  return (
    <form method="post" action="/embeds" class="fields" data-embeds>
      {item ? <input type="hidden" name="item" value={item.id} /> : null}
      {item ? (
        <p>
          {words.designer.showsItem} <a href={new URL(item.source.url).pathname}>{item.source.title}</a>
        </p>
      ) : (
        text('prompt', { rows: 6 })
      )}
      {text('context')}
      <div class="pair">
        {text('model')}
        {text('mode')}
      </div>
      <fieldset>
        <legend>{words.embed.settings}</legend>
        {(['thinking', 'reasoning', 'planning', 'fast'] as const).map(tick)}
      </fieldset>
      {item?.kind === 'skill' ? null : (
        <details open={config.showFiletree === true}>
          <summary>{words.files}</summary>
          {tick('showFiletree')}
          {text('filetree', { rows: 5 })}
        </details>
      )}
      <details open={config.showDiff === true}>
        <summary>{words.designer.diff}</summary>
        {tick('showDiff')}
        {text('diffFilename')}
        {text('diffOldText', { rows: 4 })}
        {text('diffNewText', { rows: 4 })}
        <label class="tick">
          <input
            type="checkbox"
            name="flashButton"
            value="accept"
            checked={sent ? sent.form.has('flashButton') : config.flashButton === 'accept'}
          />{' '}
          {fields.flashButton}
        </label>
      </details>
      {hasMcp ? (
        <details open={config.showMcpTools === true}>
          <summary>{words.designer.mcp}</summary>
          {tick('showMcpTools')}
          {text('mcpTools', { rows: 3 })}
        </details>
      ) : null}
      <Choice
        sent={null}
        name="preset"
        label={words.designer.preset}
        value=""
        options={[
          ['', words.designer.ownColors],
          ...PRESETS.map(([name]): [string, string] => [name, textOf(words.designer.presets, name) ?? name]),
        ]}
      />
      <div class="pair">
        {text('lightColor', { placeholder: DEFAULT_COLORS.light })}
        {text('darkColor', { placeholder: DEFAULT_COLORS.dark })}
      </div>
      <Choice
        sent={sent}
        name="themeMode"
        label={fields.themeMode}
        value={config.themeMode ?? 'auto'}
        options={SHOWN_THEMES.map((mode): [string, string] => [mode, words.designer.themes[mode]])}
      />
      <fieldset>
        <legend>{words.preview}</legend>
        {radio('shownTheme', SHOWN_THEMES, words.designer.shownThemes, shownTheme)}
        {radio('shownWidth', SHOWN_WIDTHS, words.designer.shownWidths, shownWidth)}
      </fieldset>
      <p class="actions">
        <button class="button first" type="submit" name="do" value="show">
          {words.designer.show}
        </button>
        {reader && !item ? (
          <button class="button" type="submit" name="do" value="save">
            {words.designer.save}
          </button>
        ) : null}
      </p>
      {reader || item ? null : (
        <p class="quiet">
          <a href="/sign-in?to=/embeds" rel="nofollow">
            {words.designer.signInToSave}
          </a>
        </p>
      )}
    </form>
  )
}
