import { findBrowser } from '../../scripts/browser.ts'
import { buildPage } from '../../scripts/build-page.ts'

/** Builds the page and finds the browser, once before the browser tests. */
export default async function setup(): Promise<void> {
  if (process.env.TOOLWRIGHT_WORKBENCH === undefined) await buildPage()
  process.env.TOOLWRIGHT_CHROMIUM = await findBrowser()
}
