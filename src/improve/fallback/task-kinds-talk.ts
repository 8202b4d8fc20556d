import { splitPhrases } from './read-words.ts'
import { audienceBlank, type TaskKind } from './task-kind.ts'

/** Tasks that are a conversation, or that make a model play a part. */
export const TALK_KINDS: readonly TaskKind[] = [
  {
    id: 'simulation',
    starts: ['simulate', "let's play", 'play'],
    cues: splitPhrases(`
      terminal, console, interpreter, simulate, simulator, text based, adventure game, emulator, simulation, play a game, gomoku,
      tic tac toe, chess
    `),
    role: 'a faithful simulator',
    blanks: [],
    requirements: [
      'Keep the state between my messages, and never contradict it.',
      'Answer each message with what the real thing would show, errors included.',
      'Step out of the simulation only when I ask for it in square brackets.',
    ],
    output: 'For each message, only what the simulated thing shows.',
    steps: ['Set up the starting state.', 'Apply my message to it.', 'Show the result.'],
    check: 'the reply agrees with everything shown before',
  },
  {
    id: 'interview',
    starts: ['interview me', 'interview'],
    cues: ['interview', 'interviewer', 'job interview', 'interview question', 'mock interview', 'candidate'],
    role: 'an experienced interviewer',
    blanks: [{ label: 'Position and level', name: 'position', value: 'the one named above' }],
    requirements: [
      'Ask one question at a time and wait for the answer.',
      'Build each question on the answer before it.',
      'Go from easy to demanding.',
    ],
    remarks: ['At the end, name two strengths and two things to improve, with examples from the answers.'],
    output: 'One question in each message; the assessment only when the interview is over.',
    steps: ['Settle what the position needs.', 'Ask about each need in turn.', 'Follow up where an answer is vague.', 'Assess.'],
    check: 'the message asks one question only',
  },
  {
    id: 'lesson',
    starts: ['teach', 'quiz me', 'tutor', 'create a quiz', 'make a quiz', 'create a lesson', 'make a lesson'],
    cues: splitPhrases(`
      teacher, tutor, lesson, quiz, lesson plan, course, curriculum, flashcard, learn, exam, worksheet, study, multiple choice
    `),
    role: 'a teacher who checks understanding before going on',
    knows: 'with sound knowledge of',
    blanks: [audienceBlank('a motivated beginner'), { label: 'Learning goal', name: 'learning goal', value: 'to use it without help' }],
    requirements: [
      'Go from the known to the new in small steps.',
      'Give an example before the rule, and an exercise after it.',
      'Explain what a wrong answer shows, and let the learner try again.',
    ],
    output: 'The goal, the lesson in short parts each with an example and an exercise, and the answers at the end.',
    steps: ['Find out or assume what the learner knows.', 'Order the ideas.', 'Explain, show, let try.', 'Test at the end.'],
    check: 'each part prepares the next, and every exercise has an answer',
  },
  {
    id: 'prompt',
    starts: ['write a prompt', 'create a prompt', 'generate a prompt', 'improve this prompt'],
    cues: splitPhrases(`
      prompt generator, midjourney prompt, prompt engineer, prompt engineering, prompt, system prompt, chatgpt prompt, prompt for
    `),
    role: 'an expert in writing prompts for language and image models',
    blanks: [{ label: 'Model', name: 'model', value: 'a current general one' }],
    requirements: [
      'State role, task, context, limits and output format in the prompt.',
      'Write instructions that can be checked; leave out empty words such as "high quality".',
      'Mark what a user must fill in as a variable with a default.',
    ],
    output: 'The prompt in one code block, ready to copy.',
    steps: ['Find the purpose.', 'Decide what the model must know.', 'Write the prompt.', 'Read it as a model that knows nothing else.'],
    check: 'two people would get alike results from it',
  },
  {
    id: 'advice',
    starts: ['advise', 'coach me', 'help me', 'how can i', 'how do i', 'how should i', 'give me advice', 'help me with'],
    cues: splitPhrases(`
      advice, coach, counselor, counsellor, mentor, therapist, psychologist, life coach, adviser, advisor, doctor, dentist, lawyer,
      legal, accountant, financial, relationship, motivational, consultant
    `),
    role: 'an adviser who listens first',
    knows: 'with sound knowledge of',
    blanks: [{ label: 'Situation', name: 'situation', value: 'as described; ask when something decisive is missing' }],
    requirements: [
      'Show in one sentence that the situation was understood.',
      'Give advice that can be followed this week, with the reason for it.',
      'Say what depends on facts you do not know.',
    ],
    output: 'The situation in one sentence, three to five pieces of advice in order of effect, and the first step.',
    steps: ['Restate the situation.', 'Ask for what is decisive and missing.', 'Weigh the ways open.', 'Advise.'],
    check: 'the advice fits this situation and not just any',
  },
  {
    id: 'persona',
    starts: ['pretend', 'role play', 'roleplay', 'imagine you are'],
    cues: splitPhrases(`
      my first request, my first, first sentence, i will tell you, i will provide, i will ask, i will type, i will give,
      you will reply, you will respond, character, persona, chatbot
    `),
    role: 'the expert this request needs',
    weight: 0.5,
    blanks: [],
    requirements: [
      'Stay in this role for the whole conversation.',
      'Ask for what is missing when the answer depends on it, one question at a time.',
      'Say so plainly when you do not know something.',
    ],
    output: 'Replies in the voice of the role, as long as the request needs and without a preface about being a model.',
    steps: ['Take in the request.', 'Ask for what is missing.', 'Answer in the role.'],
    check: 'the reply stays in the role and answers what was asked',
  },
]

/** What any task needs, when nothing says which kind it is. */
export const GENERAL_KIND: TaskKind = {
  id: 'general',
  starts: [],
  cues: [],
  role: 'an expert in the subject of this task',
  knows: 'with sound knowledge of',
  blanks: [audienceBlank('the person who asks'), { label: 'Purpose', name: 'purpose', value: 'practical use' }],
  requirements: [
    'Be specific: give examples, names and figures where you are sure of them.',
    'Keep facts apart from assumptions, and state what you assume.',
    'Leave out what does not serve the task.',
  ],
  length: 'as long as the task needs and no longer',
  tone: 'clear and direct',
  output: 'The result first, under headings where it has parts; then assumptions and open points in a short list.',
  steps: [
    'Restate the task in one sentence.',
    'Settle what a good result must have.',
    'Do the work.',
    'Check the result against the task.',
  ],
  check: 'the result does what the task asks, completely',
}
