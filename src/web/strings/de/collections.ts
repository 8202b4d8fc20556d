import { formatsOf } from '../../formats.ts'
import type { COLLECTION_WORDS } from '../collections.ts'

const { number } = formatsOf('de')

const count = (n: number, one: string, many: string) => `${number(n)} ${n === 1 ? one : many}`

/** Collections, in German. */
export const COLLECTION_WORDS_DE: typeof COLLECTION_WORDS = {
  collections: 'Sammlungen',
  lead: 'Prompts und Skills, zusammengestellt und in einer eigenen Reihenfolge.',
  search: 'Sammlungen durchsuchen',
  counts: (n) => count(n, 'Sammlung', 'Sammlungen'),
  holds: (prompts, skills) =>
    [...(prompts === 0 ? [] : [count(prompts, 'Prompt', 'Prompts')]), ...(skills === 0 ? [] : [count(skills, 'Skill', 'Skills')])].join(
      ', ',
    ) || 'leer',
  none: 'Noch keine Sammlungen.',
  noneHelp: 'Eine Sammlung enthält Prompts und Skills, die zusammengehören, in der Reihenfolge, die du ihnen gibst.',
  noneFound: 'Keine Sammlung hat diese Wörter im Titel.',
  about: 'Über Sammlungen',
  create: 'Sammlung erstellen',
  creating: 'Neue Sammlung',
  title: 'Titel',
  description: 'Beschreibung',
  owner: 'Gehört',
  yourself: 'Dir',
  team: (name) => `Team ${name}`,
  visibility: 'Wer sie sonst sieht',
  asDefault: 'Wie neue Einträge',
  ownedBy: 'Gehört',
  ownedByYou: 'Gehört dir.',
  ownedByTeam: (role) =>
    role === null
      ? 'einem Team.'
      : {
          reader: 'deinem Team; du darfst sie lesen.',
          editor: 'deinem Team; du darfst sie bearbeiten.',
          maintainer: 'deinem Team; du verwaltest es.',
        }[role],
  empty: 'Hier ist noch nichts.',
  emptyFor: 'Öffne einen Prompt oder einen Skill, und wähle „In Sammlung legen“.',
  emptyForOthers: 'Du siehst nichts von ihrem Inhalt, oder sie ist leer.',
  items: 'Inhalt',
  edit: 'Bearbeiten',
  save: 'Speichern',
  address: 'Adresse',
  addressHint: 'Das Ende ihrer Adresse. Frühere Adressen führen hierher.',
  onlyMaintainers: 'Wer das Team verwaltet, bestimmt, wer sie sonst sieht.',
  delete: 'Löschen',
  deleteMeans: 'Löscht die Sammlung endgültig. Ihr Inhalt bleibt in der Bibliothek.',
  moves: { first: 'An den Anfang', up: 'Nach oben', down: 'Nach unten', last: 'Ans Ende' },
  move: (title, to) =>
    ({
      first: `${title} an den Anfang`,
      up: `${title} nach oben`,
      down: `${title} nach unten`,
      last: `${title} ans Ende`,
    })[to],
  remove: 'Entfernen',
  removeItem: (title) => `${title} aus der Sammlung entfernen`,
  drag: 'Zum Umordnen ziehen',
  moveFailed: 'Die Reihenfolge wurde nicht gespeichert. Lade die Seite neu und versuche es noch einmal.',
  moved: (title) => `${title} verschoben.`,
  searchPrompts: 'Ihre Prompts durchsuchen',
  searchSkills: 'Ihre Skills durchsuchen',
  mcpAddress: 'Nur ihre Prompts und Skills, für ein MCP-Programm:',
  connect: 'Verbinden',
  addTo: 'In Sammlung legen',
  addItem: (title) => `„${title}“ zu einer Sammlung hinzufügen`,
  add: 'Hinzufügen',
  addToNamed: (title) => `Zu ${title} hinzufügen`,
  removeFromNamed: (title) => `Aus ${title} entfernen`,
  isIn: 'Ist in dieser Sammlung.',
  createAndAdd: 'Erstellen und hinzufügen',
  back: 'Zurück',
  inCollections: 'In Sammlungen',
  only: (title) => `Sammlung: ${title}`,
}
