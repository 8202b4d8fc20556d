import type { Child, FC } from 'hono/jsx'
import { z } from 'zod'
import { DEFAULT_SCOPES, SCOPES, type Scope } from '../../domain/people/actor.ts'
import { createKey } from '../../operations/account/keys.ts'
import { listCollections } from '../../operations/collections/collections.ts'
import { listTeams } from '../../operations/teams/teams.ts'
import {
  AGENTS,
  CLIENTS,
  type ClientConfig,
  type ClientId,
  claudeCommand,
  type Installed,
  linkInstalls,
  PLACEHOLDER_KEY,
  type Sample as SampleText,
} from '../clients.ts'
import type { SentForm } from '../forms.ts'
import type { Action, PageRequest } from '../request.ts'
import { type Site, textOf, type Words } from '../site.ts'
import { Link, LinkLine, Sample, ShownOnce, Strip, Submit } from './controls.tsx'
import { Field, faultOf } from './field.tsx'

/** How configurations reach what only their reader sees: not at all, by signing in, by a key. */
export const ACCESSES = ['public', 'sign-in', 'key'] as const
export type Access = (typeof ACCESSES)[number]

interface ClientTabsProps {
  readonly site: Site
  /** A new key, which every configuration has. Default: none */
  readonly apiKey?: string
  /** The selected way to connect; there is no switch with a key. */
  readonly access?: Access
  readonly chosen: ClientId
  /** The form that gets the chosen client. */
  readonly form?: string
  /** Shown between the tabs and the configuration. */
  readonly children?: Child
}

/**
 * How to connect each client, one at a time. The tabs are radio buttons, and the sheet `connect.css` shows what belongs to the chosen ones:
 * they work without a script, and a key that is shown once stays on the page.
 */
export const ClientTabs: FC<ClientTabsProps> = ({ site, apiKey, access = 'public', chosen, form, children }) => {
  const { connecting } = site.words
  return (
    <div class="clients">
      <Strip legend={connecting.client} name="client" options={CLIENTS.map(({ id, name }) => [id, name])} chosen={chosen} form={form} />
      {apiKey === undefined ? <AccessSwitch site={site} access={access} /> : null}
      {children}
      {CLIENTS.map((client) => (
        <section class="client" data-client={client.id} aria-label={connecting.configOf(client.name)}>
          {apiKey === undefined ? (
            <>
              <div class="keyless">
                <Config site={site} client={client} apiKey={null} />
              </div>
              {site.hasOAuth ? (
                <div class="signing">
                  <SignIn site={site} client={client} />
                </div>
              ) : null}
              <div class="keyed">
                <Config site={site} client={client} apiKey={PLACEHOLDER_KEY} />
              </div>
            </>
          ) : (
            <Config site={site} client={client} apiKey={apiKey} />
          )}
        </section>
      ))}
    </div>
  )
}

const AccessSwitch: FC<{ site: Site; access: Access }> = ({ site: { words, isForMembers, hasOAuth }, access }) => {
  const offered = ACCESSES.filter((one) => (one !== 'public' || !isForMembers) && (one !== 'sign-in' || hasOAuth))
  const options = offered.map((one) => [one, words.connecting.accesses[one]] as const)
  return <Strip legend={words.keyReaches} name="access" options={options} chosen={access} hidden={offered.length === 1} />
}

/** The configuration with the address that asks to sign in, and how the client starts. */
const SignIn: FC<{ site: Site; client: ClientConfig }> = ({ site, client: { signsIn, ...client } }) => {
  const { connecting } = site.words
  if (signsIn === 'never') return <p>{connecting.cannotSignIn(client.name)}</p>
  return (
    <>
      <Config site={site} client={client} apiKey={null} path="/mcp" />
      {signsIn === 'by itself' ? null : (
        <>
          <p class="where">{connecting.signInIn[signsIn.in]}</p>
          <Sample words={site.words} text={signsIn.command} />
        </>
      )}
      <p class="quiet">{connecting.opensBrowser}</p>
    </>
  )
}

