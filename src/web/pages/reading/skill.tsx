import { raw } from 'hono/html'
import type { FC } from 'hono/jsx'
import { scopePath } from '../../../domain/skills/channel-scope.ts'
import { imageTypeOf } from '../../../domain/skills/filename.ts'
import { SKILL_MD } from '../../../domain/skills/skill.ts'
import { listSharedSkills } from '../../../operations/channels/shared-items.ts'
import { notFound } from '../../../operations/core/inputs.ts'
import type { Output } from '../../../operations/core/procedure.ts'
import { showItemPage } from '../../../operations/items/item-page.ts'
import { Layout } from '../../layout.tsx'
import { highlightCode } from '../../markup/highlight.ts'
import { isMarkdown, languageOfFile, renderSkillMarkdown } from '../../markup/markdown.ts'
import { CHART_STYLES, ItemUse, TestsFact } from '../../parts/charts.tsx'
import { INSTALL_STYLES, InstallBox } from '../../parts/connect.tsx'
import { Link, LinkItem } from '../../parts/controls.tsx'
import { CheckFact, downloadsOf, ElsewhereFact, ItemFacts, isEmbeddable, isOutside, needsKey } from '../../parts/facts.tsx'
import { mayDo } from '../../parts/item-actions.tsx'
import { ItemHead, Related, VersionIndex } from '../../parts/item-head.tsx'
import { FileTree, FrontmatterTable } from '../../parts/skill-files.tsx'
import type { PageRequest } from '../../request.ts'
import type { Site } from '../../site.ts'

/** How much of a file the page shows, in UTF-16 units; the whole is a download away. */
const MAX_SHOWN = 100_000

type ShownSkill = NonNullable<Output<typeof showItemPage>['skill']>
type ShownFile = ShownSkill['files'][number]

/** A skill: its files as an index, one of them open, SKILL.md first. */
export async function showSkillPage(request: PageRequest) {
  const { site, words, call, ref, query } = request
  const page = await call(showItemPage, { collection: 'skills', id: ref })
  const { skill, marks: standing, versions, labels, related, collections, usage } = page
  if (!skill) throw notFound('skill')
  // How to install it is for readers who can.
  const shared = isOutside(site)
    ? undefined
    : (await call(listSharedSkills, { scope: scopePath({ kind: 'skill', ref: skill.id }) })).skills[0]
  const name = shared?.described.fault === null ? (shared.channelName ?? shared.described.name) : null
  const downloads = isOutside(site) ? null : `${downloadsOf(site, skill)}/skills/${skill.id}`
  const toFile = (filename: string) => `${downloads}/files/${filename.split('/').map(encodeURIComponent).join('/')}`
  const wanted = query.get('file')
  const open = skill.files.find((file) => file.filename === wanted) ?? skill.files[0]
  const path = new URL(skill.url).pathname
  const toUrl = (filename: string) => (filename === SKILL_MD ? path : `${path}?file=${encodeURIComponent(filename)}`)
  return (
    <Layout
      site={site}
      title={skill.title}
      description={skill.description ?? undefined}
      path={path}
      isIndexed={skill.visibility === 'public' && wanted === null}
      kind="article"
      styles={[...INSTALL_STYLES, ...(usage ? CHART_STYLES : [])]}
      embeddedId={isEmbeddable(site, skill) ? skill.id : undefined}
    >
      <article class="shelf">
        <ItemHead
          request={request}
          page={page}
          item={skill}
          first={
            downloads === null ? null : (
              <>
                <InstallBox
                  site={site}
                  installed={{
                    scope: scopePath({ kind: 'skill', ref: skill.isPrivate ? skill.id : (path.split('/').at(-1) ?? skill.slug) }),
                    skill: { ...skill, name },
                    needsKey: needsKey(site, skill),
                  }}
                  lead={words.reading.installLead}
                />
                <Link to={`${downloads}/zip`} look="button" text={words.reading.downloadZip} />
              </>
            )
          }
        />
        <div class="facts across">
          <dl>
            <ItemFacts site={site} kind="skills" item={skill} collections={collections} />
            <CheckFact site={site} path={path} page={page} />
            <TestsFact site={site} path={path} trend={page.tests} isOwn={mayDo(page.marks, 'see')} />
            <ItemUse site={site} usage={usage} />
            <ElsewhereFact site={site} kind="skills" item={skill} />
          </dl>
          {mayDo(standing, 'edit') && shared?.described.fault ? (
            <p class="notice">{words.reading.leftOut(shared.described.fault)}</p>
          ) : null}
          {mayDo(standing, 'edit') && shared && shared.described.notes.length > 0 ? (
            <p class="notice">{words.reading.changedInIndexes(shared.described.notes.join(' '))}</p>
          ) : null}
        </div>
        <aside class="facts">
          <FileTree site={site} filenames={skill.files.map(({ filename }) => filename)} open={open?.filename ?? ''} toUrl={toUrl} />
          <VersionIndex site={site} path={path} versions={versions} labels={labels} />
          <Related site={site} items={related} />
        </aside>
        {open ? (
          <section data-prompt>
            <OpenFile
              site={site}
              file={open}
              view={query.get('view')}
              toUrl={toUrl}
              shown={
                await showFile(open, query.get('view'), skill, path, { toUrl, ...(downloads && { toImage: toFile }) }, request.signal())
              }
              countedAt={`/skills/${skill.id}/copied`}
              downloadUrl={downloads === null ? null : toFile(open.filename)}
            />
          </section>
        ) : null}
      </article>
    </Layout>
  )
}

