// Highlights code in a thread of its own: grammars are slow to begin, and a hostile text can make any of their patterns run for ever.
import { parentPort } from 'node:worker_threads'
import { createCssVariablesTheme, createHighlighterCore, type HighlighterCore, type LanguageInput, type RegexEngine } from 'shiki/core'
import { createJavaScriptRegexEngine } from 'shiki/engine/javascript'
import type { HighlightedLines, HighlightMessage, HighlightQuestion } from './highlight.ts'

/** A grammar is loaded when the first text in its language comes. */
const GRAMMARS: Readonly<Record<string, LanguageInput>> = {
  bash: () => import('shiki/langs/bash.mjs'),
  bicep: () => import('shiki/langs/bicep.mjs'),
  c: () => import('shiki/langs/c.mjs'),
  csharp: () => import('shiki/langs/csharp.mjs'),
  css: () => import('shiki/langs/css.mjs'),
  diff: () => import('shiki/langs/diff.mjs'),
  docker: () => import('shiki/langs/docker.mjs'),
  go: () => import('shiki/langs/go.mjs'),
  graphql: () => import('shiki/langs/graphql.mjs'),
  html: () => import('shiki/langs/html.mjs'),
  ini: () => import('shiki/langs/ini.mjs'),
  java: () => import('shiki/langs/java.mjs'),
  javascript: () => import('shiki/langs/javascript.mjs'),
  json: () => import('shiki/langs/json.mjs'),
  kotlin: () => import('shiki/langs/kotlin.mjs'),
  lua: () => import('shiki/langs/lua.mjs'),
  make: () => import('shiki/langs/make.mjs'),
  markdown: () => import('shiki/langs/markdown.mjs'),
  php: () => import('shiki/langs/php.mjs'),
  powershell: () => import('shiki/langs/powershell.mjs'),
  python: () => import('shiki/langs/python.mjs'),
  r: () => import('shiki/langs/r.mjs'),
  ruby: () => import('shiki/langs/ruby.mjs'),
  rust: () => import('shiki/langs/rust.mjs'),
  scala: () => import('shiki/langs/scala.mjs'),
  sql: () => import('shiki/langs/sql.mjs'),
  swift: () => import('shiki/langs/swift.mjs'),
  terraform: () => import('shiki/langs/terraform.mjs'),
  toml: () => import('shiki/langs/toml.mjs'),
  tsx: () => import('shiki/langs/tsx.mjs'),
  typescript: () => import('shiki/langs/typescript.mjs'),
  xml: () => import('shiki/langs/xml.mjs'),
  yaml: () => import('shiki/langs/yaml.mjs'),
}
const THEME = 'classes'
/** The colours of the theme that have a class; the others are plain. */
const COLOURED = /^var\(--t-token-(keyword|string|constant|comment|function|parameter|link|inserted|deleted|changed)(?:-expression)?\)$/

function toClass(color = ''): string {
  const name = COLOURED.exec(color)?.[1]
  return name === undefined ? '' : `t-${name}`
}

let opened: Promise<HighlighterCore> | undefined
/** The current text, and whether its start was reported. */
let current = 0
let isStartReported = false

function tell(message: HighlightMessage): void {
  parentPort?.postMessage(message)
}

/** Tells that the time of the text in work runs, or stands still: processor time of this thread. A message leaves at once, even while this thread works. */
function tellClock(isRunning: boolean): void {
  const { user, system } = process.threadCpuUsage()
  tell({ number: current, isRunning, atMs: (user + system) / 1000 })
}

/**
 * The engine of patterns. It makes patterns of a grammar when they are first needed, which takes up to a second for a whole grammar: that is no
 * fault of the text at hand, so its time stands still meanwhile. A single new pattern may be one that the text gives itself (the end of a
 * here-document), of which a text can have any number: it counts.
 */
function createEngine(): RegexEngine {
  const engine = createJavaScriptRegexEngine({ forgiving: true })
  const known = new Set<string>()
  return {
    ...engine,
    createScanner(patterns) {
      const before = known.size
      for (const pattern of patterns) if (typeof pattern === 'string') known.add(pattern)
      if (!isStartReported || known.size - before <= 1) return engine.createScanner(patterns)
      tellClock(false)
      try {
        return engine.createScanner(patterns)
      } finally {
        tellClock(true)
      }
    },
  }
}

async function highlight({ code, language, maxLine }: HighlightQuestion): Promise<HighlightedLines | null> {
  const grammar = GRAMMARS[language]
  if (!grammar) return null
  opened ??= createHighlighterCore({
    langs: [],
    themes: [createCssVariablesTheme({ name: THEME, variablePrefix: '--t-' })],
    engine: createEngine(),
  })
  const highlighter = await opened
  await highlighter.loadLanguage(grammar)
  isStartReported = true
  tellClock(true)
  const lines = highlighter.codeToTokensBase(code, {
    lang: language,
    theme: THEME,
    tokenizeMaxLineLength: maxLine,
    // The caller enforces the timeout.
    tokenizeTimeLimit: 0,
  })
  tellClock(false)
  isStartReported = false
  return lines.map((line) => line.map(({ content, color }) => [toClass(color), content] as const))
}

parentPort?.on('message', async (question: HighlightQuestion) => {
  current = question.number
  isStartReported = false
  const lines = await highlight(question).catch(() => null)
  tell({ number: question.number, lines })
})
