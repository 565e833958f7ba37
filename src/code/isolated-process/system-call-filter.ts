// A filter for system calls: what code has no use for, and what reaches past its namespaces. A program for the kernel's
// own small machine (BPF), eight bytes an instruction.

interface Numbers {
  /** The kernel's word for the processor. */
  readonly processor: number
  readonly refused: readonly number[]
  readonly clone: number
  readonly clone3: number
  readonly socket: number
  readonly ioctl: number
  readonly prctl: number
}

/** The same on both: io_uring, mounting the new way, taking descriptors of other processes. */
const NEWER = [425, 426, 427, 428, 429, 430, 431, 432, 433, 438, 442]

/**
 * Refused, in this order: tracing and reading other processes; mounting and namespaces; keys; modules, other kernels and
 * programs for the kernel; files by handle; the log, accounting, swap and the power switch; faults as a service; memory
 * and messages that no limit on processes or files counts (memfd_create, shmget, msgget).
 */
const numbers: ReadonlyMap<string, Numbers> = new Map([
  [
    'x64',
    {
      processor: 0xc000003e,
      refused: [
        ...[101, 310, 311, 312, 165, 166, 155, 272, 308, 248, 249, 250, 175, 313, 176, 246, 320, 321, 298],
        ...[303, 304, 103, 163, 167, 168, 169, 323, 319, 29, 68, ...NEWER],
      ],
      clone: 56,
      clone3: 435,
      socket: 41,
      ioctl: 16,
      prctl: 157,
    },
  ],
  [
    'arm64',
    {
      processor: 0xc00000b7,
      refused: [
        ...[117, 270, 271, 272, 40, 39, 41, 97, 268, 217, 218, 219, 105, 273, 106, 104, 294, 280, 241],
        ...[264, 265, 116, 89, 224, 225, 142, 282, 279, 194, 186, ...NEWER],
      ],
      clone: 220,
      clone3: 435,
      socket: 198,
      ioctl: 29,
      prctl: 167,
    },
  ],
])

const NEW_NAMESPACES = 0x7e020000
const SOCKETS = [1, 2, 10, 16] // files, IPv4, IPv6, and what the C library asks the kernel about interfaces with
const TYPE_INTO_TERMINAL = [0x5412, 0x541c]
const EPERM = 1
const ENOSYS = 38
const EAFNOSUPPORT = 97

/** The filter for a kind of processor, and the number `prctl` has there; undefined where we do not know the numbers. */
export function callFilter(processor: string): { readonly bytes: Uint8Array; readonly prctl: number } | undefined {
  const known = numbers.get(processor)
  return known && { bytes: Buffer.concat(program(known)), prctl: known.prctl }
}

function program({ processor, refused, clone, clone3, socket, ioctl }: Numbers): Uint8Array[] {
  return [
    load(PROCESSOR),
    ifEqual(processor, [], [fail(EPERM)]),
    load(NUMBER),
    ifAtLeast(0x40000000, [fail(EPERM)]), // the same calls under other numbers
    ...refused.map((number) => ifEqual(number, [fail(EPERM)])),
    ifEqual(clone3, [fail(ENOSYS)]), // its arguments cannot be looked at: who calls it goes back to clone
    ifEqual(clone, [load(argument(0)), ifAny(NEW_NAMESPACES, [fail(EPERM)]), allow()]),
    ifEqual(socket, [load(argument(0)), ...SOCKETS.map((kind) => ifEqual(kind, [allow()])), fail(EAFNOSUPPORT)]),
    ifEqual(ioctl, [load(argument(1)), ...TYPE_INTO_TERMINAL.map((what) => ifEqual(what, [fail(EPERM)])), allow()]),
    allow(),
  ].flat()
}

/** Where the kernel puts what is asked about: the call, the processor, and the lower halves of the arguments. */
const NUMBER = 0
const PROCESSOR = 4
const argument = (at: number): number => 16 + 8 * at

const load = (offset: number): Uint8Array[] => [instruction(0x20, offset)]
const allow = (): Uint8Array[] => [instruction(0x06, 0x7fff0000)]
const fail = (error: number): Uint8Array[] => [instruction(0x06, 0x00050000 | error)]

type Block = readonly Uint8Array[][]

function ifEqual(value: number, body: Block, otherwise: Block = []): Uint8Array[] {
  return branch(0x15, value, body, otherwise)
}

const ifAtLeast = (value: number, body: Block): Uint8Array[] => branch(0x35, value, body, [])
const ifAny = (bits: number, body: Block): Uint8Array[] => branch(0x45, bits, body, [])

/** Either block, then on with what follows. Only one of the two is ever given, so that nothing has to jump over it. */
function branch(code: number, value: number, body: Block, otherwise: Block): Uint8Array[] {
  const [taken, other] = [body.flat(), otherwise.flat()]
  const jump = instruction(code, value, other.length, taken.length)
  return [jump, ...other, ...taken]
}

function instruction(code: number, value: number, whenTrue = 0, whenFalse = 0): Uint8Array {
  const bytes = Buffer.alloc(8)
  bytes.writeUInt16LE(code, 0)
  bytes.writeUInt8(whenTrue, 2)
  bytes.writeUInt8(whenFalse, 3)
  bytes.writeUInt32LE(value >>> 0, 4)
  return bytes
}
