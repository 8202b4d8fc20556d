import type { Medium } from './media-kind.ts'
import { splitPhrases } from './read-words.ts'

const PHOTO_FLAWS = 'distorted hands and faces, plastic skin, stray text, watermark'

/** What prompts for pictures name, and what suits each kind of picture. */
export const IMAGE: Medium = {
  parts: ['setting', 'style', 'composition', 'lighting', 'colour', 'camera', 'aspect', 'avoid'],
  cues: {
    setting: splitPhrases(`
      background, in front of, setting, environment, landscape, in a, in the, on a, on the, at the, at night, inside, outside,
      outdoor, indoor, street, room, forest, city, scene, skyline, surrounded by, courtyard
    `),
    style: splitPhrases(`
      style, photorealistic, hyper realistic, ultra realistic, realistic, photo, photograph, photography, watercolor, watercolour,
      oil painting, painting, anime, cartoon, illustration, sketch, drawing, pixel art, minimalist, vector, 3d, render, rendered,
      cinematic, vintage, isometric, line art, pencil, comic, flat design, low poly, clay, surreal, abstract, cyberpunk, impressionist
    `),
    composition: splitPhrases(`
      composition, close up, wide shot, full body, top down, bird's eye, angle, centered, centred, framing, framed, symmetrical,
      rule of thirds, portrait of, view, perspective, foreground, shot, isometric, diorama
    `),
    lighting: splitPhrases(`
      noon, midday, midnight, night, daytime, morning, afternoon, evening, twilight, blue hour, overcast, sunny, in the dark,
      lighting, light, lit, golden hour, sunset, sunrise, backlit, shadow, neon, candlelight, moonlight, sunlight, dawn, dusk,
      daylight, at night, glow, glowing, chiaroscuro
    `),
    colour: splitPhrases(`
      colour, color, palette, black and white, monochrome, pastel, red, blue, green, yellow, orange, purple, pink, teal, gold, golden,
      sepia, black, white, brown, colorful, colourful, vibrant, muted
    `),
    camera: splitPhrases(`
      camera, lens, 35mm, 50mm, 85mm, dslr, bokeh, depth of field, macro, film grain, aperture, polaroid, wide angle, telephoto,
      smartphone photo, f 1, f 2, mm
    `),
    aspect: splitPhrases(`
      aspect ratio, ar 1, ar 16, ar 9, ar 2, ar 3, ar 4, 16 9, 9 16, 1 1, 4 3, 3 4, 4 5, 2 3, 3 2, square, landscape format,
      portrait format, 1080x1080, 1024x1024, 1920x1080, 1080x1920, resolution, vertical, horizontal
    `),
    avoid: ['avoid', 'no', 'without', 'negative prompt', 'exclude', 'do not', "don't"],
    keepsLanguage: ['language of this prompt'],
  },
  kinds: [
    {
      id: 'logo',
      isForm: true,
      cues: ['logo', 'icon', 'emblem', 'badge', 'brand mark', 'favicon', 'app icon', 'sticker', 'monogram'],
      lines: {
        setting: 'plain white background, the mark alone',
        style: 'flat vector mark of a few simple shapes, with even strokes, recognisable at 16 pixels',
        composition: 'one centred mark with clear space on all sides',
        lighting: 'none; flat, even areas',
        colour: '${palette:two or three colours that suit the subject}',
        camera: 'straight from the front, without perspective',
        aspect: '${aspect ratio:1:1}',
        avoid: 'gradients, fine detail, photographs, mock-ups, more than one version, misspelt letters',
      },
    },
    {
      id: 'portrait',
      cues: splitPhrases(`
        portrait, woman, man, girl, boy, person, headshot, selfie, model, face, child, old man, couple, people, warrior, character
      `),
      lines: {
        setting: '${setting:a quiet place that tells something about the person}, softly out of focus',
        style: '${style:natural, realistic photograph}',
        composition: 'head and shoulders, eyes on the upper third, space in the direction of the gaze',
        lighting: 'soft light from the side with a gentle fill, a catchlight in the eyes',
        colour: 'natural skin tones against muted surroundings',
        camera: '85 mm lens at f/2, focus on the eyes',
        aspect: '${aspect ratio:4:5}',
        avoid: `${PHOTO_FLAWS}, extra fingers`,
      },
    },
    {
      id: 'product',
      cues: splitPhrases(`
        product, bottle, packaging, shoe, watch, perfume, mockup, mock up, advertisement, e commerce, sneaker, phone, jewelry,
        cosmetic
      `),
      lines: {
        setting: '${setting:a clean surface with one or two things that go with it}',
        style: 'realistic studio photograph for advertising',
        composition: 'the product sharp and large in the middle, at a slight angle from above, with space for a headline',
        lighting: 'large soft light from one side, a bright edge on the other, a soft shadow below',
        colour: 'a calm background that sets off the colour of the product',
        camera: '100 mm macro lens at f/8, the whole product in focus',
        aspect: '${aspect ratio:4:5}',
        avoid: 'misspelt labels, warped edges, clutter, hard reflections, watermark',
      },
    },
    {
      id: 'food',
      cues: ['food', 'dish', 'pizza', 'burger', 'cake', 'meal', 'dessert', 'breakfast', 'cocktail', 'coffee cup', 'sushi', 'bread'],
      lines: {
        setting: '${setting:a wooden table with a napkin and a few ingredients}',
        style: 'realistic photograph as in a good cookbook',
        composition: 'from an angle of 45 degrees, the dish filling most of the picture',
        lighting: 'soft window light from behind and the side',
        colour: 'warm, fresh colours with one accent of green',
        camera: '50 mm lens at f/2.8, focus on the front edge',
        aspect: '${aspect ratio:4:5}',
        avoid: 'plastic look, too much gloss, clutter, stray text, watermark',
      },
    },
    {
      id: 'layout',
      isForm: true,
      cues: splitPhrases(`
        poster, infographic, flyer, book cover, album cover, banner, thumbnail, invitation card, magazine cover, menu, diagram, cover,
        wallpaper, business card, ui, website, app screen
      `),
      lines: {
        setting: 'a plain ground that keeps the text legible',
        style: '${style:clean graphic design with one strong picture}',
        composition: 'one focal point, a clear order of sizes, generous margins, space kept free for the text',
        lighting: 'even',
        colour: '${palette:one main colour, one accent and a neutral}',
        camera: 'straight from the front',
        aspect: '${aspect ratio:2:3}',
        avoid: 'misspelt or invented text, more than two typefaces, clutter, watermark',
      },
    },
    {
      id: 'place',
      cues: splitPhrases(`
        landscape, mountain, beach, city, skyline, forest, street, sea, ocean, village, castle, house, interior, building,
        living room, kitchen, garden, architecture, planet, space, desert, island, sunset, river, room, bedroom, office
      `),
      lines: {
        setting: '${weather and season:clear weather in early autumn}',
        style: '${style:realistic photograph with fine detail}',
        composition: 'something near in the foreground, the subject on a third, lines that lead to it',
        lighting: 'low sun of the golden hour, long soft shadows',
        colour: 'natural colours, warm light against cool shade',
        camera: '24 mm lens at f/11, sharp from front to back',
        aspect: '${aspect ratio:16:9}',
        avoid: 'tilted horizon, oversaturated colours, repeated patterns, stray people and text, watermark',
      },
    },
    {
      id: 'animal',
      cues: splitPhrases(`
        cat, dog, animal, bird, horse, lion, tiger, fox, wolf, owl, elephant, puppy, kitten, bear, rabbit, fish, butterfly
      `),
      lines: {
        setting: '${setting:where it lives, softly out of focus}',
        style: '${style:realistic wildlife photograph}',
        composition: 'at eye level with the animal, close, with space in front of it',
        lighting: 'soft early light from the side that shows the texture of the coat',
        colour: 'natural colours, a calm background',
        camera: '200 mm lens at f/4, focus on the eye',
        aspect: '${aspect ratio:3:2}',
        avoid: 'wrong number of limbs, human expressions unless asked for, stray text, watermark',
      },
    },
    {
      id: 'illustration',
      isForm: true,
      cues: splitPhrases(`
        illustration, cartoon, children book, children's book, anime, comic, drawing, sketch, mascot, pixel art, coloring page,
        colouring page, painting, watercolor, tattoo, fantasy, wizard, dragon, robot, fairy
      `),
      lines: {
        setting: '${setting:a simple scene that supports the subject}',
        style: '${style:hand-drawn illustration with clean lines and soft texture}',
        composition: 'the subject large and easy to read as a silhouette, little around it',
        lighting: 'soft, from one side, with simple shadows',
        colour: '${palette:five harmonious colours}',
        camera: 'at eye level with the subject, from a little distance',
        aspect: '${aspect ratio:1:1}',
        avoid: 'photographic detail, stray text, signature, watermark, extra limbs',
      },
    },
    {
      id: 'picture',
      cues: [],
      lines: {
        setting: '${setting:the place where the subject belongs, kept simple}',
        style: '${style:realistic, with fine detail}',
        composition: 'one clear subject on a third of the picture, little around it',
        lighting: 'soft natural light from the side',
        colour: '${palette:a few harmonious colours}',
        camera: '50 mm lens at f/4, focus on the subject',
        aspect: '${aspect ratio:3:2}',
        avoid: 'distorted shapes, clutter, stray text, watermark',
      },
    },
  ],
}
