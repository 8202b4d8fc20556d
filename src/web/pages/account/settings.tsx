import type { Child, FC } from 'hono/jsx'
import { DEFAULT_VISIBILITIES } from '../../../domain/items/visibility.ts'
import type { UsagePart } from '../../../domain/people/quota.ts'
import { hasRight } from '../../../domain/people/teams.ts'
import { writeCookie } from '../../../domain/sign-in/cookies.ts'
import { PASSWORD_LENGTH } from '../../../domain/sign-in/password.ts'
import {
  changePassword,
  deleteAccount,
  endSessions,
  hideFirstSteps,
  showAccount,
  updateAccount,
} from '../../../operations/account/account.ts'
import { showSignInWays } from '../../../operations/account/provider-sign-in.ts'
import { dismissNewSignIns } from '../../../operations/account/sign-in.ts'
import { listTeams } from '../../../operations/teams/teams.ts'
import { formatsOf } from '../../formats.ts'
import { languageCookie } from '../../language.ts'
import { Day } from '../../parts/day.tsx'
import { Fact } from '../../parts/facts.tsx'
import { ActionButton, Choice, Fault, Field } from '../../parts/field.tsx'
import { NewSignIns, readNewSignIns } from '../../parts/new-sign-ins.tsx'
import { RevokeKeys } from '../../parts/revoke-keys.tsx'
import { SectionsPage } from '../../parts/sections-page.tsx'
import type { Action, PageRequest } from '../../request.ts'
import type { Site } from '../../site.ts'
import { LANGUAGES } from '../../strings/languages.ts'
import { LANGUAGE_OPTIONS } from './language.tsx'

const YEAR_SECONDS = 365 * 24 * 3600

/** The frame of every settings page. */
export const SettingsPage: FC<{
  request: PageRequest
  at: string
  styles?: readonly string[]
  scripts?: readonly string[]
  children?: Child
}> = ({ request, at, styles, scripts, children }) => {
  const { words, reader, hasOAuth } = request.site
  const own = Object.entries(words.settingsSections).filter(([path]) => hasOAuth || path !== '/settings/programs')
  const sections = { ...Object.fromEntries(own), ...(reader?.isAdmin ? { '/admin': words.administration } : {}) }
  const signOut = (
    <form method="post" action="/sign-out">
      <button class="button" type="submit">
        {words.signOut}
      </button>
    </form>
  )
  return (
    <SectionsPage request={request} of={words.settings} sections={sections} at={at} styles={styles} scripts={scripts} aside={signOut}>
      {children}
    </SectionsPage>
  )
}

/** The submitted form of a page, so that its errors appear there. */
function sentWith(sent: PageRequest['sent'], does: string): PageRequest['sent'] {
  return sent?.form.text('do') === does ? sent : null
}

/** Profile, privacy of new items, and the look of the pages. */
export async function showSettings(request: PageRequest) {
  const { site, call, sent } = request
  const { words } = site
  const me = await call(showAccount, {})
  const profile = sentWith(sent, 'profile')
  const email = sentWith(sent, 'email')
  return (
    <SettingsPage request={request} at="/settings">
      <section>
        <p class="quiet">
          {words.profileLead} <a href={`/@${encodeURIComponent(me.username)}`}>{words.seeProfile}</a>
        </p>
        <Fault sent={profile} fields={['displayName', 'bio', 'website']} words={words} />
        <form method="post" class="fields">
          <Field sent={profile} name="displayName" label={words.displayName} value={me.displayName} maxlength={100} autocomplete="name" />
          <Field sent={profile} name="bio" label={words.bio} value={me.bio} rows={3} maxlength={500} />
          <Field sent={profile} name="website" label={words.website} type="url" value={me.website} maxlength={200} autocomplete="url" />
          <Choice
            sent={profile}
            name="defaultVisibility"
            label={words.defaultVisibility}
            value={me.defaultVisibility}
            options={DEFAULT_VISIBILITIES.map((visibility) => [visibility, words.visibilityMeans[visibility]])}
          />
          <p>
            <button class="button first" type="submit" name="do" value="profile">
              {words.save}
            </button>
          </p>
        </form>
      </section>
      <section>
        <h2>{words.email}</h2>
        <Fault sent={email} fields={['email', 'password']} words={words} />
        <form method="post" class="fields">
          <Field sent={email} name="email" label={words.email} type="email" value={me.email} hint={words.emailHint} autocomplete="email" />
          {me.hasPassword ? (
            <Field
              sent={email}
              name="password"
              label={words.password}
              type="password"
              hint={words.passwordForEmail}
              autocomplete="current-password"
            />
          ) : (
            <p class="quiet">{words.signingIn.confirmFresh}</p>
          )}
          <p>
            <button class="button" type="submit" name="do" value="email">
              {words.changeEmail}
            </button>
          </p>
        </form>
      </section>
      <section>
        <h2>{words.appearance}</h2>
        <form method="post" class="fields">
          <Choice
            sent={null}
            name="theme"
            label={words.themeHere}
            value={site.theme ?? 'system'}
            options={[
              ['system', words.themes.system],
              ['light', words.themes.light],
              ['dark', words.themes.dark],
            ]}
          />
          <p>
            <button class="button" type="submit" name="do" value="theme">
              {words.saveAppearance}
            </button>
          </p>
        </form>
      </section>
      <section>
        <h2>{words.languages.language}</h2>
        <form method="post" class="fields">
          <Choice
            sent={sentWith(sent, 'language')}
            name="language"
            label={words.languages.language}
            value={me.language ?? ''}
            options={[['', words.languages.asBrowser], ...LANGUAGE_OPTIONS]}
          />
          <p>
            <button class="button" type="submit" name="do" value="language">
              {words.languages.save}
            </button>
          </p>
        </form>
      </section>
    </SettingsPage>
  )
}

