import type { FC } from 'hono/jsx'
import { AppError, toAppError } from '../../../errors.ts'
import { beginProviderSignIn, finishProviderSignIn, showSignInWays } from '../../../operations/account/provider-sign-in.ts'
import {
  finishSignIn,
  showSecondStep,
  showSignInLink,
  showSignUp,
  signIn,
  signOut,
  signUp,
  useSignInLink,
} from '../../../operations/account/sign-in.ts'
import { localPath, toSentForm } from '../../forms.ts'
import { LinkLine, Submit } from '../../parts/controls.tsx'
import { Fault } from '../../parts/field.tsx'
import { Form, Tick } from '../../parts/form.tsx'
import { LeavePage, NarrowPage } from '../../parts/page-frames.tsx'
import { type Action, done, type LeadsOn, nullWhenRefused, type PageRequest, type Refused } from '../../request.ts'
import type { Words } from '../../site.ts'

/** Where people prove who they are. */
export async function showSignIn(request: PageRequest) {
  const { words, query, sent, call } = request
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
  const { words, call, query } = request
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
const PasskeySignIn: FC<{ words: Words; to: string; isAlternative?: boolean }> = ({ words, to, isAlternative }) => (
  <form hidden data-passkey="sign-in" data-failed={words.factors.passkeyFailed}>
    {isAlternative ? <p class="quiet">{words.factors.or}</p> : null}
    <input type="hidden" name="to" value={to} />
    <p>
      <Submit look={isAlternative ? 'button' : 'button first'} text={words.factors.withPasskey} />
    </p>
    <p class="fault notice" role="alert" data-fault hidden></p>
  </form>
)

/** The second step of somebody whose password was right. */
export async function showSecondStepPage(request: PageRequest) {
  const { words, query, sent, call } = request
  const { factors } = words
  const to = localPath(sent?.form.text('to') ?? query.get('to') ?? '/')
  const { isDue, hasCodes, hasPasskeys } = await call(showSecondStep, {})
  const again = `/sign-in?to=${encodeURIComponent(to)}`
  if (!isDue) return done(again, 'step-over')
  return (
    <NarrowPage request={request} title={factors.stepTitle} scripts={['passkeys.js']}>
      {hasCodes ? (
        <>
          <p>{factors.stepLead}</p>
          <Form
            request={request}
            of={finishSignIn}
            fields={{ code: { label: factors.code, autocomplete: 'one-time-code', maxlength: 40, isRequired: true, isFirst: true } }}
            submit={words.signIn}
          >
            <input type="hidden" name="to" value={to} />
          </Form>
        </>
      ) : (
        <>
          <Fault sent={sent} words={words} />
          <p>{factors.stepByPasskey}</p>
        </>
      )}
      {hasPasskeys ? <PasskeySignIn words={words} to={to} isAlternative={hasCodes} /> : null}
      <p class="quiet">{factors.noCode}</p>
      <LinkLine to={again} text={factors.startAgain} />
    </NarrowPage>
  )
}

/** Signs in with a code, and goes where the reader was going. */
export const submitSecondStep: Action = async ({ call, form }) => {
  const { cookies } = await call(finishSignIn, { code: form.text('code') })
  return { to: localPath(form.text('to')), cookies }
}

/** The page between a form and a provider, which leads on to addresses of its own. */
export async function leaveTo(request: PageRequest, provider: string, url: string) {
  const { providers } = await request.call(showSignInWays, {})
  const name = providers.find(({ key }) => key === provider)?.name ?? provider
  const { signingIn } = request.words
  return (
    <LeavePage
      request={request}
      name={signingIn.by(name)}
      title={signingIn.leaving(name)}
      lead={signingIn.leavingLead(name)}
      goOn={signingIn.goOn(name)}
      url={url}
    />
  )
}

/** Sends the browser to a provider. */
export const leaveForProvider: Action = async (request) => {
  const provider = request.param('provider')
  const { url, cookies } = await request.call(beginProviderSignIn, { provider, to: localPath(request.form.text('to')) })
  return { html: await leaveTo(request, provider, url), cookies }
}

/** Where a provider sends the browser back. What goes wrong is shown on the sign-in page. */
export async function comeBackFromProvider(request: PageRequest): Promise<Awaited<ReturnType<typeof showSignIn>> | LeadsOn | Refused> {
  const { call, query, param, sent } = request
  if (sent) return await showSignIn(request)
  if (query.size === 0) return { to: '/sign-in' }
  try {
    const { to, cookies, isNew, isEmailTaken } = await call(finishProviderSignIn, { provider: param('provider'), query: query.toString() })
    return { to: isNew && isEmailTaken ? '/settings/security?note=address-taken' : localPath(to), cookies }
  } catch (error) {
    const fault = toAppError(error)
    if (fault.code === 'internal') throw error
    const refused = { form: toSentForm({}, request.words), fault }
    return { html: await showSignIn({ ...request, query: new URLSearchParams(), sent: refused }), fault }
  }
}

/** Where a sign-in link leads. It is used up by the button alone: programs that look at links in messages do not press it. */
export async function showSignInLinkPage(request: PageRequest) {
  const { words, query, sent, call } = request
  const token = sent?.form.text('token') ?? query.get('token') ?? ''
  const found = await call(showSignInLink, { token }).catch(nullWhenRefused)
  return (
    <NarrowPage request={request} title={words.signingIn.linkTitle} dead={found ? null : words.signingIn.linkDead}>
      {found ? (
        <Form request={request} action="/sign-in/link" of={useSignInLink} fields={{}} submit={words.signIn}>
          <input type="hidden" name="token" value={token} />
          <p>{words.signingIn.linkFor(found.username)}</p>
        </Form>
      ) : null}
    </NarrowPage>
  )
}

/** Signs in by a link. */
export const submitSignInLink: Action = async ({ call, form }) => {
  const { cookies } = await call(useSignInLink, { token: form.text('token') })
  return { to: '/', cookies }
}

/** Where an account is made: by who runs the service, by an invite, or by anybody where that is allowed. */
export async function showSignUpPage(request: PageRequest) {
  const { words, query, sent, call } = request
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
