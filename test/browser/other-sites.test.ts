// Pages of another site and the server, in a real browser. `localhost` is another site than `127.0.0.1`.
import { createServer as createHttpServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { LlmAgent } from 'toolwright'
import { createServer } from 'toolwright/server'
import { scriptedModel } from 'toolwright/testing'
import { expect, onTestFinished, test } from 'vitest'
import { launchChromium } from './launch-chromium.ts'

test('a consent page of another site leads back to the page, and cannot call the server itself', async () => {
  const agent = new LlmAgent({ name: 'clerk', model: scriptedModel([]) })
  const server = createServer({ apps: { desk: agent }, dev: true, page: 'dist/workbench' })
  const { url } = await server.listen({ port: 0 })
  const provider = createHttpServer((request, response) => {
    if (request.url === '/consent') response.writeHead(302, { location: `${url}/?code=c1&state=s1` }).end()
    else response.setHeader('content-type', 'text/html').end('<a href="/consent">Allow</a>')
  })
  await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve))
  const browser = await launchChromium()
  onTestFinished(async () => {
    await browser.close()
    provider.close()
    await server.close()
  })
  const page = await browser.newPage()
  await page.goto(`${url}/?token=${server.token}`)
  expect(page.url()).toBe(`${url}/`)

  await page.goto(`http://localhost:${(provider.address() as AddressInfo).port}/`)
  const tried = await page.evaluate(async (target) => {
    const attempt = (init?: RequestInit): Promise<string> =>
      fetch(`${target}/list-apps`, { credentials: 'include', ...init }).then(
        (response) => response.type,
        () => 'refused',
      )
    const socket = new WebSocket(`${target.replace('http', 'ws')}/run_live?app_name=desk&user_id=user&session_id=s`)
    const opened = new Promise<string>((resolve) => {
      socket.onopen = () => resolve('opened')
      socket.onerror = () => resolve('refused')
    })
    const simplePost: RequestInit = { method: 'POST', mode: 'no-cors', body: '{}' }
    return [await attempt(), await attempt({ mode: 'no-cors' }), await attempt(simplePost), await opened]
  }, url)
  expect(tried).toEqual(['refused', 'refused', 'refused', 'refused'])

  await page.getByRole('link', { name: 'Allow' }).click()
  await page.getByRole('heading', { level: 1 }).waitFor() // the page, not a refusal
  expect(page.url()).toContain(`${url}/?code=c1&state=s1`)
})
