import type { FC } from 'hono/jsx'
import { AGENTS, type Installed } from '../install-commands.ts'
import type { Site } from '../site.ts'
import { Strip } from './controls.tsx'
import { Sample } from './sample.tsx'

/** The sheet that shows the chosen tab. */
export const INSTALL_STYLES = ['connect.css']

interface InstallBoxProps {
  readonly site: Site
  readonly installed: Installed
  /** The first line of the box. */
  readonly lead: string
}

/** How to install skills, with a tab for each agent. Without skills to share, only what works with a key. */
export const InstallBox: FC<InstallBoxProps> = ({ site: { words, baseUrl, reader }, installed, lead }) => {
  const { reading } = words
  const offered = AGENTS.flatMap(({ id, name, write }) => {
    const samples = write(baseUrl, installed)
    return samples ? [{ id, name, samples }] : []
  })
  const { needsKey } = installed
  return (
    <details class="install">
      <summary class="button first">{reading.install}</summary>
      <p class="quiet">{lead}</p>
      <div class="clients">
        {offered.length > 1 ? (
          <Strip
            legend={reading.agent}
            name="agent"
            id="client"
            options={offered.map(({ id, name }) => [id, name])}
            chosen={offered[0]?.id}
          />
        ) : null}
        {offered.map(({ id, name, samples }) => (
          <section class={offered.length > 1 ? 'client' : undefined} data-client={id} aria-label={reading.installWith(name)}>
            {samples.map(({ file, text }) => (
              <>
                {file === undefined ? null : (
                  <p class="where">
                    {reading.inFile} <code>{file}</code>:
                  </p>
                )}
                <Sample words={words} text={text} />
              </>
            ))}
            {reading.agentNotes[id] === '' ? null : <p class="quiet">{reading.agentNotes[id]}</p>}
          </section>
        ))}
      </div>
      <p class="quiet">
        {needsKey ? (installed.skill ? reading.installPrivate : reading.installByLink) : reading.installPublic}{' '}
        {reader ? (
          <>
            <a href={`/settings/access?scope=${encodeURIComponent(installed.scope)}`}>{reading.makeInstallLink}</a> ·{' '}
          </>
        ) : null}
        <a href="/docs/install">{reading.aboutInstalling}</a>
      </p>
    </details>
  )
}
