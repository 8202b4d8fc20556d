import type { Child, FC } from 'hono/jsx'
import type { Site } from '../site.ts'
import { Sample } from './sample.tsx'

interface ShownOnceProps {
  readonly words: Site['words']
  readonly title?: string
  /** What it is, or what to do with it. */
  readonly lead: string
  /** Each with a button that copies it. */
  readonly texts: readonly string[]
  readonly children?: Child
}

/** A secret that was made just now and is not shown again, such as a key or an invite's link. */
export const ShownOnce: FC<ShownOnceProps> = ({ words, title, lead, texts, children }) => (
  <section class="new-key">
    <div role="status">
      {title === undefined ? null : <h2>{title}</h2>}
      <p>{lead}</p>
    </div>
    {texts.map((text) => (
      <Sample words={words} text={text} />
    ))}
    {children}
  </section>
)
