import type { FC } from 'hono/jsx'
import type { EmbedConfig } from '../../domain/embed/config.ts'
import { diffByLines, toDiffLines } from '../../domain/text/text-diff.ts'
import type { Words } from '../site.ts'
import { textOf } from '../text-of.ts'
import { type ContextReference, parseContext, parseTools } from './context.ts'
import { Icon } from './icon.tsx'
import { parsePathTree, type TreeNode } from './path-tree.ts'
import { parsePromptPieces, readPiece } from './prompt-pieces.ts'

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
      {words.embed.by(author)}
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
  const { embed } = words
  const features = (['thinking', 'reasoning', 'planning', 'fast'] as const).filter((name) => config[name])
  return (
    <section class="chat" aria-label={embed.chat}>
      {config.context ? <Context words={words} text={config.context} /> : null}
      <p class="prompt">{config.prompt ? <MarkedPrompt text={config.prompt} /> : <span class="quiet">{embed.empty}</span>}</p>
      {config.showMcpTools && config.mcpTools ? <Tools words={words} text={config.mcpTools} /> : null}
      <div class="bar">
        {/* An empty list would be read out as one. */}
        <ul class="pills" aria-label={embed.settings} hidden={!config.mode && !config.model && features.length === 0}>
          {config.mode ? (
            <li>
              <span class="unseen">{`${embed.mode}: `}</span>
              <b>{nameOfMode(words, config.mode)}</b>
            </li>
          ) : null}
          {config.model ? (
            <li>
              <span class="unseen">{`${embed.model}: `}</span>
              {config.model}
            </li>
          ) : null}
          {features.map((name) => (
            <li class="on">{embed.features[name]}</li>
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
    <ul class="pills" aria-label={words.embed.context}>
      {shown.map((reference) => (
        <li>
          <Reference words={words} reference={reference} />
        </li>
      ))}
      {more === 0 ? null : <li class="quiet">{words.embed.more(more)}</li>}
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
    <ul class="pills tools" aria-label={words.embed.tools}>
      {shown.map(({ server, tool }) => (
        <li>
          <span>
            <b>{server}</b>
            {`:${tool}`}
          </span>
        </li>
      ))}
      {more === 0 ? null : <li class="quiet">{words.embed.more(more)}</li>}
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
      {more === 0 ? null : <p class="quiet">{words.embed.more(more)}</p>}
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
