import { toAppError } from '../../../errors.ts'
import { beginProviderSignIn, finishProviderSignIn, showSignInWays } from '../../../operations/account/provider-sign-in.ts'
import { showSignInLink, useSignInLink } from '../../../operations/account/sign-in.ts'
import { localPath, toSentForm } from '../../forms.ts'
import { Form } from '../../parts/form.tsx'
import { LeavePage, NarrowPage } from '../../parts/narrow-page.tsx'
import { type Action, type LeadsOn, nullWhenRefused, type PageRequest, type Refused } from '../../request.ts'
import { showSignIn } from './sign-in.tsx'

/** The page between a form and a provider, which leads on to addresses of its own. */
export async function leaveTo(request: PageRequest, provider: string, url: string) {
  const { providers } = await request.call(showSignInWays, {})
  const name = providers.find(({ key }) => key === provider)?.name ?? provider
  const { signingIn } = request.site.words
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
    const refused = { form: toSentForm({}, request.site.words), fault }
    return { html: await showSignIn({ ...request, query: new URLSearchParams(), sent: refused }), fault }
  }
}

/** Where a sign-in link leads. It is used up by the button alone: programs that look at links in messages do not press it. */
export async function showSignInLinkPage(request: PageRequest) {
  const { site, query, sent, call } = request
  const { words } = site
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
