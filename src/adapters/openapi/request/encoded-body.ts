import type { LoadedFile } from './load-file.ts'

/** The bytes of a body with their media type. The same bytes can be sent again. */
export interface EncodedBody {
  /** The value of the header `content-type`. */
  readonly contentType: string
  /** The bytes. */
  readonly bytes: Uint8Array<ArrayBuffer>
}

/** Loads the artifact of a name. */
export type LoadFile = (name: unknown) => Promise<LoadedFile>
