// A browser sends no SameSite=Strict cookie when a link of another site leads to the page, such as the way back from a consent
// page. Loaded again by itself, the page is the origin of the request, and the browser sends the cookie.

const PAGE = '<!doctype html><meta charset="utf-8"><meta http-equiv="refresh" content="0"><title>Loading</title>'

/** Does a link of another site lead here? After `loadAgain()` the same address is requested from this site. */
export function isLinkFromOutside({ method, headers }: Request): boolean {
  return (
    method === 'GET' &&
    headers.get('sec-fetch-site') === 'cross-site' &&
    headers.get('sec-fetch-mode') === 'navigate' &&
    headers.get('sec-fetch-dest') === 'document'
  )
}

/** A page that loads its own address again. */
export function loadAgain(): Response {
  return new Response(PAGE, {
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
    },
  })
}
