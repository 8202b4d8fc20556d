import { createHash } from 'node:crypto'
import { raw } from 'hono/html'
import type { Child, FC } from 'hono/jsx'
import type { EmbedConfig } from '../../domain/embed/config.ts'
import type { Answer, Exchange } from '../../exchange.ts'
import { markControls } from '../escape.ts'
import type { Words } from '../site.ts'
import type { EmbedFault } from './addresses.ts'
import { EmbedBox, type EmbedSource } from './box.tsx'
import { DEFAULT_COLORS, type EmbedColors, makeEmbedColors } from './colors.ts'

/** The parts of the service that embeds use. */
export interface EmbedSettings {
  readonly words: Words
  readonly name: string
  /** Absolute, without a slash at its end. */
  readonly baseUrl: string
  readonly hasMcp: boolean
  /** Whether the library is for members alone: embeds then show public items, and no unlisted ones. */
  readonly isForMembers: boolean
  /** `frame-ancestors` sources besides the service itself. */
  readonly frameAncestors: string
  /** The address of a static file. */
  url(name: string): string
  /** The static file at an address, in the best form that the client takes; null when there is none. */
  answerFile(exchange: Exchange, path: string): Promise<Answer | null>
}

/** The only inline stylesheet: colours made from numbers, allowed by digest in the content policy. */
function makeSheet({ lightColor = DEFAULT_COLORS.light, darkColor = DEFAULT_COLORS.dark, themeMode = 'auto' }: EmbedConfig): string {
  const [light, dark] = [makeEmbedColors('light', lightColor), makeEmbedColors('dark', darkColor)]
  const scheme = themeMode === 'auto' ? 'light dark' : themeMode
  const toProperty = (name: string) => name.replace(/[A-Z]/, (letter) => `-${letter.toLowerCase()}`)
  const names = Object.keys(light) as (keyof EmbedColors)[]
  return `:root{color-scheme:${scheme};${names.map((name) => `--${toProperty(name)}:light-dark(${light[name]},${dark[name]})`).join(';')}}`
}

/**
 * A whole page for a frame. Its policy lets it load the two files of embeds, take that sheet, and nothing else.
 * @param faults named in a comment; they hold names of fields and fixed sentences alone
 */
export async function answerEmbed(
  settings: EmbedSettings,
  config: EmbedConfig,
  more: { source?: EmbedSource | null; faults?: readonly EmbedFault[]; problem?: { title: string; text: string }; status?: number } = {},
): Promise<Answer & { readonly body: string }> {
  const { words } = settings
  const { source = null, faults = [], problem, status = 200 } = more
  const sheet = makeSheet(config)
  const title = problem?.title ?? source?.title ?? words.embed.title
  const page = await (
    <Frame settings={settings} title={title} sheet={sheet} faults={faults}>
      {problem ? (
        <main class="embed" aria-label={problem.title} data-embed>
          <div class="fault">
            <h1>{problem.title}</h1>
            {problem.text}
          </div>
        </main>
      ) : (
        <EmbedBox words={words} config={config} source={source} />
      )}
    </Frame>
  ).toString()
  const digest = createHash('sha256').update(sheet).digest('base64')
  const policy = [
    "default-src 'none'",
    `style-src 'self' 'sha256-${digest}'`,
    "script-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    `frame-ancestors 'self' ${settings.frameAncestors}`.trim(),
  ].join('; ')
  const headers = {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': policy,
    'x-robots-tag': 'noindex, nofollow',
    'referrer-policy': 'no-referrer',
  }
  return { status, headers, body: `<!doctype html>${markControls(page)}` }
}

interface FrameProps {
  readonly settings: EmbedSettings
  readonly title: string
  readonly sheet: string
  readonly faults: readonly EmbedFault[]
  readonly children?: Child
}

const Frame: FC<FrameProps> = ({ settings: { words, name, url }, title, sheet, faults, children }) => (
  <html lang={words.language}>
    <head>
      <meta charset="utf-8" />
      <meta name="viewport" content="width=device-width, initial-scale=1" />
      <meta name="robots" content="noindex, nofollow" />
      <title>{`${title} · ${name}`}</title>
      <link rel="stylesheet" href={url('embed.css')} />
      <style>{raw(sheet)}</style>
      <script src={url('embed.js')} type="module" />
      {faults.length === 0 ? null : raw(`<!-- ${faults.map(({ field, message }) => `${field} ${message}`).join('; ')} -->`)}
    </head>
    <body>{children}</body>
  </html>
)
