import type { FC } from 'hono/jsx'
import { changePassword, endSessions, showAccount } from '../../../operations/account/account.ts'
import { beginConnecting, disconnectProvider, listIdentities, showSignInWays } from '../../../operations/account/provider-sign-in.ts'
import { dismissNewSignIns, listNewSignIns } from '../../../operations/account/sign-in.ts'
import type { Output } from '../../../operations/core/procedure.ts'
import { Section, Submit } from '../../parts/controls.tsx'
import { Day, On } from '../../parts/facts.tsx'
import { ActionButton } from '../../parts/field.tsx'
import { Form, sentWith, Tick } from '../../parts/form.tsx'
import { Entries, Entry } from '../../parts/lists.tsx'
import { SectionPage } from '../../parts/page-frames.tsx'
import { actBy, doing, done, type PageRequest } from '../../request.ts'
import type { Site } from '../../site.ts'
import { changeFactors, Factors, ProvenAction } from './factors.tsx'
import { leaveTo } from './sign-in.tsx'

const SESSIONS = '/settings/security'

/** Sessions of the reader from browsers that were not known. */
export async function readNewSignIns({ call }: Pick<PageRequest, 'call'>) {
  return (await call(listNewSignIns, {})).sessions
}

/** Shows them until the reader says that they are theirs. */
export const NewSignIns: FC<{ words: Site['words']; sessions: Output<typeof listNewSignIns>['sessions'] }> = ({ words, sessions }) => {
  const { factors } = words
  return sessions.length === 0 ? null : (
    <section class="notice" aria-labelledby="new-sign-ins">
      <h2 id="new-sign-ins">{factors.newSignIn}</h2>
      <ul>
        {sessions.map(({ browser, address, createdAt }) => (
          <li>
            {factors.newSignInFrom(browser ?? words.unknownBrowser, address)}, <Day words={words} at={createdAt} />
          </li>
        ))}
      </ul>
      <p>
        {factors.notYou} <a href={SESSIONS}>{factors.notYouDo}</a>
      </p>
      <ActionButton action={SESSIONS} does="seen" text={factors.itWasMe} />
    </section>
  )
}

const PATH = '/settings/security'

/** How the reader signs in, and where they are signed in. */
export async function showSecurity(request: PageRequest) {
  const { site, words, call, query, sent } = request
  const [me, ways, identities] = await Promise.all([call(showAccount, {}), call(showSignInWays, {}), call(listIdentities, {})])
  const others = sentWith(sent, 'end-others')
  return (
    <SectionPage request={request} at={PATH} forms={ways.hasPasswords ? ['password', 'codes-on'] : ['codes-on']} scripts={['passkeys.js']}>
      {query.get('note') === 'address-taken' ? (
        <p class="notice" role="status">
          {words.signingIn.addressTaken}
        </p>
      ) : null}
      <NewSignIns words={words} sessions={await readNewSignIns(request)} />
      {ways.hasPasswords ? (
        <Section title={words.password}>
          <PasswordForm request={request} me={me} />
        </Section>
      ) : null}
      <Factors request={request} to={null} />
      {identities.identities.length + identities.others.length === 0 ? null : <Providers request={request} ways={identities} />}
      <Section title={words.sessions}>
        <Entries
          of={me.sessions}
          row={(one) => (
            <Entry
              title={<strong>{one.browser ?? words.unknownBrowser}</strong>}
              note={one.isThis ? `(${words.thisBrowser})` : one.isNew ? `(${words.factors.isNew})` : null}
              facts={[
                one.address,
                <On label={words.signedInOn} words={words} at={one.createdAt} />,
                <On label={words.lastUsed} words={words} at={one.lastUsedAt} />,
              ]}
            >
              {one.isThis ? null : <ActionButton does="end" values={{ id: one.id }} text={words.signOut} />}
            </Entry>
          )}
        />
        <form method="post" class="fields">
          {site.hasOAuth ? <Tick sent={others} name="programs" label={words.factors.programsToo} /> : null}
          <p>
            <Submit does="end-others" text={words.signOutElsewhere} />
          </p>
        </form>
      </Section>
    </SectionPage>
  )
}

/** Changes the password, or sets the first one. */
const PasswordForm: FC<{ request: PageRequest; me: Output<typeof showAccount> }> = ({ request, me: { username, hasPassword } }) => {
  const { words } = request
  return (
    <Form
      request={request}
      does="password"
      of={changePassword}
      fields={{
        ...(hasPassword && {
          password: { label: words.currentPassword, type: 'password' as const, autocomplete: 'current-password', isRequired: true },
        }),
        newPassword: { label: words.newPassword, type: 'password', hint: words.passwordHint, autocomplete: 'new-password' },
      }}
      submit={hasPassword ? words.changePassword : words.setPassword}
    >
      {/* Password managers look for the name. */}
      <input type="text" name="username" value={username} autocomplete="username" readonly hidden />
      {hasPassword ? null : <p class="quiet">{words.signingIn.firstPassword}</p>}
      <Tick sent={sentWith(request.sent, 'password')} name="revokeKeys" label={words.revokeKeysToo} />
    </Form>
  )
}

/** Providers by which the reader signs in, and those they could add. */
const Providers: FC<{ request: PageRequest; ways: Output<typeof listIdentities> }> = ({ request, ways }) => {
  const { words } = request
  const { signingIn } = words
  const { hasPassword, identities, others } = ways
  return (
    <Section id="providers" title={signingIn.providers}>
      <Entries
        of={identities}
        row={({ provider, name, subject, connectedAt }) => {
          const shown = name === 'proxy' ? signingIn.proxy : (name ?? provider)
          return (
            <Entry
              title={<strong>{shown}</strong>}
              facts={[name === null ? signingIn.unusable : null, subject, <On label={signingIn.since} words={words} at={connectedAt} />]}
            >
              <ProvenAction
                words={words}
                does="disconnect"
                label={words.programs.disconnect}
                name={words.programs.disconnectNamed(shown)}
                means={signingIn.disconnectMeans}
                values={{ provider }}
                hasPassword={hasPassword}
              />
            </Entry>
          )
        }}
      />
      {others.map(({ key, name }) => (
        <ProvenAction
          words={words}
          does="connect"
          label={signingIn.connect(name)}
          means={signingIn.othersLead}
          values={{ provider: key }}
          hasPassword={hasPassword}
        />
      ))}
    </Section>
  )
}

/** Changes the password, a factor, a provider, or ends sessions. */
export const changeSecurity = actBy({
  ...changeFactors,
  password: doing(
    changePassword,
    ({ form }) => ({ password: form.text('password'), newPassword: form.text('newPassword'), revokeKeys: form.has('revokeKeys') }),
    'password-changed',
  ),
  end: doing(endSessions, ({ form }) => ({ id: form.text('id') }), 'session-ended'),
  'end-others': doing(endSessions, ({ form }) => ({ programs: form.has('programs') }), 'session-ended'),
  async seen({ call }) {
    await call(dismissNewSignIns, {})
    return { to: PATH }
  },
  async connect(request) {
    const [provider, password] = [request.form.text('provider'), request.form.text('password')]
    const { url, cookies } = await request.call(beginConnecting, { provider, to: done(PATH, 'connected').to, password })
    return { html: await leaveTo(request, provider, url), cookies }
  },
  disconnect: doing(
    disconnectProvider,
    ({ form }) => ({ provider: form.text('provider'), password: form.text('password') }),
    'disconnected',
  ),
})
