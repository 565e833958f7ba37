import type { Rule } from '../../../core/error/check-options.ts'

/** An endpoint that may receive a secret: an https URL, or an http URL of this machine. */
export const endpoint: Rule = {
  expects: 'an https URL, or an http URL of a loopback address',
  accepts: (value) => endpointProblem(value) === undefined,
  hint: (value) => endpointProblem(value),
}

/** Can an endpoint with this URL receive a secret? */
export function isEndpoint(value: unknown): value is string {
  return endpointProblem(value) === undefined
}

/** Does the URL name this machine: 127.0.0.0/8, ::1 or localhost? */
export function isLoopback(url: URL): boolean {
  return url.hostname === 'localhost' || url.hostname === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(url.hostname)
}

/** The origin of a URL for messages: without path and query, which may contain secrets. */
export function originOf(url: string): string {
  return URL.canParse(url) ? new URL(url).origin : 'an invalid URL'
}

function endpointProblem(value: unknown): string | undefined {
  if (typeof value !== 'string') return 'Set it to the URL that the provider documents.'
  if (!URL.canParse(value))
    return 'It is not a URL. Set it to an absolute URL such as "https://auth.example.com/token".'
  const url = new URL(value)
  if (url.username !== '' || url.password !== '') return 'Remove the user name and the password from the URL.'
  if (url.hash !== '') return 'Remove the fragment, the part after "#", from the URL.'
  if (url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url))) return undefined
  return `Replace "${url.protocol}" with "https:". A secret sent there could be read on its way.`
}
