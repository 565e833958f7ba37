// A mail provider on this machine: a real OAuth server with a login page and a consent page, and an API behind it.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import Provider, { type Configuration } from 'oidc-provider'

/** Where the browser returns to after the consent. */
export const redirectUri: string = `http://127.0.0.1:${process.env.CALLBACK_PORT ?? 9876}/callback`
export const client = { clientId: 'desk', clientSecret: 'a secret of the example' }

const http = createServer()
await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
http.unref().on('connection', (socket) => socket.unref()) // the program ends without closing the server

/** The URL of the provider. */
export const origin: string = `http://127.0.0.1:${(http.address() as AddressInfo).port}`

const configuration: Configuration = {
  clients: [{ client_id: client.clientId, client_secret: client.clientSecret, redirect_uris: [redirectUri] }],
  scopes: ['openid', 'mail'],
  cookies: { keys: ['a key of the example'] },
  ttl: { AccessToken: 3600, Grant: 3600, IdToken: 3600, Interaction: 3600, Session: 3600 },
  findAccount: async (_context, accountId) => ({ accountId, claims: async () => ({ sub: accountId }) }),
}
const { info, warn } = console
Object.assign(console, { info: () => {}, warn: () => {} }) // no advice for production
const provider = new Provider(origin, configuration)
Object.assign(console, { info, warn })

const handle = provider.callback()
http.on('request', async (request, response) => {
  response.setHeader('content-security-policy', "default-src 'none'; style-src 'unsafe-inline'") // no fonts from the web
  if (request.url !== '/mail') return await handle(request, response)
  const token = await provider.AccessToken.find((request.headers.authorization ?? '').replace('Bearer ', ''))
  response.writeHead(token ? 200 : 401, { 'content-type': 'application/json' })
  response.end(JSON.stringify(token ? [{ to: token.accountId, subject: 'Lunch on Friday?' }] : { error: 'no token' }))
})
