import { formatsOf } from '../../formats.ts'
import type { TRANSFER_WORDS } from '../transfers.ts'

const { number } = formatsOf('de')

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
