import type { ArtifactKey } from './service.ts'

/** One version of one artifact, in the form that `artifactService.loadArtifact` accepts. */
export interface ArtifactReference extends ArtifactKey {
  /** The version, from 0. */
  readonly version: number
}

/** Matches every `artifact:` address, valid or not. A model cannot load such an address. */
export const ARTIFACT_URI: RegExp = /^artifact:/i

/** The address of an artifact version in events. Ids are encoded, because they may contain a slash. */
export function artifactUri({ appName, userId, sessionId, filename, version }: ArtifactReference): string {
  const [app, user, session, file] = [appName, userId, sessionId, filename].map(encode)
  return `artifact://apps/${app}/users/${user}/sessions/${session}/artifacts/${file}/versions/${version}`
}

/**
 * Parses an `artifact://` address of an event. Undefined for other addresses. Before a server loads the artifact for a
 * client, it must check that the app, the user and the session belong to the client.
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
    return undefined // a `%` without two hex digits
  }
}

const PATTERN =
  /^artifact:\/\/apps\/([^/]+)\/users\/([^/]+)\/sessions\/([^/]+)\/artifacts\/([^/]+)\/versions\/(\d{1,9})$/

/** Encodes an id for a URI. Lone surrogates, which cannot be encoded, are replaced first. */
function encode(id: string): string {
  return encodeURIComponent(id.toWellFormed())
}
