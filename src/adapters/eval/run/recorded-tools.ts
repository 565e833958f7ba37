// Gives calls the recorded results of calls with the same tool and arguments. The model is the real one.
import { canonicalJson, type JsonObject } from '../../../core/base/json.ts'
import { toJsonValue } from '../../../core/base/to-json-value.ts'
import { ToolError } from '../../../core/error/error.ts'
import type { CallView } from '../../../core/event/views/views.ts'
import { entryOf } from '../../../engine/dispatch/resolve.ts'
import type { CodeExecutor } from '../../../engine/tool/code-executor.ts'
import { overrideTool } from '../../../engine/tool/override-tool.ts'
import type { Middleware, Tool } from '../../../engine/tool/tool.ts'
import { EXITS_LOOP } from '../../../engine/tool/tool-marks.ts'
import { describeValue } from '../checks/matches.ts'
import { refusedCode } from '../parts/refused-code.ts'
import { openRecordedLog, type RecordedBody, type RecordedLog } from '../recording/recorded-log.ts'
import { RecordedResults } from '../recording/recorded-result.ts'
import type { Recording } from '../recording/recording.ts'

/** The recorded results of a case, for one run of it. */
export class RecordedTools {
  /** Calls that the recording does not have. */
  readonly unmatched: string[] = []
  readonly #log: RecordedLog
  /** Results by tool and arguments, as the body gets them. A tool is added when it is first called. */
  readonly #results: Map<string, RecordedBody[]> = new Map()
  readonly #known: Set<string> = new Set()

  constructor(recording: Recording) {
    this.#log = openRecordedLog(recording)
  }

  /** The tool with recorded results instead of its body, which needs no credential. Its gates and its schema are those of today. */
  tool(given: Tool): Tool {
    if (EXITS_LOOP in given) return given
    const body: Middleware = async ({ tool, args, context }) => {
      const found = await this.#find(given, args)
      if (found) return await new RecordedResults().result(found, context)
      const call = `${tool.name}(${describeValue(args)})`
      this.unmatched.push(call)
      throw new ToolError(`The recording has no result of ${call}.`)
    }
    return overrideTool(given, {
      middleware: [body],
      authConfig: undefined,
      outputSchema: undefined,
      isLongRunning: undefined,
      ...(given.cancel && { cancel: () => undefined }),
    })
  }

  /** An executor that reaches nothing outside of its sandbox runs; code without one counts as a call without a result. */
  code(given: CodeExecutor): CodeExecutor {
    if (given.effect !== 'atMostOnce') return given
    return refusedCode(given, ({ language }) => {
      this.unmatched.push(`${language} code`)
      return 'Code is not run with recorded tools.'
    })
  }

  /** The next result of these arguments; the last one again when all were given. */
  async #find(tool: Tool, args: unknown): Promise<RecordedBody | undefined> {
    if (!this.#known.has(tool.name)) await this.#add(tool)
    const results = this.#results.get(signatureOf(tool.name, args))
    return results && results.length > 1 ? results.shift() : results?.[0]
  }

  async #add(tool: Tool): Promise<void> {
    this.#known.add(tool.name)
    const { parse } = entryOf(tool)
    for (const call of this.#log.calls()) {
      const body = call.name === tool.name && hasRun(call) ? this.#log.body(call.id) : undefined
      if (!body) continue
      const parsed = await parse(structuredClone(call.changedArgs ?? call.args))
      if (parsed.issues) continue // the body got no arguments
      const signature = signatureOf(tool.name, parsed.value)
      this.#results.set(signature, [...(this.#results.get(signature) ?? []), body])
    }
  }
}

function hasRun({ response, gate, status }: CallView): boolean {
  return response !== undefined && gate === 'passed' && status !== 'denied' && status !== 'cancelled'
}

function signatureOf(name: string, args: unknown): string {
  return `${name} ${canonicalJson(toJsonValue(args).value as JsonObject)}`
}
