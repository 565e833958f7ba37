import { describe, expect, test } from 'vitest'
import { systemCallFilterFor } from './system-call-filter.ts'

const ALLOWED = 0x7fff0000
const EPERM = 0x00050001
const ENOSYS = 0x00050026
const EAFNOSUPPORT = 0x00050061

interface Call {
  readonly number: number
  readonly args?: readonly number[]
  readonly processor?: number
}

/** Runs the filter as the kernel does, with the few BPF instructions it uses. */
function runFilter(filter: Uint8Array, { number, args = [], processor = 0 }: Call): number {
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
  throw new Error('The filter ended without a decision.')
}

const processors = [
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

describe.each(processors)(
  'the system call filter on $name',
  ({ name, processor, read, ptrace, keyctl, mount, unshare, clone, socket, ioctl }) => {
    const { bytes } = systemCallFilterFor(name) ?? { bytes: new Uint8Array(0) }
    const decide = (number: number, ...args: number[]) => runFilter(bytes, { number, args, processor })

    test('allows the calls that programs need', () => {
      expect([read, 1, 60, 100, 435 + 100].map((number) => decide(number))).toEqual(new Array(5).fill(ALLOWED))
      expect(decide(clone, 0x01200011)).toBe(ALLOWED) // fork
      expect(decide(clone, 0x003d0f00)).toBe(ALLOWED) // a thread
      expect([1, 2, 10, 16].map((family) => decide(socket, family))).toEqual(new Array(4).fill(ALLOWED))
      expect(decide(ioctl, 0, 0x5401)).toBe(ALLOWED)
    })

    test('refuses tracing, keys, mounts, namespaces and rare socket families', () => {
      expect([ptrace, keyctl, mount, unshare, 425, 438].map((number) => decide(number))).toEqual(
        new Array(6).fill(EPERM),
      )
      expect(decide(435)).toBe(ENOSYS)
      for (const flag of [0x00020000, 0x02000000, 0x04000000, 0x08000000, 0x10000000, 0x20000000, 0x40000000]) {
        expect(decide(clone, flag | 0x11)).toBe(EPERM)
      }
      expect([17, 38, 40, 0, 255].map((family) => decide(socket, family))).toEqual(new Array(5).fill(EAFNOSUPPORT))
      expect(decide(ioctl, 0, 0x5412)).toBe(EPERM)
    })

    test('refuses 32-bit and x32 system calls', () => {
      expect(runFilter(bytes, { number: read, processor: 0x40000003 })).toBe(EPERM)
      expect(decide(0x40000000 + read)).toBe(EPERM)
    })
  },
)

test('there is no system call filter for an unknown processor', () => {
  expect(systemCallFilterFor('riscv64')).toBeUndefined()
  expect(systemCallFilterFor('constructor')).toBeUndefined()
})
