// Options and environment, checked when a model is made: a missing key is found before anybody asks anything.
import type { GoogleGenAI, GoogleGenAIOptions } from '@google/genai'
import { type Ports, portsWith } from '../base/ports.ts'
import { anything, callback, checkOptions, flag, type OptionRules, record, text } from '../error/check-options.ts'
import { ToolwrightError } from '../error/error.ts'
import { PORT_RULES } from '../error/port-rules.ts'
import type { GeminiOptions, GeminiRetry } from './options.ts'

export interface Settings {
  readonly name: string
  readonly isVertex: boolean
  /** What a client is made of, or the client. */
  readonly access: { readonly options: GoogleGenAIOptions } | { readonly client: GoogleGenAI }
  readonly timeoutMs: number | undefined
  readonly fetch: typeof fetch | undefined
  readonly retry: { readonly attempts: number; readonly delayMs: number; readonly maxDelayMs: number }
  readonly ports: Ports
  /** What no message may hold. */
  readonly secrets: readonly string[]
}

const RULES: OptionRules<GeminiOptions> = {
  apiKey: text,
  vertexai: flag,
  project: text,
  location: text,
  googleAuthOptions: record,
  baseUrl: text,
  apiVersion: text,
  headers: record,
  timeoutMs: anything,
  fetch: callback,
  client: record,
  retry: record,
  capabilities: record,
  ports: record,
}
const RETRY_RULES: OptionRules<GeminiRetry> = { attempts: anything, delayMs: anything, maxDelayMs: anything }

export function readSettings(name: string, options: GeminiOptions): Settings {
  if (typeof name !== 'string' || name.trim() === '')
    throw invalidConfig('gemini(): the first argument is the name of a model.')
  checkOptions('gemini()', options, RULES)
  checkOptions('gemini(), retry', options.retry ?? {}, RETRY_RULES)
  checkOptions('gemini(), ports', options.ports ?? {}, PORT_RULES)
  const { attempts = 3, delayMs = 500, maxDelayMs = 8_000 } = options.retry ?? {}
  if (!(Number.isInteger(attempts) && attempts >= 1))
    throw invalidConfig('retry.attempts must be a whole number of at least 1.')
  if (!(delayMs >= 0 && maxDelayMs >= delayMs && maxDelayMs <= 60_000)) {
    throw invalidConfig('retry.delayMs and retry.maxDelayMs must be milliseconds, the latter the longer, at most 60000.')
  }
  const { timeoutMs, client, fetch } = options
  if (timeoutMs !== undefined && !(timeoutMs > 0)) throw invalidConfig('timeoutMs must be a positive number of milliseconds.')
  const common = {
    name,
    timeoutMs,
    fetch,
    retry: { attempts, delayMs, maxDelayMs },
    ports: portsWith(options.ports),
  }
  if (client) {
    return {
      ...common,
      isVertex: client.vertexai === true,
      access: { client },
      secrets: collectSecrets(options, readClientKey(client)),
    }
  }
  const access = clientOptions(name, options)
  return {
    ...common,
    isVertex: access.vertexai === true,
    access: { options: access },
    secrets: collectSecrets(options, access.apiKey),
  }
}

function clientOptions(name: string, options: GeminiOptions): GoogleGenAIOptions {
  const { googleAuthOptions, baseUrl, apiVersion, headers } = options
  const isVertex = options.vertexai ?? (nonEmpty(options.project) !== undefined || isTrue(environmentVertex()))
  const where = isVertex ? vertexCredentials(name, options) : { apiKey: requireKey(name, options) }
  const httpOptions = {
    ...(baseUrl !== undefined && { baseUrl }),
    ...(headers !== undefined && { headers: { ...headers } }),
  }
  return {
    vertexai: isVertex,
    ...where,
    ...(isVertex && googleAuthOptions !== undefined && { googleAuthOptions }),
    ...(apiVersion !== undefined && { apiVersion }),
    ...(Object.keys(httpOptions).length > 0 && { httpOptions }),
  }
}

/** A project, or a key alone ("express mode"). */
function vertexCredentials(name: string, options: GeminiOptions): GoogleGenAIOptions {
  const apiKey = nonEmpty(options.apiKey)
  const project = nonEmpty(options.project) ?? (apiKey === undefined ? environment('GOOGLE_CLOUD_PROJECT') : undefined)
  const location = nonEmpty(options.location) ?? environment('GOOGLE_CLOUD_LOCATION') ?? 'global'
  const key = apiKey ?? (project === undefined ? environmentKey() : undefined)
  if (project === undefined && key === undefined) {
    throw invalidConfig(
      `Model "${name}" is to be asked over Vertex AI, and there is neither a project nor a key. Set GOOGLE_CLOUD_PROJECT (and GOOGLE_CLOUD_LOCATION), or pass gemini('${name}', { vertexai: true, project, location }).`,
    )
  }
  return { ...(project !== undefined && { project, location }), ...(key !== undefined && { apiKey: key }) }
}

function requireKey(name: string, options: GeminiOptions): string {
  const key = nonEmpty(options.apiKey) ?? environmentKey()
  if (key !== undefined) return key
  throw invalidConfig(
    `Model "${name}" needs a key. Set GEMINI_API_KEY (one is made at https://aistudio.google.com/apikey), or pass gemini('${name}', { apiKey }). For Vertex AI set GOOGLE_GENAI_USE_VERTEXAI=true and GOOGLE_CLOUD_PROJECT.`,
  )
}

// the same switch under its newer name
const environmentVertex = (): string | undefined =>
  environment('GOOGLE_GENAI_USE_ENTERPRISE') ?? environment('GOOGLE_GENAI_USE_VERTEXAI')

const environmentKey = (): string | undefined => environment('GOOGLE_API_KEY') ?? environment('GEMINI_API_KEY')

/** Where there is no process there is no environment. */
function environment(name: string): string | undefined {
  const { process } = globalThis as { process?: { env?: { [name: string]: string | undefined } } }
  return nonEmpty(process?.env?.[name])
}

function nonEmpty(value: string | undefined): string | undefined {
  const text = value?.trim()
  return text === '' ? undefined : text
}

const isTrue = (value: string | undefined): boolean => value !== undefined && /^(true|1)$/i.test(value)

// The client keeps its key to itself; it is read only to keep it out of messages.
function readClientKey(client: GoogleGenAI): string | undefined {
  const { apiKey } = client as unknown as { apiKey?: unknown }
  return typeof apiKey === 'string' ? apiKey : undefined
}

function collectSecrets({ headers = {} }: GeminiOptions, key: string | undefined): readonly string[] {
  const named = Object.keys(headers).filter((name) => /auth|cookie|key|secret|token/i.test(name))
  return [key ?? '', ...named.map((name) => headers[name] ?? '')].filter((secret) => secret.length >= 6)
}

function invalidConfig(message: string): ToolwrightError {
  return new ToolwrightError('INVALID_CONFIG', message)
}
