// Scenarios and checks of the conformance suites that are about something serveMcp() does not serve.

/** Why scenarios do not apply, by a pattern of their names. */
export const notApplicable: readonly (readonly [scenario: RegExp, reason: string])[] = [
  [/^(resources-|sep-2164-resource)/, 'resources are not served'],
  [/^(prompts-|input-required-result-non-tool-request$)/, 'prompts are not served'],
  [/^completion-complete$/, 'completion is for prompts and resources'],
  [/^(logging-set-level|tools-call-with-logging)$/, 'log messages go to the operator, not to clients'],
  [/^(tools-call|input-required-result-basic)-sampling$/, 'tools do not use the model of a client'],
  [/^input-required-result-basic-list-roots$/, 'tools do not read the roots of a client'],
  [/^input-required-result-multiple-input-requests$/, 'it needs sampling and roots'],
  [/^input-required-result-capability-check$/, 'it needs a tool that uses sampling when a client has no elicitation'],
  [/^sep-2640-skills-/, 'skills are an extension that is not served'],
  [/^tasks-/, 'tasks are an extension that is not served'],
]

/** Why single checks of other scenarios do not apply, by `scenario/check`. */
export const notApplicableChecks: ReadonlyMap<string, string> = new Map([
  ['caching/sep-2549-prompts-list-caching-hints', 'prompts are not served'],
  ['caching/sep-2549-resources-list-caching-hints', 'resources are not served'],
  ['caching/sep-2549-resources-templates-list-caching-hints', 'resources are not served'],
  ['caching/sep-2549-resources-read-caching-hints', 'resources are not served'],
  ['server-stateless/sep-2575-server-rejects-undeclared-capability', 'it needs a tool that uses sampling'],
  ['server-stateless/sep-2575-missing-capability-http-400', 'it needs a tool that uses sampling'],
  ['server-stateless/sep-2575-server-sends-prompts-list-changed-on-subscription', 'prompts are not served'],
  ['server-stateless/sep-2575-server-sends-tools-list-changed-on-subscription', 'the server declares no listChanged'],
])

/** Checks of the older suite that ask for more than the protocol version its requests name. */
export const notApplicableOldChecks: ReadonlyMap<string, string> = new Map([
  ['server-sse-polling/server-sse-priming-event', 'its requests name 2025-03-26, which has no such event'],
  ['server-sse-polling/server-sse-retry-field', 'its requests name 2025-03-26, which has no such event'],
])
