import { anything, type OptionRules } from '../../error/check-options.ts'
import { positive } from '../executor-options.ts'
import { hardLimits } from '../process/machine.ts'

/** What one run may use of the machine. Without cgroups the kernel counts per process, but for `processes`. */
export interface ResourceLimits {
  /** Address space of each process. Default 512 000 000. */
  readonly memoryBytes?: number | undefined
  /** Processor time of each process. Default: as long as the run may take. */
  readonly cpuSeconds?: number | undefined
  /** Processes and threads of the run together. Default 128. */
  readonly processes?: number | undefined
  /** All that is written, and the largest file. It is memory while it lasts. Default 64 000 000. */
  readonly diskBytes?: number | undefined
  /** Files and folders of the run together. Default 10 000. */
  readonly diskFiles?: number | undefined
  /** Open files of each process. Default 256. */
  readonly openFiles?: number | undefined
}

export const RESOURCE_RULES: OptionRules<ResourceLimits> = {
  memoryBytes: anything,
  cpuSeconds: anything,
  processes: anything,
  diskBytes: anything,
  diskFiles: anything,
  openFiles: anything,
}

export type Resources = { readonly [K in keyof ResourceLimits]-?: number }

export function resourcesOf(options: ResourceLimits, timeoutMs: number): Resources {
  return {
    memoryBytes: positive('memoryBytes', options.memoryBytes, 512_000_000),
    cpuSeconds: positive('cpuSeconds', options.cpuSeconds, Math.ceil(timeoutMs / 1000)),
    processes: positive('processes', options.processes, 128),
    diskBytes: positive('diskBytes', options.diskBytes, 64_000_000),
    diskFiles: positive('diskFiles', options.diskFiles, 10_000),
    openFiles: positive('openFiles', options.openFiles, 256),
  }
}

/** Arguments of `prlimit`. Nothing is raised: a machine may allow less than is asked for. */
export function limitArguments(
  resources: Resources,
  reservedBytes: number,
  hard: ReadonlyMap<string, number> = hardLimits(),
): string[] {
  const limit = (option: string, name: string, value: number, more = 0): string => {
    const most = hard.get(name) ?? Number.POSITIVE_INFINITY
    return `--${option}=${Math.min(value, most)}:${Math.min(value + more, most)}`
  }
  return [
    limit('as', 'Max address space', resources.memoryBytes + reservedBytes),
    limit('cpu', 'Max cpu time', resources.cpuSeconds, 1), // a second between the signal and the end
    limit('fsize', 'Max file size', resources.diskBytes),
    limit('nofile', 'Max open files', resources.openFiles),
    limit('core', 'Max core file size', 1), // 0 would still wake the machine's crash reporter
  ]
}
