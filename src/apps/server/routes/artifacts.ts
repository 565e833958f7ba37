import type { Hono } from 'hono'
import { type JsonObject, jsonSize } from '../../../core/base/json.ts'
import { MAX_METADATA_BYTES } from '../../../core/base/limits.ts'
import type { Part } from '../../../core/content/content.ts'
import { isBase64 } from '../../../core/content/part-problem.ts'
import { ToolwrightError } from '../../../core/error/error.ts'
import { checkNewArtifactKey, checkPart } from '../../../services/artifact/check-artifact.ts'
import type { ArtifactKey, ArtifactService } from '../../../services/artifact/service.ts'
import type { ServerEnv, ServerParts } from '../env.ts'
import { jsonResponse, listResponse } from '../pages/list-response.ts'
import { artifactSource, versionSource } from '../pages/list-sources.ts'
import { checkUnicode } from '../wire/check-new-id.ts'
import { type ArtifactPath, readArtifactPath } from '../wire/read-artifact-path.ts'
import { readBody } from '../wire/read-body.ts'
import { readPart } from '../wire/read-content.ts'
import { checkSession, SESSION, type SessionScope, sessionScope } from './scope.ts'

const ARTIFACTS = `${SESSION}/artifacts`

/** Routes about the artifacts of a session. The name of an artifact may contain slashes. */
export function artifactRoutes(app: Hono<ServerEnv>, parts: ServerParts): void {
  app.get(ARTIFACTS, async (context) => {
    const { key, ...scope } = sessionScope(context, parts)
    return await listResponse(context, parts, { name: 'artifacts', source: artifactSource(artifactsOf(scope), key) })
  })

  app.post(ARTIFACTS, async (context) => {
    const scope = sessionScope(context, parts)
    const service = artifactsOf(scope)
    const body = await readBody(context)
    const artifact = readPart(body.object('artifact'), 'artifact')
    const key = { ...scope.key, filename: body.text('filename') }
    const customMetadata = body.optionalObject('customMetadata')
    checkPart(artifact)
    checkContent(artifact, customMetadata)
    checkNewArtifactKey(key)
    checkUnicode('filename', key.filename)
    await checkSession(scope)
    const version = await service.saveArtifact({ ...key, artifact, customMetadata })
    return context.json(await service.getArtifactVersion({ ...key, version }))
  })

  app.get(`${ARTIFACTS}/*`, async (context) => {
    const scope = sessionScope(context, parts)
    const path = readArtifactPath(context.req.raw.url, context.req.query('version'))
    const key = { ...scope.key, filename: path.filename }
    if (path.type === 'all-metadata')
      return await listResponse(context, parts, { name: 'versions', source: versionSource(artifactsOf(scope), key) })
    const found = await read(artifactsOf(scope), key, path.type, path.version)
    if (found === undefined) throw notFound(path)
    const { responseBytes } = parts.limits
    if (jsonSize(found, responseBytes) > responseBytes)
      throw new ToolwrightError('TOO_LARGE', `The artifact has more than ${responseBytes} bytes as JSON.`)
    return jsonResponse(JSON.stringify(found))
  })

  app.delete(`${ARTIFACTS}/*`, async (context) => {
    const scope = sessionScope(context, parts)
    const { filename, type } = readArtifactPath(context.req.raw.url)
    if (type !== 'content') throw new ToolwrightError('INVALID_REQUEST', 'Only a whole artifact can be deleted.')
    await artifactsOf(scope).deleteArtifact({ ...scope.key, filename })
    return context.json(null)
  })
}

/** Throws for data that is not base64, and for more metadata than a tool may save. */
function checkContent({ inlineData }: Part, customMetadata: JsonObject | undefined): void {
  if (inlineData && !isBase64(inlineData.data))
    throw new ToolwrightError('INVALID_REQUEST', 'artifact.inlineData.data must be base64.')
  if (customMetadata && jsonSize(customMetadata, MAX_METADATA_BYTES) > MAX_METADATA_BYTES)
    throw new ToolwrightError('TOO_LARGE', `customMetadata has more than ${MAX_METADATA_BYTES} bytes.`)
}

function read(
  service: ArtifactService,
  key: ArtifactKey,
  type: 'content' | 'metadata' | 'versions',
  version: ArtifactPath['version'],
): Promise<object | undefined> {
  switch (type) {
    case 'content':
      return service.loadArtifact({ ...key, version })
    case 'metadata':
      return service.getArtifactVersion({ ...key, version })
    case 'versions':
      return service.listVersions(key)
  }
}

function artifactsOf({ app }: Pick<SessionScope, 'app'>): ArtifactService {
  const { artifactService } = app.runner
  if (artifactService) return artifactService
  const problem = `App "${app.name}" has no artifact service`
  throw new ToolwrightError('INVALID_REQUEST', `${problem}. Pass one to createServer({ services }).`)
}

function notFound({ filename }: ArtifactPath): ToolwrightError {
  return new ToolwrightError('NOT_FOUND', `The session has no artifact "${filename}" in this version.`)
}
