/**
 * English words that say nothing of what is looked for. They are left out of a query that has others, so that "how do I write a poem"
 * is about poems. Other languages' small words are common in texts of those languages and weigh little by themselves.
 */
export const STOP_WORDS: ReadonlySet<string> = new Set(
  [
    'a an the and or but if then than so of to in on at by for from with without into onto over under about as',
    'is are was were be been being am do does did doing done have has had having',
    'i me my mine we us our ours you your yours he him his she her hers it its they them their theirs',
    'this that these those there here what which who whom whose when where why how',
    'can could will would shall should may might must not no nor only own same too very just let lets',
    's t d ll m re ve don dont isnt cant please help want need using use get got',
  ].flatMap((line) => line.split(' ')),
)