/** A cookie that remembers the look, for pages alone. */
function themeCookie(theme: string, site: Site): string {
  const chosen = theme === 'light' || theme === 'dark' ? theme : ''
  return writeCookie('theme', chosen, site.baseUrl, { maxAgeSeconds: YEAR_SECONDS, sameSite: 'Lax' })
}

/** Changes what the profile page holds. */
export const changeSettings: Action = async ({ call, form, site }) => {
  switch (form.text('do')) {
    case 'theme':
      return { to: '/settings?done=theme', cookies: [themeCookie(form.text('theme'), site)] }
    case 'language':
      await call(updateAccount, { language: form.choice('language', ['', ...LANGUAGES]) })
      // Otherwise a language chosen earlier in this browser would override the setting.
      return { to: '/settings?done=language', cookies: [languageCookie(null, site.baseUrl)] }
    case 'hide-steps':
      await call(hideFirstSteps, {})
      return { to: '/' }
    case 'email':
      await call(updateAccount, { email: form.text('email').trim(), password: form.text('password') })
      return { to: '/settings?done=saved' }
    default: {
      await call(updateAccount, {
        displayName: form.text('displayName'),
        bio: form.text('bio'),
        website: form.text('website'),
        defaultVisibility: form.choice('defaultVisibility', DEFAULT_VISIBILITIES),
      })
      return { to: '/settings?done=saved' }
    }
  }
}

/** Changes the password, or sets the first one. */
const PasswordSection: FC<Pick<PageRequest, 'site' | 'sent'> & { username: string; hasPassword: boolean }> = ({
  site,
  sent,
  username,
  hasPassword,
}) => {
  const { words } = site
  return (
    <section>
      <h2>{words.password}</h2>
      <Fault sent={sent} fields={['password', 'newPassword']} words={words} />
      <form method="post" class="fields">
        <input type="text" name="username" value={username} autocomplete="username" readonly hidden />
        {hasPassword ? (
          <Field sent={sent} name="password" label={words.currentPassword} type="password" autocomplete="current-password" isRequired />
        ) : (
          <p class="quiet">{words.signingIn.firstPassword}</p>
        )}
        <Field
          sent={sent}
          name="newPassword"
          label={words.newPassword}
          type="password"
          hint={words.passwordHint}
          autocomplete="new-password"
          maxlength={PASSWORD_LENGTH.max}
          isRequired
        />
        <RevokeKeys words={words} sent={sent} />
        <p>
          <button class="button first" type="submit" name="do" value="password">
            {hasPassword ? words.changePassword : words.setPassword}
          </button>
        </p>
      </form>
    </section>
  )
}

