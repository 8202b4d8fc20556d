import type { Medium } from './media-kind.ts'
import { splitPhrases } from './read-words.ts'

/** What prompts for music, speech and effects name, and what suits each kind of sound. */
export const SOUND: Medium = {
  parts: ['genre', 'mood', 'tempo', 'instruments', 'structure', 'duration', 'mix', 'avoid'],
  cues: {
    genre: splitPhrases(`
      genre, jazz, rock, pop, techno, house, classical, ambient, lo fi, lofi, hip hop, folk, metal, blues, country, reggae,
      electronic, orchestral, cinematic, voice over, voiceover, narration, sound effect, jingle, podcast, lullaby, trap, r b, punk,
      synthwave, soundtrack
    `),
    mood: splitPhrases(`
      mood, relaxing, calm, happy, sad, epic, dark, energetic, melancholic, upbeat, peaceful, dreamy, scary, tense, romantic,
      uplifting, cheerful, soothing, mysterious, angry, warm, chill, nostalgic
    `),
    tempo: ['bpm', 'tempo', 'slow', 'fast', 'allegro', 'adagio', 'moderato', 'beats per minute', 'pace', 'andante'],
    instruments: splitPhrases(`
      piano, guitar, violin, drum, bass, synth, flute, cello, strings, orchestra, vocals, voice, choir, saxophone, trumpet, harp,
      instrument, instrumental, singer, ukulele, organ, narrator, a cappella, acapella, acappella
    `),
    structure: ['structure', 'verse', 'chorus', 'bridge', 'intro', 'outro', 'loop', 'drop', 'build up', 'crescendo', 'aaba'],
    duration: ['second', 'minute', 'hour', 'duration', 'length', 'long', 'short', 'sec'],
    mix: splitPhrases(`
      mix, reverb, stereo, mono, mastered, mastering, production, lo fi, lofi, vinyl, recorded, high fidelity, binaural
    `),
    avoid: ['avoid', 'no', 'without', 'exclude', 'do not', "don't"],
    keepsLanguage: ['language of this prompt'],
  },
  kinds: [
    {
      id: 'speech',
      cues: splitPhrases(`
        voice over, voiceover, narration, narrator, podcast, audiobook, announcement, read aloud, speech, audio guide, meditation,
        spoken, aloud, read this, read the following, read out, text to speech, tts, speak
      `),
      lines: {
        genre: 'spoken word, ${voice:a warm adult voice with clear diction}',
        mood: '${mood:calm and trustworthy}',
        structure:
          'about 140 words a minute, with pauses where a thought ends; half a second of silence, the text in paragraphs with a breath between, one second of silence',
        duration: '${duration:as long as the text takes}',
        mix: 'close microphone, dry room, even loudness',
        avoid: 'theatrical emphasis, breaths and clicks, music over speech',
      },
    },
    {
      id: 'unaccompanied',
      isForm: true,
      cues: ['a cappella', 'acapella', 'acappella', 'no instrument', 'without instrument', 'unaccompanied', 'voices only', 'only voices'],
      lines: {
        genre: '${genre:vocal music}',
        mood: '${mood:warm and hopeful}',
        tempo: '${tempo:100 bpm}',
        instruments: '${voices:four natural voices}, nothing else',
        structure: 'intro, verse, chorus, verse, chorus, bridge, last chorus',
        duration: '${length:3 minutes}',
        mix: 'clear words, each voice with a place of its own, natural room',
        avoid: 'anything that is not a voice, likeness to known songs and singers, too much pitch correction',
      },
    },
    {
      id: 'silence',
      cues: ['silence', 'silent', 'quiet track', 'no sound'],
      lines: {
        duration: '${duration:10 seconds}',
        mix: 'silent from start to end',
        avoid: 'music, voices, hum, noise, clicks at the ends',
      },
    },
    {
      id: 'effect',
      cues: splitPhrases(`
        sound effect, sfx, foley, explosion, footstep, door, notification, alarm, click, whoosh, rain sound, sound of, engine, bark, barking,
        dog, cat, meow, purr, bird, birdsong, roar, growl, thunder, thunderstorm, rain, wind, waves, fire crackling, applause, laughter, siren,
        gunshot, glass breaking, knock, bell, horn, splash, scream, snoring, cricket, typing, keyboard clicks, traffic
      `),
      lines: {
        genre: 'sound effect',
        mood: '${mood:natural}',
        structure: 'the thing itself, recorded close, with the materials that can be heard; clear attack, body, natural decay to silence',
        duration: '${duration:3 seconds}',
        mix: 'clean, little room, no clipping',
        avoid: 'music, voices, background noise, hard cut at the end',
      },
    },
    {
      id: 'jingle',
      cues: ['jingle', 'brand', 'ad', 'advert', 'commercial', 'intro', 'logo', 'podcast intro', 'theme for'],
      lines: {
        genre: 'jingle',
        mood: '${mood:bright and friendly}',
        tempo: '${tempo:115 bpm}',
        instruments: 'three or four that are heard at once, such as plucked strings, claps, bells',
        structure: 'a motif of five notes, one answer to it, a clear last note',
        duration: '${duration:10 seconds}',
        mix: 'bright and clear on small speakers',
        avoid: 'long build-up, likeness to known melodies, fade-out',
      },
    },
    {
      id: 'beat',
      cues: ['lo fi', 'lofi', 'chill', 'chillhop', 'trap', 'boom bap', 'hip hop beat', 'beat', 'instrumental beat'],
      lines: {
        genre: '${genre:lo-fi hip hop}',
        mood: '${mood:relaxed, a little wistful}',
        tempo: '${tempo:78 bpm}',
        instruments: 'soft drums behind the beat, electric piano, round bass, one short sample',
        structure: 'four bars that repeat with small changes, a break in the middle, an end that loops',
        duration: '${length:2 minutes}',
        mix: 'warm, soft highs, slight tape noise, drums not in front',
        avoid: 'voices, bright cymbals, sudden changes',
      },
    },
    {
      id: 'calm',
      cues: splitPhrases(`
        sleep, relaxing, relax, meditation, ambient, calm, study, focus, spa, yoga, lullaby, soothing, peaceful, background music
      `),
      lines: {
        genre: '${genre:ambient}',
        mood: 'calm, safe, unhurried',
        tempo: '${tempo:60 bpm}, or without a beat',
        instruments: '${instruments:soft pads, felt piano, distant bells}',
        structure: 'slow changes over minutes, no climax, an end that can lead back to the beginning',
        duration: '${length:10 minutes}',
        mix: 'soft highs, wide and quiet, long reverb, no sudden change of loudness',
        avoid: 'drums, voices, sharp attacks, surprising harmonies',
      },
    },
    {
      id: 'score',
      cues: splitPhrases(`
        film, movie, game, trailer, epic, soundtrack, battle, boss, cinematic, fantasy, horror, orchestral, scene
      `),
      lines: {
        genre: 'orchestral score',
        mood: '${mood:expectant, then heroic}',
        tempo: '${tempo:90 bpm, rising to 120}',
        instruments: 'strings and low brass, percussion, one solo instrument for the theme',
        structure: 'quiet opening with the theme, growth in two steps, climax, short after-sound',
        duration: '${length:2 minutes}',
        mix: 'wide hall, strong low end, room left for speech',
        avoid: 'likeness to known themes, sung words, abrupt end',
      },
    },
    {
      id: 'dance',
      cues: splitPhrases(`
        techno, house, edm, dance, workout, club, party, electronic, trance, dubstep, synthwave, drum and bass, running
      `),
      lines: {
        genre: '${genre:house}',
        mood: 'driving and bright',
        tempo: '${tempo:124 bpm}',
        instruments: 'kick on every beat, off-beat hi-hats, rolling bass, one synth hook',
        structure: 'intro of 16 bars, build-up, drop, break, second drop, outro for mixing',
        duration: '${length:3 minutes}',
        mix: 'loud and clean, bass in the middle, wide synths',
        avoid: 'clutter in the middle range, random changes of tempo, long silence',
      },
    },
    {
      id: 'song',
      cues: ['song', 'lyrics', 'vocals', 'singer', 'ballad', 'pop', 'rock', 'rap', 'hip hop', 'country', 'birthday song', 'anthem', 'folk'],
      lines: {
        genre: '${genre:pop with acoustic instruments}',
        mood: '${mood:warm and hopeful}',
        tempo: '${tempo:100 bpm}',
        instruments: '${voice:one natural voice}, guitar, bass, drums, light keys',
        structure: 'intro, verse, chorus, verse, chorus, bridge, last chorus',
        duration: '${length:3 minutes}',
        mix: 'voice in front, clear words, natural room',
        avoid: 'likeness to known songs and singers, too much pitch correction, unclear words',
      },
    },
    {
      id: 'music',
      cues: [],
      lines: {
        genre: '${genre:the one that suits the occasion}',
        mood: '${mood:the feeling named above, kept throughout}',
        tempo: '${tempo:90 bpm}',
        instruments: '${instruments:three to five that leave room for each other}',
        structure: 'short introduction, main theme, contrast, theme again, clear end',
        duration: '${length:2 minutes}',
        mix: 'balanced and natural, no clipping',
        avoid: 'likeness to known pieces, abrupt end, noise',
      },
    },
  ],
}
