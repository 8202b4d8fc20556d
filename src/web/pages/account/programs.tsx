import { SCOPES } from '../../../domain/people/actor.ts'
import { connectProgram, refuseProgram, showProgramRequest } from '../../../operations/account/connect-programs.ts'
import { listKeys, revokeKey } from '../../../operations/account/keys.ts'
import { listKeyUsage } from '../../../operations/usage.ts'
import { Layout } from '../../layout.tsx'
import { Confirm } from '../../parts/confirm.tsx'
import { ActionButton, Fault } from '../../parts/field.tsx'
import { chosenReach, Permissions, Reach, readReaches } from '../../parts/permissions.tsx'
import { CHART_STYLES } from '../../parts/usage-charts.tsx'
import type { Action, PageRequest } from '../../request.ts'
import { KeyEntries } from './keys.tsx'
import { SettingsPage } from './settings.tsx'

const PATH = '/settings/programs'

/** The programs that hold something of a person's. */
export async function showPrograms(request: PageRequest) {
  const [{ keys }, usage] = await Promise.all([request.call(listKeys, {}), request.call(listKeyUsage, {})])
  const { words, baseUrl } = request.site
  const held = keys.filter(({ program }) => program !== null)
  const { programs } = words
  return (
    <SettingsPage request={request} at={PATH} styles={['admin.css', ...CHART_STYLES]}>
      <section>
        <p class="quiet">{programs.lead}</p>
        <p class="quiet">{programs.howTo(`${baseUrl}/mcp`)}</p>
        {held.length === 0 ? <p>{programs.none}</p> : null}
        <KeyEntries
          words={words}
          keys={held}
          usage={usage}
          ends={programs.disconnect}
          endsNamed={programs.disconnectNamed}
          means={programs.disconnectMeans}
        />
        {held.filter(isConnected).length > 1 ? (
          <Confirm label={programs.disconnectAll} name={programs.disconnectAll} means={programs.disconnectAllMeans}>
            <ActionButton does="revoke-all" label={programs.disconnectAll}>
              {programs.disconnectAll}
            </ActionButton>
          </Confirm>
        ) : null}
      </section>
    </SettingsPage>
  )
}

const isConnected = ({ program, state }: { readonly program: string | null; readonly state: string }) =>
  program !== null && state === 'active'

/** Disconnects one, or all. */
export const changePrograms: Action = async ({ call, form }) => {
  const isAll = form.text('do') === 'revoke-all'
  const { keys } = isAll ? await call(listKeys, {}) : { keys: [] }
  const ids = isAll ? keys.filter(isConnected).map(({ id }) => id) : [form.text('id')]
  for (const id of ids) await call(revokeKey, { id })
  return { to: `${PATH}?done=program-disconnected` }
}

/** Asks whether a program may act for the reader. */
export async function showConsent(request: PageRequest) {
  const { site, sent, query, call } = request
  const { words, reader } = site
  const { programs } = words
  const signed = sent?.form.text('query') ?? query.toString()
  const [{ name, publishedBy, returnsTo, scopes }, reaches] = await Promise.all([
    call(showProgramRequest, { query: signed }),
    readReaches(request),
  ])
  return (
    <Layout site={site} title={programs.title} isIndexed={false}>
      <div class="narrow">
        <h1>{programs.heading(name)}</h1>
        <Fault sent={sent} fields={['scopes']} words={words} />
        <p>
          {programs.asYou(reader?.username ?? '')} {publishedBy === null ? programs.unknownMaker : programs.publishedBy(publishedBy)}
        </p>
        <p>
          <strong>{programs.returnsTo(returnsTo)}</strong> {programs.onlyIf}
        </p>
        <form method="post" class="fields">
          <input type="hidden" name="query" value={signed} />
          <Permissions sent={sent} words={words} scopes={scopes} />
          <Reach sent={sent} words={words} label={programs.reaches} reaches={reaches} />
          <p class="ways">
            <button class="button first" type="submit" name="do" value="allow">
              {programs.allow}
            </button>{' '}
            <button class="button" type="submit" name="do" value="refuse">
              {programs.refuse}
            </button>
          </p>
        </form>
      </div>
    </Layout>
  )
}

/** Sends the reader back to the program, by a page: forms of this service lead nowhere else. */
export const submitConsent: Action = async ({ call, form, site }) => {
  const query = form.text('query')
  const { to } =
    form.text('do') === 'allow'
      ? await call(connectProgram, { query, scopes: form.allChoices('scopes', SCOPES), ...chosenReach(form) })
      : await call(refuseProgram, { query })
  const { programs } = site.words
  return {
    html: (
      <Layout site={site} title={programs.going} isIndexed={false} goesTo={to}>
        <div class="narrow">
          <h1>{programs.going}</h1>
          <p>{programs.goingLead}</p>
          <p>
            <a class="button first" href={to} rel="noreferrer">
              {programs.goOn}
            </a>
          </p>
        </div>
      </Layout>
    ),
  }
}
