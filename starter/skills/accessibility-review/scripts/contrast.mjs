#!/usr/bin/env node
// Contrast ratio of two colours according to WCAG 2.2.
//
// Usage: node contrast.mjs FOREGROUND BACKGROUND [--large | --ui]
//   Colours: #rgb #rgba #rrggbb #rrggbbaa, rgb(...), rgba(...), black, white
//   --large  text from 24 px, or from 18.66 px bold
//   --ui     borders, icons, focus indicators
//
// Exit codes: 0 meets level AA, 1 does not, 2 wrong call.

const USAGE = 'usage: node contrast.mjs FOREGROUND BACKGROUND [--large | --ui]'

function fail(message) {
  console.error(`contrast: ${message}\n${USAGE}`)
  process.exit(2)
}

/** Returns [red, green, blue, alpha] with 0..255 and 0..1. */
function parseColour(text) {
  const value = text.trim().toLowerCase()
  if (value === 'black') return [0, 0, 0, 1]
  if (value === 'white') return [255, 255, 255, 1]
  const hex = /^#([0-9a-f]{3,4}|[0-9a-f]{6}|[0-9a-f]{8})$/.exec(value)?.[1]
  if (hex) {
    const long = hex.length <= 4 ? [...hex].map((digit) => digit + digit).join('') : hex
    const parts = long.match(/../g).map((pair) => Number.parseInt(pair, 16))
    return [parts[0], parts[1], parts[2], parts.length === 4 ? parts[3] / 255 : 1]
  }
  const body = /^rgba?\(([^()]*)\)$/.exec(value)?.[1]
  const parts = body?.split(/[\s,/]+/).filter(Boolean)
  if (!parts || parts.length < 3 || parts.length > 4) fail(`cannot read the colour "${text}"`)
  const numbers = parts.map((part, index) => {
    const number = /^[+-]?(\d+\.?\d*|\.\d+)%?$/.test(part) ? Number.parseFloat(part) : fail(`cannot read "${part}" in "${text}"`)
    const full = index === 3 ? 1 : 255
    return Math.min(full, Math.max(0, part.endsWith('%') ? (number / 100) * full : number))
  })
  return [numbers[0], numbers[1], numbers[2], numbers[3] ?? 1]
}

/** Puts a translucent colour on an opaque one. */
function over([r, g, b, alpha], below) {
  return [r, g, b].map((channel, i) => channel * alpha + below[i] * (1 - alpha))
}

function luminance(colour) {
  const [r, g, b] = colour.map((channel) => {
    const c = channel / 255
    return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * r + 0.7152 * g + 0.0722 * b
}

function ratio(first, second) {
  const [light, dark] = [luminance(first), luminance(second)].sort((a, b) => b - a)
  return (light + 0.05) / (dark + 0.05)
}

function toHex(colour) {
  return `#${colour.map((channel) => Math.round(channel).toString(16).padStart(2, '0')).join('')}`
}

/** The smallest step towards black or white that reaches the target, or null. */
function nearest(foreground, background, target) {
  for (let step = 1; step <= 100; step++) {
    for (const end of [0, 255]) {
      const candidate = foreground.map((channel) => Math.round(channel + ((end - channel) * step) / 100))
      if (ratio(candidate, background) >= target) return candidate
    }
  }
  return null
}

const args = process.argv.slice(2)
if (args.includes('--help') || args.includes('-h')) {
  console.log(USAGE)
  process.exit(0)
}
const options = args.filter((arg) => arg.startsWith('--'))
const colours = args.filter((arg) => !arg.startsWith('--'))
const unknown = options.find((option) => option !== '--large' && option !== '--ui')
if (unknown) fail(`unknown option ${unknown}`)
if (options.length > 1) fail('--large and --ui exclude each other')
if (colours.length !== 2) fail(`two colours are needed, got ${colours.length} (put colours in quotation marks)`)

const [front, back] = colours.map(parseColour)
if (back[3] < 1) fail('the background has to be opaque: give the colour that is really seen')
const background = back.slice(0, 3)
const foreground = over(front, background)
const value = ratio(foreground, background)
const shown = (Math.floor(value * 100) / 100).toFixed(2)

const [use, target, enhanced] =
  options[0] === '--ui' ? ['controls and graphics', 3, null] : options[0] === '--large' ? ['large text', 3, 4.5] : ['text', 4.5, 7]

console.log(`${toHex(foreground)} on ${toHex(background)}: ${shown} to 1`)
if (front[3] < 1) console.log(`(the translucent foreground was placed on the background)`)
console.log(`AA  ${use}, ${target} to 1: ${value >= target ? 'met' : 'not met'}`)
if (enhanced) console.log(`AAA ${use}, ${enhanced} to 1: ${value >= enhanced ? 'met' : 'not met'}`)
if (value < target) {
  const suggestion = nearest(foreground, background, target)
  console.log(
    suggestion
      ? `Nearby foreground that meets AA: ${toHex(suggestion)} (${(Math.floor(ratio(suggestion, background) * 100) / 100).toFixed(2)} to 1)`
      : 'No foreground reaches this on the background. Change the background.',
  )
}
process.exit(value >= target ? 0 : 1)
