// The media of one model request: references become bytes again, newest first, as far as the limits go. What is not
// sent is described in a line of text.

import { ARTIFACT_URI, artifactUri, parseArtifactUri } from '../../artifact/uri.ts'
import { base64ByteLength } from '../../base/base64.ts'
import { clip, MAX_REQUEST_MEDIA_BYTES, MAX_REQUEST_MEDIA_FILES } from '../../base/limits.ts'
import { type Blob, type Content, hasMedia, type Part } from '../../content/content.ts'
import { messageOf } from '../../error/error.ts'
import { SHOWS_ARTIFACTS } from '../../tool/artifact-loader.ts'
import { artifactKey } from '../../tool/invocation.ts'
import type { Tool } from '../../tool/tool.ts'
import type { RunHost } from '../loop/run-host.ts'

/** The contents as they are sent. `from`: stored files before it are described. `loader`: the tool that shows them again. */
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

/** The tool that shows files again, under the name this agent has it. */
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

  /** Called with the newest part first. */
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
      this.#filesLeft-- // a message with thousands of files that are gone would be thousands of loads
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

  /** Once a file did not fit, no older one is loaded: what is sent would depend on the sizes of what is not. */
  get #isFull(): boolean {
    return this.#filesLeft <= 0 || this.#bytesLeft <= 0
  }

  #fits({ data }: Blob): boolean {
    const bytes = typeof data === 'string' ? base64ByteLength(data) : 0
    const fits = !this.#isFull && bytes <= this.#bytesLeft
    this.#bytesLeft = fits ? this.#bytesLeft - bytes : 0
    this.#filesLeft--
    return fits
  }

  /** In the session of this run and nowhere else, whatever the address says. */
  #resolve(uri: string): Reference | undefined {
    const to = parseArtifactUri(uri)
    if (!to) return undefined
    const { filename, version } = to
    return artifactUri({ ...artifactKey(this.#run, filename), version }) === uri ? { filename, version } : undefined
  }

  /** The bytes, or why there are none: a file that is gone must not end the conversation. */
  async #load({ filename, version }: Reference): Promise<Blob | string> {
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

/** A line in place of a file. Its name and type are data that a client or a tool chose. */
function describe({ inlineData, fileData }: Part, why: string, filename = 'media/'): Part {
  const { mimeType, displayName = filename.startsWith('media/') ? undefined : filename } = inlineData ?? fileData ?? {}
  const name = displayName === undefined ? '' : ` ${JSON.stringify(clip(String(displayName), 100))}`
  return { text: `[File${name} (${clip(String(mimeType ?? 'unknown type'), 100)}), ${why}.]` }
}
