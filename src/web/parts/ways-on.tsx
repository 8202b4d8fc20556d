import type { Child, FC } from 'hono/jsx'
import type { Site } from '../site.ts'
import { LinkItem } from './controls.tsx'

/** The lists of everything, as ways on from a page that shows nothing, and further entries. */
export const WaysOn: FC<{ words: Site['words']; children?: Child }> = ({ words, children }) => (
  <ul class="filters ways">
    <LinkItem to="/prompts" text={words.find.browseAll.prompts} />
    <LinkItem to="/skills" text={words.find.browseAll.skills} />
    {children}
  </ul>
)
