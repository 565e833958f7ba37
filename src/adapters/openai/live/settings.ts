// Checks the options when the model is created, so that a missing key is reported before the first connection.
import { isRecord } from '../../../core/base/json.ts'
import { kindOf } from '../../../core/base/kind-of.ts'
import { type Ports, withSystemPorts } from '../../../core/base/ports.ts'
import { callback, checkOptions, type OptionRules, record, text } from '../../../core/error/check-options.ts'
import { ToolwrightError } from '../../../core/error/error.ts'
import { PORT_RULES } from '../../../core/error/port-rules.ts'
import type { OpenAiRealtimeConfig, OpenAiRealtimeOptions, WebSocketConstructor } from './options.ts'

/** The checked options of `openaiRealtime()`. */
export interface Settings {
  /** Name of the model. */
  readonly name: string
  /** URL of the WebSocket, with the model. */
  readonly url: string
  /** Headers of the handshake, with the key. */
  readonly headers: { readonly [name: string]: string }
  /** Time limit of a connection attempt in milliseconds. */
  readonly connectTimeoutMs: number
  /** Settings of the session. */
  readonly config: OpenAiRealtimeConfig
  /** The WebSocket class. */
  readonly webSocket: WebSocketConstructor
  /** Asks for the status of a refused handshake. */
  readonly fetch: typeof fetch | undefined
  /** Clock, timer and ids. */
  readonly ports: Ports
}

const RULES: OptionRules<OpenAiRealtimeOptions> = {
  apiKey: text,
  baseUrl: text,
  headers: record,
  connectTimeoutMs: {
    expects: 'a positive number of milliseconds',
    accepts: (value) => typeof value === 'number' && value > 0,
  },
  config: record,
  webSocket: callback,
  fetch: callback,
  capabilities: record,
  ports: record,
}
const DEFAULT_URL = 'wss://api.openai.com/v1/realtime'

/** Where the API expects settings that its beta version, or another SDK, expects elsewhere. */
const MOVED: ReadonlyMap<string, string> = new Map([
  ['voice', 'audio.output.voice'],
  ['speed', 'audio.output.speed'],
  ['modalities', 'output_modalities'],
  ['outputModalities', 'output_modalities'],
  ['turn_detection', 'audio.input.turn_detection'],
  ['turnDetection', 'audio.input.turn_detection'],
  ['input_audio_format', 'audio.input.format'],
  ['output_audio_format', 'audio.output.format'],
  ['input_audio_transcription', 'audio.input.transcription'],
  ['input_audio_noise_reduction', 'audio.input.noise_reduction'],
  ['max_response_output_tokens', 'max_output_tokens'],
])

/** Checks the options and completes them from environment variables. Throws INVALID_CONFIG. */
export function readSettings(name: string, options: OpenAiRealtimeOptions): Settings {
  if (typeof name !== 'string' || name.trim() === '')
    throw invalidConfig(
      `openaiRealtime() takes the name of a model as its first argument, got ${kindOf(name)}. Pass for example 'gpt-realtime'.`,
    )
  checkOptions('openaiRealtime()', options, RULES)
  checkOptions('openaiRealtime(), ports', options.ports ?? {}, PORT_RULES)
  checkConfig(options.config ?? {})
  return {
    name,
    url: urlOf(name, options.baseUrl ?? DEFAULT_URL),
    headers: headersOf(name, options),
    connectTimeoutMs: options.connectTimeoutMs ?? 15_000,
    config: options.config ?? {},
    webSocket: options.webSocket ?? globalWebSocket(),
    fetch: options.fetch ?? (options.webSocket ? undefined : globalThis.fetch),
    ports: withSystemPorts(options.ports),
  }
}

function checkConfig(config: OpenAiRealtimeConfig): void {
  if (config.instructions !== undefined)
    throw invalidConfig(
      'openaiRealtime(): config.instructions is not supported. Set the instruction of the agent or of the session instead.',
    )
  for (const setting of Object.keys(config)) {
    const place = MOVED.get(setting)
    if (place !== undefined)
      throw invalidConfig(`openaiRealtime(), config: unknown setting "${setting}". Set config.${place} instead.`)
  }
  const { audio } = config as { audio?: unknown }
  if (audio !== undefined && !isRecord(audio))
    throw invalidConfig(`openaiRealtime(), config: audio must be an object, got ${kindOf(audio)}.`)
}

function urlOf(name: string, baseUrl: string): string {
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : undefined
  if (!url || !/^(wss?|https?):$/.test(url.protocol))
    throw invalidConfig('openaiRealtime(): baseUrl must be a URL that starts with wss:// or ws://.')
  url.protocol = url.protocol.replace('http', 'ws')
  url.searchParams.set('model', name)
  return url.href
}

function headersOf(name: string, { apiKey, headers = {} }: OpenAiRealtimeOptions): { [name: string]: string } {
  if (Object.keys(headers).some((header) => /^(authorization|api-key)$/i.test(header))) return { ...headers }
  const key = nonEmpty(apiKey) ?? environmentKey()
  if (key === undefined)
    throw invalidConfig(
      `Model "${name}" needs an API key. Set OPENAI_API_KEY (create a key at https://platform.openai.com/api-keys), or pass openaiRealtime('${name}', { apiKey }).`,
    )
  return { ...headers, Authorization: `Bearer ${key}` }
}

/** The key in the environment. Undefined on platforms without `process`. */
function environmentKey(): string | undefined {
  const { process } = globalThis as { process?: { env?: { [name: string]: string | undefined } } }
  return nonEmpty(process?.env?.OPENAI_API_KEY)
}

function nonEmpty(value: string | undefined): string | undefined {
  const text = value?.trim()
  return text === '' ? undefined : text
}

function globalWebSocket(): WebSocketConstructor {
  const { WebSocket } = globalThis as { WebSocket?: unknown }
  if (typeof WebSocket !== 'function')
    throw invalidConfig('openaiRealtime() needs a WebSocket, which this runtime does not have. Pass { webSocket }.')
  return WebSocket as WebSocketConstructor // the types of the DOM do not know the headers that servers accept
}

function invalidConfig(message: string): ToolwrightError {
  return new ToolwrightError('INVALID_CONFIG', message)
}
