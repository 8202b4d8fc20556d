import type { Child, FC } from 'hono/jsx'
import { z } from 'zod'
import { DEFAULT_SCOPES, SCOPES } from '../../../domain/people/actor.ts'
import { decodePart } from '../../../domain/text/addresses.ts'
import { connectProgram, createKey, listKeys, refuseProgram, revokeKey, showProgramRequest } from '../../../operations/account/keys.ts'
import { createInstallLink, listInstallLinks, revokeInstallLink } from '../../../operations/channels/install-links.ts'
import type { Output } from '../../../operations/core/procedure.ts'
import { listKeyUsage } from '../../../operations/usage.ts'
import { CLIENT_IDS } from '../../clients.ts'
import { CHART_STYLES, KeyUse, KeyUseTable } from '../../parts/charts.tsx'
import { chosenReach, makeKey, NewKeySection, newKey, Permissions, Reach, readReaches } from '../../parts/connect.tsx'
import { Details, Section, ShownOnce, Submit } from '../../parts/controls.tsx'
import { On } from '../../parts/facts.tsx'
import { Fault } from '../../parts/field.tsx'
import { ConfirmedAction, Form, sentWith } from '../../parts/form.tsx'
import { Entries, Entry } from '../../parts/lists.tsx'
import { LeavePage, NarrowPage, SectionPage } from '../../parts/page-frames.tsx'
import { type Action, actBy, doing, done, type PageRequest } from '../../request.ts'
import type { Words } from '../../site.ts'

const PATH = '/settings/access'
const STYLES = ['admin.css', 'connect.css', ...CHART_STYLES]
const LINK_EXPIRIES = [30, 90, 365] as const
const madeLink = z.object({ url: z.string(), linkName: z.string() })

/** The ways into the library as the reader: keys, programs that signed in, install links. A new key or link is shown once. */
export async function showAccess(request: PageRequest) {
  const { site, words, call, query, sent, takeFlash } = request
  const { programs, installing } = words
  const [{ keys: all }, usage, { links }, reaches] = await Promise.all([
    call(listKeys, {}),
    call(listKeyUsage, {}),
    call(listInstallLinks, {}),
    readReaches(request),
  ])
  const keys = all.filter(({ program }) => program === null)
  const held = all.filter(({ program }) => program !== null)
  const key = takeFlash(newKey)
  const link = takeFlash(madeLink)
  const inDays = (days: number) => [String(days), words.inDays(days)] as const
  const useOf = (record: (typeof all)[number]) => <KeyUse words={words} usage={usage} keyOf={record} />
  return (
    <SectionPage request={request} at={PATH} forms={['create', 'create-link']} styles={STYLES}>
      {key ? <NewKeySection site={site} made={key} chosen={CLIENT_IDS[0]} /> : null}
      {link ? (
        <ShownOnce
          words={words}
          title={installing.created(link.linkName)}
          lead={installing.once}
          texts={[link.url, `npx skills add ${link.url}`, `claude plugin marketplace add ${link.url}.git`]}
        >
          <p class="quiet">{installing.isStored}</p>
        </ShownOnce>
      ) : null}
      <Section id="keys" title={words.apiKeys} lead={words.keysLead}>
        <Entries
          of={keys}
          row={(record) => (
            <Lasting
              words={words}
              record={record}
              note={describeKey(words, record)}
              more={useOf(record)}
              end={{ does: 'revoke', label: words.revoke, name: words.revokeKey(record.name), means: words.revokeKeyMeans }}
            />
          )}
        />
        <KeyUseTable words={words} usage={usage} keys={keys} />
        <Details open={keys.length === 0 || sentWith(sent, 'create') !== null} summary={words.newKey}>
          <Form
            request={request}
            does="create"
            of={createKey}
            fields={{
              name: {
                label: words.keyName,
                value: keys.length === 0 ? words.firstKeyName : '',
                hint: words.keyNameHint,
                autocomplete: 'off',
              },
              expiresInDays: { label: words.keyExpires, options: [['', words.never], ...LINK_EXPIRIES.map(inDays)] },
            }}
            submit={words.createKey}
          >
            <Permissions sent={sentWith(sent, 'create')} words={words} scopes={SCOPES} />
            <Reach sent={sentWith(sent, 'create')} words={words} label={words.keyReaches} reaches={reaches} />
          </Form>
        </Details>
      </Section>
      {site.hasOAuth ? (
        <Section id="programs" title={programs.connected}>
          <p class="quiet">
            {programs.lead} {programs.howTo(`${site.baseUrl}/mcp`)}
          </p>
          <Entries
            none={programs.none}
            of={held}
            row={(record) => (
              <Lasting
                words={words}
                record={record}
                note={describeKey(words, record)}
                more={useOf(record)}
                end={{
                  does: 'disconnect',
                  label: programs.disconnect,
                  name: programs.disconnectNamed(record.name),
                  means: programs.disconnectMeans,
                }}
              />
            )}
          />
          {held.filter(({ state }) => state === 'active').length > 1 ? (
            <ConfirmedAction does="disconnect-all" label={programs.disconnectAll} means={programs.disconnectAllMeans} />
          ) : null}
        </Section>
      ) : null}
      <Section id="install-links" title={installing.links}>
        <p class="quiet">
          {installing.lead} <a href="/docs/install">{words.reading.aboutInstalling}</a>
        </p>
        <Entries
          of={links}
          row={(record) => (
            <Lasting
              words={words}
              record={record}
              note={record.scope === '' ? installing.everything : decodeURIComponent(record.scope)}
              end={{ does: 'revoke-link', label: words.revoke, name: words.revokeKey(record.name), means: installing.revokeMeans }}
            />
          )}
        />
        <Details open={query.has('scope') || sentWith(sent, 'create-link') !== null} summary={installing.newLink}>
          <Form
            request={request}
            does="create-link"
            of={createInstallLink}
            fields={{
              name: { label: installing.name, hint: installing.nameHint, autocomplete: 'off' },
              scope: {
                label: installing.scope,
                value: query.get('scope')?.slice(0, 255),
                hint: installing.scopeHint,
                autocomplete: 'off',
              },
              expiresInDays: { label: words.keyExpires, value: '90', options: LINK_EXPIRIES.map(inDays) },
            }}
            submit={installing.create}
          />
        </Details>
      </Section>
    </SectionPage>
  )
}

