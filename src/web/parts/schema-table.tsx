import type { FC } from 'hono/jsx'
import type { SchemaField } from '../api/schema-fields.ts'
import { markEnglish } from '../language.ts'
import type { Words } from '../site.ts'

interface SchemaTableProps {
  readonly words: Words
  readonly caption: string
  readonly fields: readonly (SchemaField & { readonly isInPath?: boolean })[]
  /** Of an answer, readers want to know what may be missing; of a request, what must not be. */
  readonly isAnswer?: boolean
}

/** Fields of a request or an answer; nothing where there are none. */
export const SchemaTable: FC<SchemaTableProps> = ({ words, caption, fields, isAnswer = false }) => {
  const { api } = words
  return fields.length === 0 ? null : (
    <table class="schema" aria-label={isAnswer ? caption : undefined}>
      {isAnswer ? null : <caption>{caption}</caption>}
      <tbody>
        {fields.map(({ name, kind, choices, isRequired, isInPath, description, bounds }) => (
          <tr>
            <th scope="row">
              <code>
                {name.split('.').map((part, at) => (
                  <>
                    {at === 0 ? null : (
                      <>
                        .<wbr />
                      </>
                    )}
                    {part}
                  </>
                ))}
              </code>
            </th>
            <td>
              <span class="quiet">
                {kind}
                {choices.map((choice, at) => (
                  <>
                    {at === 0 ? '' : ', '}
                    <code>{choice}</code>
                  </>
                ))}
                {[
                  ...(isInPath ? [api.inPath] : []),
                  ...(isRequired && !isAnswer ? [api.required] : []),
                  ...(!isRequired && isAnswer ? [api.optional] : []),
                  ...(bounds === '' || isAnswer ? [] : [bounds]),
                ].map((fact) => ` · ${fact}`)}
              </span>
              {description === '' ? null : <div lang={markEnglish(words)}>{description}</div>}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
