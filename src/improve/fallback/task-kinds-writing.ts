import { splitPhrases } from './read-words.ts'
import { audienceBlank, type TaskKind } from './task-kind.ts'

/** Tasks whose result is a text to be read for its own sake. */
/** A poem that is called by one of these has its form. */
const POEM_FORMS = splitPhrases(
  'haiku, sonnet, limerick, ballad, villanelle, acrostic, free verse, ode, elegy, couplet, tanka, rhyme, rhyming, sestina, quatrain',
)

export const WRITING_KINDS: readonly TaskKind[] = [
  {
    id: 'article',
    starts: ['blog', 'write an article', 'write a blog'],
    cues: ['blog post', 'blog', 'article', 'listicle', 'newsletter', 'column'],
    role: 'an experienced writer and editor of articles',
    knows: 'with sound knowledge of',
    blanks: [
      audienceBlank('curious general readers'),
      { label: 'Purpose', name: 'purpose', value: 'to inform, and to be read to the end' },
    ],
    requirements: [
      'Open with a concrete scene, question or fact, not with a general statement.',
      'Give every section one idea and a heading that says what the reader will learn.',
      'Support each claim with an example or a reason; invent no facts, figures or quotations.',
    ],
    length: '700 to 1,000 words',
    tone: 'friendly, clear and concrete',
    output:
      'Markdown: a title, an opening of two or three sentences, three to five sections with headings, and a closing paragraph with one thing to take away.',
    steps: [
      'Choose one angle that gives the reader something new.',
      'Outline the sections.',
      'Write the text.',
      'Cut what repeats or does not serve the angle.',
    ],
    check: 'the title promises what the text delivers, and no two sections say the same',
  },
  {
    id: 'message',
    starts: ['email', 'reply to this email', 'write an email', 'write a letter'],
    cues: splitPhrases(`
      email, e mail, mail, letter, cover note, complaint, invitation, apology, message to, text message, thank you note
    `),
    role: 'a careful writer of letters and emails',
    blanks: [
      {
        label: 'Facts to mention',
        name: 'facts',
        value: 'only those given above; leave a clearly marked gap for what is missing',
      },
      { label: 'Outcome wanted', name: 'outcome', value: 'a clear answer and a date for the next step' },
    ],
    requirements: [
      'Say in the first two sentences why you write and what you ask for.',
      'Keep to facts; invent no names, dates, sums or promises.',
      'End with one clear request and the date by which an answer is needed.',
    ],
    length: '100 to 200 words',
    tone: 'polite, factual and firm',
    output: 'A subject line, the greeting, the body in short paragraphs, and the closing, ready to send.',
    steps: [
      'State the purpose in one sentence.',
      'List the facts the reader needs.',
      'Write the message.',
      'Read it as the person who receives it.',
    ],
    check: 'the reader knows after one reading what happened, what is asked and by when',
  },
  {
    id: 'poem',
    starts: ['write a poem', 'poem'],
    cues: ['poem', 'haiku', 'sonnet', 'limerick', 'verse', 'poetry', 'ballad'],
    role: 'a poet with a precise ear',
    blanks: [{ label: 'Form', name: 'form', value: 'free verse, or the form that suits the subject best', answers: POEM_FORMS }],
    requirements: [
      'Use concrete images of things that can be seen, heard or touched; leave out stock phrases.',
      'Keep one feeling or turn of thought at the centre.',
      'Rhyme only where it sounds natural.',
    ],
    length: '12 to 20 lines',
    tone: 'vivid and unsentimental',
    output: 'A title, then the poem; no comment on it.',
    steps: ['Gather images of the subject.', 'Choose the turn the poem takes.', 'Write it.', 'Read it for rhythm and cut weak words.'],
    check: 'every line carries an image or moves the thought on',
  },
  {
    id: 'lyrics',
    starts: ['write a song', 'write lyrics', 'rap'],
    cues: ['lyrics', 'song', 'rap', 'chorus'],
    role: 'a songwriter who writes words that can be sung',
    blanks: [{ label: 'Genre', name: 'genre', value: 'the one that suits the subject' }],
    requirements: [
      'Give the chorus one line that is easy to remember.',
      'Keep the rhythm of lines that share a melody alike.',
      'Tell something new in every verse.',
    ],
    length: 'two verses, a chorus and a bridge',
    output: 'The lyrics with [Verse], [Chorus] and [Bridge] marked.',
    steps: [
      'Find the one line the song turns on.',
      'Write the chorus.',
      'Write the verses towards it.',
      'Sing it through and mend the rhythm.',
    ],
    check: 'the chorus can be remembered after one hearing',
  },
  {
    id: 'story',
    starts: ['tell a story', 'tell me a story', 'write a story'],
    cues: splitPhrases(`
      story, short story, novel, fiction, fairy tale, tale, chapter, plot, storyteller, novelist, bedtime, fanfic, scene
    `),
    role: 'a skilled storyteller',
    blanks: [audienceBlank('adult readers'), { label: 'Setting', name: 'setting', value: 'the one that suits the idea' }],
    requirements: [
      'Give the main character a wish, an obstacle and a choice with a price.',
      'Show feelings by what people do and say.',
      'Let the ending follow from the choice, and still surprise.',
    ],
    length: '800 to 1,200 words',
    tone: 'vivid and close to the main character',
    output: 'A title, then the story in scenes.',
    steps: [
      'Settle the character, the wish and the obstacle.',
      'Sketch three scenes.',
      'Write them.',
      'Cut what explains instead of showing.',
    ],
    check: 'the beginning raises the question that the ending answers',
  },
  {
    id: 'essay',
    starts: ['write an essay'],
    cues: ['essay', 'thesis', 'research paper', 'academic', 'dissertation', 'literature review', 'abstract', 'term paper', 'paper'],
    role: 'an academic writer who argues with care',
    knows: 'with sound knowledge of',
    blanks: [
      audienceBlank('educated readers outside the field'),
      { label: 'Position to argue', name: 'position', value: 'the one the evidence supports best' },
    ],
    requirements: [
      'State the thesis in the introduction, and let each paragraph prove one part of it.',
      'Deal fairly with the strongest objection.',
      'Cite only sources that exist; mark a claim that needs a source you cannot name.',
    ],
    length: '1,000 to 1,500 words',
    tone: 'formal and precise',
    output:
      'Introduction with the thesis, body paragraphs that each begin with their claim, the objection and the reply to it, and a conclusion.',
    steps: [
      'Settle the thesis.',
      'List the arguments and the best objection.',
      'Write the paragraphs.',
      'Test every claim against its evidence.',
    ],
    check: 'each paragraph supports the thesis and no source is made up',
  },
  {
    id: 'social',
    starts: ['tweet'],
    cues: splitPhrases(`
      tweet, linkedin, instagram, facebook post, social media, caption, tiktok, twitter, thread, hashtag, social post
    `),
    role: 'a social media editor',
    blanks: [
      audienceBlank('followers who know the subject a little'),
      { label: 'Platform', name: 'platform', value: 'the one named above, else LinkedIn' },
    ],
    requirements: [
      'Make the first line worth stopping for without promising too much.',
      'Say one thing per post.',
      'End with something the reader can do or answer.',
    ],
    length: 'within the limit of the platform',
    tone: 'direct and personal',
    output: 'Three versions to choose from, each ready to post, with hashtags only where the platform uses them.',
    steps: ['Find the one thing worth saying.', 'Write three openings.', 'Complete each version.', 'Cut to length.'],
    check: 'each version stands alone and its first line says something concrete',
  },
  {
    id: 'copy',
    starts: ['advertise', 'promote', 'sell'],
    cues: splitPhrases(`
      product description, landing page copy, sales copy, copywriter, copywriting, advert, ad copy, advertisement, ad, slogan,
      tagline, sales page, marketing copy, advertiser, campaign, headline, press release
    `),
    role: 'a copywriter who sells with facts',
    blanks: [
      audienceBlank('people who have the problem it solves'),
      { label: 'Main benefit', name: 'benefit', value: 'the one that follows most clearly from the description' },
    ],
    requirements: [
      'Lead with what the customer gains, then the feature that brings it.',
      'Make only claims that the given facts support.',
      'End with one call to action.',
    ],
    tone: 'confident and plain',
    output: 'A headline, the copy, and a call to action; then two further headlines to choose from.',
    steps: [
      'Name the customer and the problem.',
      'Turn features into benefits.',
      'Write the copy.',
      'Strike out every claim without a fact.',
    ],
    check: 'a customer would see the benefit in the first line',
  },
  {
    id: 'application',
    starts: ['write a cover letter', 'write a resume'],
    cues: ['resume', 'cv', 'cover letter', 'job application', 'curriculum vitae', 'linkedin profile', 'motivation letter'],
    role: 'a recruiter who has read thousands of applications',
    blanks: [{ label: 'Position', name: 'position', value: 'the one named above' }],
    input: { label: 'Experience', name: 'experience', value: 'what I tell in my next message' },
    requirements: [
      'Tie each claim to something done, with a figure where one is given.',
      'Use the words of the job advertisement where they are true.',
      'Invent no employers, dates, degrees or figures; mark gaps in square brackets.',
    ],
    length: 'one page',
    tone: 'confident and factual',
    output: 'The finished document with its usual parts, ready to adapt.',
    steps: [
      'List what the position asks for.',
      'Match each point to experience.',
      'Write the document.',
      'Cut what does not serve the position.',
    ],
    check: 'every claim can be proved from what was given',
  },
  {
    id: 'document',
    starts: ['document', 'write documentation', 'write a report'],
    cues: splitPhrases(`
      report, documentation, readme, user manual, manual, specification, prd, proposal, white paper, policy, guide, handbook, minutes,
      user story, release note, changelog
    `),
    role: 'a technical writer',
    knows: 'with sound knowledge of',
    blanks: [
      audienceBlank('people who need it for their work'),
      { label: 'What they should be able to do', name: 'use', value: 'act on it without asking back' },
    ],
    requirements: [
      'Begin with what the reader needs most.',
      'Use one term for one thing, and explain it where it first appears.',
      'Separate what is known from what is assumed.',
    ],
    tone: 'plain and exact',
    output: 'Markdown with a short summary first, then sections in the order the reader needs them.',
    steps: ['List the questions the reader has.', 'Order them.', 'Answer each in its section.', 'Remove what answers none.'],
    check: 'a reader who knows nothing of it can act on it, and assumptions are marked',
  },
  {
    id: 'speech',
    starts: ['write a speech', 'write a script'],
    cues: splitPhrases(`
      speech, toast, video script, youtube, podcast, screenplay, presentation, slide, pitch, ted talk, talk, monologue, stand up,
      sermon, screenwriter, eulogy
    `),
    role: 'a writer for the spoken word',
    knows: 'with sound knowledge of',
    blanks: [
      audienceBlank('listeners new to the subject'),
      { label: 'Occasion', name: 'occasion', value: 'the one that fits the request' },
    ],
    requirements: [
      'Write for the ear: short sentences, one thought each.',
      'Win attention in the first fifteen seconds.',
      'Come back to one message that can be repeated from memory.',
    ],
    length: 'about five minutes when spoken',
    tone: 'lively and natural',
    output: 'The text as it is to be spoken, in parts with a heading and an approximate time each.',
    steps: [
      'Put the message in one sentence.',
      'Choose an opening, three points and an ending.',
      'Write it out.',
      'Read it aloud and mend what stumbles.',
    ],
    check: 'it can be spoken without stumbling and its message can be said in one sentence',
  },
  {
    id: 'edit',
    starts: splitPhrases(`
      rewrite, edit, proofread, improve this, improve my, correct, rephrase, paraphrase, polish, shorten, fix grammar,
      fix the grammar, improve the text, improve the following, make this
    `),
    cues: splitPhrases(`
      grammar, proofread, proofreader, spelling, rewrite, paraphrase, rephrase, wording, my text, spelling corrector, english improver
    `),
    role: 'a careful editor',
    blanks: [audienceBlank('the readers the text was written for')],
    input: { label: 'Text', name: 'text', value: 'the text that follows or that I send next' },
    requirements: [
      'Keep the meaning, the facts and the voice of the author.',
      'Change only what makes the text clearer or more correct.',
      'Leave names, figures and quotations as they are.',
    ],
    remarks: ['Mark a passage whose meaning is unclear instead of guessing.'],
    output: 'The revised text first; then a short list of the most important changes and why they were made.',
    steps: ['Read the whole text.', 'Mend errors.', 'Then mend what is unclear.', 'Compare with the original.'],
    check: 'no fact or meaning was changed',
  },
]
