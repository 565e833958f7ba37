import { isRecord } from '../../core/base/json.ts'

/** Advice for a value that is a tool of the AI SDK. Empty for other values. */
export function aiSdkToolHint(value: unknown): string {
  const isAiSdk = isRecord(value) && ('inputSchema' in value || 'execute' in value)
  return isAiSdk ? ' To use a tool of the AI SDK, call fromAiSdkTools({ name: tool }) of "toolwright/ai-sdk".' : ''
}
