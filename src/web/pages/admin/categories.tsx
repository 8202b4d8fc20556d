import { AppError, invalidInput } from '../../../errors.ts'
import {
  createCategory,
  deleteCategory,
  listAllCategories,
  mergeCategory,
  moveCategory,
  renameCategory,
} from '../../../operations/admin/administration.ts'
import type { Output } from '../../../operations/core/procedure.ts'
import { Link, Section } from '../../parts/controls.tsx'
import { ConfirmedAction, Form, sentWith, Tick } from '../../parts/form.tsx'
import { Entries, Entry } from '../../parts/lists.tsx'
import { SectionPage } from '../../parts/page-frames.tsx'
import { actBy, doing, done, type PageRequest } from '../../request.ts'

const PATH = '/admin/categories'

type Category = Output<typeof listAllCategories>['categories'][number]

/** Categories: the first level, and below each what is in it. */
export async function showCategories(request: PageRequest) {
  const { words } = request
  const { categories } = await request.call(listAllCategories, {})
  return (
    <SectionPage request={request} at={PATH} forms={['create']}>
      <p class="quiet">{words.categoriesLead}</p>
      <Entries
        of={categories}
        row={({ slug, name, parent, prompts, skills }) => (
          <Entry
            title={<a href={`/prompts?category=${slug}`}>{name}</a>}
            note={words.itemCount(prompts + skills)}
            class={parent === null ? undefined : 'below'}
          >
            <Link to={`${PATH}/${slug}`} look="button quiet" aria-label={words.editCategory(name)} text={words.edit} />
          </Entry>
        )}
      />
      <Section title={words.newCategory}>
        <Form
          request={request}
          does="create"
          of={createCategory}
          fields={{
            name: { label: words.categoryName, autocomplete: 'off' },
            parent: { label: words.below, options: [['', words.topLevel], ...firstLevel(categories)] },
          }}
          submit={words.createCategory}
        />
      </Section>
    </SectionPage>
  )
}

function firstLevel(categories: readonly Category[]) {
  return categories.flatMap(({ slug, name, parent }) => (parent === null ? [[slug, name] as const] : []))
}

/** Makes a category. */
export const changeCategories = actBy({ create: doing(createCategory, ({ form }) => form.texts('name', 'parent'), 'saved') })

/** A category: its name, its place, and what ends it. */
export async function showCategoryPage(request: PageRequest) {
  const { words } = request
  const { categories } = await request.call(listAllCategories, {})
  const category = categories.find(({ slug }) => slug === request.param('slug'))
  if (!category) throw new AppError('not_found', words.errors.noCategory)
  const { slug, name, parent, prompts, skills } = category
  const others = categories.filter((other) => other.slug !== slug)
  const hasBelow = others.some((other) => other.parent === slug)
  return (
    <SectionPage request={request} at={PATH} title={name} forms={['rename', 'move', 'merge']}>
      <p class="quiet">{words.itemCount(prompts + skills)}</p>
      <Form
        request={request}
        does="rename"
        of={renameCategory}
        fields={{ name: { label: words.categoryName, value: name, autocomplete: 'off' } }}
        submit={words.rename}
      />
      {hasBelow ? (
        <p class="quiet">{words.hasBelow}</p>
      ) : (
        <Form
          request={request}
          does="move"
          of={moveCategory}
          fields={{ parent: { label: words.below, value: parent, options: [['', words.topLevel], ...firstLevel(others)] } }}
          submit={words.moveBelow}
          isMain={false}
        />
      )}
      {others.length === 0 ? null : (
        <Section title={words.merge}>
          <p class="prose">{words.mergeLead(name)}</p>
          <Form
            request={request}
            does="merge"
            of={mergeCategory}
            fields={{ into: { label: words.mergeInto, options: others.map((other) => [other.slug, other.name]) } }}
            submit={words.merge}
            isMain={false}
          >
            <Tick sent={sentWith(request.sent, 'merge')} name="isMeant" label={words.mergeMeant(name)} isRequired />
          </Form>
        </Section>
      )}
      {prompts + skills > 0 || hasBelow ? null : (
        <ConfirmedAction does="delete" label={words.removeCategory} means={words.removeCategoryMeans} />
      )}
    </SectionPage>
  )
}

/** Renames, moves, merges or removes a category. */
export const changeCategory = actBy({
  rename: doing(renameCategory, ({ form, param }) => ({ slug: param('slug'), name: form.text('name') }), 'saved'),
  move: doing(moveCategory, ({ form, param }) => ({ slug: param('slug'), parent: form.text('parent') || null }), 'saved'),
  async merge({ site, call, form, param }) {
    const into = form.text('into')
    if (!form.has('isMeant')) throw invalidInput('isMeant', site.words.tickToConfirm)
    await call(mergeCategory, { slug: param('slug'), into })
    return done(`${PATH}/${encodeURIComponent(into)}`, 'merged')
  },
  delete: doing(deleteCategory, ({ param }) => ({ slug: param('slug') }), 'category-removed', PATH),
})
