import type { COLLECTION_WORDS } from '../collections.ts'
import { count, countItems } from './count.ts'

/** Collections, in German. */
export const COLLECTION_WORDS_DE: typeof COLLECTION_WORDS = {
  collections: 'Sammlungen',
  lead: 'Prompts und Skills, zusammengestellt und in einer eigenen Reihenfolge.',
  counts: (n) => count(n, 'Sammlung', 'Sammlungen'),
  holds: (prompts, skills) => countItems(prompts, skills).join(', ') || 'leer',
  none: 'Noch keine Sammlungen.',
  noneHelp: 'Eine Sammlung enthält Prompts und Skills, die zusammengehören, in der Reihenfolge, die du ihnen gibst.',
  noneFound: 'Keine Sammlung hat diese Wörter im Titel.',
  about: 'Über Sammlungen',
  create: 'Sammlung erstellen',
  creating: 'Neue Sammlung',
  yourself: 'Dir',
  asDefault: 'Dein Standard',
  ownedBy: 'Gehört',
  ownedByTeam: (role) =>
    role === null
      ? 'einem Team.'
      : {
          reader: 'deinem Team; du darfst sie lesen.',
          editor: 'deinem Team; du darfst sie bearbeiten.',
          maintainer: 'deinem Team; du verwaltest es.',
        }[role],
  emptyFor: 'Öffne einen Prompt oder einen Skill, und wähle „In Sammlung legen“.',
  emptyForOthers: 'Sie ist leer, oder du kannst ihren Inhalt nicht sehen.',
  items: 'Inhalt',
  address: 'Adresse',
  addressHint: 'Der letzte Teil ihrer Adresse. Alte Adressen führen hierher.',
  onlyMaintainers: 'Wer das Team verwaltet, bestimmt die Sichtbarkeit.',
  deleteMeans: 'Löscht die Sammlung endgültig. Ihr Inhalt bleibt in der Bibliothek.',
  moves: { up: 'Nach oben', down: 'Nach unten' },
  move: (title, to) => `${title} nach ${to === 'up' ? 'oben' : 'unten'}`,
  removeItem: (title) => `${title} aus der Sammlung entfernen`,
  drag: 'Zum Umordnen ziehen',
  moveFailed: 'Die Reihenfolge wurde nicht gespeichert. Lade die Seite neu und versuche es noch einmal.',
  moved: (title) => `${title} verschoben.`,
  mcpAddress: 'MCP-Adresse dieser Sammlung:',
  addTo: 'In Sammlung legen',
  addItem: (title) => `„${title}“ zu einer Sammlung hinzufügen`,
  createAndAdd: 'Erstellen und hinzufügen',
  inCollections: 'In Sammlungen',
  only: (title) => `Sammlung: ${title}`,
  editOrder: 'Reihenfolge ändern',
  endOrder: 'Fertig',
  searchIn: 'In dieser Sammlung suchen:',
}
