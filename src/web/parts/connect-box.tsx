import type { FC } from 'hono/jsx'
import { claudeCommand, linkInstalls } from '../install-links.ts'
import type { Site } from '../site.ts'
import { FirstKeyFields } from './new-key.tsx'
import { Sample } from './sample.tsx'

/** How to use the service from a client, in one step, for public items. Where every item needs a key, a link to the page that creates one. */
export const ConnectBox: FC<{ site: Site }> = ({ site: { words, baseUrl, hasMcp, isForMembers, reader } }) => {
  if (!hasMcp) return null
  if (isForMembers)
    return (
      <p>
        <a class="button" href="/connect">
          {words.connect}
        </a>
      </p>
    )
  const endpoint = `${baseUrl}/api/mcp`
  return (
    <div class="connect-box">
      <div class="actions">
        {linkInstalls(endpoint, null).map(({ client, href }) => (
          <a class="button" href={href} rel="nofollow">
            {words.installIn[client]}
          </a>
        ))}
      </div>
      <Sample words={words} text={claudeCommand(endpoint, null)} />
      {reader ? (
        <form method="post" action="/connect">
          <p class="quiet">
            <FirstKeyFields words={words} />
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
