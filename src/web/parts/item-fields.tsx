import type { Child, FC, JSX } from 'hono/jsx'
import { MAX_DESCRIPTION, MAX_TAGS, MAX_TITLE } from '../../domain/items/fields.ts'
import { type Filing, findClashes, mergeFiling } from '../../domain/items/filing.ts'
import { VISIBILITIES, type Visibility } from '../../domain/items/visibility.ts'
import { hasRight } from '../../domain/people/teams.ts'
import { showAccount } from '../../operations/account/account.ts'
import { baseInput } from '../../operations/core/inputs.ts'
import type { Input, Output } from '../../operations/core/procedure.ts'
import { listCategories, listTags } from '../../operations/items/list-categories.ts'
import type { updatePrompt } from '../../operations/items/update-items.ts'
import { listTeams } from '../../operations/teams/teams.ts'
import type { SentForm } from '../forms.ts'
import type { PageRequest } from '../request.ts'
import type { Site } from '../site.ts'
import { type FieldChange, FieldChanges } from './changes.tsx'
import { Suggestions } from './controls.tsx'
import { Field, faultOf } from './field.tsx'

/** The values of an item's fields before anything is typed. */
export interface ItemValues {
  readonly title: string
  readonly description: string | null
  readonly categorySlug: string | null
  readonly tags: readonly string[]
  readonly visibility: Visibility | null
  /** The team that owns it. */
  readonly team?: string | null | undefined
}

type Categories = Output<typeof listCategories>['categories']

/** Tags that are offered, the most used ones. */
const OFFERED_TAGS = 100

/** The choices of an item's fields. */
export type Choices = Awaited<ReturnType<typeof readChoices>>

/** The categories and tags to choose from. */
export async function readChoices({ call }: PageRequest) {
  const [{ categories }, { tags }, { teams }, { defaultVisibility }] = await Promise.all([
    call(listCategories, { all: true }),
    call(listTags, { perPage: OFFERED_TAGS }),
    call(listTeams, {}),
    call(showAccount, {}),
  ])
  const writable = teams.filter(({ role }) => hasRight(role, 'edit'))
  return { categories, tags: tags.map(({ name }) => name), teams: writable.map(({ name }) => name), defaultVisibility }
}

interface ItemFieldsProps {
  readonly request: PageRequest
  readonly item: ItemValues
  readonly choices: Choices
  readonly isNew: boolean
}

export const DescriptionField: FC<Pick<ItemFieldsProps, 'request' | 'item'>> = ({ request: { sent, site }, item }) => (
  <Field
    sent={sent}
    name="description"
    label={site.words.description}
    value={item.description}
    hint={site.words.descriptionHint}
    maxlength={MAX_DESCRIPTION}
    autocomplete="off"
  />
)

/** Where an item is found, and by whom: visibility, category, tags. A script shows the tags one by one. */
export const PlaceFields: FC<ItemFieldsProps> = ({ request, item, choices: { categories, tags, teams, defaultVisibility }, isNew }) => {
  const { sent, words, query } = request
  return (
    <>
      {isNew && teams.length > 0 ? (
        <Field
          sent={sent}
          name="owner"
          label={words.owner}
          value={query.get('owner') ?? ''}
          options={[['', words.ownedByYourself], ...teams.map((name) => [name, words.teamNamed(name)] as const)]}
        />
      ) : null}
      <Field
        sent={sent}
        name="visibility"
        label={words.visibility}
        value={item.visibility ?? ''}
        options={[
          ...(isNew && item.visibility === null
            ? ([['', query.has('owner') ? words.teamsDefault : words.yourDefault(words.visibilities[defaultVisibility])]] as const)
            : []),
          // The owner of a new one is chosen in the same form.
          ...VISIBILITIES.toReversed().map(
            (one) => [one, nameVisibility(words, one, item.team ?? null, isNew && teams.length > 0)] as const,
          ),
        ]}
      />
      <Field
        sent={sent}
        name="category"
        label={words.category}
        value={item.categorySlug ?? ''}
        options={[
          ['', words.noCategory],
          ...categories.map(({ slug, name, parent }) => [slug, parent === null ? name : `— ${name}`] as const),
        ]}
      />
      <div data-tags={words.addTag} data-remove={words.removeTag('{name}')} data-most={MAX_TAGS} data-full={words.tagsFull(MAX_TAGS)}>
        <Field sent={sent} name="tags" label={words.tags} value={item.tags.join(', ')} hint={words.tagsHint(MAX_TAGS)} autocomplete="off" />
        <Suggestions id="known-tags" of={tags} />
      </div>
    </>
  )
}

/** The values that an edit began with, so that it keeps others' changes of the same fields. */
export const BaseField: FC<{ request: PageRequest; item: ItemValues; isConflict: boolean }> = ({ request: { sent }, item, isConflict }) => {
  const isShown = isConflict || sent?.fault.code === 'conflict'
  return <input type="hidden" name="base" value={JSON.stringify(baseOf(sent?.form ?? null, item, isShown))} />
}

/** Others' changes of where an item is filed, since the form that was sent began. */
export const FiledMeanwhile: FC<{ request: PageRequest; item: ItemValues; choices: Choices }> = ({ request, item, choices }) => {
  const { sent, site } = request
  const changes = sent ? compareFiling(site, baseOf(sent.form, item, false), filingOf(item), choices.categories) : []
  const isClash = clashesInFiling(sent)
  const isChanged = changes.some(({ before, after }) => before !== after)
  return isClash || isChanged ? (
    <section class="notice" role={isClash ? 'alert' : undefined}>
      {isClash ? <p class="fault">{site.words.filedClash}</p> : null}
      {isChanged ? <p class="quiet">{site.words.filedMeanwhile}</p> : null}
      <FieldChanges fields={changes} />
    </section>
  ) : null
}

