import type { Medium } from './media-kind.ts'
import { splitPhrases } from './read-words.ts'

/** What prompts for films name, and what suits each kind of film. */
export const VIDEO: Medium = {
  parts: ['setting', 'shots', 'camera', 'style', 'lighting', 'sound', 'aspect', 'duration', 'avoid'],
  cues: {
    setting: splitPhrases(`
      setting, background, environment, in a, in the, on a, on the, at the, at night, inside, outside, street, room, forest, city,
      beach, underwater, through
    `),
    shots: splitPhrases(`
      shot list, scene 1, shot 1, first shot, then, storyboard, timeline, cut to, sequence, 0s, 0 00, 00 00, seconds 0, frame 1
    `),
    camera: splitPhrases(`
      camera, pan, dolly, tracking shot, drone, zoom, handheld, close up, wide shot, aerial, tilt, orbit, crane, static shot, pov,
      slow motion, steadicam
    `),
    style: splitPhrases(`
      style, cinematic, realistic, photorealistic, animated, animation, anime, cartoon, documentary, vintage, stop motion, 3d,
      claymation, film noir, hyperrealistic
    `),
    lighting: splitPhrases(`
      noon, midday, midnight, night, daytime, morning, afternoon, evening, twilight, blue hour, overcast, sunny, in the dark,
      lighting, light, golden hour, sunset, sunrise, neon, shadow, backlit, moonlight, daylight, at night, night, dusk, dawn
    `),
    sound: ['sound', 'music', 'audio', 'voice over', 'voiceover', 'dialogue', 'narration', 'silent', 'soundtrack'],
    aspect: ['aspect ratio', '16 9', '9 16', '1 1', '4 5', '21 9', 'vertical', 'horizontal', 'square', 'ar 16', 'ar 9'],
    duration: ['second', 'minute', 'duration', 'sec', 'loop', '5s', '6s', '8s', '10s', '15s', '30s', '60s'],
    avoid: ['avoid', 'no', 'without', 'negative prompt', 'exclude', 'do not', "don't"],
    keepsLanguage: ['language of this prompt'],
  },
  kinds: [
    {
      id: 'advert',
      isForm: true,
      cues: ['ad', 'advert', 'commercial', 'product', 'promo', 'brand', 'trailer', 'launch', 'teaser'],
      lines: {
        setting: '${setting:where the customer would use it}',
        shots: 'opening: a detail that raises a question; middle: the product in use; end: the product alone, with room for the name',
        camera: 'slow push-in on details, then one smooth move around the product',
        style: 'polished, realistic advertising film',
        lighting: 'soft key light with bright edges, dark clean background',
        sound: '${music:a light beat that rises to the last shot}; no voice',
        aspect: '${aspect ratio:16:9}',
        duration: '${duration:15 seconds}',
        avoid: 'misspelt or invented text, warped product, jumps between unlike styles, watermark',
      },
    },
    {
      id: 'explainer',
      isForm: true,
      cues: ['explainer', 'tutorial', 'how to', 'explain', 'educational', 'lesson', 'demo', 'instruction', 'infographic'],
      lines: {
        setting: 'a plain ground with only what is being explained',
        shots: 'opening: the question; middle: the answer in three steps, one picture each; end: the whole at a glance',
        camera: 'still, with gentle moves towards what is spoken of',
        style: '${style:clean two-dimensional animation with few colours}',
        lighting: 'even',
        sound: 'a calm narrator who speaks slowly, quiet music below',
        aspect: '${aspect ratio:16:9}',
        duration: '${duration:60 seconds}',
        avoid: 'text that is shown too briefly to read, more than one idea at a time, decoration',
      },
    },
    {
      id: 'short',
      isForm: true,
      cues: ['tiktok', 'reel', 'youtube short', 'short video', 'instagram', 'viral', 'social media', 'vlog'],
      lines: {
        setting: '${setting:an everyday place}',
        shots: 'opening: the strongest moment at once; middle: how it came about; end: a turn that invites to watch again',
        camera: 'handheld, close, eye level',
        style: 'spontaneous, like a good phone video',
        lighting: 'natural light',
        sound: '${sound:original sound with a beat below}',
        aspect: '${aspect ratio:9:16}',
        duration: '${duration:15 seconds}',
        avoid: 'slow beginning, important things at the edges, watermark',
      },
    },
    {
      id: 'nature',
      cues: splitPhrases(`
        nature, animal, wildlife, ocean, mountain, forest, bird, landscape, waterfall, underwater, timelapse, time lapse, whale, lion,
        documentary
      `),
      lines: {
        setting: '${weather and time:early morning, light mist}',
        shots: 'opening: the place, wide; middle: the subject acts, from nearer; end: it leaves or rests, held for two seconds',
        camera: 'long lens, slow tracking at the height of the subject',
        style: 'realistic nature documentary, fine detail',
        lighting: 'low natural light from behind',
        sound: 'only the sounds of the place',
        aspect: '${aspect ratio:16:9}',
        duration: '${duration:10 seconds}',
        avoid: 'unnatural movement, changing shapes, wrong number of limbs, text, watermark',
      },
    },
    {
      id: 'animation',
      isForm: true,
      cues: ['animation', 'animated', 'cartoon', 'anime', 'stop motion', 'claymation', 'pixar', 'motion graphic', 'logo animation'],
      lines: {
        setting: '${setting:a simple, coloured world with depth}',
        shots: 'opening: the character wants something; middle: it tries and fails in a surprising way; end: it finds another way',
        camera: 'few, clear moves; cuts on movement',
        style: '${style:rounded shapes, soft colours, lively movement}',
        lighting: 'warm key light, soft shadows',
        sound: 'playful music that follows the movement, a few clear effects',
        aspect: '${aspect ratio:16:9}',
        duration: '${duration:20 seconds}',
        avoid: 'characters that change from shot to shot, stiff movement, stray text',
      },
    },
    {
      id: 'scene',
      cues: [],
      lines: {
        setting: '${setting:the place where the action belongs, with one telling detail}',
        shots: 'opening: the place and the subject; middle: the action in one unbroken movement; end: its result, held for a moment',
        camera: 'slow push-in at eye level, steady',
        style: '${style:cinematic and realistic, shallow focus}',
        lighting: 'soft natural light from the side',
        sound: 'the sounds of the scene, quiet music at most',
        aspect: '${aspect ratio:16:9}',
        duration: '${duration:8 seconds}',
        avoid: 'sudden cuts, warped faces and hands, flicker, stray text, watermark',
      },
    },
  ],
}
