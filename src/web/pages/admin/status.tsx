import type { FC } from 'hono/jsx'
import { showServiceStatus } from '../../../operations/admin/administration.ts'
import type { Output } from '../../../operations/core/procedure.ts'
import { formatsOf } from '../../formats.ts'
import { authorPath, Fact } from '../../parts/facts.tsx'
import { Moment } from '../../parts/moment.tsx'
import type { PageRequest } from '../../request.ts'
import type { Words } from '../../site.ts'
import { AdminPage } from './admin-page.tsx'

type Status = Output<typeof showServiceStatus>

const HOUR_MS = 3_600_000
const UNIT = 1024
const MCP_SETTING = 'MCP_ENABLED'

/** How the service and its library do, for administrators. */
export async function showStatus(request: PageRequest) {
  const { words, hasMcp } = request.site
  const status = await request.call(showServiceStatus, {})
  const { number } = formatsOf(words.language)
  const { database, waiting, search } = status
  // Where MCP is off, nothing that is served names it.
  const settings = status.settings.filter(({ name }) => hasMcp || name !== MCP_SETTING)
  return (
    <AdminPage request={request} at="/admin/status">
      <section>
        <h2>{words.status.library}</h2>
        <dl class="figures">
          <Fact label={words.status.engine}>
            {database.engine}, {database.place}
          </Fact>
          <Fact label={words.status.size}>{formatBytes(words, database.bytes)}</Fact>
          {database.logBytes === null ? null : <Fact label={words.status.log}>{formatBytes(words, database.logBytes)}</Fact>}
          <Fact label={words.status.schema}>{status.schema}</Fact>
          <Fact label={words.status.contents}>{words.status.items(number(status.prompts), number(status.skills))}</Fact>
          <Fact label={words.status.inTrash}>{number(status.inTrash)}</Fact>
          <Fact label={words.status.people}>{words.status.accounts(number(status.users), number(status.logins))}</Fact>
          <Fact label={words.status.backups}>
            <Backups words={words} backups={status.backups} />
          </Fact>
        </dl>
      </section>
      <section>
        <h2>{words.status.service}</h2>
        <dl class="figures">
          <Fact label={words.status.version}>{status.version}</Fact>
          <Fact label={words.status.started}>
            <Moment words={words} at={status.startedAt} />
          </Fact>
          <Fact label={words.status.requests}>{words.status.load(number(status.running), number(waiting.admission + waiting.turns))}</Fact>
          <Fact label={words.status.streams}>{number(status.streams)}</Fact>
          <Fact label={words.status.search}>
            {search.isReady ? words.status.searchReady(number(search.items)) : words.status.searchLoading}
          </Fact>
          <Fact label={words.status.encoder}>
            {status.encoder === null
              ? words.status.encoderOff
              : words.status.encoderStates[status.encoder.state](number(status.encoder.embedded), number(status.encoder.total))}
          </Fact>
          <Fact label={words.status.embeddings}>{words.status.embeddingStates[status.embeddings]}</Fact>
        </dl>
      </section>
      <Owners words={words} owners={status.owners} />
      <Faults words={words} faults={status.faults} />
      <FilesBeside words={words} files={database.beside} />
      {settings.length === 0 ? null : <Settings words={words} settings={settings} />}
    </AdminPage>
  )
}

function formatBytes({ status, language }: Words, bytes: number): string {
  const power = bytes < UNIT ? 0 : Math.min(status.units.length - 1, Math.floor(Math.log(bytes) / Math.log(UNIT)))
  return `${formatsOf(language).shortNumber(bytes / UNIT ** power)} ${status.units[power]}`
}

const Backups: FC<{ words: Words; backups: Status['backups'] }> = ({ words, backups }) => {
  const { status } = words
  if (backups === null) return <>{status.noBackups}</>
  const failures = backups.failures === 0 ? '' : ` · ${status.backupFailures(formatsOf(words.language).number(backups.failures))}`
  if (backups.lastAt === null) return <>{`${status.neverBackedUp}${failures}`}</>
  return (
    <>
      <Moment words={words} at={backups.lastAt} />
      {`, ${status.hoursAgo(Math.floor((Date.now() - Date.parse(backups.lastAt)) / HOUR_MS))}${failures}`}
    </>
  )
}

const Owners: FC<{ words: Words; owners: Status['owners'] }> = ({ words, owners }) => {
  const { number } = formatsOf(words.language)
  return (
    <section>
      <h2>{words.status.owners}</h2>
      <ul class="entries">
        {owners.map(({ username, items, versions, bytes, words: used }) => (
          <li>
            <a href={authorPath(username)}>@{username}</a>{' '}
            <span class="quiet">
              {words.status.keeps(number(items), number(versions), formatBytes(words, bytes))}, {words.status.ownWords(number(used))}
            </span>
          </li>
        ))}
      </ul>
    </section>
  )
}

const Faults: FC<{ words: Words; faults: Status['faults'] }> = ({ words, faults }) => (
  <section>
    <h2>{words.status.faults}</h2>
    {faults.length === 0 ? <p>{words.status.noFaults}</p> : null}
    <ul class="entries">
      {faults.map(({ message, times, lastAt }) => (
        <li>
          <div>
            {message}
            <p class="quiet">
              {words.status.times(times)} · <Moment words={words} at={lastAt} />
            </p>
          </div>
        </li>
      ))}
    </ul>
  </section>
)

const FilesBeside: FC<{ words: Words; files: Status['database']['beside'] }> = ({ words, files }) => (
  <section>
    <h2>{words.status.beside}</h2>
    <p class="quiet">{words.status.besideLead}</p>
    {files.length === 0 ? <p>{words.status.noneBeside}</p> : null}
    <ul class="entries">
      {files.map(({ name, bytes }) => (
        <li>
          <code>{name}</code> <span class="quiet">{formatBytes(words, bytes)}</span>
        </li>
      ))}
    </ul>
  </section>
)

const Settings: FC<{ words: Words; settings: Status['settings'] }> = ({ words: { status }, settings }) => (
  <section>
    <h2>{status.settings}</h2>
    <p class="quiet">{status.settingsLead}</p>
    <ul class="entries">
      {settings.map(({ name, isDefault, isSecret, value }) => (
        <li>
          <code>{name}</code>{' '}
          <span class="quiet">
            {isSecret ? (isDefault ? status.notSet : status.isSet) : (value ?? status.notSet)}
            {isDefault && !isSecret && value !== null && !value.startsWith('(') ? ` (${status.byDefault})` : ''}
          </span>
        </li>
      ))}
    </ul>
  </section>
)
