import type { PROGRAM_WORDS } from '../programs.ts'

/** Programs that sign in by OAuth, in German. */
export const PROGRAM_WORDS_DE: typeof PROGRAM_WORDS = {
  heading: (name) => `${name} diese Bibliothek nutzen lassen?`,
  title: 'Programm verbinden',
  asYou: (username) => `Es würde als ${username} handeln.`,
  publishedBy: (host) => `Ein Dokument auf ${host} beschreibt es.`,
  unknownMaker: 'Es hat sich selbst registriert. Seinen Namen hat es selbst gewählt, niemand hat ihn geprüft.',
  returnsTo: (target) => `Danach geht es zurück zu ${target}.`,
  onlyIf: 'Nur fortfahren, wenn du das gerade selbst in diesem Programm gestartet hast.',
  allow: 'Erlauben',
  refuse: 'Nicht erlauben',
  going: 'Zurück zum Programm',
  goingLead: 'Falls sich das Programm nicht von selbst öffnet, hilft dieser Link.',
  goOn: 'Weiter',
  lead: 'Programme, die diese Bibliothek nutzen dürfen, etwa KI-Clients. Nach 30 Tagen ohne Nutzung wird ein Programm getrennt.',
  none: 'Kein Programm ist verbunden.',
  disconnect: 'Trennen',
  disconnectNamed: (name) => `${name} trennen`,
  disconnectAll: 'Alle trennen',
  disconnectAllMeans: 'Jedes Programm muss sich neu anmelden, bevor es die Bibliothek wieder nutzen kann. Das gilt sofort.',
  disconnectMeans: 'Das Programm muss sich neu anmelden, bevor es die Bibliothek wieder nutzen kann. Das gilt sofort.',
  howTo: (address) => `Zum Verbinden im Programm die Adresse ${address} angeben.`,
  connected: 'Verbundene Programme',
}
