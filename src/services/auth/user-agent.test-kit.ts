// For tests only: drives the login and consent pages of the authorization server of the tests.

const MAX_STEPS = 20

/** A user with a browser: follows redirects, keeps cookies and fills in the login and consent pages. */
export class UserAgent {
  readonly #cookies = new Map<string, string>()
  readonly #login: string

  constructor(login = 'ada') {
    this.#login = login
  }

  /** Opens the authorization URL, logs in and consents. Returns the callback URL with `code`, `state` and `iss`. */
  consent(authUri: string): Promise<string> {
    return this.#visit(authUri, (page) => this.#fillIn(page))
  }

  /** Opens the authorization URL and declines. Returns the callback URL with `error`. */
  decline(authUri: string): Promise<string> {
    return this.#visit(authUri, (page) => ({ url: find(page, /href="([^"]+\/abort)"/) }))
  }

  async #visit(authUri: string, answer: (page: string) => Step): Promise<string> {
    const callback = new URL(authUri).searchParams.get('redirect_uri')
    if (!callback) throw new Error('The authorization URL has no redirect_uri.')
    let step: Step = { url: authUri }
    for (let steps = 0; steps < MAX_STEPS; steps++) {
      if (step.url.startsWith(callback)) return step.url
      step = await this.#follow(step, answer)
    }
    throw new Error(`The authorization server did not redirect to the callback after ${MAX_STEPS} steps.`)
  }

  async #follow({ url, form }: Step, answer: (page: string) => Step): Promise<Step> {
    const cookie = [...this.#cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const init = form ? { method: 'POST', body: form } : {}
    const response = await fetch(url, { redirect: 'manual', headers: { cookie }, ...init })
    this.#keepCookies(response)
    const page = await response.text()
    const location = response.headers.get('location')
    if (location) return { url: new URL(location, url).href }
    if (!response.ok) throw new Error(`The authorization server answered with status ${response.status}: ${page}`)
    const next = answer(page)
    return { ...next, url: new URL(next.url, url).href }
  }

  #keepCookies(response: Response): void {
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      if (value) this.#cookies.set(name, value)
      else this.#cookies.delete(name)
    }
  }

  #fillIn(page: string): Step {
    const prompt = find(page, /name="prompt" value="([^"]+)"/)
    const fields = prompt === 'login' ? { prompt, login: this.#login, password: 'any' } : { prompt }
    return { url: find(page, /action="([^"]+)"/), form: new URLSearchParams(fields) }
  }
}

interface Step {
  readonly url: string
  readonly form?: URLSearchParams
}

function find(page: string, pattern: RegExp): string {
  const found = pattern.exec(page)?.[1]
  if (found === undefined) throw new Error(`The page of the authorization server has no ${pattern}.`)
  return found
}
