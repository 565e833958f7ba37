// Moves large media of events to artifacts before they are recorded. The event keeps a reference.

import { base64ByteLength } from '../../../core/base/base64.ts'
import { isRecord } from '../../../core/base/json.ts'
import { MAX_INLINE_MEDIA_BYTES } from '../../../core/base/limits.ts'
import { hasMedia, type InlineData, type Part } from '../../../core/content/content.ts'
import { messageOf } from '../../../core/error/error.ts'
import type { NewEntry } from '../../../core/event/event.ts'
import { takeArtifactMark } from '../../../services/artifact/artifact-mark.ts'
import { isMediaName, toMediaName } from '../../../services/artifact/media-name.ts'
import type { ArtifactService } from '../../../services/artifact/service.ts'
import { ARTIFACT_URI, artifactUri, parseArtifactUri } from '../../../services/artifact/uri.ts'
import type { InvocationHost } from '../../context/invocation-host.ts'
import { artifactKey, saveArtifact } from '../../context/session-artifacts.ts'

/** Stores the large media of one run as artifacts. */
export class MediaStore {
  readonly #host: InvocationHost
  readonly #warn: (problem: string) => void
  /** Saves under way, by filename: parallel branches may contain the same file, which is saved once. */
  readonly #saving: Map<string, Promise<number>> = new Map()

  constructor(host: InvocationHost, warn: (problem: string) => void) {
    this.#host = host
    this.#warn = warn
  }

  /** The entries with references in place of large media. Never rejects: media that cannot be stored stays in the event. */
  async store(entries: readonly NewEntry[]): Promise<NewEntry[]> {
    return await Promise.all(
      entries.map(async (entry) => {
        const { event } = entry
        if (!event?.content || !hasMedia(event.content.parts)) return entry
        const parts = await Promise.all(event.content.parts.map((part) => this.#storePart(part)))
        return { event: { ...event, content: { ...event.content, parts } } }
      }),
    )
  }

  async #storePart(original: Part): Promise<Part> {
    if (!original.inlineData) return original.fileData ? this.#checkReference(original) : original
    const { fileData: _, ...part } = original // a part holds one file
    const { part: unmarked, filename } = takeArtifactMark(part)
    const { inlineData } = unmarked
    const service = this.#host.artifactService
    if (!service || !isRecord(inlineData) || typeof inlineData.data !== 'string') return unmarked
    try {
      // a mark is ignored if its artifact is missing or cannot be loaded
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

  /** The latest version of the artifact, if it has the same bytes. */
  async #findVersion(service: ArtifactService, filename: string, { data }: InlineData): Promise<number | undefined> {
    const key = artifactKey(this.#host, filename)
    const version = (await service.listVersions(key)).at(-1)
    if (version === undefined) return undefined
    const stored = await service.loadArtifact({ ...key, version })
    return stored?.inlineData?.data === data ? version : undefined
  }

  #saveOnce(service: ArtifactService, filename: string, inlineData: InlineData): Promise<number> {
    let saving = this.#saving.get(filename)
    if (!saving) {
      saving = this.#save(service, filename, inlineData).finally(() => this.#saving.delete(filename))
      this.#saving.set(filename, saving)
    }
    return saving
  }

  /**
   * Reuses the artifact of an earlier upload, or of a run that stopped before it recorded the event. The bytes are compared,
   * because a tool may have saved another file under this name.
   */
  async #save(service: ArtifactService, filename: string, inlineData: InlineData): Promise<number> {
    const known = await this.#findVersion(service, filename, inlineData)
    return known ?? (await saveArtifact(this.#host, service, filename, { artifact: { inlineData } }))
  }

  #refer(part: Part, { mimeType, displayName }: InlineData, filename: string, version: number): Part {
    const { inlineData: _, ...rest } = part
    const fileUri = artifactUri({ ...artifactKey(this.#host, filename), version })
    return { ...rest, fileData: { fileUri, mimeType, ...(displayName !== undefined && { displayName }) } }
  }

  /**
   * Removes artifact references that a client, a model or a tool wrote: only the framework may write them. References to
   * media of this session stay, because a client may send a recorded message again.
   */
  #checkReference(part: Part): Part {
    const uri: unknown = part.fileData?.fileUri
    if (typeof uri !== 'string' || !ARTIFACT_URI.test(uri)) return part
    const { appName, userId, sessionId } = this.#host
    const target = parseArtifactUri(uri)
    const isOwn = target?.appName === appName && target.userId === userId && target.sessionId === sessionId
    if (target && isOwn && isMediaName(target.filename)) return part
    const { fileData: _, ...rest } = part
    return { ...rest, text: REMOVED_REFERENCE }
  }
}

const REMOVED_REFERENCE = '[Artifact reference removed: only the framework writes artifact references.]'
