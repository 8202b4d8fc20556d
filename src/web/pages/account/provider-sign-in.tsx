import type { FC } from 'hono/jsx'
import { toAppError } from '../../../errors.ts'
import { beginProviderSignIn, finishProviderSignIn, showSignInWays } from '../../../operations/account/provider-sign-in.ts'
import { showSignInLink, useSignInLink } from '../../../operations/account/sign-in.ts'
import { localPath, toSentForm } from '../../forms.ts'
import { Layout } from '../../layout.tsx'
import type { Action, LeadsOn, PageRequest, Refused } from '../../request.ts'
import type { Site } from '../../site.ts'
import { showSignIn } from './sign-in.tsx'

/**
 * The page between a form and a provider. A redirect would be refused by browsers: the content policy lets forms lead nowhere else, and
 * providers lead on to addresses of their own.
 */
export const LeavePage: FC<{ site: Site; name: string; url: string }> = ({ site, name, url }) => {
  const { signingIn } = site.words
  return (
    <Layout site={site} title={signingIn.by(name)} isIndexed={false} goesTo={url}>
      <div class="narrow">
        <h1>{signingIn.leaving(name)}</h1>
        <p>{signingIn.leavingLead(name)}</p>
        <p>
          <a class="button first" href={url} rel="noreferrer">
            {signingIn.goOn(name)}
          </a>
        </p>
      </div>
    </Layout>
  )
}

/** The name on the button of a provider. */
export async function nameProvider(call: PageRequest['call'], key: string): Promise<string> {
  const { providers } = await call(showSignInWays, {})
  return providers.find((provider) => provider.key === key)?.name ?? key
}

/** Sends the browser to a provider. */
export const leaveForProvider: Action = async ({ site, call, form, param }) => {
  const key = param('provider')
  const { url, cookies } = await call(beginProviderSignIn, { provider: key, to: localPath(form.text('to')) })
  return { html: <LeavePage site={site} name={await nameProvider(call, key)} url={url} />, cookies }
}

/** Where a provider sends the browser back. What goes wrong is shown on the sign-in page. */
export async function comeBackFromProvider(request: PageRequest): Promise<Awaited<ReturnType<typeof showSignIn>> | LeadsOn | Refused> {
  const { call, query, param, sent } = request
  if (sent) return await showSignIn(request)
  if (query.size === 0) return { to: '/sign-in' }
  try {
    const { to, cookies, isNew, isEmailTaken } = await call(finishProviderSignIn, { provider: param('provider'), query: query.toString() })
    const onward = isNew && isEmailTaken ? '/settings/sign-in?note=address-taken' : localPath(to)
    return { to: onward, cookies }
  } catch (error) {
    const fault = toAppError(error)
    if (fault.code === 'internal') throw error
    return {
      html: await showSignIn({ ...request, query: new URLSearchParams(), sent: { form: toSentForm({}, request.site.words), fault } }),
      fault,
    }
  }
}

/** Where a sign-in link leads. It is used up by the button alone: programs that look at links in messages do not press it. */
export async function showSignInLinkPage({ site, query, sent, call }: PageRequest) {
  const { words } = site
  const token = sent?.form.text('token') ?? query.get('token') ?? ''
  const found = await call(showSignInLink, { token }).catch((error: unknown) => {
    if (toAppError(error).code === 'internal') throw error
    return null
  })
  return (
    <Layout site={site} title={words.signingIn.linkTitle} isIndexed={false}>
      <div class="narrow">
        <h1>{words.signingIn.linkTitle}</h1>
        {found ? (
          <form method="post" action="/sign-in/link" class="fields">
            <input type="hidden" name="token" value={token} />
            <p>{words.signingIn.linkFor(found.username)}</p>
            <p>
              <button class="button first" type="submit">
                {words.signIn}
              </button>
            </p>
          </form>
        ) : (
          <p class="fault notice" role="alert">
            {words.signingIn.linkDead}
          </p>
        )}
      </div>
    </Layout>
  )
}

/** Signs in by a link. */
export const submitSignInLink: Action = async ({ call, form }) => {
  const { cookies } = await call(useSignInLink, { token: form.text('token') })
  return { to: '/', cookies }
}