/** Whether a form was refused for what {@link FiledMeanwhile} tells: its fields need no correction then. */
export function clashesInFiling(sent: PageRequest['sent']): boolean {
  return sent?.fault.code === 'conflict' && (faultOf(sent, 'category') ?? faultOf(sent, 'visibility')) !== null
}

function filingOf({ tags, categorySlug: category, visibility }: ItemValues): Filing {
  return { tags, category, visibility: visibility ?? 'private' }
}

/** Where an item was filed when the edit of a form began. @param isShown whether its reader sees what clashes: it is theirs to replace then */
function baseOf(form: SentForm | null, item: ItemValues, isShown: boolean): Filing {
  const now = filingOf(item)
  const base = form && readBase(form).base
  if (!base) return now
  const clashes = isShown ? findClashes(base, { category: form.text('category') || null, visibility: form.text('visibility') }, now) : []
  return { ...base, ...Object.fromEntries(clashes.map((field) => [field, now[field]])) }
}

/** The value of a {@link BaseField}. */
export function readBase(form: SentForm): { base?: Input<typeof updatePrompt>['base'] } {
  try {
    return { base: baseInput.parse(JSON.parse(form.text('base'))) }
  } catch {
    // Not one of ours.
    return {}
  }
}

/** The audience of a visibility, in words. @param team the team that owns it, or null @param isEither whether it may be a team's or not */
export function nameVisibility(words: Site['words'], visibility: Visibility, team: string | null, isEither = false): string {
  if (visibility !== 'private') return words.visibilityMeans[visibility]
  if (team !== null) return words.privateToTeam(team)
  return isEither ? words.privateToOwner : words.visibilityMeans[visibility]
}

/** The labels of these fields and the title's, by name. */
export function itemLabels({ title, description, visibility, category, tags }: Site['words']): Readonly<Record<string, string>> {
  return { title, description, visibility, category, tags }
}

/** The title, as large as it will be. It is required unless a hint says where else it comes from. */
export const TitleField: FC<{ request: PageRequest; title: string; isFirst: boolean; hint?: string }> = ({
  request: { sent, site },
  title,
  isFirst,
  hint,
}) => (
  <div class="title-field">
    <Field
      sent={sent}
      name="title"
      label={site.words.title}
      value={title}
      maxlength={MAX_TITLE}
      autocomplete="off"
      hint={hint}
      isRequired={hint === undefined}
      isFirst={isFirst}
    />
  </div>
)

/** The changes that saving a form would make in the saved item. Omitted fields count as unchanged. */
export function compareItemFields(site: Site, item: ItemValues, form: SentForm, categories: Categories): FieldChange[] {
  const { title, description, category, tags, visibility } = readItemFields(form, null)
  const now = filingOf(item)
  const wanted = { category, tags, ...(visibility && { visibility }) }
  return [
    { label: site.words.title, before: item.title, after: title },
    { label: site.words.description, before: item.description, after: description ?? null },
    ...compareFiling(site, now, { ...now, ...mergeShown(baseOf(form, item, true), wanted, now) }, categories),
  ]
}

/** @returns what the form says where that is too much to save */
function mergeShown(base: Filing, wanted: Partial<Filing>, now: Filing): Partial<Filing> {
  try {
    return mergeFiling(base, wanted, now)
  } catch {
    return wanted
  }
}

function compareFiling({ words }: Site, before: Filing, after: Filing, categories: Categories): FieldChange[] {
  const nameCategory = (slug: string | null) => categories.find((one) => one.slug === slug)?.name ?? slug
  return [
    { label: words.category, before: nameCategory(before.category), after: nameCategory(after.category) },
    { label: words.tags, before: before.tags.join(', '), after: after.tags.join(', ') },
    { label: words.visibility, before: words.visibilities[before.visibility], after: words.visibilities[after.visibility] },
  ]
}

/** The fields of a form, as operations take them. Tags are separated by commas. @param none the value of an empty field */
export function readItemFields<None extends null | undefined>(form: SentForm, none: None) {
  const description = form.text('description')
  const category = form.text('category')
  return {
    title: form.text('title'),
    description: description === '' ? none : description,
    category: category === '' ? none : category,
    tags: form
      .text('tags')
      .split(/[,，、]/)
      .map((tag) => tag.trim())
      .filter((tag) => tag !== ''),
    ...(form.text('visibility') === '' ? {} : { visibility: form.choice('visibility', VISIBILITIES) }),
    ...(form.text('owner') === '' ? {} : { owner: form.text('owner') }),
  }
}

type EditorFormProps = JSX.IntrinsicElements['form'] & {
  readonly words: Site['words']
  /** Its name in the browser; undefined where nothing is written. */
  readonly name: string | undefined
  readonly isRefused: boolean
  readonly children?: Child
}

/** A form whose unsaved text a script keeps in the browser. */
export const EditorForm: FC<EditorFormProps> = ({ words, name, isRefused, children, ...more }) => (
  <form
    method="post"
    data-editor={name}
    data-refused={isRefused ? 'true' : undefined}
    data-restore={words.restoreDraft}
    data-discard={words.discardDraft}
    data-found={words.draftFound}
    {...more}
  >
    {children}
  </form>
)

/** Says that somebody saved what is written, and what to do; `children` show the changes. */
export const SavedMeanwhile: FC<{ words: Site['words']; version: number; way?: Child; children?: Child }> = ({
  words,
  version,
  way,
  children,
}) => (
  <section class="notice" role="alert">
    <p class="fault">{words.savedMeanwhile(version)}</p>
    <p class="quiet">
      {words.conflictHelp} {way}
    </p>
    {children}
  </section>
)
