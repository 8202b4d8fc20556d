import type { FC } from 'hono/jsx'
import { claudeCommand, linkInstalls } from '../install-links.ts'
import type { Site } from '../site.ts'
import { Link, LinkLine, Submit } from './controls.tsx'
import { FirstKeyFields } from './new-key.tsx'
import { Sample } from './sample.tsx'

/** How to use the service from a client, in one step, for public items. Where every item needs a key, a link to the page that creates one. */
export const ConnectBox: FC<{ site: Site }> = ({ site: { words, baseUrl, hasMcp, isForMembers, reader } }) => {
  if (!hasMcp) return null
  if (isForMembers) return <LinkLine to="/connect" look="button" text={words.connect} />
  const endpoint = `${baseUrl}/api/mcp`
  return (
    <div class="connect-box">
      <div class="actions">
        {linkInstalls(endpoint, null).map(({ client, href }) => (
          <Link to={href} look="button" rel="nofollow" text={words.installIn[client]} />
        ))}
      </div>
      <Sample words={words} text={claudeCommand(endpoint, null)} />
      {reader ? (
        <form method="post" action="/connect">
          <p class="quiet">
            <FirstKeyFields words={words} />
            {words.publicOnly} <Submit does="create" look="link" text={words.createKeyHere} />
          </p>
        </form>
      ) : null}
    </div>
  )
}
