import type { FC } from 'hono/jsx'
import { VISIBILITIES } from '../../../domain/items/visibility.ts'
import { invalidInput } from '../../../errors.ts'
import { showAccount } from '../../../operations/account/account.ts'
import type { Output } from '../../../operations/core/procedure.ts'
import { checkImport, IMPORT_OUTCOMES, loadStarterLibrary, runImport, showImport } from '../../../operations/items/import-items.ts'
import { Link, Submit, Tabs } from '../../parts/controls.tsx'
import { Below, Fault, Field } from '../../parts/field.tsx'
import { PageLinks, toListUrl } from '../../parts/lists.tsx'
import { TitledPage } from '../../parts/page-frames.tsx'
import { type Action, type PageRequest, readListPage } from '../../request.ts'
import type { Site } from '../../site.ts'
import { formatsOf } from '../../strings/formats.ts'

type Import = Output<typeof showImport>

/** Where somebody chooses files to import. */
export async function showImportForm(request: PageRequest) {
  const { words, sent } = request
  await request.call(showAccount, {})
  const { importing } = words
  return (
    <TitledPage request={request} title={importing.title} lead={importing.lead} styles={['writing.css']} scripts={['import.js']}>
      <Fault sent={sent} labels={{ files: words.files, visibility: words.visibility }} words={words} />
      <form
        method="post"
        enctype="multipart/form-data"
        class="import"
        data-import
        data-reading={importing.reading}
        data-failed={importing.failed}
        data-choose={importing.chooseFiles}
      >
        <div class="sources">
          <div class="field">
            <label for="field-files">{words.files}</label>
            <input type="file" id="field-files" name="files" multiple aria-describedby="files-hint" />
            <Below id="files" hint={[importing.filesHint, ' ', <a href="/docs/import-export">{importing.help}</a>]} />
          </div>
          <div class="field">
            <label for="field-folder">{importing.folder}</label>
            <input type="file" id="field-folder" name="files" multiple webkitdirectory aria-describedby="folder-hint" />
            <Below id="folder" hint={importing.folderHint} />
          </div>
          <p class="quiet" data-drop hidden>
            {importing.drop}
          </p>
        </div>
        <Field
          sent={sent}
          name="visibility"
          label={importing.visibility}
          value=""
          options={[['', importing.asInFiles], ...VISIBILITIES.toReversed().map((one) => [one, words.visibilityMeans[one]] as const)]}
        />
        <div class="actions">
          <Submit does="check" look="button first" text={importing.check} />
        </div>
        <p role="status" data-said />
      </form>
    </TitledPage>
  )
}

/** Reads the files and goes on to what importing them would do. */
export const submitImport: Action = async ({ call, form }) => {
  if (form.text('do') === 'starter') {
    await call(loadStarterLibrary, {})
    return { to: '/prompts?done=starter-loaded' }
  }
  const files = form.files('files')
  if (files.length === 0) throw invalidInput('files', 'Choose at least one file.')
  const visibility = form.text('visibility') === '' ? undefined : form.choice('visibility', VISIBILITIES)
  const { id } = await call(checkImport, { files, visibility })
  return { to: `/import/${id}` }
}

/** An import: what it would do, or what it did. */
export async function showImportPage(request: PageRequest) {
  const { site, words, ref, call, query, sent } = request
  const outcome = IMPORT_OUTCOMES.find((one) => one === query.get('outcome'))
  const found = await readListPage(request, (page) => call(showImport, { id: ref, page, outcome }))
  if ('to' in found) return found
  const { importing } = words
  const { counts, isDone, total } = found
  const labels = isDone ? importing.outcomes.done : importing.outcomes.planned
  const toUrl = (chosen = '', page = 1) => toListUrl(`/import/${ref}`, { outcome: chosen }, page)
  const { number } = formatsOf(words.language)
  const outcomes = IMPORT_OUTCOMES.filter((one) => counts[one] > 0).map(
    (one) => [toUrl(one), `${labels[one]} ${number(counts[one])}`, outcome === one] as const,
  )
  return (
    <TitledPage request={request} title={importing.title} styles={['writing.css']}>
      <Fault sent={sent} words={words} />
      <State site={site} found={found} path={`/import/${ref}`} />
      <Tabs label={words.filters} look="filters" of={[[toUrl(), `${words.all} ${number(total)}`, outcome === undefined], ...outcomes]} />
      <Entries site={site} entries={found.entries} labels={labels} />
      <PageLinks site={site} page={found.page} pages={found.totalPages} toUrl={(page) => toUrl(outcome, page)} />
    </TitledPage>
  )
}

/** The result of an import, or the button that starts it. */
const State: FC<{ site: Site; found: Import; path: string }> = ({ site: { words }, found: { isDone, counts }, path }) => {
  const { importing } = words
  const left = counts.created + counts.updated
  if (isDone || left === 0) {
    return (
      <>
        <p class="notice" role="status">
          {isDone ? importing.over : importing.nothingToDo}
        </p>
        <div class="actions">
          <Link to="/library" look="button first" text={importing.toLibrary} />
          <Link to="/import" look="button" text={importing.again} />
        </div>
      </>
    )
  }
  return (
    <form method="post" action={path}>
      <p class="lead">{importing.plan}</p>
      <div class="actions">
        <Submit does="run" look="button first" text={importing.start(left)} />
        <Link to="/import" look="button" text={importing.again} />
      </div>
    </form>
  )
}

const Entries: FC<{ site: Site; entries: Import['entries']; labels: Readonly<Record<Import['entries'][number]['outcome'], string>> }> = ({
  site: { words },
  entries,
  labels,
}) => {
  const { columns, means } = words.importing
  return (
    <div class="wide">
      <table class="entries-table">
        <thead>
          <tr>
            {[columns.outcome, columns.title, columns.name, columns.remark].map((name) => (
              <th scope="col">{name}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {entries.map(({ outcome, title, kind, name, remark, itemId }) => (
            <tr class={outcome}>
              <td title={means[outcome]}>{labels[outcome]}</td>
              <td dir="auto">{itemId === null || kind === null ? title : <a href={`/${kind}s/${itemId}`}>{title}</a>}</td>
              <td>{name}</td>
              <td>{remark}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

/** Imports the files that were checked, and goes on to the results. */
export const submitRun: Action = async ({ call, ref }) => ({ to: `/import/${(await call(runImport, { id: ref })).id}` })
