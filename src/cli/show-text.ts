import { showControls } from '../domain/text/controls.ts'
import type { OnText } from '../improve/with-model/improve-with-model.ts'
import type { Screen } from './print-list.ts'

/**
 * Streams a text to the terminal: stdout if it is one, else stderr if it is one.
 * @param isResultText whether the result is that text; false when it is printed as JSON, and the text is shown on stderr alone
 */
export function showText(stdout: Screen, stderr: Screen, isResultText: boolean) {
  const screen = isResultText && stdout.isTTY ? stdout : stderr.isTTY ? stderr : null
  let shown = ''
  const endLine = () => {
    if (shown !== '') screen?.write('\n')
  }
  return {
    /** Ends the line where the text broke off. */
    breakOff: endLine,
    async onText(part: Parameters<OnText>[0]): Promise<void> {
      if (!screen) return
      if (part.kind === 'restart') {
        screen.write('\n\n(Unusable answer; asking the model again.)\n\n')
        shown = ''
      } else {
        screen.write(showControls(part.text))
        shown += part.text
      }
    },
    /** Prints the result exactly once on stdout. */
    finish(result: string): void {
      endLine()
      if (screen !== stdout) {
        stdout.write(`${result}\n`)
        return
      }
      // What was watched may differ from the result: a code fence is taken off, for one.
      if (shown.trim() !== result.trim()) stdout.write(`${shown === '' ? '' : '\nResult:\n\n'}${showControls(result)}\n`)
    },
  }
}
