import type { CONNECT_WORDS } from '../connect.ts'

/** The page that connects a client, in German. */
export const CONNECT_WORDS_DE: typeof CONNECT_WORDS = {
  title: 'Programm verbinden',
  lead: 'Durchsuche, benutze und speichere Prompts aus deinen KI-Programmen.',
  access: 'Zugriff',
  accesses: { public: 'Nur Öffentliches', 'sign-in': 'Anmelden', key: 'API-Schlüssel' },
  client: 'Programm',
  configOf: (client) => `Konfiguration von ${client}`,
  inFiles: (files) => (files === 1 ? 'In' : 'In einer dieser Dateien:'),
  inShell: 'In einem Terminal:',
  signInIn: { shell: 'Dann im Terminal anmelden:', client: 'Dann im Programm anmelden:' },
  opensBrowser: 'Das Programm öffnet eine Seite in deinem Browser. Dort wählst du, was es darf.',
  cannotSignIn: (client) => `Ob sich ${client} anmelden kann, wissen wir nicht. Nimm einen Schlüssel.`,
  placeholder: (key) => `Ersetze ${key} in der Konfiguration durch deinen Schlüssel.`,
  signIn: 'Anmelden, um einen Schlüssel zu erstellen',
  more: 'Andere Programme, und was ein Programm sehen kann',
  notes: {
    'vs-code': 'VS Code fragt nach dem Schlüssel und schreibt ihn nicht in die Datei.',
    'claude-desktop': 'Benutze https, wenn der Server nicht auf deinem eigenen Rechner läuft.',
  },
}
