import type { FC } from 'hono/jsx'
import { z } from 'zod'
import { createInstallLink, listInstallLinks, revokeInstallLink } from '../../../operations/channels/install-links.ts'
import type { Output } from '../../../operations/core/procedure.ts'
import { Confirm } from '../../parts/confirm.tsx'
import { Day } from '../../parts/day.tsx'
import { ActionButton, Choice, Fault, Field } from '../../parts/field.tsx'
import { Sample } from '../../parts/sample.tsx'
import type { Action, PageRequest } from '../../request.ts'
import type { Site } from '../../site.ts'
import { SettingsPage } from './settings.tsx'

const PATH = '/settings/install-links'
const EXPIRIES = ['30', '90', '365'] as const
const madeLink = z.object({ url: z.string(), name: z.string() })

type Link = Output<typeof listInstallLinks>['links'][number]

/** A person's install links, and a form for another. The address that form made is shown once. */
export async function showInstallLinks(request: PageRequest) {
  const { site, sent, query } = request
  const { links } = await request.call(listInstallLinks, {})
  const made = request.takeFlash(madeLink)
  const { words } = site
  const { installing } = words
  return (
    <SettingsPage request={request} at={PATH} styles={['admin.css', 'connect.css']}>
      {made ? <MadeLink site={site} made={made} /> : null}
      <section>
        <h2>{installing.newLink}</h2>
        <p class="quiet">
          {installing.lead} <a href="/docs/install">{words.reading.aboutInstalling}</a>
        </p>
        <Fault sent={sent} fields={['name', 'scope', 'expiresInDays']} words={words} />
        <form method="post" class="fields">
          <Field
            sent={sent}
            name="name"
            label={installing.name}
            value=""
            hint={installing.nameHint}
            maxlength={100}
            autocomplete="off"
            isRequired
          />
          <Field
            sent={sent}
            name="scope"
            label={installing.scope}
            value={(query.get('scope') ?? '').slice(0, 255)}
            hint={installing.scopeHint}
            maxlength={255}
            autocomplete="off"
          />
          <Choice
            sent={sent}
            name="expiresInDays"
            label={words.keyExpires}
            value="90"
            options={EXPIRIES.map((days) => [days, words.inDays(Number(days))])}
          />
          <p>
            <button class="button first" type="submit" name="do" value="create">
              {installing.create}
            </button>
          </p>
        </form>
      </section>
      {links.length === 0 ? null : (
        <section>
          <h2>{installing.yourLinks}</h2>
          <ul class="entries">
            {links.map((link) => (
              <Entry site={site} link={link} />
            ))}
          </ul>
        </section>
      )}
    </SettingsPage>
  )
}

/** A new link, shown once, with the line that uses it. */
const MadeLink: FC<{ site: Site; made: z.infer<typeof madeLink> }> = ({ site: { words }, made: { url, name } }) => (
  <section class="new-key" aria-labelledby="new-link">
    <div role="status">
      <h2 id="new-link">{words.installing.created(name)}</h2>
      <p>{words.installing.once}</p>
    </div>
    {[url, `npx skills add ${url}`, `claude plugin marketplace add ${url}.git`].map((text) => (
      <Sample words={words} text={text} />
    ))}
    <p class="quiet">{words.installing.isStored}</p>
  </section>
)

const Entry: FC<{ site: Site; link: Link }> = ({ site: { words }, link }) => {
  const { id, name, scope, createdAt, lastUsedAt, expiresAt, state } = link
  return (
    <li class={state === 'active' ? undefined : 'over'}>
      <div>
        <strong>{name}</strong> <span class="quiet">{scope === '' ? words.installing.everything : decodeURIComponent(scope)}</span>
        <p class="quiet">
          {words.created} <Day words={words} at={createdAt} />
          {' · '}
          {lastUsedAt === null ? (
            words.neverUsed
          ) : (
            <>
              {words.lastUsed} <Day words={words} at={lastUsedAt} />
            </>
          )}
          {expiresAt === null ? null : (
            <>
              {' · '}
              {words.expires} <Day words={words} at={expiresAt} />
            </>
          )}
          {state === 'active' ? null : ` · ${words.keyStates[state]}`}
        </p>
      </div>
      {state === 'active' ? (
        <Confirm label={words.revoke} name={words.revokeKey(name)} means={words.installing.revokeMeans}>
          <ActionButton does="revoke" values={{ id }} label={words.revokeKey(name)}>
            {words.revoke}
          </ActionButton>
        </Confirm>
      ) : null}
    </li>
  )
}

/** Makes a link, which the page after it shows, or revokes one. */
export const changeInstallLinks: Action = async ({ call, form }) => {
  if (form.text('do') === 'revoke') {
    await call(revokeInstallLink, { id: form.text('id') })
    return { to: `${PATH}?done=link-revoked` }
  }
  const { url, link } = await call(createInstallLink, {
    name: form.text('name'),
    scope: readScope(form.text('scope')),
    expiresInDays: Number(form.text('expiresInDays')),
  })
  return { to: PATH, flash: { url, name: link.name } }
}

/** The path of a scope from what people paste: an address, or its path, with or without percent-encoding. */
function readScope(text: string): string {
  const path = text
    .trim()
    .replace(/^https?:\/\/[^/]+/, '')
    .replace(/\/+$/, '')
  try {
    return decodeURIComponent(path)
  } catch {
    return path
  }
}
