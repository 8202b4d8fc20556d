import type { Child, FC } from 'hono/jsx'
import {
  EMBED_FIELDS,
  type EmbedConfig,
  embedConfig,
  isEmbedFlag,
  listEmbedCategories,
  listEmbedExamples,
  MAX_EMBED_QUERY,
  withoutMcp,
} from '../../../domain/embed/config.ts'
import { cutAtWord } from '../../../domain/text/characters.ts'
import { AppError } from '../../../errors.ts'
import type { Output } from '../../../operations/core/procedure.ts'
import { deleteEmbed, listEmbeds, saveEmbed, showEmbed } from '../../../operations/embeds.ts'
import {
  type EmbedFault,
  type EmbedTarget,
  estimateHeight,
  readEmbedQuery,
  toEmbedPaths,
  writeFrame,
  writeMarkdownLink,
} from '../../embed/addresses.ts'
import { DEFAULT_COLORS } from '../../embed/colors.ts'
import { type EmbeddedItem, findEmbeddedItem } from '../../embed/fields.ts'
import type { SentForm } from '../../forms.ts'
import { Details, Link, Sample, Section, Strip, Submit } from '../../parts/controls.tsx'
import { On } from '../../parts/facts.tsx'
import { ActionButton, Fault, Field, sentOr } from '../../parts/field.tsx'
import { limitsOf, Tick } from '../../parts/form.tsx'
import { Entries, Entry } from '../../parts/lists.tsx'
import { TitledPage } from '../../parts/page-frames.tsx'
import { type Action, done, type PageRequest } from '../../request.ts'
import { type Site, textOf, type Words } from '../../site.ts'

type EmbedRecord = Output<typeof showEmbed>

/** Pairs of colours to choose from. */
const PRESETS: readonly (readonly [name: keyof Words['designer']['presets'], light: string, dark: string])[] = [
  ['indigo', DEFAULT_COLORS.light, DEFAULT_COLORS.dark],
  ['green', '#15803d', '#5fd38a'],
  ['orange', '#c2410c', '#ffa26b'],
  ['rose', '#be185d', '#ff8fbf'],
  ['violet', '#7c3aed', '#b79bff'],
  ['grey', '#4b5563', '#b6bcc6'],
]
const SHOWN_THEMES = ['auto', 'light', 'dark'] as const
const SHOWN_WIDTHS = ['wide', 'narrow'] as const
/** Fields that change how an embed looks, and not what is in it. */
const STYLE_FIELDS: ReadonlySet<string> = new Set([
  'lightColor',
  'darkColor',
  'themeMode',
  'flashButton',
  'showFiletree',
  'showDiff',
  'showMcpTools',
])

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
  // A field for a colour always holds one.
  for (const theme of ['light', 'dark'] as const) {
    if (query.get(`${theme}Color`)?.toLowerCase() === DEFAULT_COLORS[theme]) query.delete(`${theme}Color`)
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
    return done('/embeds', 'embed-deleted')
  }
  const { faults } = readFields(form, site.words)
  if (faults.length > 0) {
    const details = faults.map(({ field, message }) => ({ path: field, message: `${message[0]?.toUpperCase()}${message.slice(1)}.` }))
    throw new AppError('invalid_input', details.map(({ message }) => message).join(' '), { details })
  }
  const draft = await readForm(request, form)
  if (form.text('do') === 'save') {
    const { id } = await call(saveEmbed, { config: draft.config })
    return done(`/embeds?embed=${id}`, 'embed-saved')
  }
  return { html: <Designer request={request} draft={draft} own={await listOwn(request)} /> }
}

const Designer: FC<{ request: PageRequest; draft: Draft; own: readonly EmbedRecord[] }> = ({ request, draft, own }) => {
  const { site, words, sent, query } = request
  return (
    <TitledPage
      request={request}
      title={words.designer.title}
      lead={words.designer.lead}
      about={draft.item ? null : <a href="#examples">{words.designer.toExamples}</a>}
      description={words.designer.lead}
      path="/embeds"
      isIndexed={query.size === 0}
      styles={['writing.css', 'admin.css', 'connect.css']}
      scripts={['embeds.js', 'embed.js']}
    >
      <Fault sent={sent} labels={words.designer.fields} words={words} />
      <div class="designer">
        <Outcome site={site} draft={draft} />
        <Designing request={request} draft={draft} />
      </div>
      {draft.item ? null : <Examples site={site} />}
      {own.length === 0 ? null : <Kept site={site} own={own} />}
    </TitledPage>
  )
}

/** Configurations to begin with, each as it looks: those of one group at a time, whose frames load when it is opened. */
const Examples: FC<{ site: Site }> = ({ site: { words, hasMcp } }) => (
  <nav aria-labelledby="examples">
    <h2 id="examples">{words.designer.examples}</h2>
    {listEmbedCategories(hasMcp).map((category, place) => (
      <Details name="examples" open={place === 0} summary={words.designer.categories[category]}>
        <ul class="gallery">
          {listEmbedExamples(hasMcp, category).map(({ value, label, config }) => (
            <li>
              <Link to={`/embeds?example=${value}`} rel="nofollow" text={label} />
              {/* A picture of it: nothing in it gets the focus or is read out. */}
              <div inert>
                <iframe src={toEmbedPaths({ kind: 'config', config })?.page} title={label} loading="lazy" />
              </div>
            </li>
          ))}
        </ul>
      </Details>
    ))}
  </nav>
)

