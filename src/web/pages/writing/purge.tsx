import { AppError } from '../../../errors.ts'
import { purgeFile, purgeItem, purgeVersions, showPurge } from '../../../operations/items/purge.ts'
import { Section } from '../../parts/controls.tsx'
import { Form, Tick } from '../../parts/form.tsx'
import { TitledPage } from '../../parts/titled-page.tsx'
import type { Action, PageRequest } from '../../request.ts'
import { type Collection, readVersionNumber } from '../reading/versions.tsx'

/** The parts of an item that can be deleted for good, their limits, and a form for each. */
export function showPurgePage(collection: Collection) {
  return async (request: PageRequest) => {
    const { site, call, ref, query } = request
    const { words } = site
    const item = await call(showPurge, { collection, id: ref })
    const texts = words.purge
    const older = item.isOwner && item.version !== null && item.version > 1 ? item.version - 1 : null
    const newest = item.isOwner && (older !== null || item.hasEarlierTags) ? item.version : null
    const path = `/${collection}/${encodeURIComponent(item.id)}`
    // The button alone would be pressed by mistake.
    const sure = <Tick sent={null} name="sure" value="yes" label={texts.sure} isRequired />
    const shared = { request, isMain: false, children: sure }
    const text = (label: string, value: string | null) => ({ label, value, autocomplete: 'off', isRequired: true })
    return (
      <TitledPage
        request={request}
        title={words.deleteForGood}
        above={item.isInTrash ? <a href="/trash">{words.trash}</a> : <a href={path}>{item.title}</a>}
        lead={texts.lead(item.title)}
        current={item.isInTrash ? 'library' : collection}
        isIndexed={false}
      >
        <p class="notice">{texts.copies(item.copies)}</p>
        {newest === null ? null : (
          <Section title={words.reading.olderVersions} lead={texts.versionsLead(newest)}>
            <Form
              {...shared}
              does="versions"
              of={purgeVersions}
              fields={{
                first: text(texts.first, query.get('first') ?? '1'),
                last: text(texts.last, query.get('last') ?? String(older ?? newest)),
              }}
              submit={texts.deleteVersions}
            />
          </Section>
        )}
        {older === null || collection !== 'skills' ? null : (
          <Section title={texts.file} lead={texts.fileLead}>
            <Form
              {...shared}
              does="file"
              of={purgeFile}
              fields={{ filename: text(texts.filename, query.get('file')) }}
              submit={texts.deleteFile}
            />
          </Section>
        )}
        <Section title={texts.all} lead={texts.allLead}>
          <Form {...shared} does="item" of={purgeItem} fields={{}} submit={texts.deleteAll} />
        </Section>
      </TitledPage>
    )
  }
}

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
