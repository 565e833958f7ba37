// Files in requests are artifacts. The argument of the model is the name of the artifact.
import type { Part } from '../../../core/content/content.ts'
import { ToolError, ToolwrightError } from '../../../core/error/error.ts'
import type { ToolContext } from '../../../engine/context/context.ts'

/** A file that is sent. */
export interface LoadedFile {
  /** The name, without folders. */
  readonly filename: string
  /** The media type of the artifact. */
  readonly mimeType: string
  /** The content. */
  readonly bytes: Uint8Array<ArrayBuffer>
}

/** Loads the artifact that an argument names. Throws INVALID_ARGS if there is none. */
export async function loadFile(name: unknown, context: ToolContext): Promise<LoadedFile> {
  if (typeof name !== 'string' || name === '')
    throw invalid('A file is sent by the name of an artifact. Pass the name as a string.')
  const { artifacts } = context.invocation.services
  if (!artifacts) throw new ToolError('Files cannot be sent: the runner has no artifactService.')
  const part = await artifacts.load(name).catch((error: unknown) => {
    // a name that no artifact can have; other errors are problems of the store
    if (error instanceof ToolwrightError && error.code === 'INVALID_REQUEST') return undefined
    throw error
  })
  const content = part && contentOf(part)
  if (!content) throw invalid('There is no artifact of that name that can be sent. Pass the name of a saved artifact.')
  return { filename: name.split(/[/\\:]/).at(-1) ?? name, ...content }
}

function contentOf({ inlineData, text }: Part): Omit<LoadedFile, 'filename'> | undefined {
  if (text !== undefined) return { mimeType: 'text/plain', bytes: new TextEncoder().encode(text) }
  if (!inlineData) return undefined
  try {
    const bytes = Uint8Array.from(atob(inlineData.data), (one) => one.charCodeAt(0))
    return { mimeType: inlineData.mimeType, bytes }
  } catch {
    return undefined
  }
}

function invalid(message: string): ToolError {
  return new ToolError(message, { code: 'INVALID_ARGS' })
}