/** Commands and parts of files, each below the files it belongs in. @param inShell stands above a command */
const Samples: FC<{ words: Words; of: readonly SampleText[]; inShell?: string }> = ({ words, of, inShell }) => (
  <>
    {of.map(({ files, text }) => (
      <>
        {files.length > 0 ? (
          <p class="where">
            {words.connecting.inFiles(files.length)}{' '}
            {files.map((file, place) => (
              <>
                {place > 0 ? ', ' : null}
                <code>{file}</code>
              </>
            ))}
            :
          </p>
        ) : inShell ? (
          <p class="where">{inShell}</p>
        ) : null}
        <Sample words={words} text={text} />
      </>
    ))}
  </>
)

/** The link that installs, where the client has one and a key is no placeholder, then the commands and files. */
const Config: FC<{ site: Site; client: Omit<ClientConfig, 'signsIn'>; apiKey: string | null; path?: string }> = (props) => {
  const { site, client, apiKey, path = '/api/mcp' } = props
  const { words, baseUrl } = site
  const { connecting } = words
  const endpoint = baseUrl + path
  const install = apiKey === PLACEHOLDER_KEY ? undefined : linkInstalls(endpoint, apiKey).find((link) => link.client === client.name)
  const note = apiKey === null && client.id === 'vs-code' ? undefined : textOf(connecting.notes, client.id)
  return (
    <>
      {install ? <LinkLine to={install.href} look="button first" rel="nofollow" text={words.installIn[install.client]} /> : null}
      <Samples words={words} of={client.write(endpoint, apiKey)} inShell={connecting.inShell} />
      {note ? <p class="quiet">{note}</p> : null}
    </>
  )
}

/** A team or collection that a key or a program can be narrowed to, with its name. */
export type Reaches = readonly (readonly [value: string, name: string])[]

/** The teams and collections that a key of the reader can be narrowed to. */
export async function readReaches({ call, words }: Pick<PageRequest, 'call' | 'words'>): Promise<Reaches> {
  const [{ teams }, { collections }] = await Promise.all([call(listTeams, {}), call(listCollections, { perPage: 100 })])
  return [
    ...teams.map(({ name }) => [`team ${name}`, words.keyReachesTeam(name)] as const),
    ...collections.map(({ id, title }) => [`collection ${id}`, words.keyReachesCollection(title)] as const),
  ]
}

/** The choice of a form. */
export function chosenReach(form: SentForm): { team?: string; collections?: string[] } {
  const reach = form.text('reach')
  if (reach.startsWith('team ')) return { team: reach.slice(5) }
  return reach.startsWith('collection ') ? { collections: [reach.slice(11)] } : {}
}

/** The field to choose one. */
export const Reach: FC<{ sent: PageRequest['sent']; words: Words; label: string; reaches: Reaches }> = ({ sent, words, label, reaches }) =>
  reaches.length === 0 ? null : <Field sent={sent} name="reach" label={label} value="" options={[['', words.keyReachesAll], ...reaches]} />

/** A tick for each scope. */
export const Permissions: FC<{ sent: PageRequest['sent']; words: Words; scopes: readonly Scope[] }> = ({ sent, words, scopes }) => (
  <fieldset>
    <legend>{words.keyPermissions}</legend>
    {scopes.map((scope) => (
      <label class="tick">
        <input
          type="checkbox"
          name="scopes"
          value={scope}
          checked={sent ? sent.form.all('scopes').includes(scope) : DEFAULT_SCOPES.some((one) => one === scope)}
        />{' '}
        {words.scopes[scope]}
      </label>
    ))}
    {faultOf(sent, 'scopes') ? <p class="fault">{faultOf(sent, 'scopes')}</p> : null}
  </fieldset>
)

/** The data for the page after a form that creates a key. */
export const newKey = z.object({ id: z.string(), key: z.string(), name: z.string() })
export type NewKey = z.infer<typeof newKey>

/** Creates the key that a form describes. */
export async function makeKey({ call, form }: Pick<Parameters<Action>[0], 'call' | 'form'>): Promise<NewKey> {
  const days = form.text('expiresInDays')
  const { key, record } = await call(createKey, {
    name: form.text('name'),
    scopes: form.allChoices('scopes', SCOPES),
    expiresInDays: days === '' ? undefined : Number(days),
    ...chosenReach(form),
  })
  return { id: record.id, key, name: record.name }
}

