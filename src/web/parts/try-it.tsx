import type { Child, FC } from 'hono/jsx'
import type { ApiRoute } from '../api/api-routes.ts'
import type { RouteInput } from '../api/example-request.ts'
import type { Words } from '../site.ts'

/** A form that sends the request from the page: shown by its script, which does all of it. Its fields have no names, so that nothing else sends them. */
export const TryIt: FC<{ words: Words; route: ApiRoute }> = ({ words: { api }, route }) => {
  const { anchor, method, path, access, inputs, body, example } = route
  const isKeyRequired = access === 'required'
  return (
    <details class="try" data-try hidden>
      <summary>{api.try}</summary>
      <form data-method={method} data-path={path}>
        <p class="quiet">{api.tryLead}</p>
        <div class="beside">
          {inputs.map((input) => (
            <Asked id={`${anchor}-${input.name}`} label={input.name}>
              <InputField id={`${anchor}-${input.name}`} input={input} value={valueIn(example, input.name)} />
            </Asked>
          ))}
          {access === 'none' ? null : (
            <Asked id={`${anchor}-key`} label={api.key}>
              <input id={`${anchor}-key`} type="password" data-key required={isKeyRequired} autocomplete="off" placeholder={api.keyHint} />
            </Asked>
          )}
        </div>
        {body === null ? null : (
          <Asked id={`${anchor}-body`} label={api.body}>
            <textarea id={`${anchor}-body`} data-body rows={6} spellcheck={false}>{`\n${JSON.stringify(example.body, null, 2)}`}</textarea>
          </Asked>
        )}
        <button class="button" type="submit">
          {api.send}
        </button>
        <output />
        <pre data-answer tabindex={0} hidden />
      </form>
    </details>
  )
}

/** What an input has in the query of an example. */
function valueIn({ path }: ApiRoute['example'], name: string): string {
  return new URLSearchParams(path.split('?')[1] ?? '').get(name) ?? ''
}

const Asked: FC<{ id: string; label: string; children?: Child }> = ({ id, label, children }) => (
  <div class="asked">
    <label for={id}>{label}</label>
    {children}
  </div>
)

const InputField: FC<{ id: string; input: RouteInput; value: string }> = ({ id, input: { name, in: place, required, schema }, value }) => {
  const choices = schema.type === 'boolean' ? ['true', 'false'] : schema.enum?.map(String)
  const shared = { id, required, 'data-in': place, 'data-name': name }
  if (!choices) return <input {...shared} value={value} autocomplete="off" />
  return (
    <select {...shared}>
      {required ? null : <option value="" />}
      {choices.map((choice) => (
        <option>{choice}</option>
      ))}
    </select>
  )
}
