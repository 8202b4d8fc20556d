import type { FC } from 'hono/jsx'
import { SCOPES } from '../../library/actor.ts'
import { claudeCommand, linkInstalls } from '../install-links.ts'
import type { Site } from '../site.ts'

/** How to use the service from a client, in one step: with a key, or public items only. Nothing where MCP is off. */
export const ConnectBox: FC<{ site: Site; apiKey?: string }> = ({ site: { words, baseUrl, hasMcp, reader }, apiKey = null }) => {
  if (!hasMcp) return null
  const endpoint = `${baseUrl}/api/mcp`
  return (
    <div class="connect-box">
      <div class="actions">
        {linkInstalls(endpoint, apiKey).map(({ client, href }) => (
          <a class="button" href={href} rel="nofollow">
            {words.installIn[client]}
          </a>
        ))}
      </div>
      <div class="sample" data-prompt>
        <pre data-text tabindex={0}>
          <code>{claudeCommand(endpoint, apiKey)}</code>
        </pre>
        <button class="button" type="button" data-copy={words.copied} hidden>
          {words.copy}
        </button>
      </div>
      {reader && apiKey === null ? (
        <form method="post" action="/settings/keys">
          <p class="quiet">
            <input type="hidden" name="name" value={words.firstKeyName} />
            {SCOPES.map((scope) => (
              <input type="hidden" name="scopes" value={scope} />
            ))}
            {words.publicOnly}{' '}
            <button class="link" type="submit" name="do" value="create">
              {words.createKeyHere}
            </button>
          </p>
        </form>
      ) : null}
    </div>
  )
}
