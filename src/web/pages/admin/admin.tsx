import type { Child, FC } from 'hono/jsx'
import type { ServiceStatus } from '../../../domain/service/service.ts'
import { showPasswordHelp } from '../../../operations/account/sign-in.ts'
import { countLibrary, showServiceStatus } from '../../../operations/admin/administration.ts'
import type { Output } from '../../../operations/core/procedure.ts'
import { listHeld } from '../../../operations/items/marks.ts'
import { showLibraryUsage } from '../../../operations/usage.ts'
import { CHART_STYLES, LibraryCharts } from '../../parts/charts.tsx'
import { Details, Section } from '../../parts/controls.tsx'
import { authorPath, Fact, Moment } from '../../parts/facts.tsx'
import { Entries, Entry, PageLinks } from '../../parts/lists.tsx'
import { SectionPage } from '../../parts/page-frames.tsx'
import { ItemRows } from '../../parts/rows.tsx'
import { type PageRequest, readListPage } from '../../request.ts'
import { textOf, type Words } from '../../site.ts'
import { formatsOf } from '../../strings/formats.ts'

/** Counts, charts of the last days, and the items administrators have unlisted. */
export async function showAdmin(request: PageRequest) {
  const { site, words, call } = request
  const readHeld = readListPage(request, (page) => call(listHeld, { page, perPage: 50 }))
  const [numbers, usage, held] = await Promise.all([call(countLibrary, {}), call(showLibraryUsage, {}), readHeld])
  if ('to' in held) return held
  return (
    <SectionPage request={request} at="/admin" styles={CHART_STYLES}>
      <dl class="counts">
        {Object.entries(numbers).map(([name, count]) => (
          <Fact label={textOf(words.counts, name)}>{formatsOf(words.language).number(count)}</Fact>
        ))}
      </dl>
      <LibraryCharts site={site} usage={usage} />
      {held.total === 0 ? null : (
        <Section title={words.held} lead={words.heldLead}>
          <ItemRows site={site} {...held} />
          <PageLinks site={site} page={held.page} pages={held.totalPages} toUrl={(page) => `/admin?page=${page}`} />
        </Section>
      )}
    </SectionPage>
  )
}

/** The parts that an operator looks at first. */
const HEALTH_PARTS = ['backup', 'disk', 'search', 'errors', 'mail'] as const

/** A backup that is older than this was missed. */
const MAX_BACKUP_AGE_MS = 48 * 3_600_000
/** Room that is needed beside the library: an upgrade copies it, and so does a backup. */
const ROOM = { copies: 2, leastBytes: 512 * 1024 ** 2 } as const

type Judged = Pick<ServiceStatus, 'backups' | 'database' | 'search' | 'encoder' | 'faults'> & { readonly sendsMail: boolean }

/** How each part of a running service does: `bad` needs somebody, `note` may be meant so. */
export function judgeHealth({ backups, database, search, encoder, faults, sendsMail }: Judged, nowMs: number) {
  const { bytes, freeBytes } = database
  const isFull = freeBytes !== null && freeBytes < Math.max(ROOM.leastBytes, ROOM.copies * bytes)
  const lastMs = backups?.lastAt ? Date.parse(backups.lastAt) : Number.NEGATIVE_INFINITY
  const isBackedUp = backups !== null && backups.failures === 0 && nowMs - lastMs <= MAX_BACKUP_AGE_MS
  const levels: Readonly<Record<(typeof HEALTH_PARTS)[number], 'good' | 'note' | 'bad'>> = {
    backup: isBackedUp ? 'good' : 'bad',
    disk: isFull ? 'bad' : 'good',
    search: encoder?.state === 'fallback' ? 'bad' : search.isReady && encoder?.state !== 'embedding' ? 'good' : 'note',
    errors: faults.length === 0 ? 'good' : 'bad',
    mail: sendsMail ? 'good' : 'note',
  }
  return HEALTH_PARTS.map((part) => ({ part, level: levels[part] }))
}

type Status = Output<typeof showServiceStatus> & Output<typeof showPasswordHelp>

const HOUR_MS = 3_600_000
const UNIT = 1024
const MCP_SETTING = 'MCP_ENABLED'

