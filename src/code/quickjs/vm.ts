import type { QuickJSContext, QuickJSHandle, QuickJSRuntime, QuickJSWASMModule } from 'quickjs-emscripten-core'
import { CallBudget } from '../tool-calls/call-budget.ts'
import type { VmFiles } from './vm-files.ts'
import { prelude } from './vm-prelude.ts'

export interface VmOptions {
  readonly memoryBytes: number
  readonly stackBytes: number
  readonly timeoutMs: number
  /** Past it the run is stopped. */
  readonly maxPrinted: number
}

/** All that code in the machine can reach. */
export interface VmHost {
  readonly files: VmFiles
  print(stream: 'out' | 'err', text: string): void
  /** Starts a call of a tool; the answer comes through `settle` under the same number. */
  call(id: number, name: string, args: string): void
  /** The run is over its limits. The thread is ended from outside: code can keep an interrupt away for seconds. */
  stop(reason: string): void
  /** Now and then while code runs. */
  tick(): void
  /** There is no memory left, not even to say so inside. */
  isFull(): boolean
}

export type VmOutcome = 'OK' | 'FAILED' | 'DEADLINE_EXCEEDED'

/** `await` at the top, globals that stay, the value of the last expression: a flag QuickJS has and its bindings do not name. */
const ASYNC_GLOBAL = 1 << 7

/** Calls and timers at one time. */
const MAX_PENDING = 1000

const MAX_ERROR = 20_000

const OUT_OF_MEMORY = 'InternalError: out of memory'

/** One QuickJS machine. What code leaves in its globals is there for the next run. */
export class QuickJsVm {
  readonly #options: VmOptions
  readonly #host: VmHost
  readonly #runtime: QuickJSRuntime
  readonly #context: QuickJSContext
  /** The functions of the prelude. */
  readonly #inside: QuickJSHandle
  /** Calls and timers the code may still be waiting for; a timer with what clears it. */
  readonly #pending = new Map<number, (() => void) | undefined>()
  #budget = new CallBudget()
  #lastId = 0
  #printed = 0
  #deadline = Number.POSITIVE_INFINITY
  #stopped: 'deadline' | 'limit' | undefined
  #ended: { readonly isGood: boolean } | undefined
  #finish: (outcome: VmOutcome) => void = () => {}

