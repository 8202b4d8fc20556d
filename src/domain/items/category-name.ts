import { textField } from './fields.ts'

export const categoryNameField = textField({ min: 1, max: 60, blank: false })

/** Whether this is the category's slug or name, in any case. */
export function isCategoryNamed(category: { readonly slug: string; readonly name: string }, text: string): boolean {
  const wanted = foldCategoryName(text)
  return category.slug === wanted || foldCategoryName(category.name) === wanted
}

/** How names of categories are compared. */
export function foldCategoryName(text: string): string {
  return text.normalize('NFC').trim().toLowerCase()
}
