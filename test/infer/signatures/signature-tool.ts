import type { ParseResult } from '../../../src/core/schema/issues.ts'
import { tool } from '../../../src/engine/tool/define-tool.ts'
import { attachInferred } from '../../../src/engine/tool/functions/inferred-function.ts'
import type { Tool } from '../../../src/engine/tool/tool.ts'
import { CONTEXT } from './calls.ts'
import type { Signature } from './read-table.ts'

/** The tool of a signature, with a body that records what it gets. */
export interface SignatureTool {
  readonly key: string
  readonly declaration: ReturnType<Tool['declaration']>
  readonly parse: (args: unknown) => ParseResult
  /** The values that the body gets for arguments, in order. */
  readonly receivedFor: (args: unknown) => readonly unknown[]
}

/** Builds the tool of a signature. */
export function signatureTool({ key, inferred }: Signature): SignatureTool {
  let received: readonly unknown[] = []
  const body = (...args: unknown[]): void => {
    received = args
  }
  const built: Tool = tool(attachInferred(body, inferred))
  // a schema that was inferred is checked synchronously
  const parse = (args: unknown): ParseResult => built.parse?.(args) as ParseResult
  const receivedFor = (args: unknown): readonly unknown[] => {
    const parsed = parse(args)
    if (parsed.issues) throw new Error(`${key} refused ${JSON.stringify(args)}: ${JSON.stringify(parsed.issues)}`)
    // the body only records, so any object serves as the context
    built.run?.(parsed.value as never, CONTEXT as never)
    return received
  }
  return { key, declaration: built.declaration(), parse, receivedFor }
}
