import { updateAccount } from '../../../operations/account/account.ts'
import { languageCookie } from '../../language.ts'
import { Layout } from '../../layout.tsx'
import { Choice, Fault } from '../../parts/field.tsx'
import type { Action, PageRequest } from '../../request.ts'
import { LANGUAGES, wordsIn } from '../../strings/languages.ts'

/** The languages of the pages, each by its own name. */
export const LANGUAGE_OPTIONS: readonly (readonly [code: string, name: string])[] = LANGUAGES.map((language) => [
  language,
  wordsIn(language).languages.name,
])

/** Choosing the language of the pages. The foot of every page has the same choice as buttons. */
export async function showLanguage({ site, sent }: PageRequest) {
  const { words } = site
  return (
    <Layout site={site} title={words.languages.language} isIndexed={false}>
      <h1>{words.languages.language}</h1>
      <Fault sent={sent} fields={['language']} words={words} />
      <form method="post" class="fields">
        <Choice sent={sent} name="language" label={words.languages.language} value={words.language} options={LANGUAGE_OPTIONS} />
        <p>
          <button class="button first" type="submit">
            {words.languages.choose}
          </button>
        </p>
      </form>
    </Layout>
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
