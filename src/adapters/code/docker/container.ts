import { ToolwrightError } from '../../../core/error/error.ts'
import { type ProcessOptions, type RunningProcess, startProcess } from '../process/child-process.ts'
import { findProgram, hostEnvironment } from '../process/machine.ts'
import { runProgram } from '../process/run-program.ts'

/** A container that is stopped by its name: killing the program that started it would leave the container running. */
export class Container {
  /** The name of the container, unique for each run. */
  readonly name: string
  readonly #program: string
  #removal: Promise<unknown> | undefined

  constructor(engine: string, name: string) {
    const program = findProgram(engine)
    if (program === undefined) {
      throw new ToolwrightError(
        'INVALID_CONFIG',
        `Program "${engine}" was not found. Install Docker, set the option program, or use isolatedProcess().`,
      )
    }
    this.#program = program
    this.name = name
  }

  /** Starts the container. Its `stop` also removes the container, and its `ended` waits for that. */
  async start(
    args: readonly string[],
    input: Uint8Array,
    outputHandlers: ProcessOptions['outputHandlers'],
  ): Promise<RunningProcess> {
    const running = await startProcess({
      command: [this.#program, ...args],
      env: hostEnvironment(),
      input,
      outputHandlers,
      mayLeaveProcesses: true,
    })
    return {
      ...running,
      stop: () => {
        running.stop()
        this.#removal ??= runProgram([this.#program, 'rm', '--force', this.name], hostEnvironment()).catch(() => {})
      },
      ended: running.ended.then(async (exit) => {
        await this.#removal
        return exit
      }),
    }
  }
}
