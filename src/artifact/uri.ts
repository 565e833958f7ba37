import type { ArtifactKey } from './service.ts'

/** One version of one artifact: what `artifactService.loadArtifact` takes. */
export interface ArtifactReference extends ArtifactKey {
  readonly version: number
}

/** Any address of this kind, well formed or not: no model reads one. */
export const ARTIFACT_URI: RegExp = /^artifact:/i

/** The address of a version, as events hold it. Each id is encoded, so none can contain what separates them. */
export function artifactUri({ appName, userId, sessionId, filename, version }: ArtifactReference): string {
  const [app, user, session, file] = [appName, userId, sessionId, filename].map(encode)
  return `artifact://apps/${app}/users/${user}/sessions/${session}/artifacts/${file}/versions/${version}`
}

/**
 * What an `artifact://` address in an event points at; undefined when it is no such address. A server that loads it for a client
 * checks first that the app, the user and the session are the client's own.
 *
 * @example
 * const reference = parseArtifactUri(part.fileData.fileUri)
 * const file = reference && (await artifactService.loadArtifact(reference))
 */
export function parseArtifactUri(uri: string): ArtifactReference | undefined {
  const found = PATTERN.exec(uri)
  if (!found) return undefined
  try {
    const [appName = '', userId = '', sessionId = '', filename = ''] = found.slice(1, 5).map(decodeURIComponent)
    return { appName, userId, sessionId, filename, version: Number(found[5]) }
  } catch {
    return undefined // a `%` that begins nothing
  }
}

const PATTERN =
  /^artifact:\/\/apps\/([^/]+)\/users\/([^/]+)\/sessions\/([^/]+)\/artifacts\/([^/]+)\/versions\/(\d{1,9})$/

/** Half a character cannot be encoded. */
function encode(id: string): string {
  return encodeURIComponent(id.toWellFormed())
}
