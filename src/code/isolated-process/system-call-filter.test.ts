import { describe, expect, test } from 'vitest'
import { callFilter } from './system-call-filter.ts'

const ALLOWED = 0x7fff0000
const EPERM = 0x00050001
const ENOSYS = 0x00050026
const EAFNOSUPPORT = 0x00050061

interface Call {
  readonly number: number
  readonly args?: readonly number[]
  readonly processor?: number
}

/** What the kernel's machine makes of a filter, as far as filters of ours go. */
function answer(filter: Uint8Array, { number, args = [], processor = 0 }: Call): number {
  const code = Buffer.from(filter)
  const data = Buffer.alloc(64)
  data.writeUInt32LE(number >>> 0, 0)
  data.writeUInt32LE(processor, 4)
  for (const [at, arg] of args.entries()) data.writeUInt32LE(arg >>> 0, 16 + 8 * at)
  let value = 0
  for (let at = 0; at < code.length; at += 8) {
    const [kind, yes, no, given] = [
      code.readUInt16LE(at),
      code.readUInt8(at + 2),
      code.readUInt8(at + 3),
      code.readUInt32LE(at + 4),
    ]
    if (kind === 0x06) return given
    if (kind === 0x20) value = data.readUInt32LE(given)
    else {
      const is = kind === 0x15 ? value === given : kind === 0x35 ? value >= given : (value & given) !== 0
      at += 8 * (is ? yes : no)
    }
  }
  throw new Error('A filter must come to an end.')
}

const machines = [
  {
    name: 'x64',
    processor: 0xc000003e,
    read: 0,
    ptrace: 101,
    keyctl: 250,
    mount: 165,
    unshare: 272,
    clone: 56,
    socket: 41,
    ioctl: 16,
  },
  {
    name: 'arm64',
    processor: 0xc00000b7,
    read: 63,
    ptrace: 117,
    keyctl: 219,
    mount: 40,
    unshare: 97,
    clone: 220,
    socket: 198,
    ioctl: 29,
  },
]

describe.each(machines)(
  'on $name',
  ({ name, processor, read, ptrace, keyctl, mount, unshare, clone, socket, ioctl }) => {
    const { bytes } = callFilter(name) ?? { bytes: new Uint8Array(0) }
    const ask = (number: number, ...args: number[]) => answer(bytes, { number, args, processor })

    test('what code needs is allowed', () => {
      expect([read, 1, 60, 100, 435 + 100].map((number) => ask(number))).toEqual(new Array(5).fill(ALLOWED))
      expect(ask(clone, 0x01200011)).toBe(ALLOWED) // fork
      expect(ask(clone, 0x003d0f00)).toBe(ALLOWED) // a thread
      expect([1, 2, 10, 16].map((family) => ask(socket, family))).toEqual(new Array(4).fill(ALLOWED))
      expect(ask(ioctl, 0, 0x5401)).toBe(ALLOWED)
    })

    test('what it has no use for is not', () => {
      expect([ptrace, keyctl, mount, unshare, 425, 438].map((number) => ask(number))).toEqual(new Array(6).fill(EPERM))
      expect(ask(435)).toBe(ENOSYS)
      for (const flag of [0x00020000, 0x02000000, 0x04000000, 0x08000000, 0x10000000, 0x20000000, 0x40000000]) {
        expect(ask(clone, flag | 0x11)).toBe(EPERM)
      }
      expect([17, 38, 40, 0, 255].map((family) => ask(socket, family))).toEqual(new Array(5).fill(EAFNOSUPPORT))
      expect(ask(ioctl, 0, 0x5412)).toBe(EPERM)
    })

    test('calls in another tongue are not', () => {
      expect(answer(bytes, { number: read, processor: 0x40000003 })).toBe(EPERM)
      expect(ask(0x40000000 + read)).toBe(EPERM)
    })
  },
)

test('for a processor whose numbers are not known there is none', () => {
  expect(callFilter('riscv64')).toBeUndefined()
  expect(callFilter('constructor')).toBeUndefined()
})
