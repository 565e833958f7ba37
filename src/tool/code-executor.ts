import type { JsonObject } from '../base/json.ts'
import type { Tool } from './tool.ts'

/** Runs code a model wrote. */
export interface CodeExecutor {
  /** What it can run, as models name it in lower case: `javascript`, `python`. The first is the default. */
  readonly languages: readonly string[]
  /** Variables live on from one run to the next of the same `sessionKey`. Default: every run starts fresh. */
  readonly stateful?: boolean | undefined
  /** Code can call the agent's tools through `callTool`. */
  readonly callsTools?: boolean | undefined
  /** What a run may do to the world beyond its result. Default `none`: it is isolated, and may run again after a crash. */
  readonly effect?: 'none' | 'atMostOnce' | undefined
  /** Code waits for somebody's yes before it runs, as a tool would. */
  readonly requiresConfirmation?: Tool['requiresConfirmation']
  /** A line for the model on how to write code for it: how files are read and written, how tools are called. */
  readonly instruction?: string | undefined
  execute(request: CodeRequest): Promise<CodeResult>
  /** Ends what it keeps running. */
  shutdown?(): Promise<void>
}

/** One piece of code to run. */
export interface CodeRequest {
  readonly code: string
  readonly language: string
  /** In the working directory when the code starts. */
  readonly files?: readonly CodeFile[] | undefined
  /** The session it runs for, unique over apps and users; what stateful executors keep is kept under it. */
  readonly sessionKey: string
  /** Aborted when nobody waits for the result any more: the code is stopped and `execute` rejects. */
  readonly signal: AbortSignal
  /** The names `callTool` takes. */
  readonly tools?: readonly string[] | undefined
  /** Runs a tool through the dispatcher, gates included. Rejects with a `ToolError` when the tool answers with an error. */
  callTool?(name: string, args: JsonObject): Promise<JsonObject>
}

export interface CodeFile {
  /** A plain file name. */
  readonly name: string
  readonly mimeType?: string | undefined
  /** base64 */
  readonly data: string
}

/** What became of the code. A run that throws is `FAILED`; one that was cut off at its deadline is `DEADLINE_EXCEEDED`. */
export interface CodeResult {
  readonly outcome: 'OK' | 'FAILED' | 'DEADLINE_EXCEEDED'
  /** What it printed; what it wrote to its error stream follows after a line `--- stderr ---`. */
  readonly output: string
  /** Files it wrote or changed. */
  readonly files?: readonly CodeFile[] | undefined
}
