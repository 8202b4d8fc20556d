import type { Child, FC } from 'hono/jsx'
import { CLIENTS, type ClientConfig, type ClientId, PLACEHOLDER_KEY } from '../client-configs.ts'
import { linkInstalls } from '../install-links.ts'
import type { Site } from '../site.ts'
import { textOf } from '../text-of.ts'
import { LinkLine, Strip } from './controls.tsx'
import { Sample } from './sample.tsx'

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
      {client.samples.map(({ files, write }) => (
        <>
          <p class="where">
            {files.length === 0 ? (
              connecting.inShell
            ) : (
              <>
                {connecting.inFiles(files.length)}{' '}
                {files.map((file, place) => (
                  <>
                    {place > 0 ? ', ' : null}
                    <code>{file}</code>
                  </>
                ))}
                :
              </>
            )}
          </p>
          <Sample words={words} text={write(endpoint, apiKey)} />
        </>
      ))}
      {note ? <p class="quiet">{note}</p> : null}
    </>
  )
}
