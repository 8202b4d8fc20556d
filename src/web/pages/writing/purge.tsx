import type { FC } from 'hono/jsx'
import { AppError } from '../../../errors.ts'
import { purgeFile, purgeItem, purgeVersions, showPurge } from '../../../operations/items/purge.ts'
import { Layout } from '../../layout.tsx'
import { Submit } from '../../parts/controls.tsx'
import { Fault, Field } from '../../parts/field.tsx'
import type { Action, PageRequest } from '../../request.ts'
import { type Collection, readVersionNumber } from '../reading/versions.tsx'

/** The parts of an item that can be deleted for good, their limits, and a form for each. */
export function showPurgePage(collection: Collection) {
  return async (request: PageRequest) => {
    const { site, call, ref, query, sent } = request
    const { words } = site
    const item = await call(showPurge, { collection, id: ref })
    const texts = words.purge
    const older = item.isOwner && item.version !== null && item.version > 1 ? item.version - 1 : null
    const newest = item.isOwner && (older !== null || item.hasEarlierTags) ? item.version : null
    const path = `/${collection}/${encodeURIComponent(item.id)}`
    const sentWith = (does: string) => (sent?.form.text('do') === does ? sent : null)
    return (
      <Layout site={site} title={words.deleteForGood} current={item.isInTrash ? 'library' : collection} isIndexed={false}>
        <p class="quiet">{item.isInTrash ? <a href="/trash">{words.trash}</a> : <a href={path}>{item.title}</a>}</p>
        <h1>{words.deleteForGood}</h1>
        <p class="lead">{texts.lead(item.title)}</p>
        <p class="notice">{texts.copies(item.copies)}</p>
        {newest === null ? null : (
          <section>
            <h2>{words.reading.olderVersions}</h2>
            <p class="quiet">{texts.versionsLead(newest)}</p>
            <Fault sent={sentWith('versions')} fields={['first', 'last']} words={words} />
            <form method="post" class="fields">
              <Field
                sent={sentWith('versions')}
                name="first"
                label={texts.first}
                value={query.get('first') ?? '1'}
                autocomplete="off"
                isRequired
              />
              <Field
                sent={sentWith('versions')}
                name="last"
                label={texts.last}
                value={query.get('last') ?? String(older ?? newest)}
                autocomplete="off"
                isRequired
              />
              <Sure label={texts.sure} />
              <p>
                <Submit does="versions" text={texts.deleteVersions} />
              </p>
            </form>
          </section>
        )}
        {older === null || collection !== 'skills' ? null : (
          <section>
            <h2>{texts.file}</h2>
            <p class="quiet">{texts.fileLead}</p>
            <Fault sent={sentWith('file')} fields={['filename']} words={words} />
            <form method="post" class="fields">
              <Field
                sent={sentWith('file')}
                name="filename"
                label={texts.filename}
                value={query.get('file')}
                maxlength={255}
                autocomplete="off"
                isRequired
              />
              <Sure label={texts.sure} />
              <p>
                <Submit does="file" text={texts.deleteFile} />
              </p>
            </form>
          </section>
        )}
        <section>
          <h2>{texts.all}</h2>
          <p class="quiet">{texts.allLead}</p>
          <Fault sent={sentWith('item')} words={words} />
          <form method="post" class="fields">
            <Sure label={texts.sure} />
            <p>
              <Submit does="item" text={texts.deleteAll} />
            </p>
          </form>
        </section>
      </Layout>
    )
  }
}

/** The box to tick first: the button alone would be pressed by mistake. */
const Sure: FC<{ label: string }> = ({ label }) => (
  <label class="tick">
    <input type="checkbox" name="sure" value="yes" required /> {label}
  </label>
)

/** Deletes what a form of the page names. */
export function purge(collection: Collection): Action {
  return async ({ site, call, form, ref }) => {
    const { words } = site
    if (!form.has('sure')) throw new AppError('invalid_input', words.purge.beSure)
    const path = `/${collection}/${encodeURIComponent(ref)}`
    switch (form.text('do')) {
      case 'versions': {
        const number = (name: string) => readVersionNumber(form.text(name).trim(), words)
        await call(purgeVersions, { collection, id: ref, first: number('first'), last: number('last') })
        return { to: `${path}/versions?done=purged` }
      }
      case 'file':
        await call(purgeFile, { id: ref, filename: form.text('filename') })
        return { to: `${path}/versions?done=purged` }
      case 'item': {
        const { isOwner } = await call(showPurge, { collection, id: ref })
        await call(purgeItem, { collection, id: ref })
        return { to: isOwner ? '/trash?done=purged' : '/admin?done=purged' }
      }
      default:
        throw new AppError('invalid_input', words.errors.noButton)
    }
  }
}
