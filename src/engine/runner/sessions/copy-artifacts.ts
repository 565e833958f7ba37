// The artifacts of a session whose log is copied into another session. Events refer to them by address.

import { isUserFilename } from '../../../core/base/key-scope.ts'
import { type Ports, yieldToTimers } from '../../../core/base/ports.ts'
import type { Part } from '../../../core/content/content.ts'
import type { Event } from '../../../core/event/event.ts'
import type { ArtifactService } from '../../../services/artifact/service.ts'
import { artifactUri, parseArtifactUri } from '../../../services/artifact/uri.ts'
import type { SessionKey } from '../../../services/session/service.ts'

/** From where to where a log is copied. */
export interface LogCopy {
  /** The session that is copied. */
  readonly source: SessionKey
  /** The new session. */
  readonly target: SessionKey
}

/** Copies the artifacts of a session that `existed` accepts, by when they were saved. Their versions keep their numbers. */
export async function copyArtifacts(
  { source, target }: LogCopy,
  artifactService: ArtifactService,
  existed: (createTime: number) => boolean,
): Promise<void> {
  for (const filename of await artifactService.listArtifactKeys(source)) {
    if (isUserFilename(filename)) continue
    const versions = await artifactService.listArtifactVersions({ ...source, filename })
    for (const { version, createTime, customMetadata } of versions) {
      if (!existed(createTime)) continue
      const artifact = await artifactService.loadArtifact({ ...source, filename, version })
      if (artifact) await artifactService.saveArtifact({ ...target, filename, artifact, customMetadata })
    }
  }
}

/** How many names are read at a time. */
const PAGE_NAMES = 100

/** Deletes the artifacts of a session. Those of the user stay. There may be many: other work goes on meanwhile. */
export async function deleteArtifacts(
  session: SessionKey,
  artifactService: ArtifactService,
  ports: Pick<Ports, 'setTimer'>,
): Promise<void> {
  let after: string | undefined
  do {
    const { items, next } = (await artifactService.listArtifactPage?.({ ...session, limit: PAGE_NAMES, after })) ?? {
      items: await artifactService.listArtifactKeys(session),
    }
    for (const filename of items)
      if (!isUserFilename(filename)) await artifactService.deleteArtifact({ ...session, filename })
    after = next
    if (next !== undefined) await yieldToTimers(ports)
  } while (after !== undefined)
}

/** The event with references to the copied artifacts. A session reads no artifact of another session. */
export function withCopiedArtifacts(event: Event, copy: LogCopy): Event {
  const { content } = event
  if (!content?.parts.some(hasReference)) return event
  return { ...event, content: { ...content, parts: content.parts.map((part) => withCopiedArtifact(part, copy)) } }
}

function hasReference({ fileData, functionResponse }: Part): boolean {
  return fileData !== undefined || functionResponse?.parts?.some(hasReference) === true
}

function withCopiedArtifact(part: Part, copy: LogCopy): Part {
  const { fileData, functionResponse } = part
  if (functionResponse?.parts) {
    const parts = functionResponse.parts.map((one) => withCopiedArtifact(one, copy))
    return { ...part, functionResponse: { ...functionResponse, parts } }
  }
  const found = fileData && parseArtifactUri(fileData.fileUri)
  if (!fileData || found?.sessionId !== copy.source.sessionId) return part
  const { filename, version } = found
  return { ...part, fileData: { ...fileData, fileUri: artifactUri({ ...copy.target, filename, version }) } }
}
