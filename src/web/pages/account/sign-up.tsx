import { showSignUp, signUp } from '../../../operations/account/sign-up.ts'
import { localPath } from '../../forms.ts'
import { Layout } from '../../layout.tsx'
import { Fault, Field } from '../../parts/field.tsx'
import type { Action, PageRequest } from '../../request.ts'

const FIELDS = ['username', 'email', 'password', 'setupCode']

/** Where an account is made: by who runs the service, by an invite, or by anybody where that is allowed. */
export async function showSignUpPage({ site, query, sent, call }: PageRequest) {
  const { words } = site
  const inviteToken = sent?.form.text('invite') ?? query.get('invite') ?? ''
  const state = await call(showSignUp, inviteToken === '' ? {} : { invite: inviteToken.slice(0, 200) })
  const { invite } = state
  const canSignUp = state.hasPasswords && (invite ? invite.fault === null : state.isOpen)
  return (
    <Layout site={site} title={words.signUp} isIndexed={false}>
      <div class="narrow">
        <h1>{state.isFirst ? words.firstAccount : words.signUp}</h1>
        {state.isFirst ? <p class="lead">{words.firstAccountLead}</p> : null}
        {invite?.fault ? (
          <p class="fault notice" role="alert">
            {invite.fault}
          </p>
        ) : null}
        {canSignUp ? (
          <>
            <Fault sent={sent} fields={FIELDS} words={words} />
            <form method="post" class="fields">
              <input type="hidden" name="to" value={localPath(sent?.form.text('to') ?? query.get('to') ?? '', '')} />
              {invite ? <input type="hidden" name="invite" value={inviteToken} /> : null}
              <Field
                sent={sent}
                name="username"
                label={words.username}
                value={invite?.username}
                hint={words.usernameHint}
                autocomplete="username"
                maxlength={64}
                isRequired
                isFirst
              />
              <Field
                sent={sent}
                name="password"
                label={words.password}
                type="password"
                hint={words.passwordHint}
                autocomplete="new-password"
                isRequired
              />
              <Field sent={sent} name="email" label={words.emailOptional} type="email" hint={words.emailHint} autocomplete="email" />
              {state.isFirst && !invite ? (
                <Field
                  sent={sent}
                  name="setupCode"
                  label={words.setupCode}
                  value={query.get('code')}
                  hint={words.setupCodeHint}
                  autocomplete="off"
                  isRequired
                />
              ) : null}
              <p>
                <button class="button first" type="submit">
                  {words.signUp}
                </button>
              </p>
            </form>
          </>
        ) : (
          <p>{state.hasPasswords ? words.byInvite : words.signingIn.accountsElsewhere}</p>
        )}
        <p>
          <a href="/sign-in">{words.signInInstead}</a>
        </p>
      </div>
    </Layout>
  )
}

/** Makes the account, signs it in, and goes on to its first key. */
export const submitSignUp: Action = async ({ call, form }) => {
  const optional = (name: string) => (form.text(name) === '' ? undefined : form.text(name))
  const { cookies } = await call(signUp, {
    username: form.text('username').trim(),
    password: form.text('password'),
    email: optional('email')?.trim(),
    invite: optional('invite'),
    setupCode: optional('setupCode'),
  })
  // The account is there; where it could not be signed in, that is the next step.
  if (cookies.length === 0) return { to: '/sign-in' }
  const to = localPath(form.text('to'), '')
  return { to: to === '' || to === '/' ? '/settings/keys?done=welcome' : to, cookies }
}
