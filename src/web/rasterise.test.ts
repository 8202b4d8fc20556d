import { setImmediate as settle } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { createRasteriser } from './rasterise.ts'

/** A renderer that ends one picture when told, and says how many it makes at once. */
function slowRenderer() {
  const ends: (() => void)[] = []
  const drawn: string[] = []
  let running = 0
  let most = 0
  const render = async (svg: string) => {
    drawn.push(svg)
    most = Math.max(most, ++running)
    await new Promise<void>((resolve) => ends.push(resolve))
    running--
    return new TextEncoder().encode(`png of ${svg}`)
  }
  return { render, drawn, most: () => most, end: () => ends.shift()?.() }
}

it('makes one picture at a time, each once', async () => {
  const { render, drawn, most, end } = slowRenderer()
  const { toPng } = createRasteriser(render)
  const all = ['a', 'a', 'b', 'c'].map((name) => toPng(name, name, 'x'))
  for (let n = 0; n < 3; n++) {
    await settle()
    end()
  }
  expect((await Promise.all(all)).map((png) => new TextDecoder().decode(png))).toEqual(['png of a', 'png of a', 'png of b', 'png of c'])
  expect(drawn).toEqual(['a', 'b', 'c'])
  expect(most()).toBe(1)
  await toPng('a', 'a', 'x')
  expect(drawn.length).toBe(3)
})

it('lets a caller have four waiting and all together sixteen, and takes more later', async () => {
  const { render, end } = slowRenderer()
  const { toPng } = createRasteriser(render)
  const ask = (caller: number, n: number) => toPng(`${caller} ${n}`, `${caller} ${n}`, `caller ${caller}`)
  const taken = [ask(0, 0)]
  for (let caller = 0; caller < 4; caller++) for (let n = 1; n <= 4; n++) taken.push(ask(caller, n))
  await expect(ask(0, 5)).rejects.toMatchObject({ code: 'rate_limited', retryAfterSeconds: 1 })
  await expect(ask(9, 1)).rejects.toMatchObject({ code: 'unavailable', retryAfterSeconds: 2 })
  // Who asks for a picture that is on its way needs no place.
  const shared = ask(3, 4)
  for (let n = 0; n < taken.length; n++) {
    await settle()
    end()
  }
  await Promise.all([...taken, shared])
  const late = ask(9, 1)
  await settle()
  end()
  expect(new TextDecoder().decode(await late)).toBe('png of 9 1')
})

it('goes on after a picture that fails, which is made again', async () => {
  let isBroken = true
  const { toPng } = createRasteriser(async (svg) => {
    if (isBroken) throw new Error('broken')
    return new TextEncoder().encode(svg)
  })
  await expect(toPng('a', 'a', 'x')).rejects.toThrow('broken')
  isBroken = false
  expect(new TextDecoder().decode(await toPng('a', 'a', 'x'))).toBe('a')
})
