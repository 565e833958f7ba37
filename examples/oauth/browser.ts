// Stands in for the user and the browser when there is no terminal: logs in, consents, and returns the callback URL.

export async function signIn(authUri: string, callback: string): Promise<string> {
  const cookies = new Map<string, string>()
  let url = authUri
  let form: URLSearchParams | undefined
  for (let steps = 0; steps < 20; steps++) {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const post = form ? { method: 'POST', body: form } : {}
    const response: Response = await fetch(url, { redirect: 'manual', headers: { cookie }, ...post })
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      cookies.set(name, value)
    }
    const page = await response.text()
    const location = response.headers.get('location')
    // without a redirect it is the login page or the consent page
    const prompt = /name="prompt" value="([^"]+)"/.exec(page)?.[1] ?? ''
    const fields: Record<string, string> = prompt === 'login' ? { prompt, login: 'ada', password: 'any' } : { prompt }
    form = location ? undefined : new URLSearchParams(fields)
    url = new URL(location ?? /action="([^"]+)"/.exec(page)?.[1] ?? '', url).href
    if (url.startsWith(callback)) return url
  }
  throw new Error('The provider did not return to the callback.')
}
