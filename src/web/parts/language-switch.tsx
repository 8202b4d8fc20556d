import type { FC } from 'hono/jsx'
import type { Site } from '../site.ts'
import { LANGUAGES, wordsIn } from '../strings/languages.ts'

/** Buttons for the other languages, each with its own name: those who need one may not read this page's. They lead back to this page. */
export const LanguageSwitch: FC<{ words: Site['words'] }> = ({ words }) => (
  <form method="post" action="/language">
    {LANGUAGES.filter((language) => language !== words.language).map((language) => (
      <button class="link" type="submit" name="language" value={language} lang={language}>
        {wordsIn(language).languages.name}
      </button>
    ))}
  </form>
)
