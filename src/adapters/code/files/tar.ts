// Files enter and leave a sandbox as a tar stream, so the host never opens a path that the code could choose.
// The code may have written the stream that comes out, so the reader treats it as hostile input.

const BLOCK = 512
const FILE_TYPE = '0'
const FOLDER_TYPE = '5'
/** GNU tar: the data of this entry is the name of the next one. */
const LONG_NAME_TYPE = 'L'
const MAX_NAME_BYTES = 4096

/** One file to put into an archive. */
export interface TarFile {
  /** Path inside the archive; a slash at the end makes it a folder. */
  readonly name: string
  /** Content of the file; empty for a folder. */
  readonly bytes: Uint8Array
}

/** Writes an archive of regular files and folders. Names have at most 255 bytes. */
export function writeTar(files: readonly TarFile[]): Uint8Array {
  const blocks = files.flatMap(({ name, bytes }) => {
    const nameBytes = new TextEncoder().encode(name)
    const entry = [
      writeHeader(nameBytes, name.endsWith('/') ? FOLDER_TYPE : FILE_TYPE, bytes.length),
      padToBlock(bytes),
    ]
    if (nameBytes.length <= 100) return entry
    const longName = appendZero(nameBytes)
    return [writeHeader(LONG_NAME_ENTRY, LONG_NAME_TYPE, longName.length), padToBlock(longName), ...entry]
  })
  const archive = new Uint8Array(blocks.reduce((sum, { length }) => sum + length, 2 * BLOCK))
  let at = 0
  for (const block of blocks) {
    archive.set(block, at)
    at += block.length
  }
  return archive
}

const LONG_NAME_ENTRY = new TextEncoder().encode('././@LongLink')

function writeHeader(name: Uint8Array, type: string, size: number): Uint8Array {
  const block = new Uint8Array(BLOCK)
  const setText = (at: number, value: string): void => block.set(new TextEncoder().encode(value), at)
  block.set(name.subarray(0, 100))
  setText(100, type === FOLDER_TYPE ? '0000755\0' : '0000644\0')
  setText(108, '0000000\0') // owner and group: set by the user that unpacks
  setText(116, '0000000\0')
  setText(124, `${size.toString(8).padStart(11, '0')}\0`)
  setText(136, '00000000000\0')
  setText(148, '        ')
  setText(156, type)
  setText(257, 'ustar  \0')
  const sum = block.reduce((total, byte) => total + byte, 0)
  setText(148, `${sum.toString(8).padStart(6, '0')}\0 `)
  return block
}

function appendZero(bytes: Uint8Array): Uint8Array {
  const copy = new Uint8Array(bytes.length + 1)
  copy.set(bytes)
  return copy
}

function padToBlock(bytes: Uint8Array): Uint8Array {
  const copy = new Uint8Array(Math.ceil(bytes.length / BLOCK) * BLOCK)
  copy.set(bytes)
  return copy
}

/** Receives the files a `TarReader` finds. */
interface TarSink {
  /** The largest size the next file may have. The reader skips a larger file. */
  readonly remainingBytes: number
  /** Called with each regular file that fits. */
  add(name: string, bytes: Uint8Array): void
  /** Called for each regular file that is too large. */
  skip(name: string): void
}

/**
 * Reads an archive chunk by chunk and holds one file in memory at a time. Passes on regular files only: it ignores links,
 * devices, pipes and folders, and everything after the first block that is not a valid tar header.
 */
export class TarReader {
  readonly #sink: TarSink
  /** The bytes of an incomplete header. */
  #partialHeader: Uint8Array = new Uint8Array(0)
  #longName: string | undefined
  #isBroken = false
  /** The entry being read. `bytes` is undefined when the entry is ignored. */
  #entry: { readonly type: string; readonly name: string; bytes: Uint8Array | undefined; at: number } | undefined
  #size = 0
  #paddedSize = 0
  #bytesRead = 0

