import type { SIGN_IN_WORDS } from '../sign-in.ts'

/** Sign-in by providers and proxies, and sign-in links, in German. */
export const SIGN_IN_WORDS_DE: typeof SIGN_IN_WORDS = {
  by: (name) => `Mit ${name} anmelden`,
  or: 'oder',
  leaving: (name) => `Weiter zu ${name} …`,
  leavingLead: (name) => `Du meldest dich bei ${name} an und kommst zurück.`,
  goOn: (name) => `Weiter zu ${name}`,
  byProxy: 'Der Proxy vor diesem Dienst meldet dich an. Du siehst diese Seite, weil er es nicht getan hat: Frag die Administration.',
  accountsElsewhere: 'Konten entstehen beim Anmelden. Ein Formular zum Registrieren gibt es hier nicht.',
  signedOutHere: (names) =>
    `Das beendet nur deine Sitzung hier. Bei ${names.join(' und ')} bleibst du vielleicht angemeldet: Melde dich an einem gemeinsamen Rechner auch dort ab.`,
  proxyKeeps: 'Der Proxy vor diesem Dienst meldet dich mit der nächsten Seite wieder an.',
  proxySignOut: 'Beim Proxy abmelden',
  linkTitle: 'Mit einem Link anmelden',
  linkFor: (name) => `Dieser Link meldet dich als ${name} an. Er gilt einmal.`,
  linkDead: 'Dieser Link gilt nicht mehr. Er gilt einmal und höchstens zehn Minuten.',
  since: 'verbunden seit',
  unusable: 'damit kann sich niemand mehr anmelden',
  proxy: 'Der Proxy vor diesem Dienst',
  disconnect: 'Trennen',
  connect: (name) => `${name} verbinden`,
  othersLead: 'Danach meldest du dich auch damit an. Deine anderen Sitzungen enden.',
  confirmFresh: 'Um das zu ändern, melde dich ab und wieder an. Das gilt dann zehn Minuten.',
  addressTaken:
    'Ein anderes Konto hier hat deine E-Mail-Adresse, deshalb ist dies ein neues Konto ohne Adresse. Falls das andere dir gehört, melde dich dort an und verbinde den Anbieter unter „Einstellungen“, „Sicherheit“.',
  firstPassword: 'Du hast noch kein Passwort. Um eines zu setzen, melde dich ab und wieder an. Das gilt dann zehn Minuten.',
  providers: 'Anmeldedienste',
  disconnectNamed: (name) => `${name} trennen`,
  disconnectMeans: 'Du meldest dich damit nicht mehr an.',
}
