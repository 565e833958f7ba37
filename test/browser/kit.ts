// A real server and a real browser. Every page fails its test on a script error, a violation of the content security policy, or
// a request to another host.
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { createServer, type ServerOptions, type ToolwrightServer } from 'toolwright/server'
import { afterAll, afterEach, expect } from 'vitest'
import { launchChromium } from './launch-chromium.ts'

/** A server that listens on this machine. */
export interface TestServer {
  /** The server. */
  readonly server: ToolwrightServer
  /** Its address. */
  readonly url: string
}

/** The built page. Set the variable to test another build of it. */
const PAGE = process.env.TOOLWRIGHT_WORKBENCH ?? 'dist/workbench'

let browser: Promise<Browser> | undefined
let context: Promise<BrowserContext> | undefined
const servers: TestServer[] = []
/** Script errors, violations of the policy, and requests to other hosts. Checked after each test. */
const problems: string[] = []

afterEach(async () => {
  for (const page of (await context)?.pages() ?? []) await page.close()
  expect(problems.splice(0)).toEqual([])
})

afterAll(async () => {
  await (await browser)?.close()
  await Promise.all(servers.splice(0).map(({ server }) => server.close()))
})

/**
 * Starts a server with the built page and the routes for developers. It is closed after the tests of the file.
 *
 * @param port Default: a free one.
 */
export async function startServer(options: ServerOptions, port = 0): Promise<TestServer> {
  // the pages of all tests of a file are one principal, and each lists the requests of every app
  const limits = { drainMs: 100, requestsPerMinute: 100_000 }
  const server = createServer({ dev: true, page: PAGE, limits, ...options })
  const { url } = await server.listen({ port })
  const started = { server, url }
  servers.push(started)
  return started
}

/** Options of `openPage`. */
export interface PageOptions {
  /** The hash to open, such as `#/inbox`. Default: the first app. */
  readonly hash?: string
  /** The colours of the system. Default light. */
  readonly colorScheme?: 'light' | 'dark'
  /** The size of the window. Default 1180 x 800: the chat without the timeline beside it. */
  readonly viewport?: { readonly width: number; readonly height: number }
}

/** Opens the workbench in a page of its own. The token is exchanged for a cookie, as with the printed address. */
export async function openPage(
  { server, url }: { readonly server: Pick<ToolwrightServer, 'token'>; readonly url: string },
  options: PageOptions = {},
): Promise<Page> {
  const { hash = '', colorScheme = 'light', viewport } = options
  const page = await (await openContext()).newPage()
  if (viewport) await page.setViewportSize(viewport)
  await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
  await page.goto(`${url}/?token=${server.token}${hash}`)
  await page.getByRole('heading', { level: 1 }).waitFor()
  return page
}

/** The pages of a test file share a browser and its cookies. */
function openContext(): Promise<BrowserContext> {
  context ??= createContext()
  return context
}

async function createContext(): Promise<BrowserContext> {
  browser ??= launchChromium()
  const created = await (await browser).newContext({ viewport: { width: 1180, height: 800 } })
  created.setDefaultTimeout(10_000)
  await created.route(
    ({ protocol, hostname }) => protocol.startsWith('http') && hostname !== '127.0.0.1',
    (route) => {
      problems.push(`request to ${route.request().url()}`)
      return route.abort()
    },
  )
  created.on('weberror', (error) => problems.push(`script error: ${error.error().message}`))
  created.on('console', (message) => {
    if (/Content Security Policy|Trusted ?Type|Refused to/i.test(message.text())) problems.push(message.text())
  })
  return created
}

/** Forgets problems that the test causes on purpose. Throws if there is none. */
export function forgetProblems(pattern: RegExp): void {
  const others = problems.filter((problem) => !pattern.test(problem))
  if (others.length === problems.length) throw new Error(`There is no problem that matches ${pattern}.`)
  problems.splice(0, problems.length, ...others)
}

const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** The violations of accessibility rules that axe-core finds, one line each. Without `rules`, all rules are checked. */
export async function accessibilityProblems(page: Page, rules?: readonly string[]): Promise<string[]> {
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(axeSource)
  return await page.evaluate(async (only) => {
    interface Result {
      id: string
      nodes: { target: unknown[]; failureSummary?: string }[]
    }
    const { axe } = globalThis as unknown as {
      axe: { run(options: object): Promise<{ violations: Result[] }> }
    }
    // WCAG 2.5.3, which axe-core leaves out by default
    const rules = { 'label-content-name-mismatch': { enabled: true } }
    const { violations } = await axe.run(only ? { runOnly: only } : { rules })
    return violations.flatMap(({ id, nodes }) =>
      nodes.map((node) => `${id}: ${String(node.target)} ${node.failureSummary ?? ''}`),
    )
  }, rules)
}
