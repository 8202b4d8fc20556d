import type { FC } from 'hono/jsx'
import { AppError, toAppError } from '../../../errors.ts'
import { showSignInWays } from '../../../operations/account/provider-sign-in.ts'
import { signIn, signOut } from '../../../operations/account/sign-in.ts'
import { showSignUp } from '../../../operations/account/sign-up.ts'
import { localPath } from '../../forms.ts'
import { Layout } from '../../layout.tsx'
import { Done, Fault, Field } from '../../parts/field.tsx'
import { PasskeySignIn } from '../../parts/passkey-form.tsx'
import type { Action, PageRequest } from '../../request.ts'

/** Where people prove who they are. */
export async function showSignIn({ site, query, sent, call }: PageRequest) {
  const { words } = site
  const [{ isFirst, isOpen }, ways] = await Promise.all([call(showSignUp, {}), call(showSignInWays, {})])
  const to = localPath(sent?.form.text('to') || query.get('to') || '/')
  return (
    <Layout site={site} title={words.signIn} isIndexed={false} scripts={['passkeys.js']}>
      <div class="narrow">
        <h1>{words.signIn}</h1>
        <Done words={words} query={query} sent={sent} />
        <Fault sent={sent} fields={['name', 'password']} words={words} />
        {isFirst && ways.hasPasswords ? <p class="notice">{words.firstPage.unclaimed}</p> : null}
        {ways.hasProxy ? <p>{words.signingIn.byProxy}</p> : null}
        {ways.providers.map(({ key, name }) => (
          <form method="post" action={`/sign-in/with/${key}`}>
            <input type="hidden" name="to" value={to} />
            <p>
              <button class={ways.hasPasswords ? 'button' : 'button first'} type="submit">
                {words.signingIn.by(name)}
              </button>
            </p>
          </form>
        ))}
        {ways.hasPasswords && ways.providers.length > 0 ? <p class="quiet">{words.signingIn.or}</p> : null}
        {ways.hasPasswords ? <PasswordForm site={site} sent={sent} to={to} isFirst={ways.providers.length === 0} /> : null}
        {ways.hasPasswords ? (
          <p>
            <a href="/forgot-password">{words.forgotPassword}</a>
          </p>
        ) : null}
        {ways.hasPasswords ? <PasskeySignIn words={words} to={to} isAlternative /> : null}
        {isOpen && !isFirst ? (
          <p>
            <a href={`/sign-up?to=${encodeURIComponent(to)}`}>{words.signUpInstead}</a>
          </p>
        ) : null}
      </div>
    </Layout>
  )
}

/** The fields of a sign-in by password. */
const PasswordForm: FC<Pick<PageRequest, 'site' | 'sent'> & { to: string; isFirst: boolean }> = ({ site, sent, to, isFirst }) => {
  const { words } = site
  return (
    <form method="post" action="/sign-in" class="fields">
      <input type="hidden" name="to" value={to} />
      <Field sent={sent} name="name" label={words.nameOrEmail} autocomplete="username" isRequired isFirst={isFirst} />
      <Field sent={sent} name="password" label={words.password} type="password" autocomplete="current-password" isRequired />
      <label class="tick">
        <input type="checkbox" name="isRemembered" value="true" checked={sent?.form.has('name') ? sent.form.has('isRemembered') : true} />{' '}
        {words.remember}
      </label>
      <p>
        <button class="button first" type="submit">
          {words.signIn}
        </button>
      </p>
    </form>
  )
}

/** Signs in, and goes where the reader was going. */
export const submitSignIn: Action = async ({ site, call, form }) => {
  const input = { name: form.text('name'), password: form.text('password'), isRemembered: form.has('isRemembered') }
  const { cookies, isPending } = await call(signIn, input).catch((error: unknown) => {
    const { code } = toAppError(error)
    throw code === 'unauthenticated' ? new AppError(code, site.words.errors.wrongLogin, { cause: error }) : error
  })
  const to = localPath(form.text('to'))
  return { to: isPending ? `/sign-in/code?to=${encodeURIComponent(to)}` : to, cookies }
}

/** Signs out; felt at once. The session at a provider or a proxy is not ours to end: the page says so. */
export const submitSignOut: Action = async ({ call }) => {
  const { cookies } = await call(signOut, {})
  const { providers, hasProxy } = await call(showSignInWays, {})
  return { to: hasProxy || providers.length > 0 ? '/sign-out?done=signed-out' : '/?done=signed-out', cookies }
}

/** The sign-out page, reached by a link. */
export async function showSignOut({ site, call, query, sent }: PageRequest) {
  const { words } = site
  const { providers, hasProxy, signOutUrl } = await call(showSignInWays, {})
  const isDone = query.get('done') === 'signed-out'
  return (
    <Layout site={site} title={words.signOut} isIndexed={false}>
      <div class="narrow">
        <h1>{words.signOut}</h1>
        <Done words={words} query={query} sent={sent} />
        {providers.length > 0 ? <p>{words.signingIn.signedOutHere(providers.map(({ name }) => name))}</p> : null}
        {hasProxy ? <p>{words.signingIn.proxyKeeps}</p> : null}
        {signOutUrl === null ? null : (
          <p>
            <a class="button first" href={signOutUrl}>
              {words.signingIn.proxySignOut}
            </a>
          </p>
        )}
        {isDone ? null : (
          <form method="post">
            <button class="button first" type="submit">
              {words.signOut}
            </button>
          </form>
        )}
      </div>
    </Layout>
  )
}
