// A person whose browser has no token, or that of an earlier start of the server, reads a page instead of JSON.

const PAGE = `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark"><title>Toolwright</title><h1>Open the address that the server printed</h1>
<p>This browser has no token for the server, or that of an earlier start. The terminal of the server shows an address with the
token of this start. With TOOLWRIGHT_TOKEN in its environment, toolwright web has the same token at each start.`

/** Does a browser open this address in a tab? */
export function opensPage({ method, headers }: Request): boolean {
  return (
    method === 'GET' && headers.get('sec-fetch-mode') === 'navigate' && headers.get('sec-fetch-dest') === 'document'
  )
}

/** A page that says where the token is. */
export function askForToken(): Response {
  return new Response(PAGE, {
    status: 401,
    headers: { 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-store', 'www-authenticate': 'Bearer' },
  })
}
