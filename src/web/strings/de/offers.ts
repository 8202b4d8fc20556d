import { formatsOf } from '../../formats.ts'
import type { OFFER_WORDS } from '../offers.ts'

const { number } = formatsOf('de')

/** Transfers of items between owners, in German. */
export const OFFER_WORDS_DE: typeof OFFER_WORDS = {
  transfer: 'Übertragen',
  title: 'An andere übertragen',
  lead: (title) =>
    `„${title}“ geht mit Adressen, Versionen und Stimmen an eine Person oder ein Team, sobald das Angebot angenommen wird. Verwaltest du das Team, geht es sofort über.`,
  about: 'Wie Übertragungen funktionieren',
  privateVersions: (count) =>
    count === 1
      ? 'Eine frühere Version war privat, als sie geschrieben wurde. Wer den Eintrag bekommt, würde sie sehen.'
      : `${number(count)} frühere Versionen waren privat, als sie geschrieben wurden. Wer den Eintrag bekommt, würde sie sehen.`,
  leaveOut: 'Private Versionen und Tags aus privaten Zeiten weglassen: beim Übergang endgültig löschen',
  to: 'Benutzername oder Team',
  offer: 'Anbieten',
  isOffered: (to) => `Der Eintrag ist ${to} angeboten. Ein neues Angebot ersetzt dieses.`,
  offers: 'Angebote',
  offersLead: 'Einträge, die den Besitz wechseln, wenn die andere Seite annimmt.',
  incoming: 'Dir und deinen Teams angeboten',
  outgoing: 'Von dir und deinen Teams angeboten',
  none: 'Keine.',
  way: (from, to) => `von ${from} an ${to}`,
  by: (name) => `durch ${name}`,
  leavesOut: 'ohne frühere private Versionen',
  until: 'bis',
  accept: 'Annehmen',
  acceptNamed: (title) => `${title} annehmen`,
  decline: 'Ablehnen',
  declineNamed: (title) => `${title} ablehnen`,
  declineMeans: 'Der Eintrag bleibt, wo er ist, und kann wieder angeboten werden.',
  withdraw: 'Zurückziehen',
  withdrawNamed: (title) => `Angebot von ${title} zurückziehen`,
}
