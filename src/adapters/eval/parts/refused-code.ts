import type { CodeExecutor, CodeRequest } from '../../../engine/tool/code-executor.ts'

/** An executor that runs nothing, and whose model reads why. Everything else is as given: languages, gate, instruction. */
export function refusedCode(given: CodeExecutor, reason: (request: CodeRequest) => string): CodeExecutor {
  const { languages, stateful, callsTools, effect, requiresConfirmation, instruction } = given
  return {
    languages,
    stateful,
    callsTools,
    effect,
    requiresConfirmation,
    instruction,
    execute: async (request) => ({ outcome: 'FAILED', output: reason(request) }),
  }
}
