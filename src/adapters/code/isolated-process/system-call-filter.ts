// The seccomp filter: refuses system calls that code does not need or that reach past its namespaces. The filter is a
// classic BPF program for the kernel, eight bytes for each instruction. Test: system-call-filter.test.ts runs the program
// in an interpreter; isolated-process-escape.test.ts makes the calls.

/** A filter in the form the kernel reads. */
export interface SystemCallFilter {
  /** The BPF program. */
  readonly bytes: Uint8Array
  /** The number of the system call `prctl`, which installs the filter. */
  readonly prctl: number
}

/** A system call and its number on each processor. The name is for readers: the kernel knows only the numbers. */
interface SystemCallNumber {
  readonly name: string
  readonly x64: number
  readonly arm64: number
}

const call = (name: string, x64: number, arm64: number = x64): SystemCallNumber => ({ name, x64, arm64 })

const REFUSED: readonly SystemCallNumber[] = [
  // trace or read another process
  ...[call('ptrace', 101, 117), call('process_vm_readv', 310, 270), call('process_vm_writev', 311, 271)],
  call('kcmp', 312, 272),
  // change mounts or enter namespaces
  ...[call('mount', 165, 40), call('umount2', 166, 39), call('pivot_root', 155, 41)],
  ...[call('unshare', 272, 97), call('setns', 308, 268)],
  // read keys of the kernel's key ring
  ...[call('add_key', 248, 217), call('request_key', 249, 218), call('keyctl', 250, 219)],
  // load code into the kernel
  ...[call('init_module', 175, 105), call('finit_module', 313, 273), call('delete_module', 176, 106)],
  ...[call('kexec_load', 246, 104), call('kexec_file_load', 320, 294), call('bpf', 321, 280)],
  call('perf_event_open', 298, 241),
  // open a file by its handle, past the mounts of the sandbox
  ...[call('name_to_handle_at', 303, 264), call('open_by_handle_at', 304, 265)],
  // administer the machine
  ...[call('syslog', 103, 116), call('acct', 163, 89), call('swapon', 167, 224), call('swapoff', 168, 225)],
  call('reboot', 169, 142),
  // often used to exploit kernel bugs
  call('userfaultfd', 323, 282),
  // hold memory that no limit on processes or files counts
  ...[call('memfd_create', 319, 279), call('shmget', 29, 194), call('msgget', 68, 186)],
  // newer calls, with one number on every processor: io_uring makes calls the filter does not see
  ...[call('io_uring_setup', 425), call('io_uring_enter', 426), call('io_uring_register', 427)],
  ...[call('open_tree', 428), call('move_mount', 429), call('fsopen', 430), call('fsconfig', 431)],
  ...[call('fsmount', 432), call('fspick', 433), call('pidfd_getfd', 438), call('mount_setattr', 442)],
]

/** The kernel's constant for each processor (AUDIT_ARCH). */
const PROCESSORS = { x64: 0xc000003e, arm64: 0xc00000b7 } as const

const CLONE = call('clone', 56, 220)
const CLONE3 = call('clone3', 435)
const SOCKET = call('socket', 41, 198)
const IOCTL = call('ioctl', 16, 29)
const PRCTL = call('prctl', 157, 167)

const NAMESPACE_FLAGS = 0x7e020000
const ALLOWED_SOCKET_FAMILIES = [1, 2, 10, 16] // Unix, IPv4, IPv6, and netlink, which the C library needs
const TERMINAL_INJECTIONS = [0x5412, 0x541c] // TIOCSTI and TIOCLINUX type into the terminal of the host
const X32_BIT = 0x40000000
const EPERM = 1
const ENOSYS = 38
const EAFNOSUPPORT = 97

/** The filter for a processor (`process.arch`); undefined when its system call numbers are not known. */
export function systemCallFilterFor(processor: string): SystemCallFilter | undefined {
  if (processor !== 'x64' && processor !== 'arm64') return undefined
  return { bytes: Buffer.concat(buildProgram(processor)), prctl: PRCTL[processor] }
}

function buildProgram(processor: keyof typeof PROCESSORS): Uint8Array[] {
  return [
    load(PROCESSOR_OFFSET),
    ifEqual(PROCESSORS[processor], [], [fail(EPERM)]), // 32-bit calls have other numbers
    load(NUMBER_OFFSET),
    ifAtLeast(X32_BIT, [fail(EPERM)]), // x32 calls have other numbers, too
    ...REFUSED.map((refused) => ifEqual(refused[processor], [fail(EPERM)])),
    // The filter cannot read the flags of clone3, which are in memory. On ENOSYS the C library falls back to clone.
    ifEqual(CLONE3[processor], [fail(ENOSYS)]),
    ifEqual(CLONE[processor], [load(argumentOffset(0)), ifAny(NAMESPACE_FLAGS, [fail(EPERM)]), allow()]),
    ifEqual(SOCKET[processor], [
      load(argumentOffset(0)),
      ...ALLOWED_SOCKET_FAMILIES.map((family) => ifEqual(family, [allow()])),
      fail(EAFNOSUPPORT),
    ]),
    ifEqual(IOCTL[processor], [
      load(argumentOffset(1)),
      ...TERMINAL_INJECTIONS.map((request) => ifEqual(request, [fail(EPERM)])),
      allow(),
    ]),
    allow(),
  ].flat()
}

/** Offsets in the kernel's `seccomp_data`: the system call, the processor, and the lower half of each argument. */
const NUMBER_OFFSET = 0
const PROCESSOR_OFFSET = 4
const argumentOffset = (at: number): number => 16 + 8 * at

const load = (offset: number): Uint8Array[] => [instruction(0x20, offset)]
const allow = (): Uint8Array[] => [instruction(0x06, 0x7fff0000)]
const fail = (error: number): Uint8Array[] => [instruction(0x06, 0x00050000 | error)]

type Block = readonly Uint8Array[][]

function ifEqual(value: number, body: Block, otherwise: Block = []): Uint8Array[] {
  return branch(0x15, value, body, otherwise)
}

const ifAtLeast = (value: number, body: Block): Uint8Array[] => branch(0x35, value, body, [])
const ifAny = (bits: number, body: Block): Uint8Array[] => branch(0x45, bits, body, [])

/**
 * A conditional jump into `body` or `otherwise`. Callers pass only one of the two blocks, so no jump over the other
 * block is needed.
 */
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
