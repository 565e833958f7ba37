import type { Locator, Page } from 'playwright-core'

/** A picture of one pixel, as base64. */
export const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

/** The message field. */
export function messageField(page: Page): Locator {
  return page.getByRole('textbox', { name: 'Message', exact: true })
}

/** Acts as another user from now on. */
export async function actAs(page: Page, user: string): Promise<void> {
  await page.getByRole('combobox', { name: 'User' }).selectOption({ label: 'Another user…' })
  await page.getByRole('textbox', { name: 'User' }).fill(user)
  await page.keyboard.press('Tab')
}

/** Chooses an action of a session in the list. */
export async function sessionAction(page: Page, session: string, action: string): Promise<void> {
  await page.getByRole('button', { name: `Actions of ${session}` }).click()
  await page.getByRole('menuitem', { name: action, exact: true }).click()
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
