import { formatsOf } from '../../formats.ts'
import type { DOCUMENT_WORDS } from '../documents.ts'

const { number } = formatsOf('de')

/** The documentation pages, in German. The documents themselves are in English. */
export const DOCUMENT_WORDS_DE: typeof DOCUMENT_WORDS = {
  documents: 'Dokumentation',
  documentsLead: 'Wie du die Bibliothek benutzt und wie man sie betreibt. Die Texte sind auf Englisch.',
  sectionsFound: (n) => (n === 1 ? '1 Abschnitt gefunden.' : `${number(n)} Abschnitte gefunden.`),
  allDocuments: 'Alle Dokumente',
  neighbours: 'Voriges und nächstes',
  previousDocument: 'Voriges',
  nextDocument: 'Nächstes',
  linkToSection: (title) => `Link zu „${title}“`,
  onThisPage: 'Auf dieser Seite',
  aboutDocuments: {
    'getting-started': 'Den Dienst starten und den ersten Prompt erstellen.',
    connect: 'Die Bibliothek aus deinen KI-Programmen benutzen.',
    install: 'Skills in deinen Agenten installieren.',
    accounts: 'Sich anmelden, andere einladen, ein vergessenes Passwort zurücksetzen.',
    'sign-in': 'Mit OpenID Connect, GitHub oder einem Proxy anmelden und Rechte durch Gruppen geben.',
    'keys-and-visibility': 'Wer was lesen und ändern kann, und wie Programme sich ausweisen.',
    teams: 'Prompts und Skills gemeinsam besitzen: Rollen, Namen und Aufbau.',
    variables: 'Variablen in einem Prompt benutzen und ausfüllen.',
    skills: 'Ordner mit Anleitungen und Dateien für Agenten.',
    collections: 'Prompts und Skills zusammenstellen, ordnen und teilen.',
    labels: 'Bestimmen, welche Version Programme und Agenten bekommen.',
    evals: 'Tests bei der Version halten, ausführen und entscheiden lassen.',
    git: 'Die Bibliothek klonen und Skills daraus mit Git installieren.',
    search: 'Wie Suchen verstanden und Treffer sortiert werden.',
    improve: 'Einen Prompt verbessern, mit einem Sprachmodell oder ohne.',
    embeds: 'Einen Prompt auf der eigenen Website zeigen.',
    'import-export': 'Prompts und Skills importieren, exportieren und mit einem Ordner abgleichen.',
    langfuse: 'Prompts mit Programmen für Langfuse lesen und schreiben.',
    backup: 'Eine Bibliothek sichern, wiederherstellen und umziehen.',
    'self-hosting': 'Den Dienst für sich oder andere betreiben.',
    upgrade: 'Auf eine neue Version wechseln, oder zurück.',
    scaling: 'Von einer einzigen Datei bis zu mehreren Prozessen mit PostgreSQL.',
    benchmarks: 'Was Anfragen kosten, und wie du es selbst misst.',
    api: 'Jede Route, für Programme.',
    tools: 'Die Werkzeuge, die Programme ihrem Modell anbieten.',
    cli: 'Jeder Befehl.',
    settings: 'Jede Einstellung.',
    errors: 'Jeder Fehlercode.',
  },
  documentGroups: { use: 'Benutzen', share: 'Teilen', run: 'Betreiben', reference: 'Referenz' },
}
