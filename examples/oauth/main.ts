// The same consent without the command line, as an application does it: ask, wait for the callback, answer, continue.
//   npx node examples/oauth/main.ts            prints the link and waits for your browser
//   npx node examples/oauth/main.ts --auto     signs in without a browser
import { once } from 'node:events'
import { createServer } from 'node:http'
import { InMemoryCredentialService, Runner, respond } from 'toolwright'
import { signIn } from './browser.ts'
import agent from './desk.ts'
import { redirectUri } from './provider.ts'

const runner = new Runner({ appName: 'oauth', agent, credentialService: new InMemoryCredentialService() })
const isAutomatic = process.argv.includes('--auto') || !process.stdout.isTTY
const message = 'List my mail.'

const { sessionId, pending } = await runner.complete({ userId: 'ada', message })
for (const request of pending) {
  const { tool, authUri = '' } = request
  console.log(`${tool} needs you to sign in at ${new URL(authUri).origin}`)
  if (!isAutomatic) console.log(`Any name and password will do. Open ${authUri}`)
  const authResponseUri = isAutomatic ? await signIn(authUri, redirectUri) : await receiveCallback()
  // The runner checks `state`, exchanges the code, stores the tokens and continues the call.
  const { text } = await runner.complete({ userId: 'ada', sessionId, message: [respond(request, { authResponseUri })] })
  console.log(text)
}
const again = await runner.complete({ userId: 'ada', message }) // another session of the same user
console.log(again.pending.length === 0 ? 'The next session needs no sign-in.' : 'The next session needs a sign-in.')
await runner.close()

/** Waits for the browser. `toolwright run` does the same, and also checks `state` and lets the user decline. */
async function receiveCallback(): Promise<string> {
  const { hostname, port, origin } = new URL(redirectUri)
  const server = createServer().listen(Number(port), hostname)
  const [request, response] = await once(server, 'request')
  response.end('You can close this window.')
  server.close()
  return new URL(request.url, origin).href
}
