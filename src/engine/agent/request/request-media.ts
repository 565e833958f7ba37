// The media of one model request. References to stored files are replaced by their bytes, newest first, up to the
// limits. A file that is not sent is described in a line of text.

import { base64ByteLength } from '../../../core/base/base64.ts'
import { clip, MAX_REQUEST_MEDIA_BYTES, MAX_REQUEST_MEDIA_FILES } from '../../../core/base/limits.ts'
import { type Content, hasMedia, type InlineData, type Part } from '../../../core/content/content.ts'
import { messageOf } from '../../../core/error/error.ts'
import { ARTIFACT_URI, artifactUri, parseArtifactUri } from '../../../services/artifact/uri.ts'
import { artifactKey } from '../../context/session-artifacts.ts'
import type { Tool } from '../../tool/tool.ts'
import { SHOWS_ARTIFACTS } from '../../tool/tool-marks.ts'
import type { RunHost } from '../loop/run-host.ts'

/**
 * Loads the media of contents. Stored files before index `from` are only described. `loader` is the tool that shows
 * them again.
 */
export async function withMedia(
  run: RunHost,
  contents: readonly Content[],
  from: number,
  loader: string | undefined,
): Promise<Content[]> {
  const request = new RequestMedia(run, loader)
  const sent = [...contents]
  for (let at = contents.length - 1; at >= 0; at--) {
    const content = contents[at] as Content
    if (!hasMedia(content.parts)) continue
    const parts = [...content.parts]
    for (let part = parts.length - 1; part >= 0; part--) {
      parts[part] = await request.show(parts[part] as Part, at < from)
    }
    sent[at] = { role: content.role, parts }
  }
  return sent
}

/** The name of the tool that shows files again. Undefined if the agent has none. */
export function findLoaderName(tools: ReadonlyMap<string, Tool>): string | undefined {
  for (const [name, tool] of tools) if (SHOWS_ARTIFACTS in tool) return name
  return undefined
}

interface Reference {
  readonly filename: string
  readonly version: number
}

class RequestMedia {
  readonly #run: RunHost
  readonly #loader: string | undefined
  #bytesLeft: number
  #filesLeft: number

  constructor(run: RunHost, loader: string | undefined) {
    const { maxBytesPerRequest, maxFilesPerRequest } = run.services.media
    this.#run = run
    this.#loader = loader
    this.#bytesLeft = maxBytesPerRequest ?? MAX_REQUEST_MEDIA_BYTES
    this.#filesLeft = maxFilesPerRequest ?? MAX_REQUEST_MEDIA_FILES
  }

  /** The part with its bytes or its description. Call it for the newest part first. */
  async show(part: Part, isEarlier: boolean): Promise<Part> {
    if (part.inlineData) return this.#fits(part.inlineData) ? part : describe(part, LEFT_OUT)
    const uri: unknown = part.fileData?.fileUri
    if (typeof uri !== 'string' || !ARTIFACT_URI.test(uri)) return part
    const reference = this.#resolve(uri)
    if (!reference) return describe(part, 'not a file of this session')
    const { filename } = reference
    if (isEarlier) return describe(part, `shown earlier${this.#hint(filename)}`, filename)
    const blob = this.#isFull ? undefined : await this.#load(reference)
    if (typeof blob === 'string') {
      this.#filesLeft-- // limits the loads for a message with thousands of deleted files
      return describe(part, blob, filename)
    }
    if (!blob || !this.#fits(blob)) return describe(part, `${LEFT_OUT}${this.#hint(filename)}`, filename)
    const { fileData, ...rest } = part
    const displayName: unknown = fileData?.displayName
    const mimeType = typeof fileData?.mimeType === 'string' ? fileData.mimeType : blob.mimeType
    return {
      ...rest,
      inlineData: { mimeType, data: blob.data, ...(typeof displayName === 'string' && { displayName }) },
    }
  }

  /** After a file that does not fit, no older file is loaded. So the files sent are always the newest ones. */
  get #isFull(): boolean {
    return this.#filesLeft <= 0 || this.#bytesLeft <= 0
  }

  #fits({ data }: InlineData): boolean {
    const bytes = typeof data === 'string' ? base64ByteLength(data) : 0
    const fits = !this.#isFull && bytes <= this.#bytesLeft
    this.#bytesLeft = fits ? this.#bytesLeft - bytes : 0
    this.#filesLeft--
    return fits
  }

  /** Resolves an artifact URI. Undefined if it is not an artifact of this session or its user. */
  #resolve(uri: string): Reference | undefined {
    const parsed = parseArtifactUri(uri)
    if (!parsed) return undefined
    const { filename, version } = parsed
    return artifactUri({ ...artifactKey(this.#run, filename), version }) === uri ? { filename, version } : undefined
  }

  /** The bytes, or the reason why there are none. A deleted file must not make the run fail. */
  async #load({ filename, version }: Reference): Promise<InlineData | string> {
    const { artifactService, services, sessionId } = this.#run
    if (!artifactService) return 'not available: there is no artifact service'
    try {
      const stored = await artifactService.loadArtifact({ ...artifactKey(this.#run, filename), version })
      return typeof stored?.inlineData?.data === 'string' ? stored.inlineData : 'no longer stored'
    } catch (error) {
      services.logger.warn(
        `Artifact "${filename}" of session "${sessionId}" could not be loaded: ${messageOf(error)}`,
        error,
      )
      return 'could not be loaded'
    }
  }

  #hint(filename: string): string {
    return this.#loader === undefined ? '' : `; call ${this.#loader} with ${JSON.stringify(filename)} to see it again`
  }
}

const LEFT_OUT = 'left out: the request has no room for it'

/** Describes a file in a line of text. A client or a tool chose its name and type, so they are clipped. */
function describe({ inlineData, fileData }: Part, why: string, filename = 'media/'): Part {
  const { mimeType, displayName = filename.startsWith('media/') ? undefined : filename } = inlineData ?? fileData ?? {}
  const name = displayName === undefined ? '' : ` ${JSON.stringify(clip(String(displayName), 100))}`
  return { text: `[File${name} (${clip(String(mimeType ?? 'unknown type'), 100)}), ${why}.]` }
}
