import type { FC } from 'hono/jsx'
import { AppError, invalidInput } from '../../../errors.ts'
import { createCategory, deleteCategory, mergeCategory, moveCategory, renameCategory } from '../../../operations/admin/administration.ts'
import type { Output } from '../../../operations/core/procedure.ts'
import { listCategories } from '../../../operations/items/list-categories.ts'
import { Confirm } from '../../parts/confirm.tsx'
import { ActionButton, Choice, Fault, Field, faultOf } from '../../parts/field.tsx'
import type { Action, PageRequest } from '../../request.ts'
import { AdminPage } from './admin-page.tsx'

type Category = Output<typeof listCategories>['categories'][number]
type Options = readonly (readonly [value: string, label: string])[]

/** The form of a page that was sent, for the section it is of. */
function sentBy(sent: PageRequest['sent'], does: string): PageRequest['sent'] {
  return sent?.form.text('do') === does ? sent : null
}

/** Categories: the first level, and below each what is in it. */
export async function showCategories(request: PageRequest) {
  const { site, call, sent } = request
  const { words } = site
  const { categories } = await call(listCategories, { all: true })
  return (
    <AdminPage request={request} at="/admin/categories">
      <Fault sent={sent} fields={['name', 'slug', 'parent']} words={words} />
      <ul class="entries">
        {categories.map(({ slug, name, parent, prompts, skills }) => (
          <li class={parent === null ? undefined : 'below'}>
            <div>
              <a href={`/prompts?category=${slug}`}>{name}</a> <span class="quiet">{words.itemCount(prompts + skills)}</span>
            </div>
            <a class="button quiet" href={`/admin/categories/${slug}`} aria-label={words.editCategory(name)}>
              {words.edit}
            </a>
          </li>
        ))}
      </ul>
      <section>
        <h2>{words.newCategory}</h2>
        <form method="post" class="fields">
          <Field sent={sent} name="name" label={words.categoryName} maxlength={60} autocomplete="off" isRequired />
          <Choice sent={sent} name="parent" label={words.below} value="" options={[['', words.topLevel], ...firstLevel(categories)]} />
          <p>
            <button class="button first" type="submit" name="do" value="create">
              {words.createCategory}
            </button>
          </p>
        </form>
      </section>
    </AdminPage>
  )
}

function firstLevel(categories: readonly Category[]): Options {
  return categories.flatMap(({ slug, name, parent }) => (parent === null ? [[slug, name] as const] : []))
}

/** Makes a category. */
export const changeCategories: Action = async ({ site, call, form }) => {
  if (form.text('do') !== 'create') throw new AppError('invalid_input', site.words.errors.noButton)
  await call(createCategory, { name: form.text('name'), parent: form.text('parent') })
  return { to: '/admin/categories?done=saved' }
}

/** A category: its name, its place, and what ends it. */
export async function showCategoryPage(request: PageRequest) {
  const { site, call, sent } = request
  const { words } = site
  const { categories } = await call(listCategories, { all: true })
  const category = categories.find(({ slug }) => slug === request.param('slug'))
  if (!category) throw new AppError('not_found', site.words.errors.noCategory)
  const { slug, name, parent, prompts, skills } = category
  const others = categories.filter((other) => other.slug !== slug)
  const hasBelow = others.some((other) => other.parent === slug)
  return (
    <AdminPage request={request} at="/admin/categories">
      <h2>{name}</h2>
      <p class="quiet">{words.itemCount(prompts + skills)}</p>
      <Fault sent={sent} fields={['name', 'parent', 'into', 'isMeant']} words={words} />
      <form method="post" class="fields">
        <Field
          sent={sentBy(sent, 'rename')}
          name="name"
          label={words.categoryName}
          value={name}
          maxlength={60}
          autocomplete="off"
          isRequired
        />
        <p>
          <button class="button first" type="submit" name="do" value="rename">
            {words.rename}
          </button>
        </p>
      </form>
      {hasBelow ? (
        <p class="quiet">{words.hasBelow}</p>
      ) : (
        <form method="post" class="fields">
          <Choice
            sent={sentBy(sent, 'move')}
            name="parent"
            label={words.below}
            value={parent ?? ''}
            options={[['', words.topLevel], ...firstLevel(others)]}
          />
          <p>
            <button class="button" type="submit" name="do" value="move">
              {words.moveBelow}
            </button>
          </p>
        </form>
      )}
      {others.length === 0 ? null : <Merging request={request} name={name} others={others} />}
      {prompts + skills > 0 || hasBelow ? null : (
        <Confirm label={words.removeCategory} means={words.removeCategoryMeans}>
          <ActionButton does="delete">{words.removeCategory}</ActionButton>
        </Confirm>
      )}
    </AdminPage>
  )
}

const Merging: FC<{ request: PageRequest; name: string; others: readonly Category[] }> = ({ request, name, others }) => {
  const { words } = request.site
  const sent = sentBy(request.sent, 'merge')
  const fault = faultOf(sent, 'isMeant')
  return (
    <section>
      <h2>{words.merge}</h2>
      <p class="prose">{words.mergeLead(name)}</p>
      <form method="post" class="fields">
        <Choice sent={sent} name="into" label={words.mergeInto} value="" options={others.map((other) => [other.slug, other.name])} />
        <label class="tick">
          <input type="checkbox" name="isMeant" value="true" required aria-describedby={fault ? 'isMeant-fault' : undefined} />{' '}
          {words.mergeMeant(name)}
        </label>
        {fault ? (
          <p class="fault" id="isMeant-fault">
            {fault}
          </p>
        ) : null}
        <p>
          <button class="button" type="submit" name="do" value="merge">
            {words.merge}
          </button>
        </p>
      </form>
    </section>
  )
}

/** Renames, moves, merges or removes a category. */
export const changeCategory: Action = async ({ site: { words }, call, form, param, path }) => {
  const slug = param('slug')
  switch (form.text('do')) {
    case 'rename':
      await call(renameCategory, { slug, name: form.text('name') })
      return { to: `${path}?done=saved` }
    case 'move':
      await call(moveCategory, { slug, parent: form.text('parent') || null })
      return { to: `${path}?done=saved` }
    case 'merge': {
      const into = form.text('into')
      if (!form.has('isMeant')) throw invalidInput('isMeant', words.tickToConfirm)
      await call(mergeCategory, { slug, into })
      return { to: `/admin/categories/${encodeURIComponent(into)}?done=merged` }
    }
    case 'delete':
      await call(deleteCategory, { slug })
      return { to: '/admin/categories?done=category-removed' }
    default:
      throw new AppError('invalid_input', words.errors.noButton)
  }
}
