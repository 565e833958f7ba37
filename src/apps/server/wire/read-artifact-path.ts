import { ToolwrightError } from '../../../core/error/error.ts'
import { invalid } from './fields.ts'

/** What a path below `/artifacts/` names. */
export interface ArtifactPath {
  /** The name of the artifact. */
  readonly filename: string
  /** A content, the list of versions, the metadata of one version, or of all versions. */
  readonly type: 'content' | 'versions' | 'metadata' | 'all-metadata'
  /** The version. Default: the latest. */
  readonly version: number | undefined
}

/**
 * Reads `{name}`, `{name}/versions`, `{name}/versions/{v}`, `{name}/versions/{v}/metadata` and `{name}/versions/metadata`. The
 * slashes of a name may be encoded. `version` is the query parameter.
 */
export function readArtifactPath(url: string, version?: string | undefined): ArtifactPath {
  const steps = new URL(url).pathname.split('/').slice(ARTIFACTS_AT).map(decode)
  const [last, before, third] = [steps.at(-1), steps.at(-2), steps.at(-3)]
  const name = (count: number): string => steps.slice(0, -count || undefined).join('/')
  if (last === 'metadata' && before === 'versions' && steps.length > 2) {
    return named(name(2), 'all-metadata')
  }
  if (last === 'metadata' && third === 'versions' && steps.length > 3) {
    return named(name(3), 'metadata', readVersion(before))
  }
  if (last === 'versions' && steps.length > 1) return named(name(1), 'versions')
  if (before === 'versions' && steps.length > 2) return named(name(2), 'content', readVersion(last))
  return named(name(0), 'content', version === undefined ? undefined : readVersion(version))
}

/** The number of steps before the name: `/apps/{app}/users/{user}/sessions/{session}/artifacts/`. */
const ARTIFACTS_AT = 8

function named(filename: string, type: ArtifactPath['type'], version?: number): ArtifactPath {
  if (filename === '') throw invalid('The path has no artifact name.')
  return { filename, type, version }
}

function decode(step: string): string {
  try {
    return decodeURIComponent(step)
  } catch {
    throw invalid('The path is not valid percent-encoding.')
  }
}

/** A version number, or undefined for `latest`. */
function readVersion(text: string | undefined): number | undefined {
  if (text === 'latest') return undefined
  if (text !== undefined && /^\d{1,15}$/.test(text)) return Number(text)
  throw new UnprocessableError('The version of an artifact must be a whole number >= 0, or "latest".')
}

/** A value that ADK clients expect to be refused with 422. */
class UnprocessableError extends ToolwrightError {
  override get status(): number {
    return 422
  }
  constructor(message: string) {
    super('INVALID_REQUEST', message)
  }
}
