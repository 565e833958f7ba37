// The part of the REST API of Google API Hub that leads from a resource name to an OpenAPI document.

import { isRecord, type JsonObject } from '../../../core/base/json.ts'
import type { AuthCredential, AuthScheme } from '../../../core/content/auth.ts'
import { ToolwrightError } from '../../../core/error/error.ts'
import { applyCredential } from '../../../services/auth/apply-credential.ts'
import { readBytes } from '../response/read-bytes.ts'

/** Options of `readHubSpec()`. */
interface HubOptions {
  /** The address of the service, without a path. */
  readonly hubUrl: string
  /** How the credential is sent. */
  readonly authScheme: AuthScheme
  /** The credential for the service. */
  readonly credential: AuthCredential
  /** Sends requests. */
  readonly fetch: typeof fetch
  /** Called with what the operator may want to know. */
  report(note: string): void
}

const RESOURCE = /^projects\/[^/?#]+\/locations\/[^/?#]+\/apis\/[^/?#]+(?:\/versions\/[^/?#]+(?:\/specs\/[^/?#]+)?)?$/

/** Is it the name of an API, of a version or of a document? */
export function isHubResource(name: string): boolean {
  return RESOURCE.test(name) && !name.split('/').some((part) => /^\.{1,2}$/.test(part))
}

/** The text of the document that a resource name leads to: of its first version with one, unless the name is more exact. */
export async function readHubSpec(resource: string, options: HubOptions): Promise<string> {
  const spec = resource.includes('/specs/') ? resource : await findSpec(resource, options)
  const { contents } = await get(`${spec}:contents`, options)
  // with a line break it is never taken as the path of a local file
  if (typeof contents === 'string') return `${decodeBase64(contents)}\n`
  throw new ToolwrightError('INVALID_CONFIG', `API Hub has no contents for "${spec}".`)
}

async function findSpec(resource: string, options: HubOptions): Promise<string> {
  const versions = resource.includes('/versions/') ? [resource] : await listNames(resource, 'versions', options)
  if (versions.length > 1)
    options.report(`"${resource}" has ${versions.length} versions. Name one in apihubResourceName to choose it.`)
  for (const version of versions) {
    const specs = await list(version, 'specs', options)
    const found = specs.find(isOpenApi) ?? specs.find((spec) => !hasType(spec))
    if (typeof found?.name === 'string' && isHubResource(found.name)) return found.name
  }
  throw new ToolwrightError('INVALID_CONFIG', `API Hub has no OpenAPI document for "${resource}".`)
}

function typesOf({ specType }: JsonObject): unknown[] {
  const values = isRecord(specType) && isRecord(specType.enumValues) ? specType.enumValues.values : undefined
  return Array.isArray(values) ? values.map((value) => (isRecord(value) ? value.id : undefined)) : []
}

function isOpenApi(spec: JsonObject): boolean {
  return typesOf(spec).includes('openapi')
}

function hasType(spec: JsonObject): boolean {
  return typesOf(spec).length > 0
}

async function listNames(parent: string, kind: 'versions', options: HubOptions): Promise<string[]> {
  const names = (await list(parent, kind, options)).map(({ name }) => name)
  return names.filter((name) => typeof name === 'string').filter(isHubResource)
}

/** A service that never ends its list must not keep a run waiting. */
const MAX_PAGES = 20

async function list(parent: string, kind: 'versions' | 'specs', options: HubOptions): Promise<JsonObject[]> {
  const found: JsonObject[] = []
  let token = ''
  for (let page = 0; page < MAX_PAGES; page++) {
    const answer = await get(`${parent}/${kind}${token && `?pageToken=${encodeURIComponent(token)}`}`, options)
    const items = answer[kind]
    if (Array.isArray(items)) found.push(...items.filter(isRecord))
    if (typeof answer.nextPageToken !== 'string' || answer.nextPageToken === '') break
    token = answer.nextPageToken
  }
  return found
}

const MAX_BYTES = 50 * 1024 * 1024

async function get(path: string, { hubUrl, authScheme, credential, fetch: send }: HubOptions): Promise<JsonObject> {
  const url = `${new URL(hubUrl).origin}/v1/${path}`
  const request = new Request(url, { headers: { accept: 'application/json' }, signal: AbortSignal.timeout(TIMEOUT_MS) })
  const response = await send(applyCredential(request, { authScheme, credential, origin: hubUrl }))
  if (!response.ok) {
    await response.body?.cancel()
    throw new ToolwrightError(
      'INVALID_CONFIG',
      `API Hub answered with status ${response.status}. Check apihubResourceName and the permission of its credential.`,
    )
  }
  const answer: unknown = JSON.parse(new TextDecoder().decode(await readBytes(response, MAX_BYTES)))
  return isRecord(answer) ? answer : {}
}

const TIMEOUT_MS = 20_000

function decodeBase64(contents: string): string {
  const standard = contents.replaceAll('-', '+').replaceAll('_', '/')
  return new TextDecoder().decode(Uint8Array.from(atob(standard), (one) => one.charCodeAt(0)))
}
