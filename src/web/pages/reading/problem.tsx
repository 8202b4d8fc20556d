import { decodePart } from '../../../domain/text/addresses.ts'
import type { AppError } from '../../../errors.ts'
import type { CallOperation } from '../../../operations/core/define-operation.ts'
import type { Output } from '../../../operations/core/procedure.ts'
import { nearAddresses } from '../../../operations/items/search-items.ts'
import { Layout } from '../../layout.tsx'
import { LinkItem, Section } from '../../parts/controls.tsx'
import { WaysOn } from '../../parts/lists.tsx'
import { type Site, textOf } from '../../site.ts'

type NearItems = Output<typeof nearAddresses>['items']

interface Problem {
  readonly path: string
  readonly requestId: string
  /** Items that the address may have meant. */
  readonly near: NearItems
}

const OF_ITEM = /^\/(?:prompts|skills)\/([^/]+)/

/** Items whose address is nearly that of a page that was not found; none for other errors. */
export async function readNearItems(error: AppError, path: string, call: CallOperation): Promise<NearItems> {
  const ref = error.code === 'not_found' ? OF_ITEM.exec(path)?.[1] : undefined
  if (ref === undefined) return []
  // The page without suggestions is better than none.
  return await call(nearAddresses, { ref: decodePart(ref) }).then(
    ({ items }) => items,
    () => [],
  )
}

/** The page for an error: what went wrong, ways on, and the reference under which the log has it. */
export function showProblem(site: Site, error: AppError, { path, requestId, near }: Problem) {
  const { words } = site
  const isMissing = error.code === 'not_found'
  const title = isMissing ? words.notFoundTitle : (textOf(words.find.problems, error.code) ?? words.errorTitle)
  const isOfAdmin = error.code === 'forbidden' && path.startsWith('/admin')
  return (
    <Layout site={site} title={title}>
      <h1>{title}</h1>
      <p class="lead">{isMissing ? words.notFound : isOfAdmin ? words.find.adminOnly : toSentence(error.message)}</p>
      {near.length === 0 ? null : (
        <Section title={words.find.didYouMean}>
          <ul>
            {near.map(({ collection, slug, title }) => (
              <LinkItem to={`/${collection}/${slug}`} text={title} />
            ))}
          </ul>
        </Section>
      )}
      <WaysOn words={words}>
        <LinkItem to="/" text={words.home} />
      </WaysOn>
      <p class="quiet reference" data-prompt>
        {words.find.reference}: <code data-text>{requestId}</code>{' '}
        <button class="link" type="button" data-copy={words.copied} hidden>
          {words.copy}
        </button>
      </p>
    </Layout>
  )
}

/** Messages that begin with the name of a field begin a sentence here. */
function toSentence(message: string): string {
  return message.charAt(0).toUpperCase() + message.slice(1)
}
