import type { QuickJSContext, QuickJSHandle, QuickJSRuntime, QuickJSWASMModule } from 'quickjs-emscripten-core'
import { MAX_TIMER_MS } from '../executor-options.ts'
import { CallBudget } from '../tool-calls/call-budget.ts'
import type { VmFiles } from './vm-files.ts'
import { prelude } from './vm-prelude.ts'

/** The limits of a virtual machine. */
export interface VmOptions {
  /** Memory of the engine in bytes. */
  readonly memoryBytes: number
  /** Call stack of the engine in bytes. */
  readonly stackBytes: number
  /** Deadline of one run in milliseconds. */
  readonly timeoutMs: number
  /** Characters one run can print. A run that prints more is stopped. */
  readonly maxPrintedChars: number
}

/** Everything the code can reach outside the virtual machine. */
interface VmHost {
  /** The files of the session. */
  readonly files: VmFiles
  /** Receives what the code prints. */
  print(stream: 'out' | 'err', text: string): void
  /** Starts a tool call. Its result arrives through `QuickJsVm.settle` with the same id. */
  callTool(id: number, name: string, args: string): void
  /**
   * Called when the run exceeds a limit. The host then terminates the thread, because code can delay an interrupt for
   * seconds.
   */
  stop(reason: string): void
  /** Called regularly while code runs. */
  onInterrupt(): void
  /** Whether so little memory is left that the engine cannot even report an error. */
  isMemoryFull(): boolean
}

/** How a run of the virtual machine ended. */
export type VmOutcome = 'OK' | 'FAILED' | 'DEADLINE_EXCEEDED'

/**
 * A flag of QuickJS that its bindings do not name. It allows `await` at the top level, keeps globals for the next run, and
 * returns the value of the last expression.
 */
const ASYNC_GLOBAL = 1 << 7

/** Tool calls and timers that can be pending at one time. */
const MAX_PENDING = 1000

const MAX_ERROR_CHARS = 20_000

const OUT_OF_MEMORY = 'InternalError: out of memory'

/** One QuickJS virtual machine. Globals that one run defines stay defined in the next run. */
export class QuickJsVm {
  readonly #options: VmOptions
  readonly #host: VmHost
  readonly #runtime: QuickJSRuntime
  readonly #context: QuickJSContext
  /** The object with the functions that the prelude returned. */
  readonly #preludeFunctions: QuickJSHandle
  /** Pending tool calls and timers by id. A timer has a function that clears it. */
  readonly #pending = new Map<number, (() => void) | undefined>()
  #budget = new CallBudget()
  #lastId = 0
  #printedChars = 0
  #deadline = Number.POSITIVE_INFINITY
  #stopped: 'deadline' | 'limit' | undefined
  #ended: { readonly isSuccess: boolean } | undefined
  #finish: (outcome: VmOutcome) => void = () => {}

