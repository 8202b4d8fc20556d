import type { FC } from 'hono/jsx'
import { MAX_DESCRIPTION, MAX_TAGS, MAX_TITLE } from '../../library/fields.ts'
import { hasRight } from '../../library/teams.ts'
import type { Visibility } from '../../library/visibility.ts'
import { VISIBILITIES } from '../../library/visibility.ts'
import type { Input, Output } from '../../operations/core/define-operation.ts'
import { baseInput } from '../../operations/core/inputs.ts'
import { listCategories, listTags } from '../../operations/items/list-categories.ts'
import type { updatePrompt } from '../../operations/prompts/update-prompt.ts'
import { listTeams } from '../../operations/teams/list-teams.ts'
import type { SentForm } from '../forms.ts'
import type { PageRequest } from '../request.ts'
import type { Site } from '../site.ts'
import type { FieldChange } from './changes.tsx'
import { Choice, Field, sentOr } from './field.tsx'

/** What an item's fields hold before anything is typed. */
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

/** What an item's fields offer to choose from. */
export interface Choices {
  readonly categories: Categories
  /** Names of tags. */
  readonly tags: readonly string[]
  /** Names of teams that a new item can belong to. */
  readonly teams: readonly string[]
}

/** The categories and tags to choose from. */
export async function readChoices({ call }: PageRequest): Promise<Choices> {
  const [{ categories }, { tags }, { teams }] = await Promise.all([
    call(listCategories, { all: true }),
    call(listTags, { perPage: OFFERED_TAGS }),
    call(listTeams, {}),
  ])
  const writable = teams.filter(({ role }) => hasRight(role, 'edit'))
  return { categories, tags: tags.map(({ name }) => name), teams: writable.map(({ name }) => name) }
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
export const PlaceFields: FC<ItemFieldsProps> = ({ request, item, choices: { categories, tags, teams }, isNew }) => {
  const { sent, site, query } = request
  const { words } = site
  return (
    <>
      {isNew && teams.length > 0 ? (
        <Choice
          sent={sent}
          name="owner"
          label={words.owner}
          value={query.get('owner') ?? ''}
          options={[['', words.ownedByYourself], ...teams.map((name) => [name, words.teamNamed(name)] as const)]}
        />
      ) : null}
      <Choice
        sent={sent}
        name="visibility"
        label={words.visibility}
        value={item.visibility ?? ''}
        options={[
          ...(isNew && item.visibility === null ? ([['', words.asInSettings]] as const) : []),
          // The owner of a new one is chosen in the same form.
          ...VISIBILITIES.toReversed().map(
            (one) => [one, nameVisibility(words, one, item.team ?? null, isNew && teams.length > 0)] as const,
          ),
        ]}
      />
      <Choice
        sent={sent}
        name="category"
        label={words.category}
        value={item.categorySlug ?? ''}
        options={[
          ['', words.noCategory],
          ...categories.map(({ slug, name, parent }) => [slug, parent === null ? name : `— ${name}`] as const),
        ]}
      />
      <div data-tags={words.addTag} data-remove={words.removeTag('{name}')}>
        <Field sent={sent} name="tags" label={words.tags} value={item.tags.join(', ')} hint={words.tagsHint(MAX_TAGS)} autocomplete="off" />
        <datalist id="known-tags">
          {tags.map((name) => (
            <option value={name} />
          ))}
        </datalist>
      </div>
    </>
  )
}

/** What an edit began with, so that it keeps what others make of the same fields. It begins again where the form says what others changed. */
export const BaseField: FC<{ request: PageRequest; item: ItemValues; isConflict: boolean }> = ({ request: { sent }, item, isConflict }) => {
  const { tags, categorySlug: category, visibility } = item
  const now = JSON.stringify({ tags, category, visibility })
  return <input type="hidden" name="base" value={isConflict || sent?.fault.code === 'conflict' ? now : sentOr(sent, 'base', now)} />
}

/** What a {@link BaseField} holds. */
export function readBase(form: SentForm): { base?: Input<typeof updatePrompt>['base'] } {
  try {
    return { base: baseInput.parse(JSON.parse(form.text('base'))) }
  } catch {
    // Not one of ours.
    return {}
  }
}

/** Who sees an item of a visibility, in words. @param team the team that owns it, or null @param isEither whether it may be a team's or not */
export function nameVisibility(words: Site['words'], visibility: Visibility, team: string | null, isEither = false): string {
  if (visibility !== 'private') return words.visibilityMeans[visibility]
  if (team !== null) return words.privateToTeam(team)
  return isEither ? words.privateToOwner : words.visibilityMeans[visibility]
}

/** The labels of these fields and the title's, by name. */
export function itemLabels({ title, description, visibility, category, tags }: Site['words']): Readonly<Record<string, string>> {
  return { title, description, visibility, category, tags }
}

/** The title, as large as it will be. */
export const TitleField: FC<{ request: PageRequest; title: string; isFirst: boolean }> = ({ request: { sent, site }, title, isFirst }) => (
  <div class="title-field">
    <Field
      sent={sent}
      name="title"
      label={site.words.title}
      value={title}
      maxlength={MAX_TITLE}
      autocomplete="off"
      isRequired
      isFirst={isFirst}
    />
  </div>
)

/** Differences between a form and the saved item. Omitted fields count as unchanged. */
export function compareItemFields({ words }: Site, item: ItemValues, form: SentForm, categories: Categories): FieldChange[] {
  const { title, description, category, tags, visibility } = readItemFields(form, null)
  const nameCategory = (slug: string | null | undefined) => categories.find((one) => one.slug === slug)?.name ?? slug ?? null
  return [
    { label: words.title, before: item.title, after: title },
    { label: words.description, before: item.description, after: description ?? null },
    { label: words.category, before: nameCategory(item.categorySlug), after: nameCategory(category) },
    { label: words.tags, before: item.tags.join(', '), after: tags.join(', ') },
    { label: words.visibility, before: item.visibility, after: visibility ?? item.visibility },
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

/** What a form tells the script that keeps its unsaved text in the browser. */
export function draftWords(words: Site['words']) {
  return { 'data-restore': words.restoreDraft, 'data-discard': words.discardDraft, 'data-found': words.draftFound }
}
