import type { FC } from 'hono/jsx'
import type { EmbedConfig } from '../../domain/embed/config.ts'
import { diffByLines, toDiffLines } from '../../domain/text/text-diff.ts'
import { textOf, type Words } from '../site.ts'
import { type ContextReference, parseContext, parsePathTree, parsePromptPieces, parseTools, readPiece, type TreeNode } from './fields.ts'

/** Unchanged lines around a change, and lines that are shown. */
const AROUND = 3
const MAX_DIFF_LINES = 400
/** The source that a link out of an embed names. */
const OUTSIDE = { target: '_blank', rel: 'nofollow noopener' } as const

/** The item of an embed, when it shows something from the library. */
export interface EmbedSource {
  readonly title: string
  readonly author: string
  readonly url: string
  /** Whether there is more than the embed shows. */
  readonly isCut: boolean
}

/** The chat box of an assistant with a prompt in it, and what the configuration puts around it. */
export const EmbedBox: FC<{ words: Words; config: EmbedConfig; source: EmbedSource | null }> = ({ words, config, source }) => (
  <main class="embed" aria-label={source?.title ?? words.embed.title} data-embed>
    {source ? <Title words={words} source={source} /> : <h1 class="unseen">{words.embed.title}</h1>}
    {config.showFiletree && config.filetree ? <Tree words={words} text={config.filetree} open={config.diffFilename ?? ''} /> : null}
    <div class="work">
      {config.showDiff ? <Diff words={words} config={config} /> : null}
      <Chat words={words} config={config} isCut={source?.isCut ?? false} />
    </div>
  </main>
)

const Title: FC<{ words: Words; source: EmbedSource }> = ({ words, source: { title, author, url, isCut } }) => (
  <header class="title">
    <h1>
      <a href={url} {...OUTSIDE}>
        {title}
      </a>
    </h1>
    <p>
      {words.reading.by(author)}
      {isCut ? (
        <>
          {' · '}
          <a href={url} {...OUTSIDE}>
            {words.embed.readAll}
          </a>
        </>
      ) : null}
    </p>
  </header>
)

const Chat: FC<{ words: Words; config: EmbedConfig; isCut: boolean }> = ({ words, config, isCut }) => {
  const features = (['thinking', 'reasoning', 'planning', 'fast'] as const).filter((name) => config[name])
  return (
    <section class="chat" aria-label={words.designer.fields.prompt}>
      {config.context ? <Context words={words} text={config.context} /> : null}
      <p class="prompt">{config.prompt ? <MarkedPrompt text={config.prompt} /> : <span class="quiet">{words.nothingYet}</span>}</p>
      {config.showMcpTools && config.mcpTools ? <Tools words={words} text={config.mcpTools} /> : null}
      <div class="bar">
        {/* An empty list would be read out as one. */}
        <ul class="pills" aria-label={words.settings} hidden={!config.mode && !config.model && features.length === 0}>
          {config.mode ? (
            <li>
              <span class="unseen">{`${words.designer.fields.mode}: `}</span>
              <b>{nameOfMode(words, config.mode)}</b>
            </li>
          ) : null}
          {config.model ? (
            <li>
              <span class="unseen">{`${words.designer.fields.model}: `}</span>
              {config.model}
            </li>
          ) : null}
          {features.map((name) => (
            <li class="on">{words.designer.fields[name]}</li>
          ))}
        </ul>
        {/* A part of a prompt is not worth a copy. */}
        {config.prompt && !isCut ? (
          <button type="button" class="button" data-copy={words.copied} hidden>
            {words.copy}
          </button>
        ) : null}
        <span class="send">
          <Icon name="send" />
        </span>
      </div>
    </section>
  )
}

const MarkedPrompt: FC<{ text: string }> = ({ text }) => (
  <>
    {parsePromptPieces(text).map((piece) =>
      piece.kind === 'variable' ? (
        <mark class={piece.given === null ? 'variable' : 'variable given'} data-name={piece.name}>
          {readPiece(piece)}
        </mark>
      ) : piece.kind === 'mention' ? (
        <mark class="mention">{piece.text}</mark>
      ) : (
        piece.text
      ),
    )}
  </>
)

const Context: FC<{ words: Words; text: string }> = ({ words, text }) => {
  const { shown, more } = parseContext(text)
  if (shown.length === 0) return null
  return (
    <ul class="pills" aria-label={words.designer.fields.context}>
      {shown.map((reference) => (
        <li>
          <Reference words={words} reference={reference} />
        </li>
      ))}
      {more === 0 ? null : <li class="quiet">{words.audit.more(more)}</li>}
    </ul>
  )
}

const Reference: FC<{ words: Words; reference: ContextReference }> = ({ words, reference: { kind, label, url } }) => {
  const inner = (
    <>
      <Icon name={kind} />
      <span>
        <span class="unseen">{`${words.embed.kinds[kind]}: `}</span>
        {label}
      </span>
    </>
  )
  return url === undefined ? (
    inner
  ) : (
    <a href={url} {...OUTSIDE}>
      {inner}
    </a>
  )
}

