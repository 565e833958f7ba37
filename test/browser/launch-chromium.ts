// Starts a real Chromium for the browser tests. It can reach this machine only.
import { type Browser, type BrowserContext, chromium } from 'playwright-core'

/** Starts Chromium without the requests it makes on its own. */
export function launchChromium(): Promise<Browser> {
  return chromium.launch({
    executablePath: process.env.TOOLWRIGHT_CHROMIUM ?? '/usr/bin/chromium',
    chromiumSandbox: process.getuid?.() !== 0,
    args: [
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      '--no-first-run',
      '--disable-quic',
      // a microphone that beeps, without a question to the user
      '--use-fake-device-for-media-stream',
      '--use-fake-ui-for-media-stream',
    ],
  })
}

/** Aborts every request to another machine. Returns the list of their addresses, which grows. */
export async function blockOtherHosts(context: BrowserContext): Promise<readonly string[]> {
  const blocked: string[] = []
  await context.route(
    (url) => url.protocol.startsWith('http') && url.hostname !== '127.0.0.1',
    (route) => {
      blocked.push(route.request().url())
      return route.abort()
    },
  )
  return blocked
}
