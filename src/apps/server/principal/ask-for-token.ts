// A person whose browser has no token, or that of an earlier start of the server, gets a page that asks for it instead of JSON.
import { createHash } from 'node:crypto'
import { systemPorts } from '../../../core/base/ports.ts'

/** The colours of the workbench. The page loads nothing, so that it needs no token itself. */
const STYLE = `:root{color-scheme:light dark}
body{display:grid;place-content:center;min-height:100vh;margin:0;background:light-dark(#f6f7f9,#12151b);color:light-dark(#1a1f28,#e7eaf0);font:14px/1.5 ui-sans-serif,system-ui,sans-serif}
main{box-sizing:border-box;width:min(420px,100vw - 32px);padding:24px;border:1px solid light-dark(#dfe3e9,#2d3441);border-radius:8px;background:light-dark(#fff,#191d25)}
h1{margin:0 0 8px;font-size:17px;font-weight:600}
p{margin:0 0 16px;color:light-dark(#56606f,#a3adbb);overflow-wrap:anywhere}
.wrong{color:light-dark(#a8201a,#ff9d92)}
form{display:flex;flex-wrap:wrap;gap:8px;align-items:end}
label{flex:1;font-weight:500}
input,button{box-sizing:border-box;min-height:34px;padding:5px 8px;border:1px solid light-dark(#858f9e,#6b7687);border-radius:5px;background:none;color:inherit;font:inherit}
input{display:block;width:100%}
button{padding:5px 16px;border-color:light-dark(#1f5ccb,#86b0ff);background:light-dark(#1f5ccb,#86b0ff);color:light-dark(#fff,#0c1524);cursor:pointer}
:focus-visible{outline:2px solid light-dark(#1f5ccb,#86b0ff);outline-offset:1px}`

const HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'no-store',
  'content-security-policy': `default-src 'none'; style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'`,
  'referrer-policy': 'same-origin', // with `no-referrer`, the browser would send the form without its origin
  'www-authenticate': 'Bearer',
}

/** A form has few bytes. */
const MAX_BYTES = 2_000

/** How long a form may take to arrive, in milliseconds. */
const FORM_MS = 5_000

/** Does a person open this address? Programs that call the API do not accept HTML. */
export function opensPage(request: Request): boolean {
  const { method, headers } = request
  if (isForm(request)) return true
  if (method !== 'GET') return false
  const isTab = headers.get('sec-fetch-mode') === 'navigate' && headers.get('sec-fetch-dest') === 'document'
  return isTab || headers.get('accept')?.includes('text/html') === true
}

/** A page with a field for the token, which is sent in the body of a request: no address, history or log has it. */
export function askForToken(request: Request): Response {
  const { pathname, searchParams } = new URL(request.url)
  const isWrong = isForm(request) || searchParams.has('token')
  // without an action, the part of the address that names a session stays
  const action = pathname === '/' && !searchParams.has('token') ? '' : ' action="/"'
  return new Response(pageWith({ action, isWrong }), { status: 401, headers: HEADERS })
}

/** The token that a person has entered; empty if it does not arrive, and undefined if the request is no such form. */
export async function tokenInForm(request: Request): Promise<string | undefined> {
  if (!isForm(request)) return undefined
  const { promise: late, resolve } = Promise.withResolvers<string>()
  const cancel = systemPorts.setTimer(() => resolve(''), FORM_MS)
  const text = request.text().catch(() => '') // the client has left
  const form = await Promise.race([text, late])
  cancel()
  return new URLSearchParams(form).get('token')?.trim() ?? ''
}

function isForm({ method, url, headers }: Request): boolean {
  const isSmall = Number(headers.get('content-length') ?? Number.NaN) <= MAX_BYTES
  const isEncoded = headers.get('content-type')?.startsWith('application/x-www-form-urlencoded') === true
  return method === 'POST' && new URL(url).pathname === '/' && isEncoded && isSmall
}

function pageWith({ action, isWrong }: { readonly action: string; readonly isWrong: boolean }): string {
  return `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Toolwright: enter the token</title><style>${STYLE}</style><main><h1>Enter the token of the server</h1>
${isWrong ? '<p class="wrong" role="alert">This is not the token of the server.</p>' : ''}
<p>The terminal of the server shows an address with the token of this start, unless the token is the value of TOOLWRIGHT_TOKEN in
its environment.</p>
<form method="post"${action}><label>Token <input name="token" type="password" autocomplete="off" required autofocus></label>
<button>Open</button></form></main></html>`
}
