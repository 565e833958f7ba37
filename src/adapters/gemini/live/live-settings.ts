import type { GoogleGenAIOptions } from '@google/genai'
import { type Ports, withSystemPorts } from '../../../core/base/ports.ts'
import {
  checkOptions,
  flag,
  type OptionRules,
  type Rule,
  record,
  text,
  textOrCallback,
} from '../../../core/error/check-options.ts'
import { ToolwrightError } from '../../../core/error/error.ts'
import { PORT_RULES } from '../../../core/error/port-rules.ts'
import { checkModelName, readAccess, type Settings } from '../settings.ts'
import type { GeminiLiveConfig, GeminiLiveOptions } from './options.ts'

/** The checked options of `geminiLive()`. */
export interface LiveSettings extends Pick<Settings, 'name' | 'isVertex' | 'access'> {
  /** Texts that no error message may contain. Access tokens are added when they are fetched. */
  readonly secrets: string[]
  /** Time limit of an attempt to connect in milliseconds. */
  readonly connectTimeoutMs: number
  /** Settings of the session. */
  readonly config: GeminiLiveConfig
  /** Timer and ids. */
  readonly ports: Ports
}

const URL_RULE: Rule = {
  expects: 'a URL that starts with http:// or https:// (not ws://: the address of the WebSocket is derived from it)',
  accepts: (value) => typeof value === 'string' && /^https?:\/\//i.test(value),
}
const RULES: OptionRules<GeminiLiveOptions> = {
  apiKey: text,
  vertexai: flag,
  project: text,
  location: text,
  googleAuthOptions: record,
  accessToken: textOrCallback,
  baseUrl: URL_RULE,
  apiVersion: text,
  headers: record,
  client: record,
  connectTimeoutMs: { expects: 'a positive number of milliseconds', accepts: (value) => Number(value) > 0 },
  config: record,
  capabilities: record,
  ports: record,
}

/** What to use instead of settings that would replace those of the framework, or that `@google/genai` would ignore. */
const REFUSED_CONFIG = new Map([
  ['httpOptions', 'Use the options baseUrl, apiVersion and headers of geminiLive() instead.'],
  ['abortSignal', 'Abort the session instead.'],
  ['systemInstruction', 'Set the instruction of the agent or of the session instead.'],
  ['tools', 'Set the tools of the agent or of the session instead.'],
  ['voice', 'Set config.speechConfig.voiceConfig.prebuiltVoiceConfig.voiceName instead.'],
  ['voiceName', 'Set config.speechConfig.voiceConfig.prebuiltVoiceConfig.voiceName instead.'],
  ['sessionResumption', 'Sessions always resume with their newest handle.'],
])

/** Checks the options of `geminiLive()` and completes them from environment variables. Throws INVALID_CONFIG. */
export function readLiveSettings(name: string, options: GeminiLiveOptions): LiveSettings {
  checkModelName('geminiLive', name)
  checkOptions('geminiLive()', options, RULES)
  checkOptions('geminiLive(), ports', options.ports ?? {}, PORT_RULES)
  const { connectTimeoutMs = 15_000, config = {} } = options
  for (const [setting, advice] of REFUSED_CONFIG)
    if (setting in config) throw invalidConfig(`geminiLive(): config.${setting} is not supported. ${advice}`)
  const secrets: string[] = []
  const access = readAccess('geminiLive', name, withTokenClient(options, secrets))
  secrets.push(...access.secrets)
  checkToken(options, access)
  return { name, ...access, secrets, connectTimeoutMs, config, ports: withSystemPorts(options.ports) }
}

/** The options with a Google client that uses the access token. Without one, `@google/genai` fetches a token itself. */
function withTokenClient(options: GeminiLiveOptions, secrets: string[]): GeminiLiveOptions {
  const { accessToken } = options
  if (accessToken === undefined) return options
  const authClient = {
    async getRequestHeaders(): Promise<Headers> {
      const token = typeof accessToken === 'string' ? accessToken : await accessToken()
      if (!secrets.includes(token)) secrets.push(token)
      return new Headers({ authorization: `Bearer ${token}` })
    },
  }
  // for a WebSocket, `@google/genai` calls no other method of the client
  return { ...options, googleAuthOptions: { authClient } as unknown as GoogleAuthOptions }
}

type GoogleAuthOptions = NonNullable<GoogleGenAIOptions['googleAuthOptions']>

function checkToken(options: GeminiLiveOptions, { isVertex, access }: Pick<Settings, 'isVertex' | 'access'>): void {
  const { accessToken, googleAuthOptions, apiKey } = options
  if (accessToken === undefined) return
  if (!isVertex || 'client' in access)
    throw invalidConfig('geminiLive(): accessToken is for Vertex AI without a client of your own. Pass apiKey instead.')
  if (googleAuthOptions !== undefined || apiKey !== undefined)
    throw invalidConfig('geminiLive(): pass only one of accessToken, googleAuthOptions and apiKey.')
  if (access.options.project === undefined)
    throw invalidConfig('geminiLive(): accessToken needs a project. Set GOOGLE_CLOUD_PROJECT or pass project.')
}

function invalidConfig(message: string): ToolwrightError {
  return new ToolwrightError('INVALID_CONFIG', message)
}
