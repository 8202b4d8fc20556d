import { toAppError } from '../../../errors.ts'
import { requestPasswordReset, resetPassword, showPasswordHelp, showPasswordReset } from '../../../operations/account/sign-in.ts'
import { Layout } from '../../layout.tsx'
import { Fault, Field } from '../../parts/field.tsx'
import { RevokeKeys } from '../../parts/revoke-keys.tsx'
import type { Action, PageRequest } from '../../request.ts'

/** Where a link for a new password is asked for. */
export async function showForgotPassword({ site, call, query, sent }: PageRequest) {
  const { words } = site
  const { sendsMail } = await call(showPasswordHelp, {})
  return (
    <Layout site={site} title={words.forgotPassword} isIndexed={false}>
      <div class="narrow">
        <h1>{words.forgotPassword}</h1>
        {!sendsMail ? (
          <p>{words.resetByAdmin}</p>
        ) : query.get('asked') === 'mail' ? (
          <p class="notice" role="status">
            {words.resetMailed}
          </p>
        ) : (
          <>
            <p>{words.forgotLead}</p>
            <Fault sent={sent} fields={['name']} words={words} />
            <form method="post" class="fields">
              <Field sent={sent} name="name" label={words.nameOrEmail} autocomplete="username" isRequired isFirst />
              <p>
                <button class="button first" type="submit">
                  {words.askForLink}
                </button>
              </p>
            </form>
          </>
        )}
        <p>
          <a href="/sign-in">{words.signIn}</a>
        </p>
      </div>
    </Layout>
  )
}

/** Requests a reset link. The response never reveals whether the account exists. */
export const askForPassword: Action = async ({ call, form }) => {
  const { isMailed } = await call(requestPasswordReset, { name: form.text('name') })
  return { to: isMailed ? '/forgot-password?asked=mail' : '/forgot-password' }
}

/** Where a link for a new password leads. */
export async function showResetPassword({ site, query, sent, call }: PageRequest) {
  const { words } = site
  const token = sent?.form.text('token') ?? query.get('token') ?? ''
  const found = await call(showPasswordReset, { token }).catch((error: unknown) => {
    if (toAppError(error).code === 'internal') throw error
    return null
  })
  return (
    <Layout site={site} title={words.newPassword} isIndexed={false}>
      <div class="narrow">
        <h1>{words.newPassword}</h1>
        {found ? (
          <>
            <Fault sent={sent} fields={['password']} words={words} />
            <form method="post" action="/reset-password" class="fields">
              <input type="hidden" name="token" value={token} />
              <input type="text" name="username" value={found.username} autocomplete="username" readonly hidden />
              <Field
                sent={sent}
                name="password"
                label={words.newPasswordFor(found.username)}
                type="password"
                hint={words.passwordHint}
                autocomplete="new-password"
                isRequired
                isFirst
              />
              <RevokeKeys words={words} sent={sent} />
              <p>
                <button class="button first" type="submit">
                  {words.setPassword}
                </button>
              </p>
            </form>
          </>
        ) : (
          <>
            <p class="fault notice" role="alert">
              {words.resetLinkDead}
            </p>
            <p>
              <a href="/forgot-password">{words.askForNewLink}</a>
            </p>
          </>
        )}
      </div>
    </Layout>
  )
}

/** Sets the password; every session has ended, so the way on is to sign in. */
export const setNewPassword: Action = async ({ call, form }) => {
  await call(resetPassword, { token: form.text('token'), password: form.text('password'), revokeKeys: form.has('revokeKeys') })
  return { to: '/sign-in?done=password-set' }
}
