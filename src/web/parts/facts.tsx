import type { Child, FC } from 'hono/jsx'
import { slugifyTag } from '../../domain/items/slug.ts'
import { othersMaySee, type Visibility } from '../../domain/items/visibility.ts'
import type { Output } from '../../operations/core/procedure.ts'
import type { showItemPage } from '../../operations/items/item-page.ts'
import type { Site, Words } from '../site.ts'
import { formatsOf } from '../strings/formats.ts'
import { Link, LinkItem } from './controls.tsx'

type Language = Pick<Words, 'language'>

/** A date, in UTC where no script runs; the island shows the reader's own. */
export const Day: FC<{ words: Language; at: string }> = ({ words, at }) => (
  <time datetime={at} data-day>
    {formatsOf(words.language).day(at)}
  </time>
)

/** A date with what happened on it. */
export const On: FC<{ label: string; words: Language; at: string }> = ({ label, words, at }) => (
  <>
    {label} <Day words={words} at={at} />
  </>
)

/** A day with its time, in UTC where no script runs; the island shows the reader's own, and UTC on hover: what people compare with logs. */
export const Moment: FC<{ words: Language; at: string }> = ({ words, at }) => (
  <time datetime={at} data-moment>
    {formatsOf(words.language).moment(at)}
  </time>
)

/** A day that is known by its date alone, such as 2026-01-31 in UTC. */
export const UtcDay: FC<{ words: Language; day: string }> = ({ words, day }) => (
  <time datetime={day}>{formatsOf(words.language).day(day)}</time>
)

/**
 * When something happened: a date in UTC, with the time of day if `hasTime`, which a script
 * turns into "3 days ago" or, with the time of day, into the reader's own time. A cached page stays right.
 */
export const Ago: FC<{ words: Language; at: string; hasTime?: boolean }> = ({ words, at, hasTime = false }) => {
  const formats = formatsOf(words.language)
  const exact = formats.moment(at)
  return (
    <time datetime={at} title={exact} data-ago={hasTime ? 'exact' : 'true'}>
      {hasTime ? exact : formats.day(at)}
    </time>
  )
}

/** The page of an author. */
export function authorPath(author: string): string {
  return `/@${encodeURIComponent(author)}`
}

/** Whether a program needs a key to read an item: without one it is not found, even by its id. */
export function needsKey({ isForMembers }: Pick<Site, 'isForMembers'>, item: { readonly visibility: Visibility }): boolean {
  return isForMembers || !othersMaySee('stranger', 'id').includes(item.visibility)
}

/** Whether an item may be embedded: it is shown to everybody, without a key. */
export function isEmbeddable(
  { isForMembers, hasPublicItems }: Pick<Site, 'isForMembers' | 'hasPublicItems'>,
  { visibility }: { readonly visibility: Visibility },
): boolean {
  if (isForMembers && !hasPublicItems) return false
  return othersMaySee(isForMembers ? 'outsider' : 'stranger', 'id').includes(visibility)
}

/** Whether the reader sees single items alone, and nothing else of the library. */
export function isOutside({ isForMembers, reader }: Pick<Site, 'isForMembers' | 'reader'>): boolean {
  return isForMembers && reader === null
}

/** Download addresses: items that need a key have a route that accepts the reader's session. */
export function downloadsOf(site: Pick<Site, 'isForMembers'>, item: { readonly visibility: Visibility }): '/api' | '/download' {
  return needsKey(site, item) ? '/download' : '/api'
}

/** One fact of a margin. */
export const Fact: FC<{ label: Child; children?: Child }> = ({ label, children }) => (
  <div>
    <dt>{label}</dt>
    <dd>{children}</dd>
  </div>
)

interface ItemFactsProps {
  readonly site: Site
  readonly kind: 'prompts' | 'skills'
  readonly item: {
    readonly author: string
    readonly category: string | null
    readonly categorySlug?: string | null
    readonly tags: readonly string[]
    readonly votes: number
    readonly updatedAt: string
  }
  /** Those that the item is in. */
  readonly collections: Output<typeof showItemPage>['collections']
}

/** A fact that is a list of links within the service; nothing without any. */
export const LinksFact: FC<{ label: string; links: readonly { readonly title: string; readonly url: string }[] }> = ({ label, links }) =>
  links.length === 0 ? null : (
    <Fact label={label}>
      <ul class="tags">
        {links.map(({ title, url }) => (
          <LinkItem to={new URL(url).pathname} dir="auto" text={title} />
        ))}
      </ul>
    </Fact>
  )

/** Where else an item is found; nothing for items that are not shown to everybody. */
export const ElsewhereFact: FC<{
  site: Site
  kind: 'prompts' | 'skills'
  item: { readonly id: string; readonly visibility: Visibility }
}> = ({ site, kind, item }) =>
  isOutside(site) || !isEmbeddable(site, item) ? null : (
    <Fact label={site.words.reading.elsewhere}>
      {needsKey(site, item) ? null : (
        <>
          <a href={`/api/${kind}/${item.id}`}>{site.words.asJson}</a>,{' '}
        </>
      )}
      <Link to={`/embeds?item=${item.id}`} rel="nofollow" text={site.words.designer.embed} />
    </Fact>
  )

/** Counts of the findings of the check, which lead to them. */
export const CheckFact: FC<{ site: Site; path: string; page: Pick<Output<typeof showItemPage>, 'check' | 'marks'> }> = ({
  site,
  path,
  page: { check, marks },
}) => {
  const { words } = site
  if (isOutside(site)) return null
  // The page of findings begins with the newest version, which others may not see.
  const version = marks && marks.version > marks.servedVersion ? `?version=${marks.servedVersion}` : ''
  return (
    <Fact label={words.findings.check}>
      <a href={`${path}/check${version}`} rel="nofollow">
        {check ? words.findings.counts(check.high, check.medium, check.low) : words.findings.notChecked}
        {check && check.waived > 0 ? `, ${words.findings.acceptedCount(check.waived)}` : null}
      </a>
    </Fact>
  )
}

/** Metadata of a prompt or skill, shown in the margin. */
export const ItemFacts: FC<ItemFactsProps> = ({ site: { words }, kind, item, collections }) => (
  <>
    {item.category === null ? null : (
      <Fact label={words.category}>
        {item.categorySlug ? <a href={`/${kind}?category=${item.categorySlug}`}>{item.category}</a> : item.category}
      </Fact>
    )}
    <Fact label={words.author}>
      <a href={authorPath(item.author)}>{item.author}</a>
    </Fact>
    {item.tags.length === 0 ? null : (
      <Fact label={words.tags}>
        <ul class="tags">
          {item.tags.map((tag) => (
            <LinkItem to={`/${kind}?tag=${slugifyTag(tag)}`} text={tag} />
          ))}
        </ul>
      </Fact>
    )}
    <LinksFact label={words.collecting.inCollections} links={collections} />
    <Fact label={words.updated}>
      <Day words={words} at={item.updatedAt} />
    </Fact>
    {item.votes === 0 ? null : <Fact label={words.sorts.votes}>{words.votes(item.votes)}</Fact>}
  </>
)
