import { readWords } from './read-words.ts'

/** The parts a prompt for text can have. The order is the order in which they are written when nothing else decides. */
export const TEXT_PARTS = ['role', 'task', 'context', 'inputs', 'steps', 'constraints', 'outputFormat', 'examples', 'check'] as const
/** The parts a prompt for an image, a video or a sound can have. */
export const MEDIA_PARTS = [
  'subject',
  'genre',
  'setting',
  'shots',
  'composition',
  'camera',
  'style',
  'mood',
  'tempo',
  'instruments',
  'structure',
  'lighting',
  'colour',
  'sound',
  'mix',
  'aspect',
  'duration',
  'avoid',
] as const

export type TextPart = (typeof TEXT_PARTS)[number]
export type MediaPart = (typeof MEDIA_PARTS)[number]
export type Part = TextPart | MediaPart

/**
 * The closed vocabulary of headings, labels and keys. A heading outside of it says nothing to the rewriter,
 * which is what keeps the words of an inspiration out of a result.
 */
const HEADINGS: Readonly<Record<Part, readonly string[]>> = {
  role: ['role', 'persona', 'system role', 'act as', 'who you are', 'identity', 'character', 'profile'],
  task: [
    'task',
    'goal',
    'objective',
    'mission',
    'purpose',
    'instruction',
    'request',
    'assignment',
    'task is to',
    'job',
    'main task',
    'prompt',
    'query',
  ],
  context: ['context', 'background', 'situation', 'audience', 'target audience', 'scenario', 'about me', 'assumption', 'variable'],
  inputs: [
    'input',
    'inputs',
    'input data',
    'data',
    'text',
    'source',
    'source text',
    'source material',
    'material',
    'document',
    'code',
    'user input',
    'first request',
  ],
  steps: [
    'step',
    'process',
    'workflow',
    'procedure',
    'method',
    'methodology',
    'approach',
    'plan',
    'how to work',
    'you will',
    'responsibilities',
    'phase',
    'work in this order',
  ],
  constraints: [
    'constraint',
    'rule',
    'requirement',
    'guideline',
    'limit',
    'limitation',
    'restriction',
    'do not',
    'quality',
    'important',
    'note',
    'must',
    'style guide',
    'tone',
    'quality standard',
    'best practice',
    'boundary',
    'boundaries',
  ],
  outputFormat: [
    'output',
    'output format',
    'format',
    'response format',
    'deliverable',
    'output structure',
    'structure of the answer',
    'answer format',
    'expected output',
    'output requirement',
    'response',
    'final output',
    'reply format',
    'report format',
    'output schema',
  ],
  examples: ['example', 'sample', 'sample output', 'example output', 'example input', 'few shot'],
  check: [
    'check',
    'checklist',
    'self check',
    'verification',
    'before you answer',
    'validation',
    'quality check',
    'quality checklist',
    'final check',
    'acceptance criteria',
    'success criteria',
    'evaluation criteria',
  ],
  subject: ['subject', 'main subject', 'subject description', 'people', 'object', 'concept', 'lyric', 'lyrics'],
  genre: ['genre', 'kind', 'type', 'sound type'],
  setting: ['setting', 'scene', 'environment', 'background setting', 'location', 'place', 'scene environment'],
  shots: ['shot', 'shot list', 'scene list', 'storyboard', 'timeline', 'timing', 'sequence'],
  composition: ['composition', 'framing', 'layout', 'perspective', 'angle', 'viewpoint'],
  camera: [
    'camera',
    'camera movement',
    'lens',
    'camera angle',
    'cinematography',
    'optics',
    'camera perspective',
    'camera motion',
    'technical detail',
  ],
  style: ['style', 'art style', 'visual style', 'aesthetic', 'look', 'medium', 'style and realism', 'rendering'],
  mood: ['mood', 'atmosphere', 'feeling', 'emotion', 'vibe', 'mood and expression'],
  tempo: ['tempo', 'bpm', 'pace', 'rhythm', 'delivery'],
  instruments: ['instrument', 'instrumentation', 'voice', 'vocals', 'sound source', 'sources'],
  structure: ['structure', 'song structure', 'arrangement', 'form'],
  lighting: ['lighting', 'light', 'illumination', 'lighting design'],
  colour: ['colour', 'color', 'palette', 'colour palette', 'color palette', 'color scheme', 'colors and tone', 'color grading'],
  sound: ['sound', 'audio', 'music', 'sound design', 'soundtrack', 'dialogue'],
  mix: ['mix', 'production', 'mastering', 'mixing', 'recording'],
  aspect: ['aspect ratio', 'aspect', 'resolution', 'dimension', 'ratio', 'size'],
  duration: ['duration', 'length', 'run time', 'running time'],
  avoid: ['avoid', 'negative prompt', 'negative', 'negative constraint', 'exclude', 'exclusion', 'what to avoid', 'no'],
}

const PART_OF = new Map<string, Part>()
for (const part of [...TEXT_PARTS, ...MEDIA_PARTS]) for (const words of HEADINGS[part]) PART_OF.set(words, part)

/** What may stand before the word that counts: "Your task", "2. Output", "The rules". */
const LEADING = /^(?:\d{1,3} |your |the |my |our |main |key |primary |core |strict |additional |important )+/

/**
 * The part a heading, label or key names; null for one outside the vocabulary.
 * @example readPart('## 3. Output requirements:') // 'outputFormat'
 */
export function readPart(title: string): Part | null {
  if (title.length > 60) return null
  const words = readWords(splitCamelCase(title)).trim()
  for (const form of [words, words.replace(LEADING, '')]) {
    const part = PART_OF.get(form) ?? PART_OF.get(form.replace(/s$/, ''))
    if (part) return part
  }
  return null
}

/** A key as words: `outputFormat` and `output_format` both become "output format". */
export function splitCamelCase(key: string): string {
  return key.replace(/([a-z])([A-Z])/g, '$1 $2').replaceAll('_', ' ')
}

/** A heading as a key of an object; empty when no letter or digit of it would be left. @example toKey('Output format') // 'outputFormat' */
export function toKey(title: string): string {
  const [first = '', ...rest] = readWords(title.replaceAll("'", '').replaceAll('’', '')).replace(/[+#]/g, '').trim().split(' ')
  return first + rest.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('')
}
