import type { FC } from 'hono/jsx'
import { MAX_DESCRIPTION, MAX_TAGS, MAX_TITLE } from '../../library/fields.ts'
import type { Visibility } from '../../library/visibility.ts'
import { VISIBILITIES } from '../../library/visibility.ts'
import type { Output } from '../../operations/core/define-operation.ts'
import { listCategories } from '../../operations/items/list-categories.ts'
import type { SentForm } from '../forms.ts'
import type { PageRequest } from '../request.ts'
import type { Site } from '../site.ts'
import type { FieldChange } from './changes.tsx'
import { Choice, Field, faultOf, sentOr } from './field.tsx'

/** What an item's fields hold before anything is typed. */
export interface ItemValues {
  readonly title: string
  readonly description: string | null
  readonly categorySlug: string | null
  readonly tags: readonly string[]
  readonly visibility: Visibility | null
}

type Categories = Output<typeof listCategories>['categories']

/** The categories to choose from. */
export async function readCategories({ call }: PageRequest): Promise<Categories> {
  return (await call(listCategories, { all: true })).categories
}

/** The fields prompts and skills share. Their names are those of the operations' inputs. */
export const ItemFieldsPart: FC<{ request: PageRequest; item: ItemValues; categories: Categories; isNew: boolean }> = ({
  request,
  item,
  categories,
  isNew,
}) => {
  const { sent, site } = request
  const { words } = site
  const chosen = sentOr(sent, 'category', item.categorySlug)
  const fault = faultOf(sent, 'category')
  const visibilities = ['private', 'unlisted', 'public'] as const
  return (
    <>
      <Field
        sent={sent}
        name="description"
        label={words.description}
        value={item.description}
        hint={words.descriptionHint}
        maxlength={MAX_DESCRIPTION}
        autocomplete="off"
      />
      <div class="beside">
        <div class="field">
          <label for="field-category">{words.category}</label>
          <select id="field-category" name="category" aria-describedby={fault ? 'category-fault' : undefined}>
            <option value="">{words.noCategory}</option>
            {categories.map(({ slug, name, parent }) => (
              <option value={slug} selected={slug === chosen}>
                {parent === null ? name : `— ${name}`}
              </option>
            ))}
          </select>
          {fault ? (
            <p class="fault" id="category-fault">
              {fault}
            </p>
          ) : null}
        </div>
        <Field sent={sent} name="tags" label={words.tags} value={item.tags.join(', ')} hint={words.tagsHint(MAX_TAGS)} autocomplete="off" />
        <Choice
          sent={sent}
          name="visibility"
          label={words.visibility}
          value={item.visibility ?? ''}
          options={[
            ...(isNew && item.visibility === null ? ([['', words.asInSettings]] as const) : []),
            ...visibilities.map((visibility) => [visibility, words.visibilityMeans[visibility]] as const),
          ]}
        />
      </div>
    </>
  )
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
  }
}
