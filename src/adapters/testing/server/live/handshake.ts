import type { IncomingMessage } from 'node:http'
import type { Handshake } from './live-connection.ts'

/** Reads the path and the headers of a handshake. */
export function readHandshake({ url = '/', headers }: IncomingMessage): Handshake {
  // the path of the Google client starts with two slashes, which the base of `new URL` would read as a host
  const { pathname, searchParams } = new URL(`http://localhost${url.startsWith('/') ? url : '/'}`)
  const given = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]))
  const keys = [
    searchParams.get('key'),
    searchParams.get('access_token'),
    given['x-goog-api-key'],
    given.authorization?.replace(/^Bearer /, ''),
  ]
  return {
    path: pathname,
    headers: given,
    isVertex: pathname.includes('google.cloud.aiplatform'),
    keys: keys.filter((key) => typeof key === 'string'),
  }
}