/** How the service and its library do, for administrators: what needs somebody first. */
export async function showStatus(request: PageRequest) {
  const { words, hasMcp } = request.site
  const status: Status = { ...(await request.call(showServiceStatus, {})), ...(await request.call(showPasswordHelp, {})) }
  const { number } = formatsOf(words.language)
  const { database, waiting, search, encoder, owners, faults } = status
  const told = words.status
  const bytes = (count: number) => formatBytes(words, count)
  // Where MCP is off, nothing that is served names it.
  const settings = status.settings.filter(({ name }) => hasMcp || name !== MCP_SETTING)
  const library: readonly (readonly [label: string, value: Child | null])[] = [
    [told.engine, `${database.engine}, ${database.place}`],
    [told.size, bytes(database.bytes)],
    [told.log, database.logBytes === null ? null : bytes(database.logBytes)],
    [told.schema, status.schema],
    [told.contents, told.items(status.prompts, status.skills)],
    [words.counts.inTrash, number(status.inTrash)],
    [told.people, told.accounts(status.users, status.logins)],
  ]
  const service: typeof library = [
    [told.started, <Moment words={words} at={status.startedAt} />],
    [told.requests, told.load(number(status.running), number(waiting.admission + waiting.turns))],
    [told.streams, number(status.streams)],
    [told.search, search.isReady ? told.searchReady(search.items) : told.searchLoading],
    [told.encoder, encoder === null ? told.encoderOff : told.encoderStates[encoder.state](number(encoder.embedded), number(encoder.total))],
    [told.embeddings, told.embeddingStates[status.embeddings]],
  ]
  return (
    <SectionPage request={request} at="/admin/status">
      <Health words={words} status={status} />
      <Figures title={told.library} facts={library} />
      <Figures title={told.service} facts={service} />
      <Section title={told.owners}>
        <Entries
          of={owners}
          row={({ username, items, versions, words: used, ...kept }) => (
            <Entry
              title={<a href={authorPath(username)}>@{username}</a>}
              note={`${told.keeps(items, versions, bytes(kept.bytes))}, ${told.ownWords(used)}`}
            />
          )}
        />
      </Section>
      {faults.length === 0 ? null : (
        <Section id="errors" title={told.faults}>
          <Entries
            of={faults}
            row={({ message, times, lastAt }) => (
              <Entry title={message} facts={[told.times(times), <Moment words={words} at={lastAt} />]} />
            )}
          />
        </Section>
      )}
      {database.beside.length === 0 ? null : (
        <Section title={told.beside} lead={told.besideLead}>
          <Entries of={database.beside} row={(file) => <Entry title={<code>{file.name}</code>} note={bytes(file.bytes)} />} />
        </Section>
      )}
      {settings.length === 0 ? null : <Settings words={words} settings={settings} />}
    </SectionPage>
  )
}

function formatBytes({ status, language }: Words, bytes: number): string {
  const power = bytes < UNIT ? 0 : Math.min(status.units.length - 1, Math.floor(Math.log(bytes) / Math.log(UNIT)))
  return `${formatsOf(language).shortNumber(bytes / UNIT ** power)} ${status.units[power]}`
}

/** The parts that an operator looks at first, each with its sign and in words. */
const Health: FC<{ words: Words; status: Status }> = ({ words, status }) => {
  const { health, backups: backupsLabel, version } = words.status
  const { number } = formatsOf(words.language)
  const { database, encoder, faults, search, sendsMail } = status
  const texts = {
    backup: describeBackups(words, status.backups),
    disk: database.freeBytes === null ? health.onServer : health.free(formatBytes(words, database.freeBytes)),
    search:
      encoder?.state === 'fallback' ? health.noEncoder : search.isReady && encoder?.state !== 'embedding' ? health.ready : health.busy,
    errors: faults.length === 0 ? health.noErrors : <a href="#errors">{health.errors(number(faults.length))}</a>,
    mail: sendsMail ? health.ready : health.noMail,
  }
  return (
    <dl class="health">
      {judgeHealth(status, Date.now()).map(({ part, level }) => (
        <div class={level}>
          <dt>{part === 'backup' ? backupsLabel : health.parts[part]}</dt>
          <dd>{texts[part]}</dd>
        </div>
      ))}
      <div class="good">
        <dt>{version}</dt>
        <dd>{status.version}</dd>
      </div>
    </dl>
  )
}

function describeBackups({ status, language }: Words, backups: Status['backups']): string {
  if (backups === null) return status.noBackups
  const { lastAt, failures } = backups
  const ago = lastAt === null ? status.neverBackedUp : status.hoursAgo(Math.floor((Date.now() - Date.parse(lastAt)) / HOUR_MS))
  return failures === 0 ? ago : `${ago} · ${status.backupFailures(formatsOf(language).number(failures))}`
}

const Figures: FC<{ title: string; facts: readonly (readonly [label: string, value: Child | null])[] }> = ({ title, facts }) => (
  <Section title={title}>
    <dl class="figures">{facts.map(([label, value]) => (value === null ? null : <Fact label={label}>{value}</Fact>))}</dl>
  </Section>
)

/** The settings that somebody changed; the others are folded. */
const Settings: FC<{ words: Words; settings: Status['settings'] }> = ({ words: { status, settings: title }, settings }) => {
  const list = (shown: Status['settings']) => (
    <Entries
      of={shown}
      row={({ name, isSecret, isDefault, value }) => (
        <Entry title={<code>{name}</code>} note={isSecret && !isDefault ? status.isSet : (value ?? status.notSet)} />
      )}
    />
  )
  const [changed, others] = [settings.filter(({ isDefault }) => !isDefault), settings.filter(({ isDefault }) => isDefault)]
  return (
    <Section title={title} lead={status.settingsLead}>
      {list(changed)}
      <Details summary={status.byDefault(others.length)}>{list(others)}</Details>
    </Section>
  )
}
