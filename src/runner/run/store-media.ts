// Media on its way into the log: large files become artifacts, and the event keeps a reference to them.

import { takeArtifactMark } from '../../artifact/artifact-mark.ts'
import { isMediaName, toMediaName } from '../../artifact/media-name.ts'
import type { ArtifactService } from '../../artifact/service.ts'
import { ARTIFACT_URI, artifactUri, parseArtifactUri } from '../../artifact/uri.ts'
import { base64ByteLength } from '../../base/base64.ts'
import { isRecord } from '../../base/json.ts'
import { MAX_INLINE_MEDIA_BYTES } from '../../base/limits.ts'
import { type Blob, hasMedia, type Part } from '../../content/content.ts'
import { messageOf } from '../../error/error.ts'
import type { NewEntry } from '../../event/event.ts'
import type { InvocationHost } from '../../tool/invocation-host.ts'
import { artifactKey } from '../../tool/scoped-services.ts'

/** Does an entry hold files that may have to be stored? */
export function holdMedia(entries: readonly NewEntry[]): boolean {
  for (let at = 0; at < entries.length; at++) {
    const parts = (entries[at] as NewEntry).event?.content?.parts
    if (parts && hasMedia(parts)) return true
  }
  return false
}

/** Stores the media of one run. */
export class MediaStore {
  readonly #host: InvocationHost
  readonly #warn: (problem: string) => void
  /** Branches that run at the same time may bring the same file: it is saved once. */
  readonly #saving: Map<string, Promise<number>> = new Map()

  constructor(host: InvocationHost, warn: (problem: string) => void) {
    this.#host = host
    this.#warn = warn
  }

  /** The entries as they are recorded. Never rejects: media that cannot be stored stays in the event. */
  async store(entries: readonly NewEntry[]): Promise<NewEntry[]> {
    return await Promise.all(
      entries.map(async (entry) => {
        const { event } = entry
        if (!event?.content || !hasMedia(event.content.parts)) return entry
        const parts = await Promise.all(event.content.parts.map((part) => this.#recorded(part)))
        return { event: { ...event, content: { ...event.content, parts } } }
      }),
    )
  }

  async #recorded(given: Part): Promise<Part> {
    if (!given.inlineData) return given.fileData ? this.#checkReference(given) : given
    const { fileData: _, ...part } = given // a part is one file
    const { part: unmarked, filename } = takeArtifactMark(part)
    const { inlineData } = unmarked
    const service = this.#host.artifactService
    if (!service || !isRecord(inlineData) || typeof inlineData.data !== 'string') return unmarked
    try {
      // a mark that leads nowhere, or to an error of the service, is none
      const known = filename && (await this.#findVersion(service, filename, inlineData).catch(() => undefined))
      if (filename && typeof known === 'number') return this.#refer(unmarked, inlineData, filename, known)
      if (base64ByteLength(inlineData.data) <= MAX_INLINE_MEDIA_BYTES) return unmarked
      const name = await toMediaName(inlineData)
      return this.#refer(unmarked, inlineData, name, await this.#saveOnce(service, name, inlineData))
    } catch (error) {
      this.#warn(`Media of session "${this.#host.sessionId}" was recorded inline: ${messageOf(error)}`)
      return unmarked
    }
  }

  /** The latest version of the artifact, when these are its bytes. */
  async #findVersion(service: ArtifactService, filename: string, { data }: Blob): Promise<number | undefined> {
    const key = artifactKey(this.#host, filename)
    const version = (await service.listVersions(key)).at(-1)
    if (version === undefined) return undefined
    const stored = await service.loadArtifact({ ...key, version })
    return stored?.inlineData?.data === data ? version : undefined
  }

  #saveOnce(service: ArtifactService, filename: string, inlineData: Blob): Promise<number> {
    let saving = this.#saving.get(filename)
    if (!saving) {
      saving = this.#save(service, filename, inlineData).finally(() => this.#saving.delete(filename))
      this.#saving.set(filename, saving)
    }
    return saving
  }

  /**
   * What an earlier upload, or a run that died before it recorded, stored is used again. The bytes are compared: a tool may
   * have saved something else under the name.
   */
  async #save(service: ArtifactService, filename: string, inlineData: Blob): Promise<number> {
    const known = await this.#findVersion(service, filename, inlineData)
    return known ?? (await service.saveArtifact({ ...artifactKey(this.#host, filename), artifact: { inlineData } }))
  }

  #refer(part: Part, { mimeType, displayName }: Blob, filename: string, version: number): Part {
    const { inlineData: _, ...rest } = part
    const fileUri = artifactUri({ ...artifactKey(this.#host, filename), version })
    return { ...rest, fileData: { fileUri, mimeType, ...(displayName !== undefined && { displayName }) } }
  }

  /**
   * References are the framework's to write. What a client, a model or a tool sends is none, but for media that this
   * session has shown already: a client may send a recorded message again.
   */
  #checkReference(part: Part): Part {
    const uri: unknown = part.fileData?.fileUri
    if (typeof uri !== 'string' || !ARTIFACT_URI.test(uri)) return part
    const { appName, userId, sessionId } = this.#host
    const to = parseArtifactUri(uri)
    const isOwn = to?.appName === appName && to.userId === userId && to.sessionId === sessionId
    if (to && isOwn && isMediaName(to.filename)) return part
    const { fileData: _, ...rest } = part
    return { ...rest, text: REFUSED }
  }
}

const REFUSED = '[A reference to an artifact, not shown: only the framework writes such references.]'
