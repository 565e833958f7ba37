// Notices scripts and elements that a hostile text has brought to life.

import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { openPage, type PageOptions, type TestServer } from './kit.ts'

interface Recorded {
  executed?: string[]
}

let count = 0

/** Opens a page that records calls of functions that hostile texts call. */
export async function openRecorded(server: TestServer, options: PageOptions = {}): Promise<Page> {
  const page = await openPage(server)
  await page.addInitScript(() => {
    const recorded = globalThis as unknown as Recorded
    recorded.executed = []
    for (const name of ['alert', 'confirm', 'prompt', 'print'] as const)
      Object.defineProperty(globalThis, name, { value: () => recorded.executed?.push(name) })
  })
  if (options.viewport) await page.setViewportSize(options.viewport)
  await page.goto(`${server.url}/?${count++}${options.hash ?? ''}`)
  await page.getByRole('heading', { level: 1 }).waitFor()
  return page
}

/** The recorded calls. */
export function executed(page: Page): Promise<string[]> {
  return page.evaluate(() => (globalThis as unknown as Recorded).executed ?? ['not recorded'])
}

/** Elements that only a text could have made. */
export function foreignElements(page: Page): Promise<string[]> {
  return page.evaluate(() =>
    [...document.body.querySelectorAll('*')]
      .filter(
        (element) =>
          /^(script|iframe|object|embed|link|meta|base|style|template|marquee|portal|math)$/i.test(element.tagName) ||
          [...element.attributes].some(
            ({ name, value }) =>
              /^on/i.test(name) || (/^(src|href|action|srcset|poster|style)$/i.test(name) && /evil|alert/i.test(value)),
          ),
      )
      .map((element) => element.outerHTML.slice(0, 200)),
  )
}

/** Fails if a hostile text has run a script or made an element. */
export async function expectSafe(page: Page): Promise<void> {
  expect(await executed(page)).toEqual([])
  expect(await foreignElements(page)).toEqual([])
}
