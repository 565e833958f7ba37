// The curl lines of the documentation, sent by curl to a server.
import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { LlmAgent, type Model, tool } from 'toolwright'
import { createServer } from 'toolwright/server'
import { expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'

const run = promisify(execFile)
const hasCurl = await run('curl', ['--json', '{}', '--version']).then(
  () => true,
  () => false,
)

const refund = tool({
  name: 'refund',
  description: 'Refund an order',
  parameters: z.object({ order: z.string() }),
  requiresConfirmation: true,
  allowEditedArgs: true,
  run: ({ order }) => ({ refunded: order }),
})

/** Calls `refund` for every message of a user. */
const model: Model = {
  name: 'refunds',
  async *generate({ contents }) {
    const isMessage = contents.at(-1)?.parts.some(({ text }) => text !== undefined)
    const call = { functionCall: { name: 'refund', args: { order: 'A-1' } } }
    yield { content: { role: 'model', parts: [isMessage ? call : { text: 'Done.' }] } }
  },
}

test.skipIf(!hasCurl).each(['docs/guides/serve-your-agent.md', 'docs/reference/http-api.md'])(
  'the server accepts the curl lines of %s (skipped without curl 7.82 or newer)',
  async (page) => {
    const server = createServer({ apps: { shop: new LlmAgent({ name: 'clerk', model, tools: [refund] }) } })
    onTestFinished(() => server.close())
    const { url } = await server.listen({ port: 0 })
    const headers = { authorization: `Bearer ${server.token}`, 'content-type': 'application/json' }
    const post = (path: string, body: object): Promise<Response> =>
      fetch(url + path, { method: 'POST', headers, body: JSON.stringify(body) })
    const home = mkdtempSync(join(tmpdir(), 'curl-'))
    onTestFinished(() => rmSync(home, { recursive: true }))
    writeFileSync(join(home, '.curlrc'), 'fail-with-body\nsilent\nshow-error\n')

    const lines = curlLines(page)
    expect(lines.length).toBeGreaterThan(2)
    if (!lines.some((line) => line.includes('"sessionId": "s1" }\'')))
      await post('/apps/shop/users/ada/sessions', { sessionId: 's1' })
    await post('/apps/shop/users/ada/sessions', { sessionId: 'other' })
    let cursor = ''
    for (const line of lines) {
      const env = { ...process.env, CURL_HOME: home, URL: url, TOKEN: server.token, X_NEXT_CURSOR: cursor }
      const REQUEST = line.includes('$REQUEST') ? await pendingRequest(url, headers, post) : ''
      const small = line.replace('limit=50', 'limit=1') // so that there is a second page
      const { stdout } = await run('bash', ['-c', small], { env: { ...env, REQUEST } })
      cursor = /^x-next-cursor: (\S+)/im.exec(stdout)?.[1] ?? ''
      const body = stdout.slice(stdout.lastIndexOf('\r\n\r\n') + 1)
      expect(JSON.parse(body), line).toBeTruthy()
      if (line.includes('"confirmed": true }')) expect(body).toContain('{"refunded":"A-1"}')
      if (line.includes('"confirmed": true, "args"')) expect(body).toContain('"refunded":"A-2"')
      if (line.includes('"confirmed": false')) expect(body).toContain('Ask the customer first.')
    }
  },
)

/** The commands of the page that start with curl. A line that is indented continues the one before. */
function curlLines(page: string): string[] {
  const blocks = [...readFileSync(page, 'utf8').matchAll(/^```sh\n(.*?)^```/gms)].map(([, block = '']) => block)
  return blocks.flatMap((block) => block.split(/\n(?! )/)).filter((line) => line.startsWith('curl '))
}

/** The id of a request of session `s1` that is pending. */
async function pendingRequest(
  url: string,
  headers: Record<string, string>,
  post: (path: string, body: object) => Promise<Response>,
): Promise<string> {
  const list = async (): Promise<readonly { readonly id: string }[]> =>
    await (await fetch(`${url}/apps/shop/users/ada/pending?sessionId=s1`, { headers })).json()
  const [first] = await list()
  if (first) return first.id
  const newMessage = { role: 'user', parts: [{ text: 'Refund order A-1.' }] }
  await (await post('/run', { appName: 'shop', userId: 'ada', sessionId: 's1', newMessage })).text()
  return (await list())[0]?.id ?? 'none'
}
