/** Words that repeat without a pattern, for texts of any length. */
function makeProse(words: number, seed: number): string {
  const list =
    'review the code of a small service and write tests for what fails summarise this article in three sentences for students plan a trip translate politely'.split(
      ' ',
    )
  let state = seed
  return Array.from({ length: words }, () => {
    state = (state * 48_271) % 2_147_483_647
    return list[state % list.length]
  }).join(' ')
}

/** Every assigned-looking character of a range, as words of four. */
function listCharacters(from: number, to: number): string {
  const all = Array.from({ length: to - from + 1 }, (_, at) => String.fromCodePoint(from + at))
  return all.map((char, at) => (at % 4 === 3 ? `${char} ` : char)).join('')
}

/** Texts of all lengths and scripts, by name: what the encoder is compared on with a reference of 32-bit floats. */
export const GOLDEN_TEXTS: Readonly<Record<string, string>> = {
  empty: '',
  space: ' ',
  'only white space': '\t\n\r  \u00a0\u2003\u3000',
  letter: 'a',
  digit: '7',
  'full stop': '.',
  word: 'hello',
  'upper case': 'HELLO WORLD',
  'mixed case': 'HeLLo WoRLD',
  'word in pieces': 'unaffable embeddings tokenization',
  question: 'How do I review a pull request?',
  'need in other words': 'something that helps me calm down before an exam',
  keywords: 'sql query optimizer postgres',
  typing: 'pyhton scirpt to prase json',
  punctuation: "it's -- well... (not) [so] {bad}; a/b\\c & d|e ~ `f` ^g",
  'punctuation alone': '!?!? ... --- ***',
  'typographic punctuation': '“quoted” – it’s an ellipsis… «oui» ¿qué? ¡sí! 、。',
  symbols: '€ 5 + £ 3 = $ 9 × ÷ ± ∑ ∞ ≠ → ← © ® ™ ° § ¶',
  numbers: '3.14159 1,000,000 2026-11-22 0xff 1e-9 50%',
  address: 'https://example.org/a/b?c=d&e=f#g mail@example.org',
  variables: 'Write to ${name:Ada} about {{ topic }} in <language>.',
  code: 'function add(a: number, b: number): number {\n  return a + b // sum\n}',
  python: 'def f(x):\n\treturn [y ** 2 for y in x if y % 2 == 0]',
  json: '{"title": "Release note", "tags": ["a", "b"], "n": 1.5e3, "ok": true}',
  markdown: '# Title\n\n- **bold** and _italic_\n- `code`\n\n> quote\n\n1. one\n2. two',
  'accents composed': 'café naïve résumé Ångström Čapek ñandú über',
  'accents decomposed': 'cafe\u0301 nai\u0308ve re\u0301sume\u0301 A\u030angstro\u0308m',
  'many accents': `z${'\u0301\u0316\u0334'.repeat(20)}algo te${'\u0300'.repeat(30)}xt`,
  german: 'Schreibe eine höfliche Antwort auf die Beschwerde eines Kunden über die Straßenbahn.',
  french: 'Écris une lettre de motivation pour un poste d’ingénieur à l’étranger.',
  turkish: 'İstanbul ve IĞDIR ılık ilkbahar',
  vietnamese: 'Tiếng Việt có nhiều dấu: ắ ằ ẳ ẵ ặ',
  polish: 'Zażółć gęślą jaźń Łódź',
  greek: 'ΟΔΥΣΣΕΥΣ Ελληνικά ώς σοφός\u037e',
  russian: 'Напиши вежливый ответ, ёлка и й',
  hebrew: 'שָׁלוֹם עולם',
  arabic: 'مَرْحَبًا بالعالم ١٢٣',
  hindi: 'नमस्ते दुनिया हिन्दी',
  thai: 'สวัสดีชาวโลก ภาษาไทย',
  japanese: 'コードをレビューしてください。がぎぐげご ｶﾀｶﾅ',
  korean: '코드를 검토해 주세요 안녕하세요',
  chinese: '请帮我审查这段代码，并写测试。',
  'chinese and english': 'AI提示词prompt工程engineering入门2026年',
  'rare ideographs': '\u3400\u4db5 \u{20000}\u{2a6d6} \uf900\ufa0e \u{2f800} \u{2b820}\u{2b920}',
  emoji: '🦭 seals are great 🎉👍🏽 👨‍👩‍👧‍👦 🇩🇪 ❤️',
  'emoji alone': '🦭🦭🦭',
  'control characters': 'rain\u0000bow \u0007bell\u001b[31mred\u007f \u0085next\u000bline\u000cfeed',
  'invisible characters': 'zero\u200bwidth so\u00adft \ufeffmark \u202eleft\u202c \u2066iso\u2069 wo\u2060rd',
  'private use and replacement': 'a\ue000b \uf8ffc d\ufffde \u{f0000}f',
  'white space of all kinds': 'a\u00a0b\u1680c\u2000d\u2028e\u2029f\u202fg\u205fh\u3000i',
  'full width': 'Ｈｅｌｌｏ　Ｗｏｒｌｄ！ １２３',
  ligatures: 'ﬁne ﬂow œuvre Æsir ß ẞ ǅ ﬀ',
  mathematical: '𝐁𝐨𝐥𝐝 𝓢𝓬𝓻𝓲𝓹𝓽 𝟙𝟚𝟛 x² H₂O ½ Ⅷ',
  'special tokens': 'before [SEP] after [MASK]ed [CLS] [UNK] [pad] [PAD] end',
  'nearly special': '[SEP [ SEP ] [[SEP]] [CLS',
  'word of 100': 'a'.repeat(100),
  'word of 101': 'a'.repeat(101),
  'word of 100 other letters': 'é'.repeat(100),
  'word of 5,000': `${'supercalifragilistic'.repeat(250)} end`,
  'unknown words': 'qɑ\u0378 xqzwvk plumbus ꙮꙮ a\u0378b',
  latin: listCharacters(0xa1, 0x17f),
  'cyrillic range': listCharacters(0x400, 0x45f),
  'punctuation range': listCharacters(0x2010, 0x205e),
  'kana range': listCharacters(0x3041, 0x30ff),
  'two words': makeProse(2, 1),
  'five words': makeProse(5, 2),
  'ten words': makeProse(10, 3),
  'twenty words': makeProse(20, 4),
  'forty words': makeProse(40, 5),
  'sixty words': makeProse(60, 6),
  'ninety words': makeProse(90, 7),
  '125 words': makeProse(125, 8),
  '126 words': makeProse(126, 9),
  '127 words': makeProse(127, 10),
  '400 words': makeProse(400, 11),
  '10,000 characters': makeProse(2_000, 12).slice(0, 10_000),
  '10,000 characters without space': 'abc'.repeat(3_333),
  '10,000 ideographs': '文字列'.repeat(3_333),
}
