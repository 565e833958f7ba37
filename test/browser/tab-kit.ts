import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { accessibilityProblems } from './kit.ts'

/** A narrow phone. */
export const PHONE = { width: 360, height: 740 }

/** Fails if axe-core finds a problem in light or dark colours, or if the page scrolls sideways on a narrow phone. */
export async function expectAccessible(page: Page): Promise<void> {
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme })
    expect(await accessibilityProblems(page), colorScheme).toEqual([])
  }
  await page.setViewportSize(PHONE)
  const { scrollWidth, clientWidth } = await page.evaluate(() => {
    const boxes = [...document.querySelectorAll('html, main, .view, .view-body, .inspect-panel, .tool-call, .live')]
    const [widest] = boxes.sort((one, other) => tooWide(other) - tooWide(one))
    function tooWide({ scrollWidth, clientWidth }: Element): number {
      return scrollWidth - clientWidth
    }
    return { scrollWidth: widest?.scrollWidth ?? 0, clientWidth: widest?.clientWidth ?? 0 }
  })
  expect(scrollWidth, 'scrolls sideways at 360 px').toBeLessThanOrEqual(clientWidth)
}
