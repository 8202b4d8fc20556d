import { request } from 'node:http'
import { gzipSync } from 'node:zlib'
import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, it } from 'vitest'
import { useBrowser } from '../support/browser.ts'

/** Longest text of the page's tests that a link still holds. */
const FITTING = 'x'.repeat(7_000)

describe('a reader who takes a prompt elsewhere', () => {
  const bench = useBrowser()
  const paths = { letter: '', long: '', rightToLeft: '' }
  beforeAll(async () => {
    const key = await bench.createKey('Ada')
    const save = async (title: string, content: string, more = {}) =>
      `/prompts/${(await bench.save(key, 'prompt', { title, content, ...more })).slug}`
    paths.letter = await save('Letter to a client', 'Write to ${clientName} about ${topic:the weather} for ${reason} and ${goal}.', {
      description: 'A letter.',
      tags: ['letters', 'clients'],
    })
    paths.long = await save('A long text', `${FITTING}\${more:} end. ${'Line of a long text.\n\n'.repeat(5)}`)
    paths.rightToLeft = await save('كتابة رسالة', 'اكتب رسالة إلى ${name}.\n\nAn English line.', { description: 'رسالة قصيرة' })
    await save('Another one', 'Something else entirely.')
  })

  const copied = (page: Page) => expect.poll(() => page.evaluate(() => navigator.clipboard.readText()))
  const openMenu = (page: Page) => page.locator('[data-open-in] > summary').click()
  const entries = (page: Page) =>
    page.locator('[data-open-in] a').evaluateAll((links) => links.map((one) => one.textContent?.split(' copied')[0]))
  /** Where links lead, noted instead of followed. */
  const noteTargets = (page: Page) =>
    page.addInitScript(() => {
      const opened: string[] = []
      Reflect.set(window, 'opened', opened)
      Reflect.set(window, 'open', (...args: string[]) => opened.push(args.join(' ')))
      document.addEventListener('click', (event) => {
        const link = event.target instanceof Element ? event.target.closest('a') : null
        if (!link || event.defaultPrevented) return
        opened.push(`${link.href} ${link.target} ${link.rel}`)
        event.preventDefault()
      })
    })
  const opened = (page: Page) => page.evaluate(() => Reflect.get(window, 'opened'))

  it('opens it in another tab with the values, what was used last first', async () => {
    const page = await bench.newPage()
    await noteTargets(page)
    await page.goto(paths.letter)
    await openMenu(page)
    expect(await entries(page)).toEqual(['ChatGPT', 'Claude', 'Perplexity', 'Gemini', 'Cursor', 'VS Code'])
    await page.getByRole('link', { name: 'Claude' }).click()
    // What is missing is named here, too.
    expect(await page.evaluate(() => document.activeElement?.getAttribute('aria-label'))).toBe('Client name')
    expect(await page.locator('[data-said]').textContent()).toBe(
      'Still empty: Client name, Reason, Goal. Fill in the rest, or press again to continue without.',
    )
    expect(await opened(page)).toEqual([])
    await page.keyboard.type('R&D "50%"')
    await page.getByLabel('Reason').fill('tea')
    await page.getByLabel('Goal').fill('cake')
    const text = 'Write to R&D "50%" about the weather for tea and cake.'
    // By keyboard, and closed by it.
    await page.locator('[data-open-in] > summary').focus()
    await page.keyboard.press('Enter')
    await page.keyboard.press('Tab')
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    expect(await opened(page)).toEqual([`https://claude.ai/new?q=${encodeURIComponent(text)} _blank noopener nofollow external`])
    expect(await page.locator('[data-open-in][open]').count()).toBe(0)
    await page.reload()
    await openMenu(page)
    expect((await entries(page)).slice(0, 2)).toEqual(['Claude', 'ChatGPT'])
    // Applications on this machine open no tab.
    await page.getByRole('link', { name: 'Cursor' }).click()
    const twice = encodeURIComponent(encodeURIComponent(text))
    expect(await opened(page)).toEqual([`cursor://anysphere.cursor-deeplink/prompt?text=${twice}  noopener nofollow external`])
    await openMenu(page)
    expect((await entries(page)).slice(0, 2)).toEqual(['Cursor', 'Claude'])
  })

  it('gets a text copied first that no address takes, and is told to paste it', async () => {
    const page = await bench.newPage()
    await noteTargets(page)
    await page.goto(paths.long)
    await openMenu(page)
    const chat = page.getByRole('link', { name: 'ChatGPT' })
    expect(await chat.locator('small').isVisible()).toBe(false)
    // Gemini takes no text in its address at all.
    expect(await page.getByRole('link', { name: 'Gemini copied first' }).count()).toBe(1)
    await page.keyboard.press('Escape')
    await page.getByLabel('More').fill('y'.repeat(2_000))
    await openMenu(page)
    await chat.locator('small').waitFor()
    await chat.click()
    await expect.poll(() => page.locator('[data-said]').textContent()).toBe('Copied. Paste it into ChatGPT.')
    await copied(page).toContain(`${FITTING}${'y'.repeat(2_000)} end.`)
    expect(await opened(page)).toEqual(['https://chatgpt.com/ _blank noopener'])
  })

  it('finds, fills in and copies without a mouse, in a few keys', async () => {
    const page = await bench.newPage()
    await page.goto('/docs')
    let presses = 0
    const press = async (key: string) => {
      presses++
      await page.keyboard.press(key)
    }
    await press('/')
    await page.keyboard.type('client letter')
    await press('Enter')
    await page.waitForURL('**/search?q=client+letter')
    await press('j')
    await press('Enter')
    await page.waitForURL(`**${paths.letter}`)
    // Copying goes to what is missing.
    await press('Control+Enter')
    await page.keyboard.type('Ada')
    await press('Tab')
    await press('Tab')
    await page.keyboard.type('tea')
    await press('Tab')
    await page.keyboard.type('cake')
    await press('Control+Enter')
    await copied(page).toBe('Write to Ada about the weather for tea and cake.')
    expect(presses).toBeLessThanOrEqual(12)
  })

  it('fills it in without a script, up to 4 MiB, and gets a page that says so beyond', async () => {
    const page = await bench.newPage({ hasScript: false, allowed: [/status of (400|413)/] })
    await page.goto(paths.letter)
    expect(await page.getByRole('button', { name: 'Copy' }).isVisible()).toBe(false)
    await page.getByLabel('Client name').fill('Ada & <b>Bob</b>\nand Eve')
    await page.getByRole('button', { name: 'Apply' }).click()
    const filled = 'Write to Ada & <b>Bob</b>\nand Eve about the weather for ${reason} and ${goal}.'
    expect(await page.locator('[data-text]').textContent()).toBe(filled)
    expect(await page.getByText('Missing values: reason, goal.').count()).toBe(1)
    const { pathname, search } = new URL(page.url())
    expect([pathname, search]).toEqual([`${paths.letter}/fill`, ''])
    // Another view keeps what was filled in, and so does a link.
    await page.getByRole('button', { name: 'Preview' }).click()
    expect(await page.locator('.written').textContent()).toContain('Ada & <b>Bob</b>')
    expect(await page.getByLabel('Client name').inputValue()).toBe('Ada & <b>Bob</b>\nand Eve')
    await page.locator('[data-open-in] > summary').click()
    const link = page.getByRole('link', { name: 'ChatGPT' })
    expect(new URL((await link.getAttribute('href')) ?? '').searchParams.get('q')).toBe(filled)
    expect(await page.locator('noscript small', { hasText: 'copy the text first' }).first().isVisible()).toBe(true)
    const send = async (length: number) => {
      await page.goto(paths.letter)
      await page.getByLabel('Reason').evaluate((field: HTMLTextAreaElement, count) => {
        // Laying out megabytes takes the browser longer than sending them.
        field.style.display = 'none'
        field.value = 'x'.repeat(count)
      }, length)
      await page.getByRole('button', { name: 'Apply' }).click()
      return (await page.locator('main').textContent()) ?? ''
    }
    // Large, but read: it is the value that is refused.
    expect(await send(1_000_000)).toContain('variables.reason has 1000000 characters; the limit is 10000.')
    for (const length of [5, 20, 40].map((mebibytes) => mebibytes * 1024 * 1024)) {
      expect(await send(length)).toContain('The values exceed 4 MiB in total.')
    }
  })

  it('gets a page that says so when much else is being sent from the same address', async () => {
    const page = await bench.newPage({ hasScript: false, allowed: [/status of 429/] })
    const headers = { 'content-type': 'application/x-www-form-urlencoded', 'content-length': String(4 * 1024 * 1024) }
    // Nearly all that one address may have under way, and none of it at its end.
    const others = Array.from({ length: 4 }, () => request(`${bench.baseUrl}${paths.letter}/fill`, { method: 'POST', headers }))
    try {
      for (const one of others) {
        one.on('error', () => {})
        await new Promise<void>((resolve) => one.write(Buffer.alloc(4 * 1024 * 1024 - 1024, 'x'), () => resolve()))
      }
      const apply = async (value: string) => {
        await page.goto(paths.letter)
        await page.getByLabel('Reason').fill(value)
        await page.getByRole('button', { name: 'Apply' }).click()
        return await page.locator('main').textContent()
      }
      await expect.poll(() => apply('some lines\n'.repeat(800)), { timeout: 20_000 }).toContain('You are sending too much at once.')
    } finally {
      for (const one of others) one.destroy()
    }
  })

  it('sees the title, then the text, then what is folded, with targets for a thumb', async () => {
    const page = await bench.newPage({ viewport: 'phone' })
    await page.goto(paths.letter)
    const top = async (selector: string) => (await page.locator(selector).first().boundingBox())?.y ?? Number.NaN
    const tops = [await top('h1'), await top('.byline'), await top('[data-text]'), await top('.folded')]
    expect(tops).toEqual(tops.toSorted((one, other) => one - other))
    expect(await page.getByText('Prompt file').isVisible()).toBe(false)
    await page.getByText('About this prompt').click()
    expect(await page.getByText('Prompt file').isVisible()).toBe(true)
    expect(await page.locator('.facts').textContent()).toContain('≈ 19 tokens, 76 characters')
    await openMenu(page)
    expect((await page.locator('.actions.here').boundingBox())?.height).toBeLessThanOrEqual(56)
    const small = await page.locator('article :is(a, button, summary, textarea)').evaluateAll((all) =>
      all.flatMap((one) => {
        const { width, height, right } = one.getBoundingClientRect()
        return height === 0 || (height >= 44 && width >= 24 && right <= innerWidth) ? [] : [`${one.outerHTML}: ${width} × ${height}`]
      }),
    )
    expect(small).toEqual([])
    // The row stays within reach.
    await page.evaluate(() => scrollTo(0, 0))
    expect(await page.locator('[data-copy-filled]').evaluate((one) => one.getBoundingClientRect().bottom <= innerHeight)).toBe(true)
  })

  it('reads right-to-left texts from the right, each paragraph its own way', async () => {
    const page = await bench.newPage()
    await page.goto(paths.rightToLeft)
    for (const selector of ['h1', '.lead', '[data-text]']) {
      const isRight = await page.locator(selector).evaluate((one) => {
        const range = document.createRange()
        const { firstChild } = one
        if (!firstChild) throw new Error('It is empty.')
        range.selectNodeContents(firstChild)
        const first = range.getClientRects()[0]
        const { right } = one.getBoundingClientRect()
        return getComputedStyle(one).direction === 'rtl' && first !== undefined && right - first.right < 40
      })
      expect(isRight, selector).toBe(true)
    }
    await page.getByLabel('Name').fill('عمر')
    expect(await page.getByLabel('Name').evaluate((one) => getComputedStyle(one).direction)).toBe('rtl')
    await page.getByLabel('Name').fill('Omar')
    expect(await page.getByLabel('Name').evaluate((one) => getComputedStyle(one).direction)).toBe('ltr')
    await page.goto('/prompts')
    const directions = await page.locator('.rows h3').evaluateAll((all) => all.map((one) => getComputedStyle(one).direction))
    expect(directions.toSorted()).toEqual(['ltr', 'ltr', 'ltr', 'rtl'])
  })

  it('sees nothing move while the scripts arrive', async () => {
    const page = await bench.newPage({ viewport: 'phone', allowed: [/woff2/] })
    // A font that arrives late moves lines, too.
    await page.route('**/*.woff2', (route) => route.abort())
    await page.route('**/prompt.js', async (route) => {
      await new Promise((resolve) => setTimeout(resolve, 600))
      await route.continue()
    })
    await page.addInitScript(() => {
      Reflect.set(window, 'shifts', 0)
      new PerformanceObserver((list) => {
        for (const entry of list.getEntries()) Reflect.set(window, 'shifts', Reflect.get(window, 'shifts') + Reflect.get(entry, 'value'))
      }).observe({ type: 'layout-shift', buffered: true })
    })
    await page.goto(paths.letter)
    await page.getByLabel('Reason').waitFor()
    await page.waitForTimeout(300)
    expect(await page.evaluate(() => Reflect.get(window, 'shifts'))).toBeLessThan(0.01)
  })

  it('loads little script for it', async () => {
    const page = await bench.newPage()
    const scripts: Promise<Buffer>[] = []
    page.on('response', (response) => {
      if (response.request().resourceType() === 'script') scripts.push(response.body())
    })
    await page.goto(paths.letter, { waitUntil: 'networkidle' })
    const bodies = await Promise.all(scripts)
    expect(bodies.length).toBeGreaterThanOrEqual(2)
    expect(bodies.reduce((sum, body) => sum + gzipSync(body).length, 0)).toBeLessThanOrEqual(10 * 1024)
  })
})
