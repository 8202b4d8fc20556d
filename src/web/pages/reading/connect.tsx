import type { FC } from 'hono/jsx'
import { CLIENT_IDS, type ClientId, PLACEHOLDER_KEY } from '../../clients.ts'
import { ACCESSES, type Access, ClientTabs, FirstKeyFields, makeKey, NewKeySection, newKey } from '../../parts/connect.tsx'
import { Link, LinkLine, Submit } from '../../parts/controls.tsx'
import { Fault } from '../../parts/field.tsx'
import { TitledPage } from '../../parts/page-frames.tsx'
import type { Action, PageRequest } from '../../request.ts'
import type { Site } from '../../site.ts'

/** The form that creates a key; it sends the chosen client too. */
const KEY_FORM = 'create-key'
const WITH_KEY = '/connect?access=key'

function readClient(name: string | null): ClientId {
  return CLIENT_IDS.find((id) => id === name) ?? CLIENT_IDS[0]
}

function readAccess(asked: string | null, { isForMembers, hasOAuth }: Site): Access {
  const found = ACCESSES.find((one) => one === asked && (one !== 'sign-in' || hasOAuth)) ?? 'public'
  return found === 'public' && isForMembers ? 'key' : found
}

/** How to connect a client: one tab for each, for public items, signed in, or with a key, which is created here. */
export async function showConnect(request: PageRequest) {
  const { site, words, query, sent, takeFlash } = request
  const { connecting } = words
  const made = takeFlash(newKey)
  const chosen = readClient(sent ? sent.form.text('client') : query.get('client'))
  const access = sent ? 'key' : readAccess(query.get('access'), site)
  return (
    <TitledPage
      request={request}
      title={connecting.title}
      lead={connecting.lead}
      description={connecting.lead}
      path="/connect"
      styles={['admin.css', 'connect.css']}
    >
      <Fault sent={sent} fields={[]} words={words} />
      {made ? (
        <NewKeySection site={site} made={made} chosen={chosen} />
      ) : (
        <ClientTabs site={site} access={access} chosen={chosen} form={KEY_FORM}>
          <KeyForm site={site} />
        </ClientTabs>
      )}
      <LinkLine to="/docs/connect" text={connecting.more} />
    </TitledPage>
  )
}

/** One button that creates a key; strangers sign in first. Shown beside configurations with a placeholder for the key. */
const KeyForm: FC<{ site: Site }> = ({ site: { words, reader } }) => (
  <form class="keyed" id={KEY_FORM} method="post" action="/connect">
    <p>{words.connecting.placeholder(PLACEHOLDER_KEY)}</p>
    <p>
      {reader ? (
        <>
          <FirstKeyFields words={words} />
          <Submit does="create" look="button first" text={words.createKeyHere} />
        </>
      ) : (
        <Link to={`/sign-in?to=${encodeURIComponent(WITH_KEY)}`} look="button first" rel="nofollow" text={words.connecting.signIn} />
      )}
    </p>
  </form>
)

/** Creates a key, and shows it on this page in the configuration of the chosen client. */
export const createKeyHere: Action = async (request) => {
  const flash = await makeKey(request)
  return { to: `${WITH_KEY}&client=${readClient(request.form.text('client'))}`, flash }
}
