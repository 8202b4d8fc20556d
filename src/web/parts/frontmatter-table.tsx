import type { Child, FC } from 'hono/jsx'
import type { Site } from '../site.ts'

/** Fields of a frontmatter that are shown. */
const MAX_FIELDS = 40

/** The metadata at the head of a Markdown text; nothing when there is none. */
export const FrontmatterTable: FC<{ site: Site; fields: readonly (readonly [name: string, value: Child])[] }> = ({
  site: { words },
  fields,
}) =>
  fields.length === 0 ? null : (
    <details>
      <summary class="quiet">{words.reading.frontmatter}</summary>
      <table class="head">
        <tbody>
          {fields.slice(0, MAX_FIELDS).map(([name, value]) => (
            <tr>
              <th scope="row">{name}</th>
              <td>{value}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </details>
  )