interface LastingProps {
  readonly words: Words
  readonly record: Pick<Output<typeof listKeys>['keys'][number], 'id' | 'name' | 'createdAt' | 'lastUsedAt' | 'expiresAt' | 'state'>
  readonly note: string
  readonly more?: Child
  readonly end: { readonly does: string; readonly label: string; readonly name: string; readonly means: string }
}

/** A key or a link, which works until it expires or is ended. */
const Lasting: FC<LastingProps> = ({ words, record: { id, name, createdAt, lastUsedAt, expiresAt, state }, note, more, end }) => (
  <Entry
    title={<strong>{name}</strong>}
    note={note}
    isOver={state !== 'active'}
    data-used={lastUsedAt === null ? undefined : id}
    facts={[
      <On label={words.created} words={words} at={createdAt} />,
      lastUsedAt === null ? words.neverUsed : <On label={words.lastUsed} words={words} at={lastUsedAt} />,
      expiresAt === null ? null : <On label={words.expires} words={words} at={expiresAt} />,
      state === 'active' ? null : words.keyStates[state],
    ]}
    more={more}
  >
    {state === 'active' ? <ConfirmedAction values={{ id }} {...end} /> : null}
  </Entry>
)

function describeKey(
  words: Words,
  { scopes, narrowedTo }: { readonly scopes: readonly (keyof Words['scopes'])[]; readonly narrowedTo: string[] | null },
) {
  return [scopes.map((scope) => words.scopeNames[scope]).join(', '), ...(narrowedTo === null ? [] : [words.narrowedTo(narrowedTo)])].join(
    ' · ',
  )
}

/** Makes keys and links, which the page after it shows, and ends them. */
export const changeAccess = actBy({
  create: async (request) => ({ to: PATH, flash: await makeKey(request) }),
  revoke: doing(revokeKey, ({ form }) => ({ id: form.text('id') }), 'key-revoked'),
  disconnect: doing(revokeKey, ({ form }) => ({ id: form.text('id') }), 'program-disconnected'),
  async 'disconnect-all'({ call }) {
    const { keys } = await call(listKeys, {})
    for (const { id, program, state } of keys) if (program !== null && state === 'active') await call(revokeKey, { id })
    return done(PATH, 'program-disconnected')
  },
  async 'create-link'({ call, form }) {
    const input = { name: form.text('name'), scope: readScope(form.text('scope')), expiresInDays: Number(form.text('expiresInDays')) }
    const { url, link } = await call(createInstallLink, input)
    return { to: PATH, flash: { url, linkName: link.name } }
  },
  'revoke-link': doing(revokeInstallLink, ({ form }) => ({ id: form.text('id') }), 'link-revoked'),
})

/** The path of a scope from what people paste: an address, or its path, with or without percent-encoding. */
function readScope(text: string): string {
  const path = text.trim().replace(/^https?:\/\/[^/]+/, '')
  return decodePart(path.replace(/\/+$/, ''))
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
    <NarrowPage request={request} name={programs.title} title={programs.heading(name)}>
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
        <Reach sent={sent} words={words} label={words.access} reaches={reaches} />
        <p class="ways">
          <Submit does="allow" look="button first" text={programs.allow} /> <Submit does="refuse" text={programs.refuse} />
        </p>
      </form>
    </NarrowPage>
  )
}

/** Sends the reader back to the program. */
export const submitConsent: Action = async (request) => {
  const { call, form, site } = request
  const query = form.text('query')
  const { to } =
    form.text('do') === 'allow'
      ? await call(connectProgram, { query, scopes: form.allChoices('scopes', DEFAULT_SCOPES), ...chosenReach(form) })
      : await call(refuseProgram, { query })
  const { programs, factors } = site.words
  return { html: <LeavePage request={request} title={programs.going} lead={programs.goingLead} goOn={factors.goOn} url={to} /> }
}