/** Password, and the browsers that are signed in. */
export async function showSessions(request: PageRequest) {
  const { site, call, sent } = request
  const { words } = site
  const [me, { hasPasswords }] = await Promise.all([call(showAccount, {}), call(showSignInWays, {})])
  const password = sentWith(sent, 'password')
  const session = sentWith(sent, 'end') ?? sentWith(sent, 'end-others')
  return (
    <SettingsPage request={request} at="/settings/sessions">
      <NewSignIns words={words} sessions={await readNewSignIns(request)} />
      {hasPasswords ? (
        <PasswordSection site={site} sent={password} username={me.username} hasPassword={me.hasPassword} />
      ) : (
        <Fault sent={password} words={words} />
      )}
      <section>
        <h2>{words.sessions}</h2>
        <Fault sent={session} words={words} />
        <ul class="entries">
          {me.sessions.map((one) => (
            <li>
              <div>
                <strong>{one.browser ?? words.unknownBrowser}</strong>
                {one.isThis ? ` (${words.thisBrowser})` : ''}
                {one.isNew ? ` (${words.factors.isNew})` : ''}
                <p class="quiet">
                  {one.address ? `${one.address} · ` : ''}
                  {words.signedInOn} <Day words={words} at={one.createdAt} /> · {words.factors.lastUsedOn}{' '}
                  <Day words={words} at={one.lastUsedAt} />
                </p>
              </div>
              {one.isThis ? null : (
                <ActionButton does="end" values={{ id: one.id }}>
                  {words.signOut}
                </ActionButton>
              )}
            </li>
          ))}
        </ul>
        <form method="post" class="fields">
          {site.hasOAuth ? (
            <label class="tick">
              <input type="checkbox" name="programs" value="true" /> {words.factors.programsToo}
            </label>
          ) : null}
          <p>
            <button class="button" type="submit" name="do" value="end-others">
              {words.signOutElsewhere}
            </button>
          </p>
        </form>
      </section>
    </SettingsPage>
  )
}

/** Changes the password, or ends sessions. */
export const changeSessions: Action = async ({ call, form }) => {
  switch (form.text('do')) {
    case 'password':
      await call(changePassword, {
        password: form.text('password'),
        newPassword: form.text('newPassword'),
        revokeKeys: form.has('revokeKeys'),
      })
      return { to: '/settings/sessions?done=password-changed' }
    case 'end':
      await call(endSessions, { id: form.text('id') })
      return { to: '/settings/sessions?done=session-ended' }
    case 'seen':
      await call(dismissNewSignIns, {})
      return { to: '/settings/sessions' }
    default:
      await call(endSessions, { programs: form.has('programs') })
      return { to: '/settings/sessions?done=session-ended' }
  }
}

/** Taking everything along, or away. */
export async function showData(request: PageRequest) {
  const { site, call, sent } = request
  const { words } = site
  const [me, { teams }] = await Promise.all([call(showAccount, {}), call(listTeams, {})])
  const maintained = teams.flatMap(({ name, role }) => (hasRight(role, 'transfer') ? [name] : []))
  const { number, shortNumber } = formatsOf(words.language)
  const count = (part: UsagePart, used: number) => (part === 'bytes' ? `${shortNumber(used / 1_000_000)} MB` : number(used))
  return (
    <SettingsPage request={request} at="/settings/data">
      <section>
        <h2>{words.kept.title}</h2>
        <p>{words.kept.lead}</p>
        <dl class="figures">
          {me.keeps.map(({ part, used, limit }) => (
            <Fact label={words.kept.parts[part]}>
              {limit === null ? count(part, used) : words.kept.of(count(part, used), count(part, limit))}
            </Fact>
          ))}
        </dl>
      </section>
      <section>
        <h2>{words.exportData}</h2>
        <p>{words.exportLead}</p>
        <p>
          <a class="button" href="/settings/data/export.zip">
            {words.exportData}
          </a>
        </p>
      </section>
      <section>
        <h2>{words.deleteAccount}</h2>
        <p>{words.deleteLead}</p>
        <Fault sent={sent} fields={['username', 'password']} words={words} />
        <form method="post" class="fields">
          {maintained.length === 0 ? null : (
            <Choice
              sent={sent}
              name="handOverTo"
              label={words.teams.handOver}
              value=""
              options={[['', words.teams.handOverNone], ...maintained.map((name) => [name, name] as const)]}
            />
          )}
          <Field sent={sent} name="username" label={words.typeYourName(me.username)} autocomplete="off" isRequired />
          {me.hasPassword ? (
            <Field sent={sent} name="password" label={words.password} type="password" autocomplete="current-password" isRequired />
          ) : (
            <p class="quiet">{words.signingIn.confirmFresh}</p>
          )}
          <p>
            <button class="button" type="submit" name="do" value="delete">
              {words.deleteForGood}
            </button>
          </p>
        </form>
      </section>
    </SettingsPage>
  )
}

/** Deletes the account. */
export const submitDeleteAccount: Action = async ({ call, form }) => {
  await call(deleteAccount, {
    username: form.text('username'),
    password: form.text('password'),
    handOverTo: form.text('handOverTo'),
  })
  return { to: '/?done=account-deleted' }
}