/** A file made ready: rendered, highlighted, or neither. */
async function showFile(
  file: ShownFile,
  view: string | null,
  { description, files }: ShownSkill,
  path: string,
  addresses: Parameters<typeof renderSkillMarkdown>[3],
  signal: AbortSignal,
) {
  if (file.encoding === 'base64') return { fields: [], rendered: null, code: null }
  if (isMarkdown(file.filename) && view !== 'raw') {
    const names = files.map(({ filename }) => filename)
    const made = await renderSkillMarkdown(file, names, path, addresses, signal)
    if (made !== null) {
      // What the head of the page says already is not said again.
      const isSaid = ([name, value]: readonly [string, string]) =>
        name === 'description' && file.filename === SKILL_MD && value.trim() === description
      return { fields: made.fields.filter((field) => !isSaid(field)), rendered: made.html, code: null }
    }
  }
  const language = languageOfFile(file.filename)
  return { fields: [], rendered: null, code: language === null ? null : (await highlightCode(file.content, language, { signal })).text }
}

interface OpenFileProps {
  readonly site: Site
  readonly file: ShownFile
  readonly view: string | null
  readonly shown: Awaited<ReturnType<typeof showFile>>
  /** Null for readers who may not download it. */
  readonly downloadUrl: string | null
  /** Where a copy is counted. */
  readonly countedAt: string
  toUrl(filename: string): string
}

const OpenFile: FC<OpenFileProps> = ({ site, file, view, shown: { fields, rendered, code }, downloadUrl, countedAt, toUrl }) => {
  const { words } = site
  const url = toUrl(file.filename)
  const image = file.encoding === 'base64' ? imageTypeOf(file.filename) : null
  return (
    <>
      <div class="opened">
        <h2>{file.filename}</h2>
        {file.encoding === 'base64' || !isMarkdown(file.filename) ? null : (
          <nav aria-label={words.reading.view}>
            <ul class="filters views">
              <LinkItem to={url} aria-current={view === 'raw' ? undefined : 'true'} text={words.preview} />
              <LinkItem
                to={`${url}${url.includes('?') ? '&' : '?'}view=raw`}
                rel="nofollow"
                current={view === 'raw' && 'true'}
                text={words.reading.raw}
              />
            </ul>
          </nav>
        )}
        <div class="actions">
          {file.encoding === 'base64' ? null : (
            <button class="button" type="button" data-copy={words.copied} data-counted={countedAt} hidden>
              {words.copy}
            </button>
          )}
          {downloadUrl === null ? null : <Link to={downloadUrl} look="button" download text={words.download} />}
        </div>
      </div>
      <FrontmatterTable site={site} fields={fields} />
      {rendered === null ? null : <div class="written prose">{raw(rendered)}</div>}
      {file.encoding === 'base64' ? (
        image === null ? (
          <p class="quiet">{words.binaryFile}</p>
        ) : (
          <img class="image-file" src={`data:${image};base64,${file.content}`} alt={file.filename} />
        )
      ) : (
        <pre class="file" hidden={rendered !== null} data-text tabindex={0}>
          {/* A parser drops the first line end of a pre: this one, not the file's own. */}
          {'\n'}
          {code === null ? file.content.slice(0, MAX_SHOWN).toWellFormed() : raw(code)}
        </pre>
      )}
      {rendered === null && file.content.length > MAX_SHOWN ? <p class="quiet">{words.fileCut}</p> : null}
    </>
  )
}
