import { textField } from './fields.ts'

export const categoryNameField = textField({ min: 1, max: 60, blank: false })

/** Whether this is the category's slug or name, in any case. */
export function isCategoryNamed(category: { readonly slug: string; readonly name: string }, text: string): boolean {
  const wanted = fold(text)
  return category.slug === wanted || fold(category.name) === wanted
}

function fold(text: string): string {
  return text.normalize('NFC').trim().toLowerCase()
}