  constructor(engine: QuickJSWASMModule, options: VmOptions, host: VmHost) {
    this.#options = options
    this.#host = host
    this.#runtime = engine.newRuntime()
    this.#runtime.setMemoryLimit(options.memoryBytes)
    this.#runtime.setMaxStackSize(options.stackBytes)
    this.#runtime.setInterruptHandler(() => {
      host.tick()
      if (performance.now() > this.#deadline) this.#stopped ??= 'deadline'
      return this.#stopped !== undefined
    })
    this.#context = this.#runtime.newContext()
    this.#inside = this.#build()
  }

  /** Runs code until nothing is left of it that could still do something. */
  run(code: string, tools: readonly string[]): Promise<VmOutcome> {
    const { timeoutMs } = this.#options
    this.#deadline = performance.now() + timeoutMs
    this.#stopped = undefined
    this.#ended = undefined
    this.#printed = 0
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
      this.#turn(() => {
        this.#call('begin', this.#context.newString(JSON.stringify(tools)))
        const evaluated = this.#context.evalCode(code, 'code.js', ASYNC_GLOBAL)
        if (evaluated.error) this.#fail(evaluated.error)
        else this.#call('follow', evaluated.value)
      })
    })
  }

  /** The answer of a tool, or what it says went wrong; both as JSON. */
  settle(id: number, isGood: boolean, json: string): void {
    if (!this.#pending.delete(id)) return
    const { true: yes, false: no } = this.#context
    this.#turn(() =>
      this.#call('settle', this.#context.newNumber(id), isGood ? yes : no, this.#context.newString(json)),
    )
  }

  /** One stretch of work inside, with all that becomes ready by it. */
  #turn(work: () => void): void {
    work()
    const jobs = this.#runtime.executePendingJobs()
    if (jobs.error) this.#fail(jobs.error)
    if (this.#stopped) this.#finish(this.#stopped === 'deadline' ? 'DEADLINE_EXCEEDED' : 'FAILED')
    else if (this.#ended?.isGood === false) this.#finish('FAILED')
    else if (this.#pending.size === 0 && this.#ended) this.#finish('OK')
    else if (this.#pending.size === 0) {
      this.#end(false, 'The code waits for something that never comes.')
      this.#finish('FAILED')
    }
  }

  /** Calls a function of the prelude, which says by itself how the code ended. */
  #call(name: string, ...args: QuickJSHandle[]): void {
    const result = this.#context
      .getProp(this.#inside, name)
      .consume((inside) => this.#context.callFunction(inside, this.#inside, ...args))
    for (const arg of args) arg.dispose()
    if (result.error) this.#fail(result.error)
    else result.value.dispose()
  }

  /** An error that came out of the machine: of syntax, or one that its own code could not catch. */
  #fail(error: QuickJSHandle): void {
    const explain = this.#context.getProp(this.#inside, 'explain')
    const explained = this.#context.callFunction(explain, this.#inside, error)
    const text = explained.error ? JSON.stringify(OUT_OF_MEMORY) : this.#context.getString(explained.value)
    for (const handle of [explain, error, explained.error ?? explained.value]) handle.dispose()
    this.#end(false, textOf(text))
  }

  #end(isGood: boolean, text: string): void {
    if (this.#stopped) return // the result says why
    const error = !isGood && this.#host.isFull() ? OUT_OF_MEMORY : text
    if (error !== '') this.#print('err', `${error.slice(0, MAX_ERROR)}\n`)
    if (this.#ended?.isGood !== false) this.#ended = { isGood }
  }

  #print(stream: 'out' | 'err', text: string): void {
    this.#printed += text.length
    if (this.#printed > this.#options.maxPrinted) this.#stop('it printed without end')
    else this.#host.print(stream, text)
  }

  #stop(reason: string): void {
    if (!this.#stopped) this.#host.stop(reason)
    this.#stopped ??= 'limit'
  }

  #newId(): number {
    if (this.#pending.size >= MAX_PENDING) throw new Error(`At most ${MAX_PENDING} tools and timers at one time.`)
    return ++this.#lastId
  }

  #build(): QuickJSHandle {
    const context = this.#context
    const host = context.newObject()
    for (const [name, run] of Object.entries(this.#functions())) {
      context.newFunction(name, (...args) => run(...args)).consume((inside) => context.setProp(host, name, inside))
    }
    const made = context.unwrapResult(context.evalCode(prelude, 'prelude.js'))
    const inside = context.unwrapResult(context.callFunction(made, context.undefined, host))
    made.dispose()
    host.dispose()
    return inside
  }

  /** What the prelude is given. An error thrown here is thrown inside, with its message and nothing else of ours. */
  #functions(): Record<string, (...args: QuickJSHandle[]) => QuickJSHandle | undefined> {
    const context = this.#context
    const { files } = this.#host
    const text = (handle: QuickJSHandle | undefined): string => textOf(handle ? context.getString(handle) : '')
    const none = context.undefined
    return {
      print: (stream = none, json) => {
        this.#print(context.getString(stream) === 'err' ? 'err' : 'out', text(json))
        return undefined
      },
      call: (name, json = none) => {
        const id = this.#newId()
        const [tool, args] = [text(name), context.getString(json)]
        const over = this.#budget.spend(tool.length + args.length)
        if (over) {
          this.#stop(over)
          throw new Error(over)
        }
        this.#pending.set(id, undefined)
        this.#host.call(id, tool, args)
        return context.newNumber(id)
      },
      timer: (ms = none) => {
        const id = this.#newId()
        const timer = setTimeout(() => this.settle(id, true, 'null'), Math.min(context.getNumber(ms), 2 ** 31 - 1))
        this.#pending.set(id, () => clearTimeout(timer))
        return context.newNumber(id)
      },
      forget: (given = none) => {
        const id = context.getNumber(given)
        const clear = this.#pending.get(id)
        if (!clear) return undefined // a call is not a timer: it counts until it is answered
        clear()
        this.#pending.delete(id)
        return undefined
      },
      end: (isGood = none, json) => {
        this.#end(context.dump(isGood) === true, text(json))
        return undefined
      },
      list: () => context.newString(JSON.stringify(files.list())),
      readText: (name) => context.newString(JSON.stringify(new TextDecoder().decode(files.read(text(name))))),
      readBytes: (name) => context.newArrayBuffer(Uint8Array.from(files.read(text(name))).buffer),
      writeText: (name, json) => {
        files.write(text(name), new TextEncoder().encode(text(json)))
        return undefined
      },
      writeBytes: (name, buffer = none) => {
        files.write(
          text(name),
          context.getArrayBuffer(buffer).consume(({ value }) => Uint8Array.from(value)),
        )
        return undefined
      },
    }
  }
}

/** Text that crossed as JSON. Code may have reached the functions of the prelude and send anything. */
function textOf(json: string): string {
  const read: unknown = JSON.parse(json)
  if (typeof read !== 'string') throw new TypeError('Text was expected.')
  return read
}
