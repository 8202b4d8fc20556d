import { showSignUp, signUp } from '../../../operations/account/sign-up.ts'
import { localPath } from '../../forms.ts'
import { LinkLine } from '../../parts/controls.tsx'
import { Form } from '../../parts/form.tsx'
import { NarrowPage } from '../../parts/narrow-page.tsx'
import { type Action, done, type PageRequest } from '../../request.ts'

/** Where an account is made: by who runs the service, by an invite, or by anybody where that is allowed. */
export async function showSignUpPage(request: PageRequest) {
  const { site, query, sent, call } = request
  const { words } = site
  const inviteToken = sent?.form.text('invite') ?? query.get('invite') ?? ''
  const state = await call(showSignUp, inviteToken === '' ? {} : { invite: inviteToken.slice(0, 200) })
  const { invite, isFirst } = state
  const canSignUp = state.hasPasswords && (invite ? invite.fault === null : state.isOpen)
  return (
    <NarrowPage request={request} title={isFirst ? words.firstAccount : words.signUp} dead={invite?.fault}>
      {isFirst ? <p class="lead">{words.firstAccountLead}</p> : null}
      {canSignUp ? (
        <Form
          request={request}
          of={signUp}
          fields={{
            username: {
              label: words.username,
              value: invite?.username,
              hint: words.usernameHint,
              autocomplete: 'username',
              maxlength: 64,
              isFirst: true,
            },
            password: { label: words.password, type: 'password', hint: words.passwordHint, autocomplete: 'new-password' },
            email: { label: words.emailOptional, type: 'email', hint: words.emailHint, autocomplete: 'email' },
            ...(isFirst &&
              !invite && {
                setupCode: {
                  label: words.setupCode,
                  value: query.get('code'),
                  hint: words.setupCodeHint,
                  autocomplete: 'off',
                  isRequired: true,
                },
              }),
          }}
          submit={words.signUp}
        >
          <input type="hidden" name="to" value={localPath(sent?.form.text('to') ?? query.get('to') ?? '', '')} />
          {invite ? <input type="hidden" name="invite" value={inviteToken} /> : null}
        </Form>
      ) : (
        <p>{state.hasPasswords ? words.byInvite : words.signingIn.accountsElsewhere}</p>
      )}
      <LinkLine to="/sign-in" text={words.signInInstead} />
    </NarrowPage>
  )
}

/** Makes the account, signs it in, and goes on to its first key. */
export const submitSignUp: Action = async ({ call, form }) => {
  const { username, email, invite, setupCode } = form.texts('username', 'email', 'invite', 'setupCode')
  const { cookies } = await call(signUp, {
    username,
    password: form.text('password'),
    email: email || undefined,
    invite: invite || undefined,
    setupCode: setupCode || undefined,
  })
  // The account is there; where it could not be signed in, that is the next step.
  if (cookies.length === 0) return { to: '/sign-in' }
  const to = localPath(form.text('to'), '')
  return { to: to === '' || to === '/' ? done('/settings/access', 'welcome').to : to, cookies }
}
