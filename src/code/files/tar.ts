// Files travel in and out of a sandbox as a tar stream: nothing of the host is opened by a path the code could choose.
// What comes out may have been written by the code itself, so it is read as any other hostile bytes.

const BLOCK = 512
const FILE = '0'
const LONG_NAME = 'L'
const MAX_NAME = 4096

export interface TarFile {
  readonly name: string
  readonly bytes: Uint8Array
}

/** An archive of regular files and of the folders named with a slash at the end. Names have at most 255 bytes. */
export function writeTar(files: readonly TarFile[]): Uint8Array {
  const blocks = files.flatMap(({ name, bytes }) => {
    const long = new TextEncoder().encode(name)
    const entry = [header(long, name.endsWith('/') ? '5' : FILE, bytes.length), padded(bytes)]
    return long.length <= 100 ? entry : [header(LINK, LONG_NAME, long.length + 1), padded(ended(long)), ...entry]
  })
  const archive = new Uint8Array(blocks.reduce((sum, { length }) => sum + length, 2 * BLOCK))
  let at = 0
  for (const block of blocks) {
    archive.set(block, at)
    at += block.length
  }
  return archive
}

const LINK = new TextEncoder().encode('././@LongLink')

function header(name: Uint8Array, type: string, size: number): Uint8Array {
  const block = new Uint8Array(BLOCK)
  const text = (at: number, value: string): void => block.set(new TextEncoder().encode(value), at)
  block.set(name.subarray(0, 100))
  text(100, type === '5' ? '0000755\0' : '0000644\0')
  text(108, '0000000\0') // owner and group: whoever unpacks it
  text(116, '0000000\0')
  text(124, `${size.toString(8).padStart(11, '0')}\0`)
  text(136, '00000000000\0')
  text(148, '        ')
  text(156, type)
  text(257, 'ustar  \0')
  const sum = block.reduce((total, byte) => total + byte, 0)
  text(148, `${sum.toString(8).padStart(6, '0')}\0 `)
  return block
}

function ended(bytes: Uint8Array): Uint8Array {
  const copy = new Uint8Array(bytes.length + 1)
  copy.set(bytes)
  return copy
}

function padded(bytes: Uint8Array): Uint8Array {
  const copy = new Uint8Array(Math.ceil(bytes.length / BLOCK) * BLOCK)
  copy.set(bytes)
  return copy
}

export interface TarSink {
  /** The most bytes the next file may have; a larger one is left. */
  readonly room: number
  add(name: string, bytes: Uint8Array): void
  leave(name: string): void
}

/**
 * Reads an archive as it arrives and holds one file at a time. Only regular files are given on: links, devices, pipes
 * and folders are passed over, and so is whatever follows a block that is none of tar's.
 */
export class TarReader {
  readonly #sink: TarSink
  #rest: Uint8Array = new Uint8Array(0)
  #longName: string | undefined
  #broken = false
  /** The entry being read: where its bytes go, or undefined when they are passed over. */
  #entry: { readonly type: string; readonly name: string; bytes: Uint8Array | undefined; at: number } | undefined
  #size = 0
  #padding = 0
  #bytes = 0

  constructor(sink: TarSink) {
    this.#sink = sink
  }

  /** How much has been read. */
  get bytes(): number {
    return this.#bytes
  }

  push(chunk: Uint8Array): void {
    this.#bytes += chunk.length
    let at = 0
    while (at < chunk.length && !this.#broken) {
      const used = this.#entry ? this.#body(chunk.subarray(at)) : this.#header(chunk.subarray(at))
      at += used
    }
  }

  #header(chunk: Uint8Array): number {
    const used = Math.min(BLOCK - this.#rest.length, chunk.length)
    const block = new Uint8Array(this.#rest.length + used)
    block.set(this.#rest)
    block.set(chunk.subarray(0, used), this.#rest.length)
    this.#rest = block
    if (block.length < BLOCK) return used
    this.#rest = new Uint8Array(0)
    if (block.some((byte) => byte !== 0)) this.#begin(block) // zeros end an archive; another may follow
    return used
  }

  #begin(block: Uint8Array): void {
    const size = octal(block.subarray(124, 136))
    if (size === undefined || !hasChecksum(block)) {
      this.#broken = true
      return
    }
    const type = String.fromCharCode(block[156] ?? 0)
    const name = this.#longName ?? text(block.subarray(0, 100))
    if (type !== LONG_NAME) this.#longName = undefined
    const isKept = type === LONG_NAME ? size <= MAX_NAME : isFile(type) && size <= this.#sink.room
    if (isFile(type) && !isKept) this.#sink.leave(plain(name))
    this.#entry = { type, name, bytes: isKept ? new Uint8Array(size) : undefined, at: 0 }
    this.#size = size
    this.#padding = Math.ceil(size / BLOCK) * BLOCK
    if (size === 0) this.#end()
  }

  #body(chunk: Uint8Array): number {
    const entry = this.#entry
    if (!entry) return 0
    const used = Math.min(this.#padding - entry.at, chunk.length)
    const data = chunk.subarray(0, Math.max(0, Math.min(used, this.#size - entry.at)))
    if (data.length > 0) entry.bytes?.set(data, entry.at)
    entry.at += used
    if (entry.at >= this.#padding) this.#end()
    return used
  }

  #end(): void {
    const { type, name, bytes } = this.#entry ?? { type: '', name: '', bytes: undefined }
    this.#entry = undefined
    if (!bytes) return
    if (type === LONG_NAME) this.#longName = text(bytes)
    else this.#sink.add(plain(name), bytes)
  }
}

const isFile = (type: string): boolean => type === FILE || type === '\0' || type === '7'

const plain = (name: string): string => name.replace(/^\.\//, '')

const text = (bytes: Uint8Array): string => {
  const end = bytes.indexOf(0)
  return new TextDecoder().decode(end < 0 ? bytes : bytes.subarray(0, end))
}

function octal(field: Uint8Array): number | undefined {
  const digits = text(field).trim()
  return /^[0-7]{1,11}$/.test(digits) ? Number.parseInt(digits, 8) : undefined
}

/** A header carries the sum of its own bytes, with its own field read as spaces. */
function hasChecksum(block: Uint8Array): boolean {
  const sum = block.reduce((total, byte, at) => total + (at >= 148 && at < 156 ? 32 : byte), 0)
  return octal(block.subarray(148, 156)) === sum
}
