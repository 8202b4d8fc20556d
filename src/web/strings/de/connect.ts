import type { CONNECT_WORDS } from '../connect.ts'

/** The page that connects a client, in German. */
export const CONNECT_WORDS_DE: typeof CONNECT_WORDS = {
  title: 'Programm verbinden',
  lead: 'Durchsuche, lies und erweitere diese Bibliothek aus dem Programm, mit dem du arbeitest.',
  access: 'Was das Programm liest',
  accesses: { public: 'Öffentliches, ohne Schlüssel', 'sign-in': 'Auch deins, angemeldet', key: 'Auch deins, mit Schlüssel' },
  client: 'Programm',
  configOf: (client) => `Konfiguration von ${client}`,
  inFiles: (files) => (files === 1 ? 'In' : 'In einer dieser Dateien:'),
  inShell: 'In einem Terminal:',
  signInIn: { shell: 'Dann im Terminal anmelden:', client: 'Dann im Programm anmelden:' },
  opensBrowser: 'Das Programm öffnet eine Seite in deinem Browser. Dort wählst du, was es darf.',
  cannotSignIn: (client) => `Ob sich ${client} anmelden kann, wissen wir nicht. Nimm einen Schlüssel.`,
  placeholder: (key) => `In der Konfiguration steht ${key}, wo dein Schlüssel hingehört.`,
  signIn: 'Anmelden, um einen Schlüssel zu erstellen',
  more: 'Andere Programme, stdio, und was ein Programm sieht',
  notes: {
    'vs-code': 'VS Code fragt nach dem Schlüssel und schreibt ihn nicht in die Datei.',
    'claude-desktop': 'Benutze https, wenn der Server nicht auf deinem eigenen Rechner läuft.',
  },
}
