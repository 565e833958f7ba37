import type { Content, Part } from '../../../core/content/content.ts'
import { withMedia } from '../../agent/request/request-media.ts'
import type { RunData } from '../run/run-data.ts'

/** The media of results, by the id of the call. */
export type ResponseMedia = ReadonlyMap<string, readonly Part[]>

/** The media after each response of a content. Stored files have their bytes. */
export async function loadMedia(run: RunData, content: Content): Promise<ResponseMedia> {
  const [loaded] = await withMedia(run, [content], 0, undefined)
  const media = new Map<string, Part[]>()
  let current: Part[] = []
  for (const part of loaded?.parts ?? []) {
    if (part.functionResponse) {
      current = []
      media.set(part.functionResponse.id ?? '', current)
    } else current.push(part)
  }
  return media
}
