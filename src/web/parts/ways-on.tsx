import type { Child, FC } from 'hono/jsx'
import type { Site } from '../site.ts'

/** The lists of everything, as ways on from a page that shows nothing, and further entries. */
export const WaysOn: FC<{ words: Site['words']; children?: Child }> = ({ words, children }) => (
  <ul class="filters ways">
    <li>
      <a href="/prompts">{words.find.browseAll.prompts}</a>
    </li>
    <li>
      <a href="/skills">{words.find.browseAll.skills}</a>
    </li>
    {children}
  </ul>
)
