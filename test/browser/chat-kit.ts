import type { Locator, Page } from 'playwright-core'

/** A picture of one pixel, as base64. */
export const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

/** The message field. */
export function messageField(page: Page): Locator {
  return page.getByRole('textbox', { name: 'Message', exact: true })
}

/** Types a message and sends it, when the run before has ended. */
export async function say(page: Page, text: string): Promise<void> {
  await messageField(page).fill(text)
  await send(page)
}

/** Sends what is in the message field. */
export async function send(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Send', exact: true }).click()
}
