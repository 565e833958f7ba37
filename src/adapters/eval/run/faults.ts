// Faults that tools have on purpose, as a middleware next to the body: policies such as `retry()` see them.
import { isRecord } from '../../../core/base/json.ts'
import type { Ports } from '../../../core/base/ports.ts'
import { anything, checkOptions, name, type OptionRules } from '../../../core/error/check-options.ts'
import { ToolError, ToolwrightError } from '../../../core/error/error.ts'
import { overrideTool } from '../../../engine/tool/override-tool.ts'
import type { Middleware, PolicyCall, Tool } from '../../../engine/tool/tool.ts'
import { type Expected, matches } from '../checks/matches.ts'

/** A fault that calls of a tool have. It has one or more of `error`, `latencyMs` and `result`. */
export interface Fault {
  /** The name of the tool. */
  readonly tool: string
  /** Only calls with these arguments; objects may have further members. Default: all calls. */
  readonly match?: Expected | undefined
  /** The body does not run, and the attempt fails with this message. */
  readonly error?: string | undefined
  /** The attempt takes this much longer. */
  readonly latencyMs?: number | undefined
  /** The body does not run, and this is its result. */
  readonly result?: unknown
  /** How likely an attempt has the fault, from 0 to 1. Default 1. */
  readonly probability?: number | undefined
}

const RULES: OptionRules<Fault> = {
  tool: name,
  match: anything,
  error: name,
  latencyMs: { expects: 'a number >= 0', accepts: (value) => typeof value === 'number' && value >= 0 },
  result: anything,
  probability: {
    expects: 'a number from 0 to 1',
    accepts: (value) => typeof value === 'number' && value >= 0 && value <= 1,
  },
}

/** Throws INVALID_CONFIG if a fault is not valid. `what` names the list in the error. */
export function checkFaults(what: string, faults: unknown): void {
  if (!Array.isArray(faults)) throw new ToolwrightError('INVALID_CONFIG', `inject of ${what} must be a list of faults.`)
  for (const fault of faults) {
    checkOptions(`A fault in inject of ${what}`, fault, RULES)
    if (!isRecord(fault) || ['error', 'latencyMs', 'result'].some((member) => fault[member] !== undefined)) continue
    const problem = `The fault of tool "${String(fault.tool)}" in inject of ${what} does nothing`
    throw new ToolwrightError('INVALID_CONFIG', `${problem}. Set error, latencyMs or result.`)
  }
}

/** What faults need. */
export interface FaultOptions {
  /** Which attempts have a fault. */
  readonly random: () => number
  /** The timer of `latencyMs`. */
  readonly ports: Pick<Ports, 'setTimer'>
}

/** A tool whose attempts have these faults. */
export function withFaults(tool: Tool, faults: readonly Fault[], options: FaultOptions): Tool {
  const own = faults.filter((fault) => fault.tool === tool.name)
  if (own.length === 0) return tool
  const inject: Middleware = async (call, next) => {
    for (const fault of own) {
      if (fault.match !== undefined && !matches(call.args, fault.match, { partial: true })) continue
      if (fault.probability !== undefined && options.random() >= fault.probability) continue
      if (fault.latencyMs !== undefined) await sleep(fault.latencyMs, call, options.ports)
      if (fault.error !== undefined) throw new ToolError(fault.error)
      if (fault.result !== undefined) return fault.result
    }
    return await next(call)
  }
  return overrideTool(tool, { middleware: [...(tool.middleware ?? []), inject] })
}

function sleep(ms: number, { context }: PolicyCall, { setTimer }: Pick<Ports, 'setTimer'>): Promise<void> {
  return new Promise((resolve, reject) => {
    const cancel = setTimer(resolve, ms)
    context.signal.addEventListener('abort', () => {
      cancel()
      reject(context.signal.reason)
    })
  })
}
