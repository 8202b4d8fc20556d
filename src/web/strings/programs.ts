/** Programs that sign in by OAuth: the consent page, and the list in the settings. */
export const PROGRAM_WORDS = {
  heading: (name: string) => `Let ${name} use this library?`,
  title: 'Connect a program',
  asYou: (username: string) => `It would act as ${username}.`,
  publishedBy: (host: string) => `It is described by a document at ${host}.`,
  unknownMaker: 'It registered itself. Its name is its own choice, and nobody has checked it.',
  /** `target`: an origin, or the scheme of an app with its colon */
  returnsTo: (target: string) =>
    target.endsWith(':') ? `Afterwards you go to the app that opens ${target} addresses.` : `Afterwards you go back to ${target}.`,
  onlyIf: 'Continue only if you have just started this from that program yourself.',
  allow: 'Allow',
  refuse: 'Do not allow',
  going: 'Back to the program',
  goingLead: 'If the program does not open by itself, use this link.',
  goOn: 'Continue',
  lead: 'Programs that you let use this library, such as AI clients. A program is disconnected after 30 days without use.',
  none: 'No program is connected.',
  disconnect: 'Disconnect',
  disconnectNamed: (name: string) => `Disconnect ${name}`,
  disconnectAll: 'Disconnect all',
  disconnectAllMeans: 'Each program has to sign in again before it can use this library. Takes effect immediately.',
  disconnectMeans: 'It has to sign in again before it can use this library. Takes effect immediately.',
  howTo: (address: string) => `To connect one, give it the address ${address}.`,
  connected: 'Connected programs',
}
