import type { Part } from '../../../src/core/content/content.ts'
import { pathOf, requestJson, requestList } from './request.ts'
import { sessionPath } from './sessions.ts'
import type { SessionKey } from './types.ts'

/** Lists the names of the artifacts of a session. */
export function listArtifacts(key: SessionKey, signal?: AbortSignal): Promise<string[]> {
  return requestList(`${sessionPath(key)}/artifacts`, signal)
}

/** Lists the versions of an artifact. */
export function listVersions(key: SessionKey, filename: string, signal?: AbortSignal): Promise<number[]> {
  return requestJson(`${sessionPath(key)}/artifacts${pathOf(filename)}/versions`, { signal })
}

/** Reads one version of an artifact. */
export function getArtifact(
  key: SessionKey,
  artifact: { filename: string; version: number },
  signal?: AbortSignal,
): Promise<Part> {
  const { filename, version } = artifact
  return requestJson(`${sessionPath(key)}/artifacts${pathOf(filename)}/versions/${version}`, { signal })
}
