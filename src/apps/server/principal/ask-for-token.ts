// A person whose browser has no token, or that of an earlier start of the server, gets a page that asks for it instead of JSON.

const PAGE = `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark"><title>Toolwright</title><h1>Enter the token of the server</h1>
<form action="/"><label>Token <input name="token" type="password" autocomplete="off" required autofocus></label>
<button>Open</button></form>
<p>This browser has no token for the server, or that of an earlier start. The terminal of the server shows an address with the
token of this start, unless the token is the value of TOOLWRIGHT_TOKEN in its environment.`

const HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
  'www-authenticate': 'Bearer',
}

/** Does a person open this address? Programs that call the API do not accept HTML. */
export function opensPage({ method, headers }: Request): boolean {
  if (method !== 'GET') return false
  const isTab = headers.get('sec-fetch-mode') === 'navigate' && headers.get('sec-fetch-dest') === 'document'
  return isTab || headers.get('accept')?.includes('text/html') === true
}

/** A page with a field for the token, which leads to `/?token=`. */
export function askForToken(): Response {
  return new Response(PAGE, { status: 401, headers: HEADERS })
}
