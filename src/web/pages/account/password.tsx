import { requestPasswordReset, resetPassword, showPasswordHelp, showPasswordReset } from '../../../operations/account/sign-in.ts'
import { LinkLine } from '../../parts/controls.tsx'
import { Form, Tick } from '../../parts/form.tsx'
import { NarrowPage } from '../../parts/page-frames.tsx'
import { type Action, done, nullWhenRefused, type PageRequest } from '../../request.ts'

/** Where a link for a new password is asked for. */
export async function showForgotPassword(request: PageRequest) {
  const { words, call, query } = request
  const { sendsMail } = await call(showPasswordHelp, {})
  return (
    <NarrowPage request={request} title={words.forgotPassword}>
      {!sendsMail ? (
        <p>{words.resetByAdmin}</p>
      ) : query.get('asked') === 'mail' ? (
        <p class="notice" role="status">
          {words.resetMailed}
        </p>
      ) : (
        <>
          <p>{words.forgotLead}</p>
          <Form
            request={request}
            of={requestPasswordReset}
            fields={{ name: { label: words.nameOrEmail, autocomplete: 'username', isFirst: true } }}
            submit={words.askForLink}
          />
        </>
      )}
      <LinkLine to="/sign-in" text={words.signIn} />
    </NarrowPage>
  )
}

/** Requests a reset link. The response never reveals whether the account exists. */
export const askForPassword: Action = async ({ call, form }) => {
  const { isMailed } = await call(requestPasswordReset, { name: form.text('name') })
  return { to: isMailed ? '/forgot-password?asked=mail' : '/forgot-password' }
}

/** Where a link for a new password leads. */
export async function showResetPassword(request: PageRequest) {
  const { words, query, sent, call } = request
  const token = sent?.form.text('token') ?? query.get('token') ?? ''
  const found = await call(showPasswordReset, { token }).catch(nullWhenRefused)
  return (
    <NarrowPage request={request} title={words.newPassword} dead={found ? null : words.resetLinkDead}>
      {found ? (
        <Form
          request={request}
          action="/reset-password"
          of={resetPassword}
          fields={{
            password: {
              label: words.newPasswordFor(found.username),
              type: 'password',
              hint: words.passwordHint,
              autocomplete: 'new-password',
              isFirst: true,
            },
          }}
          submit={words.setPassword}
        >
          <input type="hidden" name="token" value={token} />
          <input type="text" name="username" value={found.username} autocomplete="username" readonly hidden />
          <Tick sent={sent} name="revokeKeys" label={words.revokeKeysToo} />
        </Form>
      ) : (
        <LinkLine to="/forgot-password" text={words.askForNewLink} />
      )}
    </NarrowPage>
  )
}

/** Sets the password; every session has ended, so the way on is to sign in. */
export const setNewPassword: Action = async ({ call, form }) => {
  await call(resetPassword, { token: form.text('token'), password: form.text('password'), revokeKeys: form.has('revokeKeys') })
  return done('/sign-in', 'password-set')
}
