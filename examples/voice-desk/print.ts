// The events of a live session as lines of text.
import type { LiveEvent } from 'toolwright/live'

export function linesOf(event: LiveEvent): string[] {
  switch (event.type) {
    case 'inputTranscript': // deltas come first; the whole transcript has `finished`
      return event.finished ? [`Caller: ${event.text}`] : []
    case 'outputTranscript':
      return event.finished ? [`Desk:   ${event.text}`] : []
    case 'toolCall':
      return event.calls.map(({ name, args }) => `  call ${name} ${JSON.stringify(args)}`)
    case 'toolProgress':
      return [`  ...  ${event.name}: ${event.value}`]
    case 'toolResponse':
      return event.responses.map(({ name, response }) => `  done ${name} ${JSON.stringify(response)}`)
    case 'phase':
      return [`  phase ${event.from} -> ${event.to}`]
    case 'interrupted':
    case 'reconnecting':
    case 'resumed':
      return [`  ${event.type}`]
    case 'error':
      return [`  error ${event.errorCode}: ${event.message}`]
    default:
      return [] // audio goes to the loudspeaker, which this terminal does not have
  }
}
