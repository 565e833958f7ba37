import { isHandle, type Part } from '../../../src/core/content/content.ts'
import type { Entry, Event, LogRecord } from '../../../src/core/event/event.ts'
import { previewJson } from '../ui/preview-json.ts'

const MOST_CHARACTERS = 160

/** An entry in one line. */
export function describeEntry({ event, record }: Entry): string {
  const text = event ? describeEvent(event) : describeRecord(record)
  return text.length > MOST_CHARACTERS ? `${text.slice(0, MOST_CHARACTERS)}…` : text
}

function describeEvent({ content, errorCode, errorMessage, actions, imported }: Event): string {
  const keys = Object.keys(actions.stateDelta ?? {})
  const files = Object.keys(actions.artifactDelta ?? {})
  return [
    ...(imported ? ['imported'] : []),
    ...(content?.parts.map(describePart) ?? []),
    ...(errorCode === undefined ? [] : [`${errorCode}: ${errorMessage ?? ''}`]),
    ...(actions.transferToAgent ? [`transfer to ${actions.transferToAgent}`] : []),
    ...(actions.escalate ? ['escalate'] : []),
    ...(actions.endOfAgent ? ['end of agent'] : []),
    ...(keys.length > 0 ? [`state: ${keys.join(', ')}`] : []),
    ...(files.length > 0 ? [`artifacts: ${files.join(', ')}`] : []),
  ].join(' · ')
}

function describePart({ text, functionCall, functionResponse, inlineData, executableCode }: Part): string {
  if (text !== undefined) return text.slice(0, MOST_CHARACTERS)
  if (functionCall) return `call ${functionCall.name}(${previewJson(functionCall.args)})`
  if (functionResponse) return `${isHandle(functionResponse) ? 'handle' : 'response'} of ${functionResponse.name}`
  if (inlineData) return inlineData.mimeType
  return executableCode ? 'code' : 'part'
}

function describeRecord(record: LogRecord): string {
  switch (record.type) {
    case 'intent':
      return `${record.calls.length} ${record.calls.length === 1 ? 'call' : 'calls'} may take effect`
    case 'request':
      return `${record.kind} requested: ${record.hint ?? record.callId}`
    case 'denial':
      return `denied: ${record.reason}`
    case 'background':
      return `${record.calls.length} ${record.calls.length === 1 ? 'call runs' : 'calls run'} in the background`
    case 'attempt':
      return `a worker runs the background body of ${record.callId}`
    case 'interruption':
      return `the background body of ${record.callId} was interrupted`
    case 'phase':
      return `phase: ${record.phase}`
  }
}
