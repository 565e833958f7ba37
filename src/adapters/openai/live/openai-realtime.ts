import type { LiveModel } from '../../../engine/model/live-model.ts'
import { connect } from './connect.ts'
import type { OpenAiRealtimeOptions } from './options.ts'
import { readSettings } from './settings.ts'

/**
 * Creates a live model of OpenAI's Realtime API, over WebSocket. A lost conversation cannot be resumed; a live session
 * sends its history to a new connection. Audio arrives faster than it plays: stop playback when the user starts speaking
 * (`activity`), not only when the reply is `interrupted`.
 *
 * @example
 * const model = openaiRealtime('gpt-realtime', { config: { audio: { output: { voice: 'marin' } } } })
 */
export function openaiRealtime(name: string, options: OpenAiRealtimeOptions = {}): LiveModel {
  const settings = readSettings(name, options)
  return {
    name,
    capabilities: { nonBlocking: false, updates: true, resumption: false, ...options.capabilities },
    connect: (connectOptions) => connect(settings, connectOptions),
  }
}
