import type { JsonObject } from '../../core/base/json.ts'
import type { Tool } from './tool.ts'

/** Runs code that a model wrote. */
export interface CodeExecutor {
  /** Languages it can run, in lower case: `javascript`, `python`. The first is the default. */
  readonly languages: readonly string[]
  /** Keep variables between runs with the same `sessionKey`. Default false: every run starts fresh. */
  readonly stateful?: boolean | undefined
  /** Code can call the agent's tools through `callTool`. Default false. */
  readonly callsTools?: boolean | undefined
  /** Side effects of a run. Default `none`: the code is isolated and may run again after a crash. */
  readonly effect?: 'none' | 'atMostOnce' | undefined
  /** Wait for an approval before code runs: always, or when the function returns true. Default false. */
  readonly requiresConfirmation?: Tool['requiresConfirmation']
  /** A line for the model on how to write code for this executor: how to read and write files, how to call tools. */
  readonly instruction?: string | undefined
  /** Runs one piece of code. Code that throws is a result with the outcome `FAILED`, not a rejection. */
  execute(request: CodeRequest): Promise<CodeResult>
  /** Ends the processes and threads it keeps. Called when the runner closes. */
  shutdown?(): Promise<void>
}

/** One piece of code to run. */
export interface CodeRequest {
  /** The code. */
  readonly code: string
  /** One of the executor's `languages`. */
  readonly language: string
  /** Files in the working directory when the code starts. Default: none. */
  readonly files?: readonly CodeFile[] | undefined
  /** Identifies the session, unique over apps and users. A stateful executor keeps variables per key. */
  readonly sessionKey: string
  /** Aborted when the result is no longer needed. The executor stops the code, and `execute` rejects. */
  readonly signal: AbortSignal
  /** Names of the tools that `callTool` accepts. */
  readonly tools?: readonly string[] | undefined
  /** Calls a tool through the dispatcher, with its gates. Rejects with a `ToolError` if the call fails. */
  callTool?(name: string, args: JsonObject): Promise<JsonObject>
}

/** A file that code reads or writes. */
export interface CodeFile {
  /** The file name, without a folder. */
  readonly name: string
  /** The media type, such as `image/png`. */
  readonly mimeType?: string | undefined
  /** The content as base64. */
  readonly data: string
}

/** The result of one piece of code. */
export interface CodeResult {
  /** `FAILED` if the code throws, `DEADLINE_EXCEEDED` if it was stopped at its deadline. */
  readonly outcome: 'OK' | 'FAILED' | 'DEADLINE_EXCEEDED'
  /** Standard output. Standard error follows after a line `--- stderr ---`. */
  readonly output: string
  /** Files that the code wrote or changed. Default: none. */
  readonly files?: readonly CodeFile[] | undefined
}
