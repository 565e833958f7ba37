import { CallContext } from './call-context.ts'
import type { ReadonlyContext } from './context.ts'
import type { InvocationHost } from './invocation-host.ts'
import { RunReadonlyContext } from './readonly-context.ts'

/** The run behind a context, for toolsets of the framework. Undefined for a context that the framework did not create. */
export function hostOf(context: ReadonlyContext): InvocationHost | undefined {
  return RunReadonlyContext.hostOf(context) ?? CallContext.hostOf(context)
}
