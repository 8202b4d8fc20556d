import { readWords } from './read-words.ts'

/** Frequent small words of English, and verbs prompts begin with. */
const ENGLISH = new Set(
  'a an the of to and for in on with is are be you your i my me we it its this that these from as at by or not do can will should about what how why who when which write create make generate explain act list give help draw build design using use please'.split(
    ' ',
  ),
)
/** Frequent small words of other languages in Latin script that English does not have. */
const OTHER = new Set(
  (
    'der die das ein eine einen und ist über für mit den dem von zu nicht schreibe ich wie auf ' +
    'le la les un une des du et est pour dans avec sur que qui je écris écrire moi au aux ' +
    'el los las una y para por con del escribe cómo sobre en es ' +
    'il lo gli di che per e scrivi della sono ' +
    'o os uma não do da escreva um em ' +
    'het een van voor schrijf niet ' +
    'bir ve için ile bu yaz olarak bana ' +
    'napisz jest się na w i o dla'
  ).split(' '),
)

/**
 * Whether a text is clearly in another language than English: most of its letters are of another script,
 * or it has more small words (and letters with marks) of other languages than of English. Without a sign of either it counts as English.
 */
export function isOtherLanguage(text: string): boolean {
  const latin = text.match(/\p{Script=Latin}/gu)?.length ?? 0
  const letters = text.match(/\p{L}/gu)?.length ?? 0
  if (letters === 0) return false
  // A Chinese or Japanese letter says as much as several of an alphabet.
  const dense = text.match(/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/gu)?.length ?? 0
  if (letters - latin + dense > latin) return true
  let english = 0
  let other = 0
  for (const word of readWords(text).trim().split(' ')) {
    const isEnglish = ENGLISH.has(word)
    if (isEnglish) english++
    if (OTHER.has(word) && !isEnglish) other++
    else if (!isEnglish && /[^\p{ASCII}\p{Script=Common}]/u.test(word)) other++
  }
  return other > english
}