/** The fields of a form with one button that creates a key with the default scopes. */
export const FirstKeyFields: FC<{ words: Site['words'] }> = ({ words }) => (
  <>
    <input type="hidden" name="name" value={words.firstKeyName} />
    {DEFAULT_SCOPES.map((scope) => (
      <input type="hidden" name="scopes" value={scope} />
    ))}
  </>
)

/** A new key, shown once, with the configuration of each client. */
export const NewKeySection: FC<{ site: Site; made: NewKey; chosen: ClientId }> = ({ site, made: { id, key, name }, chosen }) => {
  const { words, baseUrl, hasMcp } = site
  return (
    <ShownOnce words={words} title={words.keyCreated(name)} lead={words.keyOnce} texts={[key]}>
      <p class="quiet" role="status" data-first-call={id} data-received={words.firstCallReceived} hidden>
        {words.firstCallAwaited}
      </p>
      {hasMcp ? (
        <>
          <h3>{words.useWithKey}</h3>
          <ClientTabs site={site} apiKey={key} chosen={chosen} />
        </>
      ) : null}
      <h3>{words.tryKey}</h3>
      <Sample words={words} text={`curl '${baseUrl}/api/prompts?perPage=3' -H 'X-API-Key: ${key}'`} />
    </ShownOnce>
  )
}

/** How to use the service from a client, in one step, for public items. Where every item needs a key, a link to the page that creates one. */
export const ConnectBox: FC<{ site: Site }> = ({ site: { words, baseUrl, hasMcp, isForMembers, reader } }) => {
  if (!hasMcp) return null
  if (isForMembers) return <LinkLine to="/connect" look="button" text={words.connect} />
  const endpoint = `${baseUrl}/api/mcp`
  return (
    <div class="connect-box">
      <div class="actions">
        {linkInstalls(endpoint, null).map(({ client, href }) => (
          <Link to={href} look="button" rel="nofollow" text={words.installIn[client]} />
        ))}
      </div>
      <Sample words={words} text={claudeCommand(endpoint, null)} />
      {reader ? (
        <form method="post" action="/connect">
          <p class="quiet">
            <FirstKeyFields words={words} />
            {words.publicOnly} <Submit does="create" look="link" text={words.createKeyHere} />
          </p>
        </form>
      ) : null}
    </div>
  )
}

/** The sheet that shows the chosen tab. */
export const INSTALL_STYLES = ['connect.css']

interface InstallBoxProps {
  readonly site: Site
  readonly installed: Installed
  /** The first line of the box. */
  readonly lead: string
}

/** How to install skills, with a tab for each agent. Without skills to share, only what works with a key. */
export const InstallBox: FC<InstallBoxProps> = ({ site: { words, baseUrl, reader }, installed, lead }) => {
  const { reading } = words
  const offered = AGENTS.flatMap(({ id, name, write }) => {
    const samples = write(baseUrl, installed)
    return samples ? [{ id, name, samples }] : []
  })
  const { needsKey } = installed
  return (
    <details class="install">
      <summary class="button first">{reading.install}</summary>
      <p class="quiet">{lead}</p>
      <div class="clients">
        {offered.length > 1 ? (
          <Strip
            legend={reading.agent}
            name="agent"
            id="client"
            options={offered.map(({ id, name }) => [id, name])}
            chosen={offered[0]?.id}
          />
        ) : null}
        {offered.map(({ id, name, samples }) => (
          <section class={offered.length > 1 ? 'client' : undefined} data-client={id} aria-label={reading.installWith(name)}>
            <Samples words={words} of={samples} />
            {reading.agentNotes[id] === '' ? null : <p class="quiet">{reading.agentNotes[id]}</p>}
          </section>
        ))}
      </div>
      <p class="quiet">
        {needsKey ? (installed.skill ? reading.installPrivate : reading.installByLink) : reading.installPublic}{' '}
        {reader ? (
          <>
            <a href={`/settings/access?scope=${encodeURIComponent(installed.scope)}`}>{reading.makeInstallLink}</a> ·{' '}
          </>
        ) : null}
        <a href="/docs/install">{reading.aboutInstalling}</a>
      </p>
    </details>
  )
}