const Kept: FC<{ site: Site; own: readonly EmbedRecord[] }> = ({ site: { words }, own }) => (
  <Section title={words.designer.yours}>
    <Entries
      of={own}
      row={({ id, config, createdAt }) => {
        const name = cutAtWord(config.prompt ?? words.designer.nameless, 60)
        return (
          <Entry
            title={<a href={`/embeds?embed=${id}`}>{name}</a>}
            facts={[<On label={words.created} words={words} at={createdAt} />, <a href={`/e/${id}`}>{words.designer.open}</a>]}
          >
            <ActionButton action="/embeds" does="delete" values={{ id }} label={words.designer.deleteOne(name)} text={words.delete} />
          </Entry>
        )
      }}
    />
  </Section>
)

/** The preview of the embed, and the snippets for another page. The script replaces what is marked as live. */
const Outcome: FC<{ site: Site; draft: Draft }> = ({ site, draft }) => {
  const { words, baseUrl } = site
  const { designer } = words
  const { config, item, stored, shownTheme, shownWidth } = draft
  const target = toTarget(draft)
  const paths = toEmbedPaths(target)
  const title = item?.source.title ?? words.embed.title
  const height = estimateHeight(item ? { ...config, ...item.config } : config)
  const isInTheme = shownTheme !== 'auto'
  const preview = isInTheme ? toEmbedPaths(inTheme(target, shownTheme)) : paths
  const isEmpty = !item && !stored && Object.keys(config).every((field) => STYLE_FIELDS.has(field))
  const snippets: readonly (readonly [label: string, text: string])[] = [
    [designer.frame, paths ? writeFrame(baseUrl + paths.page, title, height) : ''],
    [designer.markdown, paths ? writeMarkdownLink(baseUrl + paths.page, baseUrl + paths.image, title) : ''],
    [designer.link, paths ? baseUrl + paths.page : ''],
  ]
  return (
    <section class="outcome" aria-labelledby="preview">
      <h2 id="preview">{words.preview}</h2>
      <div class={`preview ${shownWidth}`} data-live>
        {isEmpty || !preview ? (
          <p class="notice">{isEmpty ? designer.nothingYet : designer.tooLong(MAX_EMBED_QUERY / 1024)}</p>
        ) : (
          <iframe title={designer.previewOf(title)} src={preview.page} height={height} />
        )}
      </div>
      {snippets.map(([label, text]) => (
        <>
          <h2>{label}</h2>
          <Sample words={words} text={text} label={label} isLive />
        </>
      ))}
      <h2>{designer.script}</h2>
      <p class="quiet">{designer.scriptHelp}</p>
      <Sample words={words} text={`<script async src="${baseUrl}/embed.js"></script>`} label={designer.script} />
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

type FieldName = keyof Words['designer']['fields'] & keyof EmbedConfig

const Designing: FC<{ request: PageRequest; draft: Draft }> = ({ request: { site, sent }, draft }) => {
  const { config, item, shownTheme, shownWidth } = draft
  const { words, hasMcp, reader } = site
  const { designer } = words
  const { fields } = designer
  const text = (name: FieldName, more: { rows?: number; type?: 'color'; value?: string } = {}) => {
    const value = config[name]
    const shared = { sent, name, label: fields[name], hint: textOf(designer.hints, name), autocomplete: 'off' }
    return <Field {...shared} {...limitsOf(embedConfig, name)} value={typeof value === 'string' ? value : ''} {...more} />
  }
  const tick = (name: FieldName, value = 'true') => (
    <Tick sent={sent} name={name} value={value} label={fields[name]} isTicked={String(config[name]) === value} />
  )
  /** Lists of fields that are folded until the first is ticked. */
  const folded = (name: FieldName, title: string, children: Child) => (
    <Details open={config[name] === true} summary={title}>
      {tick(name)}
      {children}
    </Details>
  )
  return (
    <form method="post" action="/embeds" class="fields" data-embeds>
      {item ? (
        <p>
          <input type="hidden" name="item" value={item.id} />
          {designer.showsItem} <a href={new URL(item.source.url).pathname}>{item.source.title}</a>
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
        <legend>{words.settings}</legend>
        {(['thinking', 'reasoning', 'planning', 'fast'] as const).map((name) => tick(name))}
      </fieldset>
      {item?.kind === 'skill' ? null : folded('showFiletree', words.files, text('filetree', { rows: 5 }))}
      {folded(
        'showDiff',
        designer.diff,
        <>
          {text('diffFilename')}
          {text('diffOldText', { rows: 4 })}
          {text('diffNewText', { rows: 4 })}
          {tick('flashButton', 'accept')}
        </>,
      )}
      {hasMcp ? folded('showMcpTools', designer.categories['MCP tools'], text('mcpTools', { rows: 3 })) : null}
      <Field
        sent={null}
        name="preset"
        label={designer.preset}
        value=""
        options={[['', designer.ownColors], ...PRESETS.map(([name]) => [name, designer.presets[name]] as const)]}
      />
      <div class="pair">
        {text('lightColor', { type: 'color', value: config.lightColor ?? DEFAULT_COLORS.light })}
        {text('darkColor', { type: 'color', value: config.darkColor ?? DEFAULT_COLORS.dark })}
      </div>
      <Strip
        name="themeMode"
        legend={fields.themeMode}
        options={Object.entries(designer.themes)}
        chosen={sentOr(sent, 'themeMode', config.themeMode ?? 'auto')}
      />
      <Strip name="shownTheme" legend={designer.shownTheme} options={Object.entries(words.designer.themes)} chosen={shownTheme} />
      <Strip name="shownWidth" legend={designer.shownWidth} options={Object.entries(designer.shownWidths)} chosen={shownWidth} />
      <p class="actions">
        <Submit does="show" look="button first" text={designer.show} />
        {reader && !item ? <Submit does="save" text={designer.save} /> : null}
      </p>
      {reader || item ? null : (
        <p class="quiet">
          <Link to="/sign-in?to=/embeds" rel="nofollow" text={designer.signInToSave} />
        </p>
      )}
    </form>
  )
}
