import { updateAccount } from '../../../operations/account/account.ts'
import { languageCookie } from '../../language.ts'
import { Form } from '../../parts/form.tsx'
import { TitledPage } from '../../parts/titled-page.tsx'
import type { Action, PageRequest } from '../../request.ts'
import { LANGUAGES, wordsIn } from '../../strings/languages.ts'

/** The languages of the pages, each by its own name. */
export const LANGUAGE_OPTIONS: readonly (readonly [code: string, name: string])[] = LANGUAGES.map((language) => [
  language,
  wordsIn(language).languages.name,
])

/** Choosing the language of the pages. The foot of every page has the same choice as buttons. */
export async function showLanguage(request: PageRequest) {
  const { words } = request.site
  return (
    <TitledPage request={request} title={words.languages.language} isIndexed={false}>
      <Form
        request={request}
        of={updateAccount}
        fields={{ language: { label: words.languages.language, value: words.language, options: LANGUAGE_OPTIONS } }}
        submit={words.languages.choose}
      />
    </TitledPage>
  )
}

/** Stores the language with the account of a person who is signed in, else on their browser, and leads back to the page with the button. */
export const chooseLanguage: Action = async ({ call, form, site, path, referrer }) => {
  const language = form.choice('language', LANGUAGES)
  const to = referrer === null || referrer === path ? '/' : referrer
  if (site.reader) {
    await call(updateAccount, { language })
    return { to }
  }
  return { to, cookies: [languageCookie(language, site.baseUrl)] }
}