  constructor(sink: TarSink) {
    this.#sink = sink
  }

  /** How many bytes have been pushed, ignored ones included. */
  get bytesRead(): number {
    return this.#bytesRead
  }

  /** Reads the next chunk of the archive. */
  push(chunk: Uint8Array): void {
    this.#bytesRead += chunk.length
    let at = 0
    while (at < chunk.length && !this.#isBroken) {
      const used = this.#entry ? this.#readBody(chunk.subarray(at)) : this.#readHeader(chunk.subarray(at))
      at += used
    }
  }

  #readHeader(chunk: Uint8Array): number {
    const used = Math.min(BLOCK - this.#partialHeader.length, chunk.length)
    const block = new Uint8Array(this.#partialHeader.length + used)
    block.set(this.#partialHeader)
    block.set(chunk.subarray(0, used), this.#partialHeader.length)
    this.#partialHeader = block
    if (block.length < BLOCK) return used
    this.#partialHeader = new Uint8Array(0)
    if (block.some((byte) => byte !== 0)) this.#startEntry(block) // a block of zeros ends an archive; another archive may follow
    return used
  }

  #startEntry(block: Uint8Array): void {
    const size = parseOctal(block.subarray(124, 136))
    if (size === undefined || !hasValidChecksum(block)) {
      this.#isBroken = true
      return
    }
    const type = String.fromCharCode(block[156] ?? 0)
    const name = this.#longName ?? readText(block.subarray(0, 100))
    if (type !== LONG_NAME_TYPE) this.#longName = undefined
    const isRead = type === LONG_NAME_TYPE ? size <= MAX_NAME_BYTES : isFile(type) && size <= this.#sink.remainingBytes
    if (isFile(type) && !isRead) this.#sink.skip(withoutDotSlash(name))
    this.#entry = { type, name, bytes: isRead ? new Uint8Array(size) : undefined, at: 0 }
    this.#size = size
    this.#paddedSize = Math.ceil(size / BLOCK) * BLOCK
    if (size === 0) this.#finishEntry()
  }

  #readBody(chunk: Uint8Array): number {
    const entry = this.#entry
    if (!entry) return 0
    const used = Math.min(this.#paddedSize - entry.at, chunk.length)
    const data = chunk.subarray(0, Math.max(0, Math.min(used, this.#size - entry.at)))
    if (data.length > 0) entry.bytes?.set(data, entry.at)
    entry.at += used
    if (entry.at >= this.#paddedSize) this.#finishEntry()
    return used
  }

  #finishEntry(): void {
    const { type, name, bytes } = this.#entry ?? { type: '', name: '', bytes: undefined }
    this.#entry = undefined
    if (!bytes) return
    if (type === LONG_NAME_TYPE) this.#longName = readText(bytes)
    else this.#sink.add(withoutDotSlash(name), bytes)
  }
}

/** Regular files have one of three types: ustar, pre-POSIX, contiguous. */
const isFile = (type: string): boolean => type === FILE_TYPE || type === '\0' || type === '7'

const withoutDotSlash = (name: string): string => name.replace(/^\.\//, '')

const readText = (bytes: Uint8Array): string => {
  const end = bytes.indexOf(0)
  return new TextDecoder().decode(end < 0 ? bytes : bytes.subarray(0, end))
}

function parseOctal(field: Uint8Array): number | undefined {
  const digits = readText(field).trim()
  return /^[0-7]{1,11}$/.test(digits) ? Number.parseInt(digits, 8) : undefined
}

/**
 * Is the checksum of a header valid? A header contains the sum of its bytes, computed with the checksum field filled
 * with spaces.
 */
function hasValidChecksum(block: Uint8Array): boolean {
  const sum = block.reduce((total, byte, at) => total + (at >= 148 && at < 156 ? 32 : byte), 0)
  return parseOctal(block.subarray(148, 156)) === sum
}
