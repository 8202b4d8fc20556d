import { disconnectProvider, listIdentities } from '../../../operations/account/identities.ts'
import { beginConnecting } from '../../../operations/account/provider-sign-in.ts'
import { Day } from '../../parts/day.tsx'
import { Fault, Field } from '../../parts/field.tsx'
import type { Action, PageRequest } from '../../request.ts'
import { LeavePage, nameProvider } from './provider-sign-in.tsx'
import { SettingsPage } from './settings.tsx'

const HERE = '/settings/sign-in'

/** The ways in which a person signs in, and those they could add. */
export async function showIdentities(request: PageRequest) {
  const { site, call, sent, query } = request
  const { signingIn, ...words } = site.words
  const { hasPassword, identities, others } = await call(listIdentities, {})
  const confirm = hasPassword ? (
    <Field sent={sent} name="password" label={signingIn.confirmPassword} type="password" autocomplete="current-password" isRequired />
  ) : (
    <p class="quiet">{signingIn.confirmFresh}</p>
  )
  return (
    <SettingsPage request={request} at={HERE}>
      {query.get('note') === 'address-taken' ? (
        <p class="notice" role="status">
          {signingIn.addressTaken}
        </p>
      ) : null}
      <Fault sent={sent} fields={['password']} words={words} />
      <section>
        <h2>{signingIn.yourWays}</h2>
        <p>{hasPassword ? signingIn.hasPassword : signingIn.noPassword}</p>
        {identities.length === 0 ? null : (
          <form method="post" class="fields">
            <ul class="entries">
              {identities.map(({ provider, name, subject, connectedAt }) => (
                <li>
                  <div>
                    <strong>{name === 'proxy' ? signingIn.proxy : (name ?? provider)}</strong>
                    <p class="quiet">
                      {name === null ? `${signingIn.unusable} · ` : ''}
                      {subject} · {signingIn.since} <Day words={words} at={connectedAt} />
                    </p>
                  </div>
                  <button class="button" type="submit" name="disconnect" value={provider}>
                    {signingIn.disconnect}
                  </button>
                </li>
              ))}
            </ul>
            {confirm}
          </form>
        )}
      </section>
      {others.length === 0 ? null : (
        <section>
          <h2>{signingIn.others}</h2>
          <p>{signingIn.othersLead}</p>
          <form method="post" class="fields">
            {identities.length === 0 ? (
              confirm
            ) : hasPassword ? (
              <Field
                sent={null}
                name="password"
                label={signingIn.confirmPassword}
                type="password"
                autocomplete="current-password"
                isRequired
              />
            ) : null}
            <p>
              {others.map(({ key, name }) => (
                <button class="button" type="submit" name="connect" value={key}>
                  {signingIn.connect(name)}
                </button>
              ))}
            </p>
          </form>
        </section>
      )}
    </SettingsPage>
  )
}

/** Connects a provider, or takes one off. */
export const changeIdentities: Action = async ({ site, call, form }) => {
  const password = form.text('password')
  if (form.has('disconnect')) {
    await call(disconnectProvider, { provider: form.text('disconnect'), password })
    return { to: `${HERE}?done=disconnected` }
  }
  const key = form.text('connect')
  const { url, cookies } = await call(beginConnecting, { provider: key, to: `${HERE}?done=connected`, password })
  return { html: <LeavePage site={site} name={await nameProvider(call, key)} url={url} />, cookies }
}
