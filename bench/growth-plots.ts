// Draws the figures of bench/results/growth.json as docs/growth.svg.
//   npm run bench:plots
import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { drawPanels } from './growth-panels.ts'
import { readGrowth } from './growth-results.ts'

writeFileSync(fileURLToPath(new URL('../docs/growth.svg', import.meta.url)), drawPanels(readGrowth()))
