import { ENTER_BUILT_SANDBOX, SUPERVISE_CODE } from '../process/sandbox-script.ts'

/** The limits of a container, with every default filled in. */
export interface ContainerResources {
  /** Memory in bytes, without swap. */
  readonly memoryBytes: number
  /** Processors the container may use. */
  readonly cpus: number
  /** Processes and threads. */
  readonly processes: number
  /** Bytes the code can write to files. */
  readonly diskBytes: number
  /** Files and folders the code can create. */
  readonly diskFiles: number
}

/** What to start in a container. */
interface ContainerLaunch extends ContainerResources {
  /** Name of the container, by which it is removed. */
  readonly name: string
  /** The image to run. */
  readonly image: string
  /** Deadline of the run in milliseconds. */
  readonly timeoutMs: number
  /** Environment variables of the code. */
  readonly env: Readonly<Record<string, string>>
  /** Printed to stdout before the output of the code, and again before its files. */
  readonly mark: string
  /** The file in the container to connect to stdin; undefined for none. */
  readonly stdin: string | undefined
  /** Program and arguments of the code. */
  readonly command: readonly string[]
}

/** The script of a container, which has only three streams: the files follow the output of the code on stdout. */
const SCRIPT = `exec 4>&1
${ENTER_BUILT_SANDBOX}${SUPERVISE_CODE}`

/** The container ends by itself this long after the deadline, in case the host was killed and cannot remove it. */
const EXTRA_SECONDS = 10

/**
 * The arguments for `docker` or `podman`: an unprivileged user without capabilities, no network, no mounts of the host, and
 * nothing writable but a small file system in memory. Test: docker-command.test.ts compares the arguments word for word.
 */
export function dockerCommand(launch: ContainerLaunch): string[] {
  const { memoryBytes, diskBytes, diskFiles } = launch
  const seconds = Math.ceil(launch.timeoutMs / 1000) + EXTRA_SECONDS
  return [
    ...['run', '--rm', '--interactive', '--name', launch.name, '--pull', 'never', '--log-driver', 'none'],
    ...['--network', 'none', '--read-only', '--user', '65534:65534', '--cap-drop', 'ALL'],
    ...['--security-opt', 'no-new-privileges', '--ipc', 'none', '--hostname', 'sandbox'],
    ...['--memory', String(memoryBytes), '--memory-swap', String(memoryBytes), '--cpus', String(launch.cpus)],
    ...['--pids-limit', String(launch.processes), '--ulimit', 'core=0', '--ulimit', `fsize=${diskBytes}`],
    ...['--tmpfs', `/tmp:rw,exec,nosuid,nodev,mode=1777,size=${diskBytes},nr_inodes=${diskFiles}`],
    ...Object.entries(launch.env).flatMap(([key, value]) => ['--env', `${key}=${value}`]),
    ...['--workdir', '/tmp', '--entrypoint', 'sh', launch.image, '-c', SCRIPT, 'sandbox'],
    ...[launch.mark, launch.mark, launch.stdin ?? '/dev/null'],
    ...['timeout', '-s', 'KILL', String(seconds), ...launch.command],
  ]
}
