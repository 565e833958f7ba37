// Reads the options and environment variables when a model is created, so that a missing key is reported before the first
// request.
import type { GoogleGenAI, GoogleGenAIOptions } from '@google/genai'
import { kindOf } from '../../core/base/kind-of.ts'
import { type Ports, withSystemPorts } from '../../core/base/ports.ts'
import {
  callback,
  checkOptions,
  flag,
  type OptionRules,
  type Rule,
  record,
  text,
  wholeNumber,
} from '../../core/error/check-options.ts'
import { ToolwrightError } from '../../core/error/error.ts'
import { PORT_RULES } from '../../core/error/port-rules.ts'
import type { GeminiAccessOptions, GeminiOptions, GeminiRetry } from './options.ts'

/** The checked options of `gemini()`. */
export interface Settings {
  /** Name of the model. */
  readonly name: string
  /** Whether to use Vertex AI instead of the Gemini API. */
  readonly isVertex: boolean
  /** The client, or the options to create one. */
  readonly access: { readonly options: GoogleGenAIOptions } | { readonly client: GoogleGenAI }
  /** Time limit of one attempt in milliseconds. */
  readonly timeoutMs: number | undefined
  /** The fetch function for requests. */
  readonly fetch: typeof fetch | undefined
  /** When and how often a failed request is sent again. */
  readonly retry: { readonly attempts: number; readonly delayMs: number; readonly maxDelayMs: number }
  /** Clock, timer and random numbers. */
  readonly ports: Ports
  /** Texts that no error message may contain. */
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
  timeoutMs: { expects: 'a positive number of milliseconds', accepts: (value) => Number(value) > 0 },
  fetch: callback,
  client: record,
  retry: record,
  capabilities: record,
  ports: record,
}
const MAX_DELAY_MS = 60_000
const DELAY: Rule = {
  expects: `a number of milliseconds from 0 to ${MAX_DELAY_MS}`,
  accepts: (value) => typeof value === 'number' && value >= 0 && value <= MAX_DELAY_MS,
}
const RETRY_RULES: OptionRules<GeminiRetry> = { attempts: wholeNumber(1), delayMs: DELAY, maxDelayMs: DELAY }

/** Checks the options of `gemini()` and completes them from environment variables. Throws INVALID_CONFIG. */
export function readSettings(name: string, options: GeminiOptions): Settings {
  checkModelName('gemini', name)
  checkOptions('gemini()', options, RULES)
  checkOptions('gemini(), retry', options.retry ?? {}, RETRY_RULES)
  checkOptions('gemini(), ports', options.ports ?? {}, PORT_RULES)
  const { attempts = 3, delayMs = 500, maxDelayMs = 8_000 } = options.retry ?? {}
  if (maxDelayMs < delayMs)
    throw invalidConfig(`gemini(), retry: maxDelayMs must be >= delayMs (${delayMs}), got ${maxDelayMs}.`)
  const { timeoutMs, fetch } = options
  return {
    name,
    timeoutMs,
    fetch,
    retry: { attempts, delayMs, maxDelayMs },
    ports: withSystemPorts(options.ports),
    ...readAccess('gemini', name, options),
  }
}

/** The function whose options are read. */
type Caller = 'gemini' | 'geminiLive'

/** Throws INVALID_CONFIG if the name of a model is no text. */
export function checkModelName(caller: Caller, name: unknown): void {
  if (typeof name === 'string' && name.trim() !== '') return
  throw invalidConfig(
    `${caller}() takes the name of a model as its first argument, got ${kindOf(name)}. Pass for example 'gemini-2.5-flash'.`,
  )
}

/** How to reach the service: a client or the options for one. Throws INVALID_CONFIG when credentials are missing. */
export function readAccess(
  caller: Caller,
  name: string,
  options: GeminiAccessOptions,
): Pick<Settings, 'isVertex' | 'access' | 'secrets'> {
  const { client } = options
  if (client) {
    const secrets = collectSecrets(options, readClientKey(client))
    return { isVertex: client.vertexai === true, access: { client }, secrets }
  }
  const access = clientOptions(`${caller}('${name}'`, name, options)
  return {
    isVertex: access.vertexai === true,
    access: { options: access },
    secrets: collectSecrets(options, access.apiKey),
  }
}

function clientOptions(call: string, name: string, options: GeminiAccessOptions): GoogleGenAIOptions {
  const { googleAuthOptions, baseUrl, apiVersion, headers } = options
  const isVertex = options.vertexai ?? (nonEmpty(options.project) !== undefined || isTrue(environmentVertex()))
  const where = isVertex ? vertexCredentials(call, name, options) : { apiKey: requireKey(call, name, options) }
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

/** The project and location, or only an API key ("express mode"). */
function vertexCredentials(call: string, name: string, options: GeminiAccessOptions): GoogleGenAIOptions {
  const apiKey = nonEmpty(options.apiKey)
  const project = nonEmpty(options.project) ?? (apiKey === undefined ? environment('GOOGLE_CLOUD_PROJECT') : undefined)
  const location = nonEmpty(options.location) ?? environment('GOOGLE_CLOUD_LOCATION') ?? 'global'
  const key = apiKey ?? (project === undefined ? environmentKey() : undefined)
  if (project === undefined && key === undefined) {
    throw invalidConfig(
      `Model "${name}" uses Vertex AI and needs a project or an API key. Set GOOGLE_CLOUD_PROJECT (and GOOGLE_CLOUD_LOCATION), or pass ${call}, { vertexai: true, project, location }).`,
    )
  }
  return { ...(project !== undefined && { project, location }), ...(key !== undefined && { apiKey: key }) }
}

function requireKey(call: string, name: string, options: GeminiAccessOptions): string {
  const key = nonEmpty(options.apiKey) ?? environmentKey()
  if (key !== undefined) return key
  throw invalidConfig(
    `Model "${name}" needs an API key. Set GEMINI_API_KEY (create a key at https://aistudio.google.com/apikey), or pass ${call}, { apiKey }). For Vertex AI set GOOGLE_GENAI_USE_VERTEXAI=true and GOOGLE_CLOUD_PROJECT.`,
  )
}

// both variables are the same switch; Google renamed it
const environmentVertex = (): string | undefined =>
  environment('GOOGLE_GENAI_USE_ENTERPRISE') ?? environment('GOOGLE_GENAI_USE_VERTEXAI')

const environmentKey = (): string | undefined => environment('GOOGLE_API_KEY') ?? environment('GEMINI_API_KEY')

/** An environment variable. Undefined on platforms without `process`. */
function environment(name: string): string | undefined {
  const { process } = globalThis as { process?: { env?: { [name: string]: string | undefined } } }
  return nonEmpty(process?.env?.[name])
}

function nonEmpty(value: string | undefined): string | undefined {
  const text = value?.trim()
  return text === '' ? undefined : text
}

const isTrue = (value: string | undefined): boolean => value !== undefined && /^(true|1)$/i.test(value)

// The key of a client is private. It is read only to remove it from error messages.
function readClientKey(client: GoogleGenAI): string | undefined {
  const { apiKey } = client as unknown as { apiKey?: unknown }
  return typeof apiKey === 'string' ? apiKey : undefined
}

function collectSecrets({ headers = {} }: GeminiAccessOptions, key: string | undefined): readonly string[] {
  const named = Object.keys(headers).filter((name) => /auth|cookie|key|secret|token/i.test(name))
  return [key ?? '', ...named.map((name) => headers[name] ?? '')].filter((secret) => secret.length >= 6)
}

function invalidConfig(message: string): ToolwrightError {
  return new ToolwrightError('INVALID_CONFIG', message)
}
