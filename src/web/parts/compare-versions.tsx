import type { FC } from 'hono/jsx'
import type { Output } from '../../operations/core/procedure.ts'
import { listVersions } from '../../operations/items/versions.ts'
import { formatsOf } from '../formats.ts'
import type { PageRequest } from '../request.ts'
import type { Site } from '../site.ts'
import { Options, Submit } from './controls.tsx'

type Version = Output<typeof listVersions>['versions'][number]

/** Versions of one call. */
const PER_CALL = 100
/** Versions to choose from; older ones can be compared from their own pages. */
const MAX_CHOICES = 500

/** An item's newest versions that the reader can see, newest first, at most {@link MAX_CHOICES}. @throws AppError `not_found` */
export async function readNewestVersions({ call, ref }: PageRequest, collection: 'prompts' | 'skills'): Promise<Version[]> {
  const found: Version[] = []
  let before: number | undefined
  for (;;) {
    const page: Output<typeof listVersions> = await call(listVersions, {
      collection,
      id: ref,
      limit: PER_CALL,
      ...(before === undefined ? {} : { before }),
    })
    found.push(...page.versions)
    if (page.nextBefore === null || found.length >= MAX_CHOICES) return found
    before = page.nextBefore
  }
}

interface CompareVersionsProps {
  readonly site: Site
  /** Path of the item. */
  readonly path: string
  readonly versions: readonly Version[]
  readonly from: number
  readonly to: number
}

/** Two lists to choose two versions from; nothing while there is only one. */
export const CompareVersions: FC<CompareVersionsProps> = ({ site: { words }, path, versions, from, to }) => {
  const { moment } = formatsOf(words.language)
  const options = versions.map(({ version, createdAt }) => [`${version}`, words.reading.versionAt(version, moment(createdAt))] as const)
  return versions.length < 2 ? null : (
    <form class="compare" method="get" action={`${path}/versions`}>
      <Choices name="from" label={words.reading.compareFrom} options={options} chosen={from} />
      <Choices name="to" label={words.reading.compareTo} options={options} chosen={to} />
      <Submit text={words.reading.compare} />
    </form>
  )
}

type Names = readonly (readonly [value: string, name: string])[]

const Choices: FC<{ name: string; label: string; options: Names; chosen: number }> = ({ name, label, options, chosen }) => (
  <>
    <label for={`compare-${name}`}>{label}</label>
    <select id={`compare-${name}`} name={name}>
      <Options of={options} chosen={String(chosen)} />
    </select>
  </>
)
