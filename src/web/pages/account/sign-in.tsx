import type { FC } from 'hono/jsx'
import { AppError, toAppError } from '../../../errors.ts'
import { showSignInWays } from '../../../operations/account/provider-sign-in.ts'
import { signIn, signOut } from '../../../operations/account/sign-in.ts'
import { showSignUp } from '../../../operations/account/sign-up.ts'
import { localPath } from '../../forms.ts'
import { LinkLine, Submit } from '../../parts/controls.tsx'
import { Fault } from '../../parts/field.tsx'
import { Form, Tick } from '../../parts/form.tsx'
import { NarrowPage } from '../../parts/narrow-page.tsx'
import { type Action, done, type PageRequest } from '../../request.ts'
import type { Words } from '../../site.ts'

/** Where people prove who they are. */
export async function showSignIn(request: PageRequest) {
  const { site, query, sent, call } = request
  const { words } = site
  const [{ isFirst, isOpen }, { hasPasswords, hasProxy, providers }] = await Promise.all([call(showSignUp, {}), call(showSignInWays, {})])
  const to = localPath(sent?.form.text('to') || query.get('to') || '/')
  const sentTo = <input type="hidden" name="to" value={to} />
  return (
    <NarrowPage request={request} title={words.signIn} scripts={['passkeys.js']}>
      {isFirst && hasPasswords ? <p class="notice">{words.firstPage.unclaimed}</p> : null}
      {hasPasswords ? null : <Fault sent={sent} words={words} />}
      {hasProxy ? <p>{words.signingIn.byProxy}</p> : null}
      {providers.map(({ key, name }) => (
        <form method="post" action={`/sign-in/with/${key}`}>
          {sentTo}
          <p>
            <Submit look={hasPasswords ? 'button' : 'button first'} text={words.signingIn.by(name)} />
          </p>
        </form>
      ))}
      {hasPasswords ? (
        <>
          {providers.length > 0 ? <p class="quiet">{words.factors.or}</p> : null}
          <Form
            request={request}
            action="/sign-in"
            of={signIn}
            fields={{
              name: { label: words.nameOrEmail, autocomplete: 'username', isFirst: providers.length === 0 },
              password: { label: words.password, type: 'password', autocomplete: 'current-password' },
            }}
            submit={words.signIn}
          >
            {sentTo}
            <Tick sent={sent?.form.has('name') ? sent : null} name="isRemembered" label={words.remember} isTicked />
          </Form>
          <LinkLine to="/forgot-password" text={words.forgotPassword} />
          <PasskeySignIn words={words} to={to} isAlternative />
        </>
      ) : null}
      {isOpen && !isFirst ? <LinkLine to={`/sign-up?to=${encodeURIComponent(to)}`} text={words.signUp} /> : null}
    </NarrowPage>
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
  return { ...done(hasProxy || providers.length > 0 ? '/sign-out' : '/', 'signed-out'), cookies }
}

/** The sign-out page, reached by a link. */
export async function showSignOut(request: PageRequest) {
  const { site, call, query } = request
  const { words } = site
  const { providers, hasProxy, signOutUrl } = await call(showSignInWays, {})
  return (
    <NarrowPage request={request} title={words.signOut}>
      {providers.length > 0 ? <p>{words.signingIn.signedOutHere(providers.map(({ name }) => name))}</p> : null}
      {hasProxy ? <p>{words.signingIn.proxyKeeps}</p> : null}
      {signOutUrl === null ? null : <LinkLine to={signOutUrl} look="button first" text={words.signingIn.proxySignOut} />}
      {query.get('done') === 'signed-out' ? null : (
        <form method="post">
          <Submit look="button first" text={words.signOut} />
        </form>
      )}
    </NarrowPage>
  )
}

/** Signs in with a passkey, by a script; hidden without one. */
export const PasskeySignIn: FC<{ words: Words; to: string; isAlternative?: boolean }> = ({ words, to, isAlternative }) => (
  <form hidden data-passkey="sign-in" data-failed={words.factors.passkeyFailed}>
    {isAlternative ? <p class="quiet">{words.factors.or}</p> : null}
    <input type="hidden" name="to" value={to} />
    <p>
      <Submit look={isAlternative ? 'button' : 'button first'} text={words.factors.withPasskey} />
    </p>
    <p class="fault notice" role="alert" data-fault hidden></p>
  </form>
)