const Tools: FC<{ words: Words; text: string }> = ({ words, text }) => {
  const { shown, more } = parseTools(text)
  if (shown.length === 0) return null
  return (
    <ul class="pills tools" aria-label={words.designer.fields.mcpTools}>
      {shown.map(({ server, tool }) => (
        <li>
          <span>
            <b>{server}</b>
            {`:${tool}`}
          </span>
        </li>
      ))}
      {more === 0 ? null : <li class="quiet">{words.audit.more(more)}</li>}
    </ul>
  )
}

const Tree: FC<{ words: Words; text: string; open: string }> = ({ words, text, open }) => {
  const { nodes, more } = parsePathTree(text)
  if (nodes.length === 0) return null
  return (
    <section class="tree" aria-labelledby="files">
      <h2 id="files">{words.files}</h2>
      <Nodes words={words} nodes={nodes} open={open} />
      {more === 0 ? null : <p class="quiet">{words.audit.more(more)}</p>}
    </section>
  )
}

const Nodes: FC<{ words: Words; nodes: readonly TreeNode[]; open: string }> = ({ words, nodes, open }) => (
  <ul>
    {nodes.map(({ name, path, children }) => (
      <li>
        <span class={children ? 'folder' : path === open ? 'open' : undefined}>
          <Icon name={children ? 'folder' : 'file'} />
          <span>
            {children ? <span class="unseen">{`${words.embed.kinds.folder}: `}</span> : null}
            {name}
          </span>
        </span>
        {children && children.length > 0 ? <Nodes words={words} nodes={children} open={open} /> : null}
      </li>
    ))}
  </ul>
)

const SIGNS = { same: ' ', added: '+', removed: '-' } as const

const Diff: FC<{ words: Words; config: EmbedConfig }> = ({ words: { embed, reading }, config }) => {
  const { diffFilename = '', diffOldText = '', diffNewText = '', flashButton } = config
  // A last line without an end is a line like the others.
  const [before, after] = [diffOldText, diffNewText].map((text) => (text === '' || text.endsWith('\n') ? text : `${text}\n`))
  const lines = toDiffLines(diffByLines(before ?? '', after ?? ''), AROUND)
  const count = (kind: string) => lines.filter((line) => line.kind === kind).length
  return (
    <section class="diff" aria-label={embed.change(diffFilename)}>
      <header>
        <h2>
          <Icon name="file" />
          {diffFilename === '' ? embed.untitled : diffFilename}
        </h2>
        {lines.length === 0 ? null : (
          <p class="counts">
            <ins aria-label={embed.linesAdded(count('added'))} role="img">{`+${count('added')}`}</ins>
            <del aria-label={embed.linesRemoved(count('removed'))} role="img">{`-${count('removed')}`}</del>
          </p>
        )}
      </header>
      <pre tabindex={0}>
        <code>
          {lines.slice(0, MAX_DIFF_LINES).map((line) => {
            if (line.kind === 'left-out') return <span class="quiet">{reading.unchangedLines(line.lines)}</span>
            const inner = (
              <>
                <i>{line.number}</i>
                {`${SIGNS[line.kind]} ${line.text}`}
              </>
            )
            if (line.kind === 'added') return <ins>{inner}</ins>
            return line.kind === 'removed' ? <del>{inner}</del> : <span class="same">{inner}</span>
          })}
        </code>
      </pre>
      <footer>
        <span class="quiet">{lines.length > MAX_DIFF_LINES ? reading.moreChanges : ''}</span>
        <p>
          <span class="button">{embed.reject}</span>
          <span class={flashButton === 'accept' ? 'button accept flash' : 'button accept'}>{embed.accept}</span>
        </p>
      </footer>
    </section>
  )
}

/** The label of a known mode; other modes as given. */
function nameOfMode({ embed: { modes } }: Words, mode: string): string {
  const known = mode.toLowerCase()
  return textOf(modes, known) ?? mode
}

/** Inline 16x16 icons: an embed loads nothing from third parties. */
const PATHS = {
  file: 'M4 2h5l3 3v9H4zM9 2v3h3',
  image: 'M2.5 3h11v10h-11zM3 11l3-3 2.5 2.5L11 8l2.5 2.500M5.5 6h.01',
  link: 'M7 9.500a3 3 0 0 0 4.3.200l2-2a3 3 0 0 0-4.3-4.200l-.8.8M9 6.500a3 3 0 0 0-4.3-.200l-2 2a3 3 0 0 0 4.3 4.200l.8-.8',
  folder: 'M2 4h4l1.5 2H14v7H2z',
  source: 'M8 2a6 6 0 1 0 0 12A6 6 0 0 0 8 2zM2 8h12M8 2c2 1.7 2.6 3.7 2.6 6s-.6 4.3-2.6 6c-2-1.7-2.6-3.7-2.6-6S6 3.7 8 2z',
  send: 'M8 13V3M3.5 7.5 8 3l4.5 4.5',
} as const

/** A decorative icon next to its label. */
const Icon: FC<{ name: keyof typeof PATHS }> = ({ name }) => (
  <svg viewBox="0 0 16 16" aria-hidden="true">
    <path d={PATHS[name]} />
  </svg>
)
