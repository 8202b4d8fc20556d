import type { COLLECTION_WORDS, TEAM_WORDS, TRANSFER_WORDS } from '../teams.ts'
import { count, countItems, number } from './count.ts'

/** Teams, in German. */
export const TEAM_WORDS_DE: typeof TEAM_WORDS = {
  roles: { reader: 'Lesen', editor: 'Bearbeiten', maintainer: 'Verwalten' },
  roleMeans: {
    reader: 'Lesen: sieht private Einträge des Teams',
    editor: 'Bearbeiten: erstellt und ändert auch Einträge',
    maintainer: 'Verwalten: veröffentlicht und löscht auch, und verwaltet Mitglieder',
  },
  teams: 'Teams',
  lead: 'Einem Team gehören Prompts und Skills gemeinsam. Was Mitglieder dürfen, hängt von ihrer Rolle ab.',
  about: 'Wie Teams funktionieren',
  yours: 'Deine Teams',
  none: 'Du bist noch in keinem Team.',
  create: 'Team erstellen',
  newTeam: 'Neues Team',
  name: 'Name',
  nameHint: 'a–z, A–Z, 0–9, Punkt, Bindestrich und Unterstrich. Steht in Links. Niemand sonst kann ihn später benutzen.',
  newItems: 'Neue Einträge sind',
  isTeam: 'Ein Team.',
  manageLink: 'Mitglieder und Einstellungen',
  items: 'Einträge',
  activityOf: (name) => `Aktivität von ${name}`,
  back: (name) => `Zurück zu ${name}`,
  yourRole: (role) => `Deine Rolle: ${role}`,
  members: 'Mitglieder',
  memberCount: (n) => count(n, 'Mitglied', 'Mitglieder'),
  findMembers: 'Mitglieder suchen',
  noMembers: 'Kein Mitglied heißt so.',
  addMember: 'Mitglied hinzufügen',
  add: 'Hinzufügen',
  roleOf: (name) => `Rolle von ${name}`,
  setRole: 'Rolle speichern',
  setRoleOf: (name) => `Rolle speichern: ${name}`,
  removeMeans: 'Ab der nächsten Anfrage sieht die Person keine privaten Einträge des Teams mehr. Was sie gemacht hat, bleibt.',
  leave: 'Verlassen',
  leaveMeans:
    'Du siehst keine privaten Einträge des Teams mehr. Was du gemacht hast, bleibt bei ihm. Wer es verwaltet, kann dich wieder aufnehmen.',
  renameHint: 'Alte Namen führen weiter hierher und werden nie neu vergeben.',
  deleteTeam: 'Team löschen',
  deleteMeans:
    'Ihm darf nichts gehören, auch nichts im Papierkorb. Seine Namen werden nicht neu vergeben. Das lässt sich nicht rückgängig machen.',
  handOver: 'Einträge übergeben an',
  handOverNone: 'Niemanden: endgültig löschen',
  handOverHint: 'Eine Person oder ein Team bekommt alles, mit allen Versionen. Leer lassen, um es zu löschen.',
  all: {
    find: 'Teams suchen',
    none: 'Keine gefunden.',
    tabs: { all: 'Alle', orphaned: 'Verwaist' },
    lead: 'Ein verwaistes Team hat niemanden mit einem nutzbaren Konto, der es verwaltet. Bestimme jemanden; seine privaten Einträge siehst du trotzdem nicht.',
    maintainedBy: (names) => `verwaltet von ${names}`,
    asked: 'Eine Gruppenzuordnung nennt dieses Team, das jemand hier angelegt hat. Wer es verwaltet, sähe, was die Gruppe speichert.',
    bind: 'Von Gruppen füllen lassen',
    appoint: 'Verwaltung übertragen',
    appointFor: (name) => `Benutzername der Person, die ${name} verwalten soll`,
    createLead: 'Du kannst ein Team für andere erstellen: Wen du nennst, verwaltet es.',
    maintainer: 'Verwaltet von',
  },
}

/** Transfers of items between owners, in German. */
export const TRANSFER_WORDS_DE: typeof TRANSFER_WORDS = {
  transfer: 'Übertragen',
  title: 'An andere übertragen',
  lead: (title) => `„${title}“ wird sofort übertragen, mit Adressen, Versionen und Stimmen.`,
  about: 'Wie Übertragungen funktionieren',
  none: 'Es gibt kein Team, an das du das übertragen könntest.',
  privateVersions: (count) =>
    count === 1
      ? 'Eine frühere Version war privat, als sie geschrieben wurde. Wer den Eintrag bekommt, würde sie sehen.'
      : `${number(count)} frühere Versionen waren privat, als sie geschrieben wurden. Wer den Eintrag bekommt, würde sie sehen.`,
  leaveOut: 'Private Versionen und Tags aus privaten Zeiten weglassen: endgültig löschen',
  to: 'Neuer Besitz',
  becomesPrivate: (name) => `${name} (wird privat, weil du dort nicht veröffentlichen darfst)`,
}

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
