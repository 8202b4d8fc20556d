import type { FC } from 'hono/jsx'
import { isApplication, linkText, SERVICES } from '../open-in.ts'
import type { Site } from '../site.ts'

/**
 * A menu of what a prompt can be opened in. Without a script its links hold the text as it is here; the script puts the values in.
 * @param text with the defaults of its blanks; null when it is too long to be filled in
 */
export const OpenIn: FC<{ site: Site; text: string | null }> = ({ site: { words }, text }) => (
  <details class="menu upwards" data-open-in>
    <summary class="button">{words.filling.openIn}</summary>
    <ul>
      {SERVICES.map((service) => {
        const address = text === null ? null : linkText(service, text)
        return (
          <li>
            <a
              href={address ?? service.home}
              target={isApplication(service) ? undefined : '_blank'}
              rel="noopener nofollow external"
              data-service={service.name}
            >
              {service.name}
              <small data-copied-first hidden>
                {' '}
                {words.filling.copiedFirst}
              </small>
              {address === null ? (
                <noscript>
                  <small> {words.filling.copyYourself}</small>
                </noscript>
              ) : null}
            </a>
          </li>
        )
      })}
    </ul>
  </details>
)
