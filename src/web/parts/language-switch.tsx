import type { FC } from 'hono/jsx'
import type { Site } from '../site.ts'
import { LANGUAGES, wordsIn } from '../strings/languages.ts'
import { Submit } from './controls.tsx'

/** Buttons for the other languages, each with its own name: those who need one may not read this page's. They lead back to this page. */
export const LanguageSwitch: FC<{ words: Site['words'] }> = ({ words }) => (
  <form method="post" action="/language">
    {LANGUAGES.filter((language) => language !== words.language).map((language) => (
      <Submit look="link" name="language" value={language} lang={language} text={wordsIn(language).languages.name} />
    ))}
  </form>
)
