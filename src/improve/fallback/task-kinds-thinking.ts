import { splitPhrases } from './read-words.ts'
import { audienceBlank, type TaskKind } from './task-kind.ts'

const MATERIAL = { label: 'Text', name: 'text', value: 'the text that follows or that I send next' }

/** Tasks whose result is an understanding, a choice or a plan. */
export const THINKING_KINDS: readonly TaskKind[] = [
  {
    id: 'summary',
    starts: ['summarize', 'summarise', 'sum up', 'tldr', 'condense', 'give me a summary'],
    cues: ['summary', 'summarize', 'summarise', 'key point', 'takeaway', 'synopsis', 'tldr', 'summarizer'],
    // "A summary of the French Revolution" asks for an explanation: there is no text to condense.
    needs: splitPhrases(`
      this, these, following, below, attached, my, text, article, document, paragraph, book, chapter, meeting, email, report,
      transcript, page, paper, story, news, content, video, note, passage, i will
    `),
    role: 'an editor who condenses texts without distorting them',
    blanks: [audienceBlank('someone who has not read the original')],
    input: MATERIAL,
    requirements: [
      'Use only what the text says; add no opinion and no outside knowledge.',
      'Keep figures, names and conditions that change the meaning.',
      'Give each point the weight it has in the original.',
    ],
    remarks: ['Say so where the text is unclear or contradicts itself.'],
    length: 'a tenth of the original, at most 300 words',
    output: 'One sentence with the main point, then three to seven bullet points in the order of their importance.',
    steps: ['Read the whole text.', 'Mark the claims everything else depends on.', 'Write the main point.', 'Compare with the text.'],
    check: 'every statement can be found in the text and no main point is missing',
  },
  {
    id: 'explanation',
    starts: splitPhrases(`
      summarize, summarise, summary of, overview of, explain, what is, what are, how does, how do, why is, why do, why does, describe how, tell me about, help me understand,
      teach me
    `),
    cues: ['overview', 'explain', 'explanation', 'eli5', 'in simple terms', 'how it works'],
    role: 'a teacher who makes hard things clear',
    knows: 'with sound knowledge of',
    blanks: [
      audienceBlank('someone new to the subject'),
      { label: 'What they know already', name: 'prior knowledge', value: 'everyday knowledge only' },
    ],
    requirements: [
      'Begin with the idea in one plain sentence.',
      'Explain every technical word where it first appears, or do without it.',
      'Use one everyday comparison, and say where it stops being true.',
      'Name the most common misunderstanding and set it right.',
    ],
    length: '300 to 500 words',
    tone: 'patient and plain',
    output: 'The idea in one sentence, the explanation in short paragraphs with an example, and three points to remember.',
    steps: [
      'Find what the reader knows that is nearest to the subject.',
      'Build from there in small steps.',
      'Give an example.',
      'Say what was left out.',
    ],
    check: 'the reader could explain it to someone else, and nothing was made simple by being made false',
  },
  {
    id: 'translation',
    starts: ['translate'],
    cues: ['translate', 'translation', 'translator', 'translating'],
    role: 'a professional translator',
    blanks: [{ label: 'Where it will be read', name: 'use', value: 'general use by native readers' }],
    input: MATERIAL,
    requirements: [
      'Carry over meaning, tone and register, not word order.',
      'Leave names, code, figures and placeholders as they are.',
      'Use the expression a native speaker would use for an idiom.',
    ],
    remarks: ['Note a passage that can be understood in two ways, with both readings.'],
    output: 'The translation only, laid out as the original; after it, notes on passages that can be read in two ways, if there are any.',
    steps: [
      'Read the whole text for its purpose and tone.',
      'Translate it.',
      'Read the translation alone, as a native reader.',
      'Compare it with the original for omissions.',
    ],
    check: 'nothing is left out or added, and it reads like a text of its own',
  },
  {
    id: 'extraction',
    starts: splitPhrases(`
      classify, extract, categorize, categorise, label, tag, sort, identify all, find all, convert, parse, format this, turn this
    `),
    cues: splitPhrases(`
      classify, classification, extract, extraction, categorize, sentiment, entities, named entity, keyword extraction, into json,
      to json, to csv, bibtex, convert
    `),
    role: 'an analyst who handles data with exactness',
    blanks: [{ label: 'Categories or fields', name: 'fields', value: 'those the task names, else those the material clearly has' }],
    input: { label: 'Data', name: 'data', value: 'the material that follows or that I send next' },
    requirements: [
      'Treat every entry; leave none out and add none.',
      'Take values as they are written; leave a field empty when the material does not give it.',
      'Treat like cases alike: apply the same rule to each.',
    ],
    remarks: ['List doubtful cases apart with the reason.'],
    output: 'A table with one row for each entry and one column for each field.',
    steps: ['State the rule for each category or field.', 'Apply it to every entry.', 'Count the entries before and after.'],
    check: 'the number of entries is right and no value was invented',
  },
  {
    id: 'comparison',
    starts: splitPhrases(`
      compare, should i, which is better, decide, help me decide, help me choose, what is the best, recommend, pros and cons
    `),
    cues: splitPhrases(`
      compare, comparison, pros and cons, versus, vs, difference between, alternative to, decision, trade off, recommendation
    `),
    role: 'an adviser who weighs options without bias',
    knows: 'with sound knowledge of',
    blanks: [
      { label: 'What matters most', name: 'priorities', value: 'quality, cost and effort, in this order' },
      { label: 'Situation', name: 'situation', value: 'an ordinary one; say what would change the advice' },
    ],
    requirements: [
      'Judge all options by the same criteria, named first.',
      'Separate facts from estimates, and say how sure you are.',
      'Give a recommendation, and the condition under which another option is better.',
    ],
    output: 'A table of the options by criteria, then the recommendation with its reasons in a few sentences.',
    steps: ['Settle the criteria.', 'Judge each option by each of them.', 'Look for what would overturn the result.', 'Recommend.'],
    check: 'the recommendation follows from the table',
  },
  {
    id: 'brainstorm',
    starts: splitPhrases(`
      brainstorm, come up with, suggest, give me ideas, ideas for, list, give me a list, generate ideas, propose, think of, give me
    `),
    cues: splitPhrases(`
      idea, brainstorm, name for, names for, business name, domain name, suggestion, gift, name ideas, generator, topic ideas,
      title for
    `),
    role: 'an inventive thinker with practical judgement',
    knows: 'who knows the field of',
    blanks: [
      { label: 'Who it is for', name: 'audience', value: 'anyone the request could mean', settledBy: 'audience' },
      { label: 'Limits of money, time and taste', name: 'limits', value: 'none beyond those named above' },
    ],
    requirements: [
      'Make the ideas differ in kind, not only in wording.',
      'Leave out the first things anyone would think of, unless they are really the best.',
      'Make each one concrete enough to act on.',
    ],
    length: 'ten ideas',
    output: 'A numbered list, each with a name and one sentence on why it fits; then the best three in order.',
    steps: [
      'Look at the request from several sides.',
      'Collect far more ideas than needed.',
      'Drop what is alike or ordinary.',
      'Rank the rest.',
    ],
    check: 'no two ideas are the same in other words',
  },
  {
    id: 'travel',
    starts: ['plan a trip', 'plan my trip', 'plan a holiday', 'plan a vacation'],
    cues: splitPhrases(`
      itinerary, trip, travel, vacation, holiday, days in, sightseeing, road trip, travel guide, tourist, weekend in
    `),
    role: 'a travel planner who knows places from experience',
    blanks: [
      {
        label: 'Travellers',
        name: 'travellers',
        value: 'two adults',
        answers: ['family', 'kid', 'children', 'solo', 'couple', 'alone', 'friend', 'group'],
      },
      { label: 'Budget', name: 'budget', value: 'medium' },
      { label: 'Interests and pace', name: 'interests', value: 'a mix of sights and food, without hurry' },
    ],
    requirements: [
      'Keep places that are near each other on the same day, and count the time to get there.',
      'Name one alternative for bad weather or closed doors each day.',
      'Mark what must be booked ahead, and what I should check because it may have changed.',
    ],
    output: 'A table for each day with time, place, what to do and cost; then a list of what to book.',
    steps: ['Group the places by area.', 'Give each day a centre.', 'Add meals and ways between.', 'Check that each day can be done.'],
    check: 'each day can really be done in the time it has',
  },
  {
    id: 'meals',
    starts: ['cook', 'recipe for', 'plan meals'],
    cues: ['recipe', 'meal plan', 'meal', 'cook', 'dinner', 'lunch', 'breakfast', 'diet', 'ingredient', 'chef', 'dish', 'nutrition'],
    role: 'a cook who writes recipes that work',
    blanks: [
      { label: 'People', name: 'people', value: '2', answers: ['person', 'family', 'serving', 'for two', 'for one'] },
      {
        label: 'Diet and allergies',
        name: 'diet',
        value: 'none',
        answers: ['vegetarian', 'vegan', 'gluten free', 'allergic', 'keto', 'allergy', 'halal', 'kosher'],
      },
      { label: 'Time and equipment', name: 'time', value: '45 minutes, an ordinary kitchen' },
    ],
    requirements: [
      'Give exact amounts in metric units, and temperatures and times.',
      'Use ingredients an ordinary shop has, with a substitute for each rare one.',
      'Say how to see that each step is done.',
    ],
    output: 'For each dish: time, ingredients with amounts, numbered steps, and what can be prepared ahead.',
    steps: ['Choose dishes that fit the limits.', 'Settle the amounts.', 'Write the steps in the order of work.'],
    check: 'every ingredient is used and every amount is given',
  },
  {
    id: 'training',
    starts: ['make a workout', 'create a workout', 'train'],
    cues: ['workout', 'training plan', 'exercise', 'fitness', 'gym', 'marathon', 'yoga', 'personal trainer', 'weight loss', 'strength'],
    role: 'a trainer who plans with care for beginners and the experienced',
    blanks: [
      { label: 'Level', name: 'level', value: 'beginner', answers: ['beginner', 'advanced', 'intermediate', 'level'] },
      { label: 'Time', name: 'time', value: 'three sessions of 45 minutes a week', answers: ['day', 'week', 'hour', 'minute', 'daily'] },
      { label: 'Equipment and injuries', name: 'equipment and injuries', value: 'none' },
    ],
    requirements: [
      'Raise the load in small steps, and plan rest.',
      'Give sets, repetitions or time, and an easier form of each exercise.',
      'Say at which signs to stop and ask a doctor.',
    ],
    output: 'A table for each week with day, exercise, amount and rest; then how to go on.',
    steps: ['Start from the level.', 'Lay out the week.', 'Plan how the load rises.', 'Add warm-up and rest.'],
    check: 'the load rises gently and no day is overfull',
  },
  {
    id: 'plan',
    starts: splitPhrases(`
      plan, schedule, organize, organise, make a plan, create a plan, prepare a plan, develop a strategy, develop a plan
    `),
    cues: splitPhrases(`
      roadmap, schedule, strategy, timeline, study plan, checklist, milestone, go to market, business plan, startup, marketing plan,
      party, wedding
    `),
    role: 'a planner who turns goals into steps that can be done',
    weight: 0.5,
    knows: 'with experience in',
    blanks: [
      {
        label: 'Time available',
        name: 'time',
        value: 'as much as the goal reasonably needs',
        answers: ['day', 'week', 'month', 'year', 'hour'],
      },
      { label: 'Means and people', name: 'means', value: 'one person with an ordinary budget' },
    ],
    requirements: [
      'Give each step a result by which one can see that it is done, and a time.',
      'Put steps in the order in which they depend on each other.',
      'Name the three greatest risks and what to do about each.',
    ],
    output: 'The goal in one sentence, a table of steps with result, time and who, the risks, and what to do first.',
    steps: [
      'Put the goal in one sentence that can be measured.',
      'Work back from it to the first step.',
      'Estimate time and means.',
      'Look for what could go wrong.',
    ],
    check: 'the first step can be taken today, and the times add up',
  },
  {
    id: 'analysis',
    starts: ['analyze', 'analyse', 'evaluate', 'assess', 'investigate', 'interpret', 'examine', 'research', 'critique', 'review'],
    cues: splitPhrases(`
      analysis, analyze, analyse, data set, dataset, statistics, trend, market research, swot, insight, analyst, research, evaluate,
      survey, critic, evaluator
    `),
    role: 'an analyst who separates evidence from opinion',
    knows: 'with sound knowledge of',
    blanks: [{ label: 'Question behind it', name: 'question', value: 'what it means and what to do about it' }],
    input: { label: 'Material', name: 'material', value: 'what follows or what I send next; without it, say what you would need' },
    requirements: [
      'Give the evidence for each finding, and how sure you are.',
      'Name other explanations and what speaks against them.',
      'State plainly what the material cannot show.',
    ],
    output: 'The answer in three sentences, the findings in order of weight with their evidence, the open questions, and the next steps.',
    steps: [
      'State the question.',
      'Look at the quality of the material.',
      'Find what stands out, and test it against other explanations.',
      'Conclude.',
    ],
    check: 'every conclusion rests on evidence that is named',
  },
  {
    id: 'solution',
    starts: ['solve', 'calculate', 'prove', 'compute', 'find the value'],
    cues: splitPhrases(`
      equation, math, maths, mathematics, calculate, proof, probability, integral, physics problem, mathematician, calculator
    `),
    role: 'a mathematician who shows every step',
    blanks: [],
    requirements: [
      'State what is given and what is sought.',
      'Justify each step by the rule it uses.',
      'Keep units, and round only at the end.',
    ],
    output: 'Given and sought, the solution step by step, and the result on a line of its own.',
    steps: ['Restate the problem.', 'Choose a method.', 'Carry it out.', 'Test the result in another way.'],
    check: 'the result holds when put back into the problem',
  },
]
