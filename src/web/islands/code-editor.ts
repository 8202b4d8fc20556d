// An editor for files, in place of a plain field, whose value it keeps up to date.
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands'
import { javascript } from '@codemirror/lang-javascript'
import { json } from '@codemirror/lang-json'
import { markdown } from '@codemirror/lang-markdown'
import { python } from '@codemirror/lang-python'
import { yaml, yamlFrontmatter } from '@codemirror/lang-yaml'
import { HighlightStyle, syntaxHighlighting } from '@codemirror/language'
import { EditorState, type Extension } from '@codemirror/state'
import { EditorView, keymap, lineNumbers } from '@codemirror/view'
import { tags } from '@lezer/highlight'

const LANGUAGES: readonly (readonly [pattern: RegExp, language: () => Extension])[] = [
  [/\.(?:md|markdown)$/i, () => yamlFrontmatter({ content: markdown() })],
  [/\.json$/i, json],
  [/\.ya?ml$/i, yaml],
  [/\.py$/i, python],
  [/\.(?:js|mjs|cjs|jsx)$/i, javascript],
  [/\.(?:ts|mts|cts|tsx)$/i, () => javascript({ typescript: true })],
]

/** The colours of the pages' own highlighting, so that a file looks the same while it is written. */
const COLOURS = HighlightStyle.define([
  { tag: [tags.keyword, tags.propertyName], color: 'var(--code-keyword)' },
  { tag: [tags.string, tags.special(tags.string)], color: 'var(--code-string)' },
  { tag: [tags.comment, tags.meta], color: 'var(--margin)' },
  { tag: [tags.number, tags.bool, tags.null], color: 'var(--code-constant)' },
  { tag: [tags.function(tags.variableName), tags.link], color: 'var(--code-function)' },
  { tag: tags.heading, fontWeight: '600' },
  { tag: tags.emphasis, fontStyle: 'italic' },
  { tag: tags.strong, fontWeight: '600' },
])
const LOOK = EditorView.theme({
  '&': { border: '1px solid var(--field)', borderRadius: '3px', backgroundColor: 'var(--paper)', color: 'var(--ink)' },
  '&.cm-focused': { outline: '2px solid var(--accent)', outlineOffset: '2px' },
  '.cm-scroller': { font: 'var(--size-s) / 1.6 var(--mono)', minHeight: '24rem' },
  '.cm-content': { caretColor: 'var(--ink)' },
  '.cm-gutters': { backgroundColor: 'var(--sunk)', color: 'var(--margin)', borderRight: '1px solid var(--rule)' },
  '.cm-selectionBackground, &.cm-focused .cm-selectionBackground': { backgroundColor: 'var(--marker)' },
})

/** Puts the editor in place of a field: in a shadow root, where its styles are sheets the page's content policy lets a script make. */
export function mountCodeEditor(field: HTMLTextAreaElement): void {
  const language = LANGUAGES.find(([pattern]) => pattern.test(field.dataset['filename'] ?? ''))?.[1]
  const host = document.createElement('div')
  const root = host.attachShadow({ mode: 'open' })
  const view = new EditorView({
    root,
    parent: root,
    state: EditorState.create({
      doc: field.value,
      extensions: [
        lineNumbers(),
        history(),
        keymap.of([...defaultKeymap, ...historyKeymap]),
        EditorView.lineWrapping,
        EditorView.contentAttributes.of({ 'aria-label': field.labels?.[0]?.textContent ?? '' }),
        LOOK,
        syntaxHighlighting(COLOURS),
        ...(language ? [language()] : []),
        EditorView.updateListener.of((update) => {
          if (!update.docChanged) return
          field.value = update.state.doc.toString()
          field.dispatchEvent(new Event('input', { bubbles: true }))
        }),
      ],
    }),
  })
  field.form?.addEventListener('draft-restored', () => {
    view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: field.value } })
  })
  field.before(host)
  if (document.activeElement === field) view.focus()
  field.hidden = true
  // What leads to the field leads here.
  for (const link of document.querySelectorAll(`a[href="#${field.id}"]`)) {
    link.addEventListener('click', (event) => {
      event.preventDefault()
      view.focus()
    })
  }
}