  constructor(engine: QuickJSWASMModule, options: VmOptions, host: VmHost) {
    this.#options = options
    this.#host = host
    this.#runtime = engine.newRuntime()
    this.#runtime.setMemoryLimit(options.memoryBytes)
    this.#runtime.setMaxStackSize(options.stackBytes)
    this.#runtime.setInterruptHandler(() => {
      host.onInterrupt()
      if (performance.now() > this.#deadline) this.#stopped ??= 'deadline'
      return this.#stopped !== undefined
    })
    this.#context = this.#runtime.newContext()
    this.#preludeFunctions = this.#installPrelude()
  }

  /** Runs code until it has ended and no tool call or timer is pending. */
  run(code: string, tools: readonly string[]): Promise<VmOutcome> {
    const { timeoutMs } = this.#options
    this.#deadline = performance.now() + timeoutMs
    this.#stopped = undefined
    this.#ended = undefined
    this.#printedChars = 0
    this.#budget = new CallBudget()
    return new Promise((resolve) => {
      const timer = setTimeout(() => this.#finish('DEADLINE_EXCEEDED'), timeoutMs)
      this.#finish = (outcome) => {
        this.#finish = () => {}
        clearTimeout(timer)
        for (const clear of this.#pending.values()) clear?.()
        this.#pending.clear()
        resolve(outcome)
      }
      this.#enter(() => {
        this.#callPrelude('startRun', this.#context.newString(JSON.stringify(tools)))
        const evaluated = this.#context.evalCode(code, 'code.js', ASYNC_GLOBAL)
        if (evaluated.error) this.#reportError(evaluated.error)
        else this.#callPrelude('followRun', evaluated.value)
      })
    })
  }

  /** Settles a tool call with its result or its error message, both as JSON. */
  settle(id: number, isSuccess: boolean, json: string): void {
    if (!this.#pending.delete(id)) return
    const context = this.#context
    const success = isSuccess ? context.true : context.false
    this.#enter(() => this.#callPrelude('settle', context.newNumber(id), success, context.newString(json)))
  }

  /** Enters the virtual machine, runs all jobs that become ready, and finishes the run if nothing is pending. */
  #enter(work: () => void): void {
    work()
    const jobs = this.#runtime.executePendingJobs()
    if (jobs.error) this.#reportError(jobs.error)
    if (this.#stopped) this.#finish(this.#stopped === 'deadline' ? 'DEADLINE_EXCEEDED' : 'FAILED')
    else if (this.#ended?.isSuccess === false) this.#finish('FAILED')
    else if (this.#pending.size === 0 && this.#ended) this.#finish('OK')
    else if (this.#pending.size === 0) {
      this.#endRun(false, 'The code awaits a promise that never settles.')
      this.#finish('FAILED')
    }
  }

  /** Calls a function of the prelude. The prelude reports the end of the code through `host.end`. */
  #callPrelude(name: string, ...args: QuickJSHandle[]): void {
    const result = this.#context
      .getProp(this.#preludeFunctions, name)
      .consume((preludeFunction) => this.#context.callFunction(preludeFunction, this.#preludeFunctions, ...args))
    for (const arg of args) arg.dispose()
    if (result.error) this.#reportError(result.error)
    else result.value.dispose()
  }

  /** Ends the run with an error that the code could not catch, such as a syntax error. */
  #reportError(error: QuickJSHandle): void {
    const describe = this.#context.getProp(this.#preludeFunctions, 'describeError')
    const described = this.#context.callFunction(describe, this.#preludeFunctions, error)
    const json = described.error ? JSON.stringify(OUT_OF_MEMORY) : this.#context.getString(described.value)
    for (const handle of [describe, error, described.error ?? described.value]) handle.dispose()
    this.#endRun(false, parseText(json))
  }

  #endRun(isSuccess: boolean, message: string): void {
    if (this.#stopped) return // the host reports why the run stopped
    const error = !isSuccess && this.#host.isMemoryFull() ? OUT_OF_MEMORY : message
    if (error !== '') this.#print('err', `${error.slice(0, MAX_ERROR_CHARS)}\n`)
    if (this.#ended?.isSuccess !== false) this.#ended = { isSuccess }
  }

  #print(stream: 'out' | 'err', text: string): void {
    const { maxPrintedChars } = this.#options
    this.#printedChars += text.length
    if (this.#printedChars > maxPrintedChars) this.#stop(`the code printed more than ${maxPrintedChars} characters`)
    else this.#host.print(stream, text)
  }

  #stop(reason: string): void {
    if (!this.#stopped) this.#host.stop(reason)
    this.#stopped ??= 'limit'
  }

  #newId(): number {
    if (this.#pending.size >= MAX_PENDING) {
      throw new Error(
        `At most ${MAX_PENDING} tool calls and timers can be pending at one time. Await some of them before you start more.`,
      )
    }
    return ++this.#lastId
  }

  #installPrelude(): QuickJSHandle {
    const context = this.#context
    const host = context.newObject()
    for (const [name, run] of Object.entries(this.#hostFunctions())) {
      context.newFunction(name, (...args) => run(...args)).consume((handle) => context.setProp(host, name, handle))
    }
    const install = context.unwrapResult(context.evalCode(prelude, 'prelude.js'))
    const preludeFunctions = context.unwrapResult(context.callFunction(install, context.undefined, host))
    install.dispose()
    host.dispose()
    return preludeFunctions
  }

  /**
   * The functions that the prelude gets as `host`. Threat: the code reaches them through the prelude and passes
   * anything. Step: every argument is read as text, number or bytes. Of an error thrown here, only the message reaches
   * the code. Test: quickjs-escape.test.ts.
   */
  #hostFunctions(): Record<string, (...args: QuickJSHandle[]) => QuickJSHandle | undefined> {
    const context = this.#context
    const { files } = this.#host
    const readText = (handle: QuickJSHandle | undefined): string => parseText(handle ? context.getString(handle) : '')
    const none = context.undefined
    return {
      print: (stream = none, json) => {
        this.#print(context.getString(stream) === 'err' ? 'err' : 'out', readText(json))
        return undefined
      },
      callTool: (name, json = none) => {
        const id = this.#newId()
        const [tool, args] = [readText(name), context.getString(json)]
        const overBudget = this.#budget.spend(tool.length + args.length)
        if (overBudget) {
          this.#stop(overBudget)
          throw new Error(overBudget)
        }
        this.#pending.set(id, undefined)
        this.#host.callTool(id, tool, args)
        return context.newNumber(id)
      },
      startTimer: (ms = none) => {
        const id = this.#newId()
        const timer = setTimeout(() => this.settle(id, true, 'null'), Math.min(context.getNumber(ms), MAX_TIMER_MS))
        this.#pending.set(id, () => clearTimeout(timer))
        return context.newNumber(id)
      },
      clearTimer: (given = none) => {
        const id = context.getNumber(given)
        const clear = this.#pending.get(id)
        if (!clear) return undefined // a tool call cannot be cleared: it is pending until it has a result
        clear()
        this.#pending.delete(id)
        return undefined
      },
      end: (isSuccess = none, json) => {
        this.#endRun(context.dump(isSuccess) === true, readText(json))
        return undefined
      },
      listFiles: () => context.newString(JSON.stringify(files.list())),
      readText: (name) => context.newString(JSON.stringify(new TextDecoder().decode(files.read(readText(name))))),
      readBytes: (name) => context.newArrayBuffer(Uint8Array.from(files.read(readText(name))).buffer),
      writeText: (name, json) => {
        files.write(readText(name), new TextEncoder().encode(readText(json)))
        return undefined
      },
      writeBytes: (name, buffer = none) => {
        files.write(
          readText(name),
          context.getArrayBuffer(buffer).consume(({ value }) => Uint8Array.from(value)),
        )
        return undefined
      },
    }
  }
}

/** Parses text that the virtual machine passed to the host as JSON. */
function parseText(json: string): string {
  const text: unknown = JSON.parse(json)
  if (typeof text !== 'string') throw new TypeError(`Expected text, got a value of type ${typeof text}.`)
  return text
}
