import { AppError } from '../../../errors.ts'
import { listTrash, purgeFile, purgeItem, purgeVersions, restoreItem, showPurge } from '../../../operations/items/trash.ts'
import { showTransfer, transferItem } from '../../../operations/items/update-items.ts'
import { Link, Section } from '../../parts/controls.tsx'
import { On } from '../../parts/facts.tsx'
import { ActionButton, Alert } from '../../parts/field.tsx'
import { Form, Tick } from '../../parts/form.tsx'
import { Entry, List } from '../../parts/lists.tsx'
import { TitledPage } from '../../parts/page-frames.tsx'
import { type Acting, type Action, actBy, doing, done, type PageRequest, readListPage } from '../../request.ts'
import { type Collection, readVersionNumber } from '../reading/versions.tsx'

/** Deleted items, and a way back. */
export async function showTrash(request: PageRequest) {
  const { words, call, sent } = request
  const found = await readListPage(request, (page) => call(listTrash, { page, perPage: 24 }))
  if ('to' in found) return found
  return (
    <TitledPage request={request} title={words.trash} lead={words.trashLead} styles={['admin.css']}>
      {sent ? <Alert text={sent.fault.message} /> : null}
      <List
        request={request}
        path="/trash"
        found={found}
        of={found.items}
        none={words.trashEmpty}
        row={({ id, kind, title, deletedAt }) => (
          <Entry
            title={<strong>{title}</strong>}
            note={words.kinds[kind]}
            facts={[<On label={words.deleted} words={words} at={deletedAt} />]}
          >
            <ActionButton does="restore" values={{ id, collection: `${kind}s` }} label={words.restoreItem(title)} text={words.restore} />
            <Link to={`/${kind}s/${id}/purge`} look="button" aria-label={words.purge.linkOf(title)} text={words.deleteForGood} />
          </Entry>
        )}
      />
    </TitledPage>
  )
}

/** Brings something back. */
export const restoreFromTrash: Action = async ({ call, form }) => {
  const collection = form.choice('collection', ['prompts', 'skills'])
  const { slug } = await call(restoreItem, { collection, id: form.text('id') })
  return { to: `/${collection}/${encodeURIComponent(slug)}?done=restored` }
}

/** The parts of an item that can be deleted for good, their limits, and a form for each. */
export function showPurgePage(collection: Collection) {
  return async (request: PageRequest) => {
    const { words, call, ref, query } = request
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
  const versionsOf = ({ ref }: Acting) => `/${collection}/${encodeURIComponent(ref)}/versions`
  const readVersions = ({ words, form, ref }: Acting) => {
    const number = (name: string) => readVersionNumber(form.text(name).trim(), words)
    return { collection, id: ref, first: number('first'), last: number('last') }
  }
  const act = actBy({
    versions: doing(purgeVersions, readVersions, 'purged', versionsOf),
    file: doing(purgeFile, ({ form, ref }) => ({ id: ref, filename: form.text('filename') }), 'purged', versionsOf),
    async item({ call, ref }) {
      const { isOwner } = await call(showPurge, { collection, id: ref })
      await call(purgeItem, { collection, id: ref })
      return done(isOwner ? '/trash' : '/admin', 'purged')
    },
  })
  return async (request) => {
    if (!request.form.has('sure')) throw new AppError('invalid_input', request.words.purge.beSure)
    return await act(request)
  }
}

/** Of an owner with whom the item becomes private. No name has a space. */
const AS_PRIVATE = ' private'

/** A form that gives an item to another owner, and what changes by it. */
export function showTransferPage(collection: Collection) {
  return async (request: PageRequest) => {
    const { site, words, call, ref } = request
    const { transfers } = words
    if (site.reader === null) throw new AppError('unauthenticated', words.errors.signInFirst)
    const { itemId, title, visibility, privateVersions, receivers } = await call(showTransfer, { collection, id: ref })
    const options = receivers.map((to) =>
      to.visibility === visibility
        ? ([to.name, to.name] as const)
        : ([`${to.name}${AS_PRIVATE}`, transfers.becomesPrivate(to.name)] as const),
    )
    return (
      <TitledPage
        request={request}
        title={transfers.title}
        above={<a href={`/${collection}/${itemId}`}>{title}</a>}
        lead={transfers.lead(title)}
        about={<a href="/docs/teams#transfers">{transfers.about}</a>}
      >
        {options.length === 0 ? (
          <p>{transfers.none}</p>
        ) : (
          <Form
            request={request}
            does="transfer"
            of={transferItem}
            fields={{ to: { label: transfers.to, options } }}
            submit={transfers.transfer}
          >
            {privateVersions === 0 ? null : <p>{transfers.privateVersions(privateVersions)}</p>}
            <Tick sent={request.sent} name="leaveOutPrivate" label={transfers.leaveOut} />
          </Form>
        )}
      </TitledPage>
    )
  }
}

/** Gives the item to another owner. */
export function submitTransfer(collection: Collection): Action {
  return async ({ call, form, ref }) => {
    const { itemId } = await call(showTransfer, { collection, id: ref })
    const to = form.text('to')
    const makePrivate = to.endsWith(AS_PRIVATE)
    const name = makePrivate ? to.slice(0, -AS_PRIVATE.length) : to
    await call(transferItem, { collection, id: itemId, to: name, leaveOutPrivate: form.has('leaveOutPrivate'), makePrivate })
    return done(`/${collection}/${itemId}`, 'transferred')
  }
}
