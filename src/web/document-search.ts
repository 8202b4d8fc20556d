import { stemmer } from 'stemmer'
import { parseQuery } from '../search/analysis/query.ts'
import { eachWord, STOP_WORDS } from '../search/analysis/words.ts'
import { listDocuments, readDocument } from './documents.ts'
import type { Site } from './site.ts'

/** A section of a document, from one heading to the next. */
interface Section {
  /** Of the document, below `/docs/`. */
  readonly name: string
  readonly document: string
  /** Empty for what stands before the first heading. */
  readonly id: string
  readonly title: string
  readonly text: string
}

interface IndexedSection extends Section {
  /** How often each stem stands in it; those of its heading count more. */
  readonly stems: ReadonlyMap<string, number>
}

/** How often a word of a heading counts, of the section and of the document. */
const IN_HEADING = 6
const IN_TITLE = 3
/** Term frequency at which a word counts half (BM25's k1, without lengths). */
const SATURATION = 2
const MAX_HITS = 20

/** Sections already indexed; they are the same as long as the service runs. */
const indexed = new Map<string, readonly IndexedSection[]>()

/** Sections of the documents that hold words of a query, the best first; at most 20. */
export function searchDocuments(query: string, site: Site): readonly Section[] {
  const words = parseQuery(query)?.words ?? []
  const meaningful = words.filter((word) => !STOP_WORDS.has(word))
  const stems = new Set((meaningful.length > 0 ? meaningful : words).map(stemmer))
  const sections = readSections(site)
  const rarity = new Map(
    [...stems].map((stem) => [stem, Math.log(1 + sections.length / (1 + sections.filter((one) => one.stems.has(stem)).length))]),
  )
  const score = (section: IndexedSection) => {
    let sum = 0
    for (const [stem, weight] of rarity) {
      const count = section.stems.get(stem) ?? 0
      sum += (weight * count) / (count + SATURATION)
    }
    return sum
  }
  return sections
    .map((section) => ({ section, score: score(section) }))
    .filter((hit) => hit.score > 0)
    .sort((one, other) => other.score - one.score)
    .slice(0, MAX_HITS)
    .map(({ section }) => section)
}

function readSections(site: Site): readonly IndexedSection[] {
  const key = [site.baseUrl, site.hasMcp].join(' ')
  const sections = indexed.get(key) ?? listDocuments(site).flatMap((name) => cutDocument(name, site).map(indexSection))
  indexed.set(key, sections)
  return sections
}

function cutDocument(name: string, site: Site): Section[] {
  const { title: document, html } = readDocument(name, site)
  const [before = '', ...rest] = html.split(/(?=<h[2-4] id=")/)
  const text = toText(before)
  const first = { name, document, id: '', title: document, text }
  const sections = rest.map((part) => {
    const [head = '', id = '', heading = ''] = /^<h[2-4] id="([^"]*)">(.*?)<\/h[2-4]>/s.exec(part) ?? []
    return { name, document, id, title: toText(heading.replace(/<a class="anchor".*$/s, '')), text: toText(part.slice(head.length)) }
  })
  return text === '' ? sections : [first, ...sections]
}

function indexSection(section: Section): IndexedSection {
  const stems = new Map<string, number>()
  const count = (text: string, weight: number) =>
    eachWord(text, (word) => {
      const stem = stemmer(word)
      stems.set(stem, (stems.get(stem) ?? 0) + weight)
    })
  count(section.title, IN_HEADING)
  count(section.document, IN_TITLE)
  count(section.text, 1)
  return { ...section, stems }
}

const ENTITIES: Readonly<Record<string, string>> = { '&amp;': '&', '&lt;': '<', '&gt;': '>', '&quot;': '"', '&#39;': "'" }

/** The text of rendered Markdown. */
function toText(html: string): string {
  return html
    .replaceAll(/<button.*?<\/button>|<[^>]*>/gs, ' ')
    .replaceAll(/&(?:amp|lt|gt|quot|#39);/g, (entity) => ENTITIES[entity] ?? entity)
    .replaceAll(/\s+/g, ' ')
    .trim()
}
