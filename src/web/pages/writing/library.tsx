import type { FC } from 'hono/jsx'
import { VISIBILITIES } from '../../../library/visibility.ts'
import type { Output } from '../../../operations/core/define-operation.ts'
import { listOwnItems } from '../../../operations/items/item-marks.ts'
import { listTrash, restoreItem } from '../../../operations/items/trash.ts'
import { Layout } from '../../layout.tsx'
import { Day } from '../../parts/day.tsx'
import { ActionButton, Done } from '../../parts/field.tsx'
import { PageLinks } from '../../parts/page-links.tsx'
import { PromptRows, SkillRows } from '../../parts/rows.tsx'
import { type Action, type PageRequest, readListPage } from '../../request.ts'

const PER_PAGE = 24
const COLLECTIONS = ['prompts', 'skills'] as const

/** What is the reader's own, whatever its visibility. */
export async function showLibrary(request: PageRequest) {
  const { site, call, query, sent } = request
  const { words } = site
  const collection = COLLECTIONS.find((one) => one === query.get('kind')) ?? 'prompts'
  const visibility = VISIBILITIES.find((one) => one === query.get('visibility'))
  const found = await readListPage(request, (page) => call(listOwnItems, { collection, visibility, page, perPage: PER_PAGE }))
  if ('to' in found) return found
  const linkTo = (kind: string, chosen: string | undefined) => {
    const params = new URLSearchParams({ ...(kind === 'prompts' ? {} : { kind }), ...(chosen === undefined ? {} : { visibility: chosen }) })
    return params.size === 0 ? '/library' : `/library?${params}`
  }
  return (
    <Layout site={site} title={words.myLibrary} current="library" isIndexed={false}>
      <h1>{words.myLibrary}</h1>
      <Done words={words} query={query} sent={sent} />
      <div class="actions">
        <a class="button first" href="/new">
          {words.newPrompt}
        </a>
        <a class="button" href="/new/skill">
          {words.newSkill}
        </a>
        <a class="button" href="/trash">
          {words.trash}
        </a>
        <a class="button" href="/settings/data">
          {words.exportData}
        </a>
      </div>
      <nav aria-label={words.filters}>
        <ul class="filters">
          {COLLECTIONS.map((one) => (
            <li>
              <a href={linkTo(one, visibility)} aria-current={one === collection ? 'true' : undefined}>
                {words[one]}
              </a>
            </li>
          ))}
        </ul>
        <ul class="filters">
          {[undefined, ...VISIBILITIES].map((one) => (
            <li>
              <a href={linkTo(collection, one)} aria-current={one === visibility ? 'true' : undefined}>
                {one === undefined ? words.all : words.visibilities[one]}
              </a>
            </li>
          ))}
        </ul>
      </nav>
      {found.total === 0 ? null : (
        <div class="quiet found">
          <h2>{words.itemCount(found.total)}</h2>
        </div>
      )}
      {found.total === 0 ? (
        <section>
          <h2>{words.nothingYet}</h2>
          <p class="prose">{words.nothingOwnHelp}</p>
        </section>
      ) : collection === 'prompts' ? (
        <PromptRows site={site} prompts={found.prompts} />
      ) : (
        <SkillRows site={site} skills={found.skills} />
      )}
      <PageLinks site={site} page={found.page} pages={found.totalPages} toUrl={(page) => withPage(linkTo(collection, visibility), page)} />
    </Layout>
  )
}

function withPage(path: string, page: number): string {
  return page === 1 ? path : `${path}${path.includes('?') ? '&' : '?'}page=${page}`
}

/** What was deleted, and a way back. */
export async function showTrash(request: PageRequest) {
  const { site, call, query, sent } = request
  const { words } = site
  const found = await readListPage(request, (page) => call(listTrash, { page, perPage: PER_PAGE }))
  if ('to' in found) return found
  return (
    <Layout site={site} title={words.trash} current="library" isIndexed={false}>
      <h1>{words.trash}</h1>
      <p class="lead">{words.trashLead}</p>
      <Done words={words} query={query} sent={sent} />
      {sent ? (
        <p class="fault notice" role="alert">
          {sent.fault.message}
        </p>
      ) : null}
      {found.total === 0 ? <p>{words.trashEmpty}</p> : <Deleted words={words} items={found.items} />}
      <PageLinks site={site} page={found.page} pages={found.totalPages} toUrl={(page) => withPage('/trash', page)} />
    </Layout>
  )
}

const Deleted: FC<{ words: PageRequest['site']['words']; items: Output<typeof listTrash>['items'] }> = ({ words, items }) => (
  <ul class="entries">
    {items.map(({ id, kind, title, deletedAt }) => (
      <li>
        <div>
          <strong>{title}</strong> <span class="quiet">{words.kinds[kind]}</span>
          <p class="quiet">
            {words.deleted} <Day at={deletedAt} />
          </p>
        </div>
        <div>
          <ActionButton does="restore" values={{ id, collection: `${kind}s` }} label={words.restoreItem(title)}>
            {words.restore}
          </ActionButton>{' '}
          <a class="button" href={`/${kind}s/${id}/purge`} aria-label={words.purge.linkOf(title)}>
            {words.purge.link}
          </a>
        </div>
      </li>
    ))}
  </ul>
)

/** Brings something back. */
export const restoreFromTrash: Action = async ({ call, form }) => {
  const collection = form.choice('collection', ['prompts', 'skills'])
  const { slug } = await call(restoreItem, { collection, id: form.text('id') })
  return { to: `/${collection}/${encodeURIComponent(slug)}?done=restored` }
}
